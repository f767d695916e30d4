// Which groups of flows cross which links, and with how much weight. A group is named by the link
// that is its bottleneck, so links and groups share one set of indexes. A group does not cross its
// own link: what stands here is foreign to the link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syncline {

class Crossings {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // Kept small: a million transfers that start at once have a million of each.

  // A link's view of a group that crosses it.
  struct Crossing {
    std::uint32_t group;
    std::uint32_t weight;  // sum of its members' that cross the link
    std::uint32_t
        members;  // how many these are; 0: it crosses no more, and this will be cleared away
    std::uint32_t flows;  // the exclusive or of their ids: with one member, that member
    std::uint32_t place;  // in the group's reach
  };
  // A group's view of a link that it crosses.
  struct Reach {
    float threshold;  // no need to look at the link while the group's rate is not above
    std::uint32_t link;
    std::uint32_t place;  // in the link's crossings
  };

  void grow(std::size_t links) { nodes_.resize(links); }
  // Room for as many groups across a link, and as many links across which a group goes.
  void reserve_across(std::uint32_t link, std::size_t groups);
  void reserve_reach(std::uint32_t group, std::size_t links) { nodes_[group].reach.reserve(links); }

  std::span<const Crossing> across(std::uint32_t link) const { return nodes_[link].across; }
  // Null if it does not cross.
  const Crossing* find(std::uint32_t link, std::uint32_t group) const;
  // The links of a group: those that are watched come first.
  std::span<const Reach> watched(std::uint32_t group) const {
    return std::span(nodes_[group].reach).first(nodes_[group].watched);
  }
  std::span<const Reach> unwatched(std::uint32_t group) const {
    return std::span(nodes_[group].reach).subspan(nodes_[group].watched);
  }

  void add(std::uint32_t link, std::uint32_t group, std::uint32_t weight, std::uint32_t flow);
  void remove(std::uint32_t link, std::uint32_t group, std::uint32_t weight, std::uint32_t flow);
  // All of a group that has no members any more.
  void remove_all(std::uint32_t group);
  // Clears away what crosses the link no more, where it is much; who goes through all that is
  // across() calls it before.
  void tidy(std::uint32_t link) {
    if (nodes_[link].gone * 2 > nodes_[link].across.size()) clear_away(nodes_[link]);
  }

  // A watched link hears of every change of rate of the groups across it.
  void watch(std::uint32_t link, bool watched);
  bool is_watched(std::uint32_t link) const { return nodes_[link].is_watched; }

  // Of an unwatched link.
  void set_threshold(const Crossing& crossing, double threshold);
  // No threshold of the group is lower.
  float least_threshold(std::uint32_t group) const { return nodes_[group].least_threshold; }
  void set_least_threshold(std::uint32_t group, float threshold) {
    nodes_[group].least_threshold = threshold;
  }

 private:
  struct Node {
    // As a link:
    std::vector<Crossing> across;
    std::vector<std::uint32_t> index;  // where many cross: a hash table of 1 + place in `across`
    std::uint32_t gone = 0;            // of `across`
    bool is_watched = false;
    // As a group:
    std::vector<Reach> reach;
    std::uint32_t watched = 0;
    float least_threshold = 0;
  };

  void clear_away(Node& link);
  std::uint32_t place_of(const Node& link, std::uint32_t group) const;
  void swap_reach(Node& group, std::uint32_t a, std::uint32_t b);
  void move_to_watched(Node& group, std::uint32_t place);
  void move_from_watched(Node& group, std::uint32_t place);

  static std::size_t slot_of(const Node& link, std::uint32_t group);
  static std::size_t indexed_slot(const Node& link, std::uint32_t group);
  void index_new(Node& link);
  void build_index(Node& link, std::size_t groups);

  std::vector<Node> nodes_;
};

}  // namespace syncline
