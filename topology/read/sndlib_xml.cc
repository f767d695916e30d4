// SNDlib's XML format for networks (http://sndlib.zib.de/network).
#include <cstring>

#include "topology/read/readers.h"
#include "topology/read/sndlib.h"
#include "topology/read/xml.h"
#include "topology/text.h"

namespace syncline {

ImportedTopology read_sndlib_xml(const TextSource& source) {
  const pugi::xml_document document = parse_xml(source);
  const pugi::xml_node root = document.document_element();
  const pugi::xml_node structure = root.child("networkStructure");
  if (!structure)
    throw source.error(place_of(source, root), "network",
                       "the element networkStructure is missing");
  ImportedTopology topology{.file = source.name(), .format = "SNDlib XML"};
  const std::string unit(trim(root.child("meta").child_value("unit")));
  NodeIndex index(source, topology);
  const pugi::xml_node nodes = structure.child("nodes");
  const bool degrees = std::strcmp(nodes.attribute("coordinatesType").as_string("geographical"),
                                   "geographical") == 0;
  for (const pugi::xml_node element : nodes.children("node")) {
    const Token id = require_attribute(source, element, "id");
    ImportedNode& node = index.add(id.text, id.place, "node id");
    node.label = id.text;
    const pugi::xml_node point = element.child("coordinates");
    if (!point || !degrees) continue;
    node.at = to_geo_point(source, require_child_text(source, point, "y"),
                           require_child_text(source, point, "x"));
  }
  for (const pugi::xml_node element : structure.child("links").children("link")) {
    const Token from = require_child_text(source, element, "source");
    const Token to = require_child_text(source, element, "target");
    ImportedLink link;
    const Token id = require_attribute(source, element, "id");
    link.name = id.text;
    link.line = id.place.line;
    link.a = index.find(from.text, from.place, "source");
    link.b = index.find(to.text, to.place, "target");
    // Modules are what could be bought, not what is there.
    if (const pugi::xml_node installed = element.child("preInstalledModule"))
      set_sndlib_capacity(source, require_child_text(source, installed, "capacity"), unit, link);
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
