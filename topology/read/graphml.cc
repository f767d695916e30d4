// GraphML (http://graphml.graphdrawing.org), with the attributes of the Topology Zoo.
#include <fmt/format.h>

#include <map>

#include "topology/read/readers.h"
#include "topology/read/xml.h"
#include "topology/text.h"

namespace syncline {
namespace {

struct Key {
  std::string name;
  std::string of;  // "node", "edge", "graph", "all"
  pugi::xml_node default_value;
};

std::vector<Attribute> read_data(const TextSource& source, const pugi::xml_node& element,
                                 const std::map<std::string, Key>& keys) {
  std::vector<Attribute> attributes;
  for (const pugi::xml_node data : element.children("data")) {
    const Token id = require_attribute(source, data, "key");
    const auto key = keys.find(std::string(id.text));
    if (key == keys.end())
      throw source.error(id.place, "data", fmt::format("there is no key \"{}\"", id.text));
    attributes.push_back(
        {key->second.name, {Token::Kind::WORD, trim(data.child_value()), place_of(source, data)}});
  }
  // What is written comes first, so a default holds only where nothing is.
  for (const auto& [id, key] : keys) {
    if (key.default_value && (key.of == element.name() || key.of == "all"))
      attributes.push_back({key.name,
                            {Token::Kind::WORD, trim(key.default_value.child_value()),
                             place_of(source, key.default_value)}});
  }
  return attributes;
}

}  // namespace

ImportedTopology read_graphml(const TextSource& source) {
  const pugi::xml_document document = parse_xml(source);
  const pugi::xml_node root = document.document_element();
  ImportedTopology topology{.file = source.name(), .format = "GraphML"};
  std::map<std::string, Key> keys;
  for (const pugi::xml_node key : root.children("key")) {
    const Token id = require_attribute(source, key, "id");
    const char* const name = key.attribute("attr.name").as_string();
    if (!keys.try_emplace(std::string(id.text),
                          Key{name, key.attribute("for").as_string("all"), key.child("default")})
             .second)
      throw source.error(id.place, "key", fmt::format("\"{}\" is there already", id.text));
  }
  const pugi::xml_node graph = root.child("graph");
  if (!graph) throw source.error(place_of(source, root), "graphml", "the element graph is missing");
  if (const pugi::xml_node second = graph.next_sibling("graph"))
    throw source.error(place_of(source, second), "graph", "a file with one graph is needed");
  const Token direction = require_attribute(source, graph, "edgedefault");
  if (direction.text != "directed" && direction.text != "undirected")
    throw source.error(direction.place, "edgedefault",
                       fmt::format("\"{}\" is neither directed nor undirected", direction.text));

  NodeIndex index(source, topology);
  for (const pugi::xml_node element : graph.children("node")) {
    const Token id = require_attribute(source, element, "id");
    if (const pugi::xml_node inner = element.child("graph"))
      throw source.error(place_of(source, inner), "node", "a graph inside a node is not read");
    apply_attributes(source, read_data(source, element, keys),
                     index.add(id.text, id.place, "node"));
  }
  if (const pugi::xml_node many = graph.child("hyperedge"))
    throw source.error(place_of(source, many), "hyperedge", "is not read; write edges");
  for (const pugi::xml_node element : graph.children("edge")) {
    const Token from = require_attribute(source, element, "source");
    const Token to = require_attribute(source, element, "target");
    ImportedLink link;
    link.a = index.find(from.text, from.place, "edge source");
    link.b = index.find(to.text, to.place, "edge target");
    link.line = from.place.line;
    link.directed =
        element.attribute("directed")
            ? to_flag(source, require_attribute(source, element, "directed"), "directed")
            : direction.text == "directed";
    apply_attributes(source, read_data(source, element, keys), link);
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
