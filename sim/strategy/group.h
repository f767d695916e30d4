// Workers that average with each other: a meeting a round, carried by a collective.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/signal.h"
#include "sim/engine/task.h"
#include "sim/setup.h"
#include "sim/strategy/recorder.h"

namespace syncline {

// What a member met in one average.
struct AverageTimes {
  Time joined;      // this member came
  Time all_joined;  // the last one came: until then it waited for others
  Time back;        // this member has the result
};

// What a group must know of its members where they may fail.
class Presence {
 public:
  // Alive, and on its way to the meeting `sequence` or to an earlier one.
  virtual bool coming(std::size_t member, std::uint64_t sequence) const = 0;
  // Members with the same part have ways to each other at this moment; none: to nobody. It stays
  // until Group::reconsider().
  virtual std::optional<std::uint32_t> part(std::size_t member) const = 0;
  // No way leads there, and what is under way between them has failed.
  virtual bool cut_off(std::size_t a, std::size_t b) const = 0;

 protected:
  ~Presence() = default;
};

struct GroupSetup {
  Collective collective;
  std::vector<CollectiveMember> members;
  std::vector<double> weights;                             // of each in the mean
  std::function<Payload(std::uint64_t sequence)> payload;  // of a meeting
  // Members may fail: who takes part is decided anew when something breaks. Null: nobody ever does.
  const Presence* presence = nullptr;
  // With presence. False: an average is over all members, and waits for those who are gone. True:
  // over those who are there; it begins when nobody else is coming, or `deadline` after the
  // meeting was opened.
  bool reweight = false;
  std::optional<Time> deadline;
  // With reweight: begins only with so many members, and then this long after they have come or
  // when nobody else is coming.
  std::optional<Quorum> quorum;
  // Sees what each average is made of.
  std::function<void(std::span<const SharedValue> values, const SharedValue& mean)> observe;
};

class Group {
 public:
  Group(Network& network, Traffic& traffic, Recorder& recorder, GroupSetup setup);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::size_t size() const { return setup_.members.size(); }

  struct Result {
    SharedValue mean;  // over those who took part, in order of the members
    AverageTimes times;
    std::size_t workers = 0;  // that took part
    // This member has no result: the average began without it, or broke when others had theirs
    // (then `contributed`: its value is in the mean). It must get the model from someone.
    bool missed = false;
    bool contributed = false;
  };
  // co_await group.average(member, sequence, value): members bring a value under the same sequence
  // number (0, 1, …, each once, in this order), the payload travels, and each gets the mean.
  // Several meetings may be under way at once.
  Task<Result> average(std::size_t member, std::uint64_t sequence, SharedValue value);

  // Opens a meeting before anyone has come: its deadline counts from now. With presence.
  void open(std::uint64_t sequence);
  // Nobody else can take part in this meeting: who has not come has missed it.
  bool settled(std::uint64_t sequence) const;

  // With presence: this member died; what it brought is gone.
  void remove(std::size_t member);
  // With presence: someone came or went, or the network is another one.
  void reconsider();

  // Who has not come to the earliest open meeting, by member; for messages.
  std::vector<std::size_t> missing() const;

 private:
  struct Meeting;
  Meeting& meeting(std::uint64_t sequence);
  Task<> conduct(std::shared_ptr<Meeting> meeting);
  Task<> ring(std::shared_ptr<Meeting> meeting, Time after, bool Meeting::*bell);
  bool decide(Meeting& meeting) const;
  void find_largest_part(Meeting& meeting) const;
  bool somebody_is_coming(Meeting& meeting) const;
  bool quorum_is_there(const Meeting& meeting) const;
  void begin(Meeting& meeting);
  void carry(Meeting& meeting, std::size_t member);
  Task<> carry_member(Meeting& meeting, std::size_t member, std::size_t place);
  bool broken(Meeting& meeting) const;
  void give_up(Meeting& meeting);
  bool everybody_at_once(const Meeting& meeting) const;

  Network& network_;
  Traffic& traffic_;
  Recorder& recorder_;
  GroupSetup setup_;
  std::map<std::uint64_t, std::shared_ptr<Meeting>> open_;  // by sequence; few at once
  std::uint64_t over_before_ = 0;  // meetings below this are over, but for those in open_
};

}  // namespace syncline
