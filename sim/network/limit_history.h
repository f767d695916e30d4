// What limited a transfer, and for how long.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/network.h"
#include "topology/quantity.h"

namespace syncline {

inline bool same(const Limit& a, const Limit& b) {
  bool on_channel = a.kind == Limit::Kind::LINK || a.kind == Limit::Kind::OUTAGE;
  return a.kind == b.kind && (!on_channel || a.channel == b.channel);
}

// Each limit once.
inline void add(std::vector<HeldLimit>& held, const HeldLimit& more) {
  if (more.held == Time()) return;
  for (HeldLimit& earlier : held) {
    if (!same(earlier.limit, more.limit)) continue;
    earlier.held += more.held;
    return;
  }
  held.push_back(more);
}

// Of one transfer whose limit has changed; most have one limit all the time, and so no history.
struct LimitHistory {
  Time until;  // what came before is accounted for
  std::vector<HeldLimit> held;

  void hold(const Limit& limit, Time now) {
    add(held, {limit, now - until});
    until = now;
  }
};

}  // namespace syncline
