#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "topology/input_error.h"
#include "topology/read/read.h"

namespace syncline {

std::vector<std::string> imported_node_names(const ImportedTopology& imported) {
  std::unordered_map<std::string, std::size_t> seen;
  for (const ImportedNode& node : imported.nodes) ++seen[node.label];
  std::vector<std::string> names;
  for (const ImportedNode& node : imported.nodes)
    names.push_back(!node.label.empty() && seen.at(node.label) == 1 ? node.label : "id:" + node.id);
  return names;
}

std::uint32_t find_imported_node(const ImportedTopology& imported, const std::string& name) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < imported.nodes.size(); ++i) {
    if ("id:" + imported.nodes[i].id == name) return i;
    if (imported.nodes[i].label == name) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    std::string list;
    for (const std::string& near : nearest_names(name, imported_node_names(imported)))
      list += (list.empty() ? "" : ", ") + near;
    throw InputError(
        fmt::format("{}: there is no node \"{}\"; nearest: {}", imported.file, name, list));
  }
  std::string list;
  for (const std::uint32_t i : found)
    list += fmt::format("{}\"id:{}\" (line {})", list.empty() ? "" : ", ", imported.nodes[i].id,
                        imported.nodes[i].line);
  throw InputError(fmt::format("{}: {} nodes are called \"{}\"; write one of {}", imported.file,
                               found.size(), name, list));
}

NodeId require_node(const Topology& topology, const ImportedTopology* imported,
                    const std::string& name) {
  if (const auto known = topology.find_node(name)) return *known;
  if (imported != nullptr) {
    const bool meant = std::any_of(
        imported->nodes.begin(), imported->nodes.end(),
        [&](const ImportedNode& node) { return node.label == name || "id:" + node.id == name; });
    if (meant)
      return topology.require_node(
          imported_node_names(*imported)[find_imported_node(*imported, name)]);
  }
  return topology.require_node(name);
}

}  // namespace syncline
