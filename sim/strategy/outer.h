// The global model and its outer optimizer, as the DiLoCo family has them.
#pragma once

#include "sim/strategy/fleet.h"

namespace syncline {

// Every worker holds the same theta and outer state; here they are held once for all.
struct Outer {
  Outer(Fleet& fleet, const OuterRule& outer_rule)
      : theta(fleet.initial()), state(fleet.record().outer_state()), rule(outer_rule) {}

  // theta <- OuterOpt(theta, gradient)
  void step(Recorder& record, const SharedValue& gradient) {
    record.outer(theta, state, gradient, rule);
  }

  SharedValue theta;
  SharedValue state;
  OuterRule rule;
};

}  // namespace syncline
