// Which inner steps a round has and what it sends, as far as the strategy alone decides it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/setup.h"

namespace syncline {

// The inner step at which round `round` (from 0 on) ends when it begins at step `begin`: H steps
// later, H being that of the schedule; with fragments, at the first step s at which s · fragments /
// H has reached round + 1.
std::uint64_t round_end(const StrategySetup& strategy, std::uint64_t round, std::uint64_t begin);

// Inner steps of so many rounds; at most `most`.
std::uint64_t steps_of_rounds(const StrategySetup& strategy, std::uint64_t rounds,
                              std::uint64_t most);

// Rounds of a run of so many inner steps, those without steps at its end included.
std::uint64_t rounds_of_steps(const StrategySetup& strategy, std::uint64_t steps);

// Rounds without steps after the last one that has some, until one model has all steps.
std::uint64_t closing_rounds(const StrategySetup& strategy);

// Steps that are computed while an average goes on, before it is waited for.
std::uint64_t overlapped_steps(const StrategySetup& strategy);

// A worker may begin a round while others are still in an earlier one.
bool rounds_overlap(const StrategySetup& strategy);

// An average may go on while its workers compute, or others are averaged.
bool averages_overlap(const StrategySetup& strategy);

// A worker may miss an average, or lose its state: a peer's at the begin of a round is enough to go
// on from.
bool may_lose_workers(const StrategySetup& strategy);

// How many of the workers take part in a round.
std::size_t workers_of_a_round(const StrategySetup& strategy, std::size_t workers);

// Which of the residuals of error feedback belongs to a round that begins at step `begin`: each
// fragment has its own, and gradients have one beside that of pseudo-gradients.
std::uint64_t residual_of_round(const StrategySetup& strategy, std::uint64_t round,
                                std::uint64_t begin);

// What a worker sends to each partner in gossip. NoLoCo's models go beside the pseudo-gradients, as
// they are.
Bytes gossip_message(const SimulationSetup& setup);

// Of H steps, those that a worker with this step time takes alone before it sends an update.
std::uint64_t own_steps_of(const StrategySetup& strategy, Time fastest_step, Time step);

// What each worker brings to the average of a round.
Payload payload_of_round(const SimulationSetup& setup, std::uint64_t round);

}  // namespace syncline
