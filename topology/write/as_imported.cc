#include <utility>

#include "topology/write/writers.h"

namespace syncline {

ImportedTopology as_imported(const Topology& topology) {
  ImportedTopology imported;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const Node& node = topology.node(NodeId{i});
    ImportedNode& made = imported.nodes.emplace_back();
    made.id = made.label = node.name;
    made.host = node.host;
    made.cluster = node.cluster;
    made.at = node.at;
  }
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link(LinkId{i});
    ImportedLink record;
    record.name = link.name;
    record.a = link.a.value;
    record.b = link.b.value;
    record.shared = link.shared;
    record.bandwidth = link.capacity[0];
    record.latency_s = link.latency_s[0];
    record.directed =
        link.capacity[0] != link.capacity[1] || link.latency_s[0] != link.latency_s[1];
    imported.links.push_back(record);
    if (!record.directed) continue;
    std::swap(record.a, record.b);
    record.bandwidth = link.capacity[1];
    record.latency_s = link.latency_s[1];
    imported.links.push_back(std::move(record));
  }
  return imported;
}

}  // namespace syncline
