// A schedule carried by the simulated network.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/collective/schedule.h"
#include "sim/engine/signal.h"

namespace syncline {

// Every send of a step is a transfer; a rank's next step begins when all sends and receives of its
// present one have ended.
class ScheduledAllReduce final : public AllReduce, public TransferSink {
 public:
  // `hosts`: by rank. `ranks`: by member, those that act for it; ranks of no member need not join.
  // `payload`: of the schedule's elements.
  ScheduledAllReduce(Network& network, Traffic& traffic, std::unique_ptr<const Schedule> schedule,
                     std::vector<NodeId> hosts, std::vector<std::vector<std::uint32_t>> ranks,
                     Payload payload);
  ~ScheduledAllReduce() override;  // cancels what is under way
  ScheduledAllReduce(const ScheduledAllReduce&) = delete;
  ScheduledAllReduce& operator=(const ScheduledAllReduce&) = delete;

  Task<> join(std::size_t member) override;

 private:
  struct Place {
    bool joined = false;
    std::uint32_t index = 0;  // of its present step
    std::uint32_t steps = 0;
    std::uint32_t sends_left = 0;  // of the present step
    // Receives that the present step lacks; what has come for later ones, from the next on. Before
    // it has joined, what has come from step 0 on.
    std::uint32_t receives_left = 0;
    std::vector<std::uint32_t> early;
    Step step;
    std::vector<TransferId> transfers;  // by send of the step; 0: nothing under way
  };

  void begin(std::uint32_t rank);
  void begin_step(std::uint32_t rank);
  void go_on(std::uint32_t rank);
  void receive(Place& place, std::uint32_t step);
  void on_transfer_end(const TransferReport& report, std::uint64_t tag) override;
  Bytes bytes(const Range& range);

  Network& network_;
  Traffic& traffic_;
  std::unique_ptr<const Schedule> schedule_;
  std::vector<NodeId> hosts_;
  std::vector<std::vector<std::uint32_t>> ranks_;
  Payload payload_;
  std::uint64_t last_elements_ = 0;  // most sends are as large as the one before
  Bytes last_bytes_;
  std::vector<Place> places_;    // by rank
  std::deque<Signal> finished_;  // by rank; a deque: they stay where they are
};

}  // namespace syncline
