#include "sim/strategy/group.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "topology/check.h"

namespace syncline {

struct Group::Meeting {
  Meeting(Engine& engine, std::uint64_t number, std::size_t members)
      : sequence(number), changed(engine), there(members), values(members) {
    counts[static_cast<std::size_t>(There::NOT)] = members;
    for (std::size_t i = 0; i < members; ++i) wakes.emplace_back(engine);
  }

  enum class There : std::uint8_t {
    NOT,      // has not come, or is gone again
    JOINED,   // waits for the collective to begin
    CARRIED,  // is in the collective that runs
    BACK,     // has the result
    LEFT_OUT  // has come, and gets no result
  };

  std::uint64_t sequence;
  Signal changed;                       // for the conductor
  std::deque<Signal> wakes;             // by member
  std::vector<There> there;             // by member; changed by put() and set() only
  std::array<std::size_t, 5> counts{};  // of members, by where they are
  std::vector<SharedValue> values;
  std::vector<std::size_t> taking_part;  // in the present attempt, in order
  // With presence, where nobody has been asked for: known since the last change of the network.
  bool parts_known = false;
  std::vector<std::optional<std::uint32_t>> part;         // by member
  std::unordered_map<std::uint32_t, std::size_t> joined;  // members that have JOINED, by part
  bool largest_known = false;
  std::optional<std::uint32_t> largest;  // of these parts
  std::size_t in_largest = 0;
  std::size_t awaited = 0;    // a member that was still coming when it was looked at last
  bool ways_changed = false;  // since the last look at the running collective
  std::unique_ptr<AllReduce> collective;
  std::vector<ProcessId> carriers;
  int attempts = 0;
  bool settled = false;  // nobody else can take part any more
  bool failed = false;   // something broke in the present attempt
  bool deadline_passed = false;
  bool grace_passed = false;
  SharedValue mean;
  std::size_t workers = 0;  // in the mean
  Time all_joined;

  std::size_t count(There what) const { return counts[static_cast<std::size_t>(what)]; }
  void put(std::size_t member, There what) {
    --counts[static_cast<std::size_t>(there[member])];
    ++counts[static_cast<std::size_t>(what)];
    if (parts_known && part[member]) count_joined(*part[member], there[member], what);
    there[member] = what;
  }
  // `largest` stays right while it grows; whatever else may change it is looked for.
  void count_joined(std::uint32_t its_part, There before, There after) {
    std::size_t& members = joined[its_part];
    if (before == There::JOINED) {
      --members;
      largest_known = false;
    }
    if (after != There::JOINED) return;
    ++members;
    if (members == in_largest) largest_known = false;
    if (members <= in_largest) return;
    largest = its_part;
    in_largest = members;
  }
  void set(std::size_t member, There what) {
    put(member, what);
    wakes[member].notify_all();
  }
  // Nobody is left who knows of it: whoever comes back begins this average anew.
  void reopen_if_empty() {
    if (count(There::JOINED) + count(There::CARRIED) + count(There::BACK) == 0) settled = false;
  }
  bool takes_part(std::size_t member) const {
    return std::binary_search(taking_part.begin(), taking_part.end(), member);
  }
};

Group::Group(Network& network, Traffic& traffic, Recorder& recorder, GroupSetup setup)
    : network_(network), traffic_(traffic), recorder_(recorder), setup_(std::move(setup)) {
  SYNCLINE_CHECK(setup_.weights.size() == setup_.members.size(), "each member has its weight");
  // What the collective cannot carry is said before the first round, not in it.
  make_all_reduce(setup_.collective, network_, traffic_, setup_.members, setup_.payload(0));
}

Group::~Group() = default;

// All members take part, and each begins when it comes; as long as nothing broke.
bool Group::everybody_at_once(const Meeting& meeting) const {
  return !setup_.reweight && meeting.attempts <= 1;
}

Group::Meeting& Group::meeting(std::uint64_t sequence) {
  std::shared_ptr<Meeting>& meeting = open_[sequence];
  if (!meeting) {
    Engine& engine = network_.engine();
    meeting = std::make_shared<Meeting>(engine, sequence, setup_.members.size());
    engine.spawn("round " + std::to_string(sequence + 1), conduct(meeting));
  }
  return *meeting;
}

void Group::open(std::uint64_t sequence) { meeting(sequence); }

bool Group::settled(std::uint64_t sequence) const {
  const auto known = open_.find(sequence);
  return known != open_.end() ? known->second->settled : sequence < over_before_;
}

Task<Group::Result> Group::average(std::size_t member, std::uint64_t sequence, SharedValue value) {
  using There = Meeting::There;
  Engine& engine = network_.engine();
  Result result;
  result.times.joined = engine.now();
  if (settled(sequence)) {
    result.missed = true;
    co_return result;
  }
  meeting(sequence);
  const std::shared_ptr<Meeting> meeting = open_.at(sequence);
  meeting->values[member] = std::move(value);
  meeting->put(member, There::JOINED);
  if (meeting->collective && everybody_at_once(*meeting)) carry(*meeting, member);
  meeting->changed.notify_all();
  while (meeting->there[member] != There::BACK && meeting->there[member] != There::LEFT_OUT) {
    co_await meeting->wakes[member].wait();
  }
  if (meeting->there[member] == There::LEFT_OUT) {
    result.missed = true;
    result.contributed = meeting->workers > 0 && meeting->takes_part(member);
    co_return result;
  }
  result.mean = meeting->mean;
  result.workers = meeting->workers;
  result.times.all_joined = meeting->all_joined;
  result.times.back = engine.now();
  co_return result;
}

// The life of a meeting: attempts until one succeeds.
Task<> Group::conduct(std::shared_ptr<Meeting> meeting) {
  Engine& engine = network_.engine();
  struct Timer {
    Engine& engine;
    ProcessId process;
    ~Timer() { engine.cancel(process); }
  };
  std::optional<Timer> deadline, grace;
  if (setup_.deadline) {
    deadline.emplace(engine, engine.spawn("deadline", ring(meeting, *setup_.deadline,
                                                           &Meeting::deadline_passed)));
  }
  while (true) {
    while (!decide(*meeting)) {
      if (!grace && quorum_is_there(*meeting)) {
        grace.emplace(engine, engine.spawn("grace", ring(meeting, setup_.quorum->grace,
                                                         &Meeting::grace_passed)));
      }
      co_await meeting->changed.wait();
    }
    begin(*meeting);
    while (!meeting->failed && meeting->count(Meeting::There::BACK) < meeting->taking_part.size() &&
           !broken(*meeting)) {
      co_await meeting->changed.wait();
    }
    const std::size_t back = meeting->count(Meeting::There::BACK);
    give_up(*meeting);
    if (back > 0) break;
  }
  over_before_ = std::max(over_before_, meeting->sequence + 1);
  open_.erase(meeting->sequence);
}

Task<> Group::ring(std::shared_ptr<Meeting> meeting, Time after, bool Meeting::*bell) {
  co_await network_.engine().sleep(after);
  *meeting.*bell = true;
  meeting->ways_changed = true;
  meeting->changed.notify_all();
}

bool Group::quorum_is_there(const Meeting& meeting) const {
  return setup_.quorum && meeting.in_largest >= setup_.quorum->workers;
}

// The largest part of those who have joined that can reach each other; of equal ones that of the
// first member. What it costs goes with changes of the network, not with the members that come.
void Group::find_largest_part(Meeting& meeting) const {
  using There = Meeting::There;
  const std::size_t members = setup_.members.size();
  if (!meeting.parts_known) {
    meeting.part.resize(members);
    meeting.joined.clear();
    for (std::size_t i = 0; i < members; ++i) {
      meeting.part[i] = setup_.presence->part(i);
      if (meeting.part[i] && meeting.there[i] == There::JOINED) ++meeting.joined[*meeting.part[i]];
    }
    meeting.parts_known = true;
    meeting.largest_known = false;
  }
  if (std::exchange(meeting.largest_known, true)) return;
  meeting.largest.reset();
  meeting.in_largest = 0;
  bool equal = false;
  for (const auto& [part, count] : meeting.joined) {
    if (count > 0 && count == meeting.in_largest) equal = true;
    if (count <= meeting.in_largest) continue;
    meeting.largest = part;
    meeting.in_largest = count;
    equal = false;
  }
  for (std::size_t i = 0; equal && i < members; ++i) {
    if (meeting.there[i] != There::JOINED || !meeting.part[i]) continue;
    if (meeting.joined[*meeting.part[i]] < meeting.in_largest) continue;
    meeting.largest = meeting.part[i];
    break;
  }
}

// A member that can reach the largest part, and has not joined it yet. Looks first at the one that
// was found the last time: those before it have mostly come.
bool Group::somebody_is_coming(Meeting& meeting) const {
  const std::size_t members = setup_.members.size();
  for (std::size_t i = 0; i < members; ++i) {
    const std::size_t member = meeting.awaited;
    if (meeting.there[member] == Meeting::There::NOT && meeting.part[member] == meeting.largest &&
        setup_.presence->coming(member, meeting.sequence))
      return true;
    meeting.awaited = (member + 1) % members;
  }
  return false;
}

// Whether it is known who takes part in the next attempt: then `taking_part` holds them.
bool Group::decide(Meeting& meeting) const {
  const std::size_t members = setup_.members.size();
  meeting.taking_part.clear();
  if (everybody_at_once(meeting) && meeting.attempts == 0) {
    for (std::size_t i = 0; i < members; ++i) meeting.taking_part.push_back(i);
    return true;
  }
  if (meeting.count(Meeting::There::JOINED) == 0) return false;
  find_largest_part(meeting);
  if (!meeting.largest) return false;  // a server that nobody reaches
  if (!setup_.reweight && meeting.in_largest < members) return false;
  if (setup_.quorum && !quorum_is_there(meeting)) return false;
  const bool waits = setup_.reweight && !meeting.deadline_passed && !meeting.grace_passed;
  if (waits && somebody_is_coming(meeting)) return false;
  for (std::size_t i = 0; i < members; ++i) {
    if (meeting.there[i] == Meeting::There::JOINED && meeting.part[i] == meeting.largest)
      meeting.taking_part.push_back(i);
  }
  return true;
}

// The collective among those who take part.
void Group::begin(Meeting& meeting) {
  using There = Meeting::There;
  ++meeting.attempts;
  meeting.failed = false;
  meeting.ways_changed = true;
  std::vector<CollectiveMember> members;
  members.reserve(meeting.taking_part.size());
  for (const std::size_t i : meeting.taking_part) members.push_back(setup_.members[i]);
  meeting.collective = make_all_reduce(setup_.collective, network_, traffic_, members,
                                       setup_.payload(meeting.sequence));
  meeting.collective->on_failure([&meeting] {
    meeting.failed = true;
    meeting.changed.notify_all();
  });
  if (setup_.reweight) {
    meeting.settled = true;
    for (std::size_t i = 0; i < setup_.members.size(); ++i) {
      if (meeting.there[i] == There::JOINED && !meeting.takes_part(i)) {
        meeting.set(i, There::LEFT_OUT);
      }
    }
  }
  for (const std::size_t i : meeting.taking_part) {
    if (meeting.there[i] == There::JOINED) carry(meeting, i);
  }
}

void Group::carry(Meeting& meeting, std::size_t member) {
  meeting.put(member, Meeting::There::CARRIED);
  if (setup_.presence != nullptr && setup_.presence->cut_off(meeting.taking_part.front(), member))
    meeting.ways_changed = true;
  if (meeting.count(Meeting::There::CARRIED) == meeting.taking_part.size()) {
    // The last one has come.
    std::vector<SharedValue> values;
    std::vector<double> weights;
    values.reserve(meeting.taking_part.size());
    for (const std::size_t i : meeting.taking_part) {
      values.push_back(meeting.values[i]);
      weights.push_back(setup_.weights[i]);
    }
    meeting.mean = recorder_.mean(values, weights);
    if (setup_.observe) setup_.observe(values, meeting.mean);
    meeting.workers = values.size();
    meeting.all_joined = network_.engine().now();
  }
  const auto place =
      std::lower_bound(meeting.taking_part.begin(), meeting.taking_part.end(), member);
  meeting.carriers.push_back(network_.engine().spawn(
      "collective", carry_member(meeting, member,
                                 static_cast<std::size_t>(place - meeting.taking_part.begin()))));
}

Task<> Group::carry_member(Meeting& meeting, std::size_t member, std::size_t place) {
  co_await meeting.collective->join(place);
  SYNCLINE_CHECK(meeting.workers > 0, "nobody has the sum before everybody has joined");
  meeting.settled = true;
  meeting.values[member] = nullptr;
  meeting.set(member, Meeting::There::BACK);
  meeting.changed.notify_all();
}

// Somebody in the running collective cannot be reached, and what it had under way is lost.
bool Group::broken(Meeting& meeting) const {
  if (setup_.presence == nullptr || !std::exchange(meeting.ways_changed, false)) return false;
  const std::size_t first = meeting.taking_part.front();
  const std::optional<std::uint32_t> own = setup_.presence->part(first);
  return std::any_of(meeting.taking_part.begin(), meeting.taking_part.end(), [&](std::size_t i) {
    if (meeting.there[i] != Meeting::There::CARRIED) return false;
    // Stalled transfers are waited for, but no longer than the deadline.
    return setup_.presence->cut_off(first, i) ||
           (meeting.deadline_passed && (!own || setup_.presence->part(i) != own));
  });
}

// Ends the attempt. Where somebody has the result already, the others must get it from them.
void Group::give_up(Meeting& meeting) {
  using There = Meeting::There;
  for (const ProcessId carrier : meeting.carriers) network_.engine().cancel(carrier);
  meeting.carriers.clear();
  meeting.collective.reset();
  const bool over = meeting.count(There::BACK) > 0;
  for (std::size_t i = 0; i < setup_.members.size(); ++i) {
    if (meeting.there[i] == There::CARRIED) meeting.put(i, There::JOINED);
    if (over && meeting.there[i] == There::JOINED) meeting.set(i, There::LEFT_OUT);
  }
  meeting.reopen_if_empty();
}

void Group::remove(std::size_t member) {
  using There = Meeting::There;
  for (auto& [sequence, meeting] : open_) {
    const There there = meeting->there[member];
    if (there == There::CARRIED) meeting->failed = true;
    if (there == There::CARRIED || there == There::JOINED) {
      meeting->put(member, There::NOT);
      meeting->values[member] = nullptr;
    }
    meeting->reopen_if_empty();
    meeting->changed.notify_all();
  }
}

void Group::reconsider() {
  for (auto& [sequence, meeting] : open_) {
    meeting->parts_known = false;
    meeting->ways_changed = true;
    meeting->changed.notify_all();
  }
}

std::vector<std::size_t> Group::missing() const {
  std::vector<std::size_t> missing;
  if (open_.empty()) return missing;
  const Meeting& earliest = *open_.begin()->second;
  for (std::size_t i = 0; i < setup_.members.size(); ++i) {
    if (earliest.there[i] == Meeting::There::NOT) missing.push_back(i);
  }
  return missing;
}

}  // namespace syncline
