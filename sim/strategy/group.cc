#include "sim/strategy/group.h"

#include <utility>

#include "topology/check.h"

namespace syncline {

Group::Group(Network& network, Traffic& traffic, Recorder& recorder, const Collective& collective,
             std::vector<CollectiveMember> members, Payload payload)
    : network_(network),
      traffic_(traffic),
      recorder_(recorder),
      collective_(collective),
      members_(std::move(members)),
      payload_(payload) {
  // What the collective cannot carry is said before the first round, not in it.
  make_all_reduce(collective_, network_, traffic_, members_, payload_);
}

Task<Group::Result> Group::average(std::size_t member, std::uint64_t sequence, SharedValue value) {
  Engine& engine = network_.engine();
  Rendezvous& meeting = open_[sequence];  // references into an unordered_map stay valid
  if (!meeting.collective) {
    meeting.collective = make_all_reduce(collective_, network_, traffic_, members_, payload_);
    meeting.values.resize(members_.size());
  }
  Result result;
  result.times.joined = engine.now();
  meeting.values[member] = std::move(value);
  if (++meeting.joined == members_.size()) {
    meeting.mean = recorder_.mean(meeting.values);
    meeting.values.clear();
    meeting.all_joined = engine.now();
  }
  co_await meeting.collective->join(member);
  SYNCLINE_CHECK(meeting.joined == members_.size(),
                 "nobody has the sum before everybody has joined");
  result.mean = meeting.mean;
  result.times.all_joined = meeting.all_joined;
  result.times.back = engine.now();
  if (++meeting.back == members_.size()) open_.erase(sequence);
  co_return result;
}

}  // namespace syncline
