#include "sim/network/crossings.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "sim/network/release.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr std::size_t kPlainSearch = 8;  // so many are found by looking at each

}  // namespace

std::size_t Crossings::slot_of(const Node& link, std::uint32_t group) {
  int bits = std::countr_zero(link.index.size());
  return static_cast<std::uint32_t>(group * 0x9E3779B1u) >> (32 - bits);
}

// Where the table has the group, or where it would be.
std::size_t Crossings::indexed_slot(const Node& link, std::uint32_t group) {
  std::size_t slot = slot_of(link, group);
  while (link.index[slot] != 0 && link.across[link.index[slot] - 1].group != group) {
    slot = (slot + 1) & (link.index.size() - 1);
  }
  return slot;
}

std::uint32_t Crossings::place_of(const Node& link, std::uint32_t group) const {
  if (!link.index.empty()) return link.index[indexed_slot(link, group)] - 1;  // 0 is none
  for (std::uint32_t place = 0; place < link.across.size(); ++place) {
    if (link.across[place].group == group) return place;
  }
  return kNone;
}

const Crossings::Crossing* Crossings::find(std::uint32_t link, std::uint32_t group) const {
  std::uint32_t place = place_of(nodes_[link], group);
  return place == kNone || nodes_[link].across[place].members == 0 ? nullptr
                                                                   : &nodes_[link].across[place];
}

// The last of `across` is not in the table yet.
void Crossings::index_new(Node& link) {
  if (link.across.size() * 2 <= link.index.size()) {
    std::uint32_t group = link.across.back().group;
    link.index[indexed_slot(link, group)] = static_cast<std::uint32_t>(link.across.size());
    return;
  }
  if (link.across.size() > kPlainSearch) build_index(link, link.across.size());
}

void Crossings::build_index(Node& link, std::size_t groups) {
  link.index.assign(std::bit_ceil(groups * 2), 0);
  for (std::uint32_t place = 0; place < link.across.size(); ++place) {
    link.index[indexed_slot(link, link.across[place].group)] = place + 1;
  }
}

void Crossings::reserve_across(std::uint32_t link, std::size_t groups) {
  Node& at = nodes_[link];
  at.across.reserve(groups);
  if (groups > kPlainSearch && groups * 2 > at.index.size()) build_index(at, groups);
}

void Crossings::swap_reach(Node& group, std::uint32_t a, std::uint32_t b) {
  if (a == b) return;
  std::swap(group.reach[a], group.reach[b]);
  for (std::uint32_t moved : {a, b}) {
    const Reach& reach = group.reach[moved];
    nodes_[reach.link].across[reach.place].place = moved;
  }
}

void Crossings::move_to_watched(Node& group, std::uint32_t place) {
  swap_reach(group, place, group.watched++);
}

void Crossings::move_from_watched(Node& group, std::uint32_t place) {
  swap_reach(group, place, --group.watched);
}

void Crossings::add(std::uint32_t link, std::uint32_t group, std::uint32_t weight,
                    std::uint32_t flow) {
  Node& at = nodes_[link];
  std::uint32_t place = place_of(at, group);
  if (place != kNone && at.across[place].members > 0) {
    Crossing& crossing = at.across[place];
    SYNCLINE_CHECK(crossing.weight <= 0xFFFFFFFF - weight, "at most 4294967295 streams");
    crossing.weight += weight;
    ++crossing.members;
    crossing.flows ^= flow;
    return;
  }
  Node& of = nodes_[group];
  auto reach_place = static_cast<std::uint32_t>(of.reach.size());
  if (place == kNone) {
    place = static_cast<std::uint32_t>(at.across.size());
    at.across.push_back({group, weight, 1, flow, reach_place});
    index_new(at);
  } else {
    at.across[place] = {group, weight, 1, flow, reach_place};
    --at.gone;
  }
  of.reach.push_back({std::numeric_limits<float>::infinity(), link, place});
  if (at.is_watched) move_to_watched(of, reach_place);
}

void Crossings::remove(std::uint32_t link, std::uint32_t group, std::uint32_t weight,
                       std::uint32_t flow) {
  Node& at = nodes_[link];
  std::uint32_t place = place_of(at, group);
  SYNCLINE_CHECK(place != kNone && at.across[place].members > 0, "a group that crosses the link");
  Crossing& crossing = at.across[place];
  crossing.weight -= weight;
  crossing.flows ^= flow;
  if (--crossing.members > 0) return;
  ++at.gone;
  Node& of = nodes_[group];
  if (at.is_watched) move_from_watched(of, crossing.place);
  // It is behind the watched ones now.
  swap_reach(of, crossing.place, static_cast<std::uint32_t>(of.reach.size()) - 1);
  of.reach.pop_back();
}

void Crossings::remove_all(std::uint32_t group) {
  Node& of = nodes_[group];
  for (const Reach& reach : of.reach) {
    Node& at = nodes_[reach.link];
    Crossing& crossing = at.across[reach.place];
    crossing.weight = crossing.members = crossing.flows = 0;
    ++at.gone;
  }
  of.reach.clear();
  of.watched = 0;
  release_if_large(of.reach);
}

void Crossings::clear_away(Node& link) {
  if (link.gone == link.across.size()) {
    link.across.clear();
    link.index.clear();
    if (release_if_large(link.across)) std::vector<std::uint32_t>().swap(link.index);
    link.gone = 0;
    return;
  }
  std::uint32_t kept = 0;
  for (const Crossing& crossing : link.across) {
    if (crossing.members == 0) continue;
    nodes_[crossing.group].reach[crossing.place].place = kept;
    link.across[kept++] = crossing;
  }
  link.across.resize(kept);
  link.gone = 0;
  if (kept <= kPlainSearch) {
    link.index.clear();
  } else {
    build_index(link, kept);
  }
}

void Crossings::watch(std::uint32_t link, bool watched) {
  Node& at = nodes_[link];
  if (at.is_watched == watched) return;
  at.is_watched = watched;
  for (const Crossing& crossing : at.across) {
    if (crossing.members == 0) continue;
    if (watched) {
      move_to_watched(nodes_[crossing.group], crossing.place);
    } else {
      move_from_watched(nodes_[crossing.group], crossing.place);
    }
  }
}

void Crossings::set_threshold(const Crossing& crossing, double threshold) {
  Node& of = nodes_[crossing.group];
  // Rounded down.
  float rounded = static_cast<float>(threshold * (1 - 0x1p-23));
  of.reach[crossing.place].threshold = rounded;
  of.least_threshold = std::min(of.least_threshold, rounded);
}

}  // namespace syncline
