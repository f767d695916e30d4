#include <algorithm>

#include "topology/write/attributes.h"
#include "topology/write/writers.h"

namespace syncline {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string list(const WrittenAttributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes)
    text += (text.empty() ? " [" : ", ") + name + "=" + quoted(value);
  return text.empty() ? "" : text + "]";
}

}  // namespace

std::string write_dot(const ImportedTopology& topology) {
  const bool directed = std::any_of(topology.links.begin(), topology.links.end(),
                                    [](const ImportedLink& link) { return link.directed; });
  std::string text = directed ? "digraph {\n" : "graph {\n";
  for (const ImportedNode& node : topology.nodes)
    text += "  " + quoted(node.id) + list(attributes_of(node)) + ";\n";
  for (const ImportedLink& link : topology.links) {
    WrittenAttributes attributes = attributes_of(link);
    if (directed && !link.directed) attributes.emplace_back("directed", "false");
    text += "  " + quoted(topology.nodes[link.a].id) + (directed ? " -> " : " -- ") +
            quoted(topology.nodes[link.b].id) + list(attributes) + ";\n";
  }
  return text + "}\n";
}

}  // namespace syncline
