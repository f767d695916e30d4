// One pass of chunks around a ring of hosts: the building block of ring all-reduce, reduce-scatter
// and all-gather.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/signal.h"

namespace syncline {

enum class RingKind : std::uint8_t {
  ALL_REDUCE,      // 2(p-1) steps: a reduce-scatter and then an all-gather
  REDUCE_SCATTER,  // p-1 steps; host i then holds the sum of part (i+1) mod p
  ALL_GATHER       // p-1 steps; host i brings part (i+1) mod p
};

// In step s host i sends part (i - s) mod p to host i+1 (all-gather alone: part (i+1-s) mod p). A
// host starts step s+1 when it has received step s and its own send of step s has ended; step 0
// when it has joined.
class RingPass final : public TransferSink {
 public:
  // `on_failure`: see AllReduce::on_failure.
  RingPass(RingKind kind, Network& network, Traffic& traffic, std::vector<NodeId> hosts,
           Payload payload, std::function<void()> on_failure);
  ~RingPass();  // cancels what is under way
  RingPass(const RingPass&) = delete;
  RingPass& operator=(const RingPass&) = delete;

  // Ends when host `index` of the ring has received and sent all of its steps.
  Task<> join(std::size_t index);

 private:
  struct Place {
    explicit Place(Engine& engine) : finished(engine) {}
    bool joined = false;
    std::uint64_t started = 0;  // sends
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    TransferId sending = 0;  // 0: nothing under way
    Signal finished;
  };

  void start_next(std::size_t index);
  void on_transfer_end(const TransferReport& report, std::uint64_t index) override;
  bool finished(const Place& place) const {
    return place.sent == steps_ && place.received == steps_;
  }
  std::size_t next(std::size_t index) const { return index + 1 == hosts_.size() ? 0 : index + 1; }

  Network& network_;
  Traffic& traffic_;
  std::vector<NodeId> hosts_;
  Payload payload_;
  std::function<void()> on_failure_;
  std::uint64_t steps_;
  std::uint64_t first_part_;  // host i sends part (i + first_part_ - s) mod p in step s
  std::deque<Place> places_;  // a deque: signals stay where they are
};

class RingAllReduce final : public AllReduce {
 public:
  RingAllReduce(Network& network, Traffic& traffic, const std::vector<CollectiveMember>& members,
                Payload payload);
  Task<> join(std::size_t member) override { return pass_.join(member); }

 private:
  RingPass pass_;
};

}  // namespace syncline
