// Workers that average with each other: a rendezvous a round, carried by a collective.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/task.h"
#include "sim/strategy/recorder.h"

namespace syncline {

// What a member met in one average.
struct AverageTimes {
  Time joined;      // this member came
  Time all_joined;  // the last one came: until then it waited for others
  Time back;        // this member has the result
};

class Group {
 public:
  Group(Network& network, Traffic& traffic, Recorder& recorder, const Collective& collective,
        std::vector<CollectiveMember> members, Payload payload);

  std::size_t size() const { return members_.size(); }

  struct Result {
    SharedValue mean;  // over the members in their order
    AverageTimes times;
  };
  // co_await group.average(member, sequence, value): all members bring a value under the same
  // sequence number (0, 1, …, each once), the payload travels, and each gets the mean.
  Task<Result> average(std::size_t member, std::uint64_t sequence, SharedValue value);

 private:
  struct Rendezvous {
    std::unique_ptr<AllReduce> collective;
    std::vector<SharedValue> values;  // by member
    SharedValue mean;
    std::size_t joined = 0;
    std::size_t back = 0;
    Time all_joined;
  };

  Network& network_;
  Traffic& traffic_;
  Recorder& recorder_;
  Collective collective_;
  std::vector<CollectiveMember> members_;
  Payload payload_;
  std::unordered_map<std::uint64_t, Rendezvous> open_;  // by sequence; at most two at once
};

}  // namespace syncline
