// What a Topology holds. Private to topology/: the only header that shows Boost.Graph.
#pragma once

#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "topology/topology.h"

namespace syncline {

// Lets maps keyed by std::string be asked with a std::string_view, without a copy.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
template <class Value>
using NameMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

struct Topology::Graph {
  struct Vertex {
    Node node;
    std::vector<BundleId> bundles;  // incident, in order of addition
  };
  // A vertex's index is its NodeId. Edges are bundles, undirected: what differs by direction is
  // looked up by BundleId.
  using Adjacency =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, Vertex, BundleId>;

  struct Channel {
    BundleId bundle;
    Direction direction = Direction::FORWARD;
  };

  // An id that is not of this topology is an assertion failure.
  const Vertex& vertex(NodeId id) const;
  Link& link(LinkId id);

  // The bundle of a new link between a and b, made if it is not there.
  BundleId bundle_for(NodeId a, NodeId b, bool shared);

  Adjacency adjacency;
  std::vector<Link> links;
  std::vector<BundleId> bundle_of_link;
  std::vector<Bundle> bundles;
  std::vector<Channel> channels;
  NameMap<NodeId> node_by_name;
  NameMap<LinkId> link_by_name;
  std::array<std::unordered_map<std::uint64_t, BundleId>, 2>
      bundle_by_ends;                 // [shared], a << 32 | b
  std::vector<std::string> clusters;  // in order of first appearance
  NameMap<std::vector<NodeId>> hosts_by_cluster;
  std::shared_ptr<const RoutePlan> plan;  // may be none
  // Counts the changes, so that what is derived from the graph (a Router's trees) knows when it is
  // out of date.
  std::uint64_t version = 0;
};

}  // namespace syncline
