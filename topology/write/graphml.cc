#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "topology/write/attributes.h"
#include "topology/write/writers.h"

namespace syncline {
namespace {

// Keys are declared before what uses them: the graph is filled, and each new name adds one.
class Keys {
 public:
  Keys(pugi::xml_node root, pugi::xml_node graph) : root_(root), graph_(graph) {}

  void write(pugi::xml_node element, const WrittenAttributes& attributes) {
    for (const auto& [name, value] : attributes) {
      if (value.empty()) continue;
      pugi::xml_node data = element.append_child("data");
      data.append_attribute("key") = id_of(element.name(), name).c_str();
      data.text() = value.c_str();
    }
  }

 private:
  const std::string& id_of(const std::string& of, const std::string& name) {
    const auto [known, is_new] = ids_.try_emplace(of + " " + name, of + "_" + name);
    if (is_new) {
      pugi::xml_node key = root_.insert_child_before("key", graph_);
      key.append_attribute("id") = known->second.c_str();
      key.append_attribute("for") = of.c_str();
      key.append_attribute("attr.name") = name.c_str();
      const bool place = name == "latitude" || name == "longitude";
      key.append_attribute("attr.type") = place || name == "length_m" ? "double" : "string";
    }
    return known->second;
  }

  pugi::xml_node root_, graph_;
  std::map<std::string, std::string> ids_;
};

}  // namespace

std::string write_graphml(const ImportedTopology& topology) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  pugi::xml_node root = document.append_child("graphml");
  root.append_attribute("xmlns") = "http://graphml.graphdrawing.org/xmlns";
  pugi::xml_node graph = root.append_child("graph");
  graph.append_attribute("edgedefault") = "undirected";
  Keys keys(root, graph);
  for (const ImportedNode& node : topology.nodes) {
    pugi::xml_node element = graph.append_child("node");
    element.append_attribute("id") = node.id.c_str();
    keys.write(element, attributes_of(node));
  }
  for (const ImportedLink& link : topology.links) {
    pugi::xml_node element = graph.append_child("edge");
    element.append_attribute("source") = topology.nodes[link.a].id.c_str();
    element.append_attribute("target") = topology.nodes[link.b].id.c_str();
    if (link.directed) element.append_attribute("directed") = "true";
    keys.write(element, attributes_of(link));
  }
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace syncline
