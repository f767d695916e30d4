#include "sim/network/sharing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/network/release.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-12;      // relative: rates and loads that count as equal
constexpr double kRounding = 1e-15;  // of a link's capacity: no change of load
constexpr double kTie = 1e-9;  // relative: shares between which the order on the route decides

double seconds_between(Time from, Time to) {
  return static_cast<double>(to.count_ns() - from.count_ns()) / 1e9;
}

}  // namespace

Sharing::Sharing(std::size_t channels)
    : channels_(channels), links_(channels), groups_(channels), rates_(channels), alone_(channels) {
  crossings_.grow(channels);
}

bool Sharing::crosses(const Flow& flow, std::uint32_t link) const {
  for (ChannelId hop : route(flow)) {
    if (hop.value == link) return true;
  }
  return false;
}

bool Sharing::is_capped(const Flow& flow) const {
  return flow.route[flow.hops - 1].value >= channels_;
}

void Sharing::mark(std::uint32_t link, double level) {
  if (!dirty_.contains(link)) dirty_.push(link, level);
}

void Sharing::note_change(std::uint32_t link) {
  if (groups_[link].changed) return;
  groups_[link].changed = true;
  changed_.push_back(link);
}

void Sharing::set_capacity(ChannelId channel, double bytes_per_s, Time now) {
  SYNCLINE_CHECK(bytes_per_s >= 0, "a capacity is not negative");
  now_ = now;
  set_link_capacity(channel.value, bytes_per_s);
}

void Sharing::set_link_capacity(std::uint32_t index, double bytes_per_s) {
  Link& link = links_[index];
  if (link.capacity == bytes_per_s) return;
  Group& group = groups_[index];
  bool finite = link.capacity != kInfinity && bytes_per_s != kInfinity;
  group.free = finite ? group.free + (bytes_per_s - link.capacity) : bytes_per_s;
  link.capacity = bytes_per_s;
  if (link.alone != kNone) {
    alone_changed_.push_back(flows_[link.alone].route[0].value);
    return;
  }
  mark(index, rates_[index]);
  if (bytes_per_s != kInfinity) return;
  // No bottleneck any more: its members look for another one.
  moving_.assign(group.members.members().begin(), group.members.members().end());
  for (FlowId flow : moving_) withdraw(flow);
}

void Sharing::add(FlowId id, std::span<const ChannelId> route, double bytes, std::uint32_t weight,
                  double cap) {
  SYNCLINE_CHECK(bytes >= 0 && weight > 0 && cap >= 0, "a flow's bytes, weight and cap");
  SYNCLINE_CHECK(!route.empty() && route.size() < 0xFFFF, "a flow's route");
  flows_.grow(std::size_t{id} + 1);
  Flow& flow = flows_[id];
  SYNCLINE_CHECK(flow.state == State::NONE, "a flow is added once");
  flow.route = route.data();
  flow.hops = static_cast<std::uint16_t>(route.size());
  flow.weight = weight;
  for (ChannelId hop : route) ++links_[hop.value].users;
  if (cap != kInfinity) give_cap(flow, cap);
  put_pending(id, bytes);
}

void Sharing::put_pending(FlowId id, double remaining) {
  flows_[id].state = State::PENDING;
  flows_[id].remaining = remaining;
  pending_.push_back(id);
}

void Sharing::set_cap(FlowId id, double cap, Time now) {
  SYNCLINE_CHECK(cap >= 0, "a cap is not negative");
  now_ = now;
  Flow& flow = flows_[id];
  SYNCLINE_CHECK(flow.state != State::NONE, "a flow that is there");
  if (is_capped(flow)) return set_link_capacity(flow.route[flow.hops - 1].value, cap);
  if (cap == kInfinity) return;
  // With one link more it is admitted anew.
  if (flow.state == State::ALONE) {
    limit_changes_.push_back({id, alone_[flow.route[0].value].limit});
    double remaining = alone_remaining(alone_[flow.route[0].value], now_);
    end_alone(id);
    put_pending(id, remaining);
  } else if (flow.state == State::UNLIMITED) {
    std::erase(unlimited_, id);
    put_pending(id, 0);
  } else if (flow.state == State::MEMBER) {
    withdraw(id);
  }
  give_cap(flow, cap);
}

// A member leaves its group to be admitted anew.
void Sharing::withdraw(FlowId id) {
  const Flow& flow = flows_[id];
  limit_changes_.push_back({id, limit_of(flow.member.group)});
  put_pending(id, detach(id) * flow.weight);
}

void Sharing::remove(FlowId id, Time now) {
  now_ = now;
  Flow& flow = flows_[id];
  switch (flow.state) {
    case State::NONE:
      SYNCLINE_CHECK(false, "a flow that is there");
    case State::PENDING:
      std::erase(pending_, id);
      break;
    case State::ALONE:
      end_alone(id);
      break;
    case State::UNLIMITED:
      std::erase(unlimited_, id);
      break;
    case State::MEMBER:
      detach(id);
      break;
  }
  leave_links(flow);
}

// Nothing is left of it.
void Sharing::leave_links(Flow& flow) {
  for (ChannelId hop : route(flow)) --links_[hop.value].users;
  if (is_capped(flow)) free_caps_.push_back(flow.route[flow.hops - 1].value);
  flow.state = State::NONE;
}

void Sharing::take_finished(Time now, std::vector<Finished>& finished) {
  now_ = now;
  finished.clear();
  for (FlowId flow : unlimited_) {
    finished.push_back({flow, kOwnCap});
    leave_links(flows_[flow]);
  }
  unlimited_.clear();
  constexpr std::size_t kMany = 4096;
  while (finished.size() < kMany && !ends_.empty() && ends_.top_key() <= now) {
    std::uint32_t link = ends_.top();
    if (link < channels_ && alone_[link].flow != kNone) {
      FlowId id = alone_[link].flow;
      finished.push_back({id, alone_[link].limit});
      ends_.pop();
      Flow& flow = flows_[id];
      for (ChannelId hop : route(flow)) links_[hop.value].alone = kNone;
      alone_[link].flow = kNone;
      leave_links(flow);
      continue;
    }
    ends_.pop();
    note_change(link);
    Group& group = groups_[link];
    std::size_t first = finished.size();
    while (!group.members.empty() && group.clock.end(group.members.top_key()) <= now) {
      finished.push_back({group.members.top(), limit_of(link)});
      leave_group(group.members.top());
    }
    bool all = group.members.empty();
    if (all) crossings_.remove_all(link);
    for (std::size_t i = first; i < finished.size(); ++i) {
      FlowId id = finished[i].flow;
      Flow& flow = flows_[id];
      for (ChannelId hop : route(flow)) {
        if (!all && hop.value != link) crossings_.remove(hop.value, link, flow.weight, id);
      }
      mark_left(flow);
      leave_links(flow);
    }
  }
}

Time Sharing::next_finish() const {
  if (!unlimited_.empty()) return now_;
  return ends_.empty() ? Time::max() : ends_.top_key();
}

double Sharing::rate(FlowId id) const {
  const Flow& flow = flows_[id];
  switch (flow.state) {
    case State::NONE:
    case State::PENDING:
      return 0;
    case State::ALONE:
      return alone_[flow.route[0].value].rate;
    case State::UNLIMITED:
      return kInfinity;
    case State::MEMBER:
      return rates_[flow.member.group] * flow.weight;
  }
  SYNCLINE_CHECK(false, "a state that is there");
}

double Sharing::remaining(FlowId id, Time now) const {
  const Flow& flow = flows_[id];
  switch (flow.state) {
    case State::NONE:
    case State::UNLIMITED:
      return 0;
    case State::PENDING:
      return flow.remaining;
    case State::ALONE:
      return alone_remaining(alone_[flow.route[0].value], now);
    case State::MEMBER: {
      const Group& group = groups_[flow.member.group];
      return group.clock.to_go(group.members.key(flow.member.place), now) * flow.weight;
    }
  }
  SYNCLINE_CHECK(false, "a state that is there");
}

Sharing::Limit Sharing::limit(FlowId id) const {
  const Flow& flow = flows_[id];
  if (flow.state == State::ALONE) return alone_[flow.route[0].value].limit;
  return flow.state == State::MEMBER ? limit_of(flow.member.group) : kOwnCap;
}

void Sharing::solve(Time now) {
  now_ = now;
  for (std::uint32_t first : alone_changed_) {
    if (alone_[first].flow != kNone) refresh_alone(alone_[first]);
  }
  alone_changed_.clear();
  if (!pending_.empty()) admit();
  if (!dirty_.empty()) repair_all();
  for (std::uint32_t link : changed_) {
    groups_[link].changed = false;
    find_end(link);
  }
  changed_.clear();
}

// Flows come and go ------------------------------------------------------------------------------

void Sharing::admit() {
  std::size_t joins = 0;
  // Who is alone starts at once; the others, and whom they disturb, stay in the list.
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    FlowId id = pending_[i];
    if (may_be_alone(flows_[id])) {
      start_alone(id);
      continue;
    }
    pending_[joins++] = id;
    for (ChannelId hop : route(flows_[id])) {
      FlowId disturbed = links_[hop.value].alone;
      if (disturbed == kNone) continue;
      const Alone& alone = alone_[flows_[disturbed].route[0].value];
      limit_changes_.push_back({disturbed, alone.limit});
      double remaining = alone_remaining(alone, now_);
      end_alone(disturbed);
      put_pending(disturbed, remaining);
    }
  }
  pending_.resize(joins);
  // A fill looks at all members, a join at the links of one.
  constexpr std::size_t kManyJoins = 64;
  constexpr std::size_t kMembersPerJoin = 8;
  if (joins >= kManyJoins && joins * kMembersPerJoin >= members_) {
    fill(pending_);
  } else {
    for (FlowId flow : pending_) join(flow);
  }
  pending_.clear();
  release_if_large(pending_, 65536);
}

bool Sharing::may_be_alone(const Flow& flow) const {
  for (ChannelId hop : route(flow)) {
    if (links_[hop.value].users > 1) return false;
  }
  return true;
}

void Sharing::start_alone(FlowId id) {
  Flow& flow = flows_[id];
  flow.state = State::ALONE;
  for (ChannelId hop : route(flow)) links_[hop.value].alone = id;
  Alone& alone = alone_[flow.route[0].value];
  alone.flow = id;
  alone.remaining = flow.remaining;
  alone.since = now_;
  alone.rate = 0;
  find_alone_rate(alone);
}

void Sharing::refresh_alone(Alone& alone) {
  alone.remaining = alone_remaining(alone, now_);
  alone.since = now_;
  Limit before = alone.limit;
  find_alone_rate(alone);
  if (alone.limit != before) limit_changes_.push_back({alone.flow, before});
}

void Sharing::find_alone_rate(Alone& alone) {
  const Flow& flow = flows_[alone.flow];
  double least = kInfinity;
  Limit limit = kOwnCap;
  for (ChannelId hop : route(flow)) {
    double capacity = links_[hop.value].capacity;
    if (capacity >= least) continue;
    least = capacity;
    limit = limit_of(hop.value);
  }
  alone.limit = limit;
  alone.rate = least;
  if (least == 0) {
    ends_.erase(flow.route[0].value);
  } else {
    ends_.set(flow.route[0].value, now_ + Time::seconds(alone.remaining / least));
  }
}

double Sharing::alone_remaining(const Alone& alone, Time now) const {
  if (alone.since == now) return alone.remaining;
  return std::max(0.0, alone.remaining - alone.rate * seconds_between(alone.since, now));
}

void Sharing::end_alone(FlowId id) {
  const Flow& flow = flows_[id];
  for (ChannelId hop : route(flow)) links_[hop.value].alone = kNone;
  alone_[flow.route[0].value].flow = kNone;
  ends_.erase(flow.route[0].value);
}

void Sharing::give_cap(Flow& flow, double cap) {
  if (free_caps_.empty()) {
    free_caps_.push_back(static_cast<std::uint32_t>(links_.size()));
    capped_.emplace_back();
    links_.emplace_back();
    groups_.emplace_back();
    rates_.push_back(0);
    crossings_.grow(links_.size());
  }
  std::uint32_t link = free_caps_.back();
  free_caps_.pop_back();
  links_[link] = {.capacity = cap, .users = 1};
  groups_[link].free = cap;
  CappedRoute& capped = capped_[link - channels_];
  capped.assign(flow.route, flow.route + flow.hops);
  capped.push_back(ChannelId{link});
  flow.route = capped.data();
  ++flow.hops;
}

// To the link that seems to leave it least; a wrong guess is repaired.
void Sharing::join(FlowId id) {
  Flow& flow = flows_[id];
  std::uint32_t best = kNone;
  double least = kInfinity;
  for (ChannelId hop : route(flow)) {
    const Group& group = groups_[hop.value];
    double share = std::max(0.0, group.free) / (group.weight + flow.weight);
    if (!(share < least * (1 - kTie)) && !(least == kInfinity && share < least)) continue;
    least = share;
    best = hop.value;
  }
  if (best == kNone) {
    flow.state = State::UNLIMITED;
    unlimited_.push_back(id);
    return;
  }
  attach(id, best, flow.remaining / flow.weight);
  for (ChannelId hop : route(flow)) mark(hop.value, least);
}

// Groups -----------------------------------------------------------------------------------------

// `amount`: bytes per weight.
void Sharing::attach(FlowId id, std::uint32_t index, double amount) {
  Flow& flow = flows_[id];
  flow.state = State::MEMBER;
  flow.member.group = index;
  Group& group = groups_[index];
  group.weight += flow.weight;
  group.members.push(group.clock.key(amount, now_), id, [this](FlowId member) -> std::uint32_t& {
    return flows_[member].member.place;
  });
  note_change(index);
  ++members_;
  for (ChannelId hop : route(flow)) {
    if (hop.value != index) crossings_.add(hop.value, index, flow.weight, id);
  }
}

// Its bytes per weight to go.
double Sharing::detach(FlowId id) {
  double amount = leave_group(id);
  const Flow& flow = flows_[id];
  for (ChannelId hop : route(flow)) {
    if (hop.value == flow.member.group) continue;
    crossings_.remove(hop.value, flow.member.group, flow.weight, id);
  }
  mark_left(flow);
  return amount;
}

// Without its crossings.
double Sharing::leave_group(FlowId id) {
  const Flow& flow = flows_[id];
  Group& group = groups_[flow.member.group];
  double amount = group.clock.to_go(group.members.key(flow.member.place), now_);
  group.weight -= flow.weight;
  group.members.erase(flow.member.place, [this](FlowId member) -> std::uint32_t& {
    return flows_[member].member.place;
  });
  note_change(flow.member.group);
  --members_;
  return amount;
}

// The links that it leaves room on.
void Sharing::mark_left(const Flow& flow) {
  for (ChannelId hop : route(flow)) {
    if (hop.value != flow.member.group && !crossings_.is_watched(hop.value)) continue;
    mark(hop.value, rates_[hop.value]);
  }
}

void Sharing::regroup(FlowId flow, std::uint32_t group) {
  limit_changes_.push_back({flow, limit_of(flows_[flow].member.group)});
  double amount = detach(flow);
  attach(flow, group, amount);
}

void Sharing::repair_all() {
  // A repair needs the rates of lower levels only, so few links are looked at twice. Where rounding
  // keeps two of them at odds, all are found anew.
  std::size_t budget = 256 + 32 * dirty_.size() + 8 * links_.size();
  bool filled = false;
  while (!dirty_.empty()) {
    if (budget-- == 0) {
      if (filled) break;
      filled = true;
      fill({});
      budget = 256 + 8 * links_.size();
    }
    std::uint32_t link = dirty_.top();
    dirty_.pop();
    repair(link);
  }
  while (!dirty_.empty()) dirty_.pop();
}

void Sharing::repair(std::uint32_t index) {
  Group& group = groups_[index];
  double foreign = 0;
  double highest = 0;
  crossings_.tidy(index);
  for (const Crossings::Crossing& crossing : crossings_.across(index)) {
    if (crossing.members == 0) continue;
    double rate = rates_[crossing.group];
    foreign += crossing.weight * rate;
    highest = std::max(highest, rate);
  }
  if (group.weight == 0 && foreign <= links_[index].capacity * (1 + kSame))
    return rest(index, foreign);
  double level =
      group.weight == 0 ? 0 : std::max(0.0, (links_[index].capacity - foreign) / group.weight);
  if (highest > level * (1 + kSame)) {
    level = pull(index, level, foreign);
  } else {
    group.free = links_[index].capacity - foreign;
  }
  crossings_.watch(index, true);
  set_rate(index, level);
}

// Takes over the flows that have more than its own: the highest first, as each one raises the
// level.
double Sharing::pull(std::uint32_t index, double level, double foreign) {
  Group& group = groups_[index];
  candidates_.clear();
  for (const Crossings::Crossing& crossing : crossings_.across(index)) {
    double rate = rates_[crossing.group];
    if (crossing.members == 0) continue;
    if (!(rate > level * (1 + kSame))) continue;
    candidates_.push_back({rate, static_cast<double>(crossing.weight), crossing.group});
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.rate != b.rate ? a.rate > b.rate : a.group < b.group;
  });
  double weight = group.weight;
  std::size_t pulled = 0;
  for (const Candidate& candidate : candidates_) {
    if (!(candidate.rate > level * (1 + kSame))) break;
    weight += candidate.weight;
    foreign -= candidate.weight * candidate.rate;
    level = std::max(0.0, (links_[index].capacity - foreign) / weight);
    ++pulled;
  }
  for (std::size_t i = 0; i < pulled; ++i) {
    std::uint32_t from = candidates_[i].group;
    const Crossings::Crossing& crossing = *crossings_.find(index, from);
    moving_.clear();
    if (crossing.members == 1) {
      moving_.push_back(crossing.flows);
    } else {
      for (FlowId member : groups_[from].members.members()) {
        if (!crosses(flows_[member], index)) continue;
        moving_.push_back(member);
        if (moving_.size() == crossing.members) break;
      }
    }
    for (FlowId flow : moving_) {
      regroup(flow, index);
      // Other links on its way now have another group across them.
      for (ChannelId hop : route(flows_[flow])) {
        if (hop.value != index) mark(hop.value, std::max(level, rates_[hop.value]));
      }
    }
  }
  foreign = 0;
  for (const Crossings::Crossing& crossing : crossings_.across(index)) {
    foreign += crossing.weight * rates_[crossing.group];
  }
  group.free = links_[index].capacity - foreign;
  return std::max(0.0, group.free / group.weight);
}

// It limits nobody. The room that is left is given to the groups across it as thresholds: while
// none is passed, the link need not be looked at.
void Sharing::rest(std::uint32_t index, double foreign) {
  Group& group = groups_[index];
  crossings_.watch(index, false);
  if (rates_[index] != 0) {
    rates_[index] = 0;
    group.clock.set_rate(0, now_);
  }
  group.clock.rewind();
  group.free = links_[index].capacity - foreign;
  double weight = 0;
  for (const Crossings::Crossing& crossing : crossings_.across(index)) weight += crossing.weight;
  double room = std::max(0.0, group.free) / weight;
  for (const Crossings::Crossing& crossing : crossings_.across(index)) {
    if (crossing.members == 0) continue;
    crossings_.set_threshold(crossing, rates_[crossing.group] + room);
  }
}

void Sharing::set_rate(std::uint32_t index, double rate) {
  Group& group = groups_[index];
  if (std::abs(rate - rates_[index]) * group.weight <= kRounding * links_[index].capacity) return;
  rates_[index] = rate;
  group.clock.set_rate(rate, now_);
  note_change(index);
  notify(index);
}

void Sharing::notify(std::uint32_t group) {
  double rate = rates_[group];
  for (const Crossings::Reach& reach : crossings_.watched(group)) {
    mark(reach.link, rates_[reach.link]);
  }
  if (rate <= crossings_.least_threshold(group)) return;
  float least = std::numeric_limits<float>::infinity();
  for (const Crossings::Reach& reach : crossings_.unwatched(group)) {
    if (rate > reach.threshold) {
      mark(reach.link, rate);
    } else {
      least = std::min(least, reach.threshold);
    }
  }
  crossings_.set_least_threshold(group, least);
}

void Sharing::find_end(std::uint32_t index) {
  Group& group = groups_[index];
  if (group.members.empty()) {
    // A flow may have become alone here in the meantime; its end is its own.
    if (index >= channels_ || alone_[index].flow == kNone) ends_.erase(index);
    return;
  }
  if (group.clock.far()) {
    group.members.subtract(group.clock.high(), group.clock.low());
    group.clock.rewind();
  }
  Time end = group.clock.end(group.members.top_key());
  if (end == Time::max()) {
    ends_.erase(index);
  } else {
    ends_.set(index, end);
  }
}

}  // namespace syncline
