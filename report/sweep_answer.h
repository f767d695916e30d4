// The answer of a sweep: which setting to take, for each value of what is varied of the network.
//
// The rule: settings are compared by the virtual time after which they reach the same loss, the
// lowest one that all of them reach (rounded up to two decimals). The time is that of the first
// sync at which the loss curve, straight between evaluations, is at or below it: only after a sync
// there is a model to use. Without losses: by the time to the same number of tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/sweep_facts.h"

namespace syncline {

inline constexpr const char* kSweepRule =
    "Settings are compared by the virtual time of the first sync at which the loss (straight "
    "between evaluations) is at or below the lowest one that all of them reach, rounded up to two "
    "decimals; without losses by the time to the same number of tokens.";

struct SweepAnswer {
  struct Contender {
    std::size_t point = 0;
    std::optional<double> time_s;  // nothing: it does not get there
  };
  std::vector<std::size_t> network;   // dimensions that are not ours to choose
  std::vector<std::size_t> choices;   // the others
  std::vector<Contender> contenders;  // points that have results; the fastest first
  std::vector<std::size_t> without;   // points that have none
  std::optional<double> loss;         // that is to be reached
  bool proxy = false;                 // it is the small model's
  double tokens = 0;                  // without a loss: that are to be reached
  std::string sentence;
};

std::vector<SweepAnswer> sweep_answers(const SweepFacts& facts);

// Virtual time after which the run has a model with at most this loss.
std::optional<double> time_to_loss(const StoredResults& results, double loss);

// "41.3 s", "2.5 h".
std::string time_text(double seconds);

}  // namespace syncline
