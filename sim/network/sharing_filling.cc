// Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2) for the instants at which many
// flows join at once: raises the rates of all flows together until a link is full, holds its flows
// there, and goes on with the rest.
#include <algorithm>
#include <limits>

#include "sim/network/sharing.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-12;  // relative: levels that count as equal

struct Level {
  double left = 0;         // capacity not given away
  double open_weight = 0;  // of flows that are not held yet
  std::uint32_t open = 0;
  std::uint32_t first = 0;  // of its flows in the list by link
  double rate = -1;         // at which it holds flows

  double level() const { return left / open_weight; }
};

struct Sizes {
  std::uint32_t members = 0;
  std::uint32_t across = 0;
  std::uint32_t reach = 0;
};

}  // namespace

void Sharing::fill(std::span<const FlowId> joins) {
  std::vector<FlowId> all;
  if (members_ > 0) {
    all.assign(joins.begin(), joins.end());
    for (const Group& group : groups_) {
      all.insert(all.end(), group.members.members().begin(), group.members.members().end());
    }
  }
  const std::span<const FlowId> flows = members_ > 0 ? all : joins;

  std::vector<Level> levels(links_.size());
  std::vector<std::uint32_t> groups(flows.size(), kNone);
  std::vector<Sizes> sizes(links_.size());
  {
    std::vector<std::uint32_t> by_link;  // places in `flows`
    for (FlowId id : flows) {
      for (ChannelId hop : route(flows_[id])) {
        levels[hop.value].open_weight += flows_[id].weight;
        ++levels[hop.value].open;
      }
    }
    std::uint32_t total = 0;
    IndexedHeap<double> next;
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      Level& level = levels[link];
      level.left = links_[link].capacity;
      level.first = total;
      total += level.open;
      if (level.open > 0 && level.left != kInfinity) next.push(link, level.level());
    }
    by_link.resize(total);
    std::vector<std::uint32_t> filled(links_.size());
    for (std::uint32_t place = 0; place < flows.size(); ++place) {
      for (ChannelId hop : route(flows_[flows[place]])) {
        by_link[levels[hop.value].first + filled[hop.value]++] = place;
      }
    }
    while (!next.empty()) {
      std::uint32_t link = next.top();
      Level& here = levels[link];
      if (here.open == 0) {
        next.pop();
        continue;
      }
      double rate = std::max(0.0, here.level());
      // Levels only rise while others are held below them: a key is brought up to date when it
      // comes to the top.
      if (rate > next.top_key()) {
        next.set(link, rate);
        continue;
      }
      next.pop();
      here.rate = rate;
      for (std::uint32_t i = here.first; i < here.first + filled[link]; ++i) {
        std::uint32_t place = by_link[i];
        if (groups[place] != kNone) continue;
        const Flow& flow = flows_[flows[place]];
        // Of links that are full at the same level, the first on the route.
        std::uint32_t group = link;
        for (ChannelId hop : route(flow)) {
          if (hop.value == link || levels[hop.value].level() <= rate * (1 + kSame)) {
            group = hop.value;
            break;
          }
        }
        groups[place] = group;
        levels[group].rate = std::max(levels[group].rate, rate);
        for (ChannelId hop : route(flow)) {
          Level& level = levels[hop.value];
          level.left -= rate * flow.weight;
          level.open_weight -= flow.weight;
          --level.open;
        }
      }
    }

    // How much will cross what.
    std::vector<std::uint32_t> seen_at(links_.size(), kNone);
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      for (std::uint32_t i = levels[link].first; i < levels[link].first + filled[link]; ++i) {
        std::uint32_t group = groups[by_link[i]];
        if (group == kNone) continue;
        if (group == link) {
          ++sizes[link].members;
        } else if (seen_at[group] != link) {
          seen_at[group] = link;
          ++sizes[link].across;
          ++sizes[group].reach;
        }
      }
    }
  }
  // Room for all of it at once: with a million flows, growing would cost half of the time.
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    groups_[link].members.reserve(sizes[link].members);
    crossings_.reserve_across(link, sizes[link].across);
    crossings_.reserve_reach(link, sizes[link].reach);
  }

  for (std::size_t place = 0; place < flows.size(); ++place) {
    FlowId id = flows[place];
    Flow& flow = flows_[id];
    if (flow.state == State::MEMBER) {
      if (flow.member.group != groups[place]) regroup(id, groups[place]);
    } else if (groups[place] == kNone) {
      flow.state = State::UNLIMITED;
      unlimited_.push_back(id);
    } else {
      attach(id, groups[place], flow.remaining / flow.weight);
    }
  }
  // Each link is looked at once more, in order of level: rates become exact, thresholds are set.
  while (!dirty_.empty()) dirty_.pop();
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    bool limits = groups_[link].weight > 0;
    if (limits) {
      crossings_.watch(link, true);
      rates_[link] = levels[link].rate;
      groups_[link].clock.set_rate(rates_[link], now_);
      note_change(link);
    }
    if (links_[link].users > 0) mark(link, limits ? rates_[link] : kInfinity);
  }
}

}  // namespace syncline
