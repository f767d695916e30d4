// Rocketfuel's router maps (.cch): "uid @place [+] [bb] (neighbours) [&externals] -> <uid> ...
// {-external} ... =name[!] rn". Links that leave the map ({-uid}) are no part of it.
#include <fmt/format.h>

#include "topology/read/readers.h"

namespace syncline {

ImportedTopology read_rocketfuel(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "Rocketfuel"};
  NodeIndex index(source, topology);
  LineCursor lines(source, "#");
  struct Neighbour {
    std::uint32_t from;
    Token to;
  };
  std::vector<Neighbour> neighbours;  // may stand before their own line
  while (lines.next()) {
    const Token& id = lines.field(0, "uid");
    if (id.text.starts_with('-')) continue;  // a router outside of the map
    const Token& place = lines.field(1, "place");
    if (!place.text.starts_with('@'))
      throw source.error(place.place, "place", fmt::format("\"{}\" lacks its @", place.text));
    ImportedNode& node = index.add(id.text, id.place, "uid");
    node.label = place.text.substr(1);
    node.host = false;
    bool arrow = false;
    for (const Token& token : lines.fields()) {
      arrow = arrow || token.text == "->";
      if (!token.text.starts_with('<')) continue;
      if (token.text.size() < 3 || !token.text.ends_with('>'))
        throw source.error(token.place, "neighbour",
                           fmt::format("\"{}\" is not a uid in < and >", token.text));
      Token to = token;
      to.text = token.text.substr(1, token.text.size() - 2);
      neighbours.push_back({static_cast<std::uint32_t>(topology.nodes.size() - 1), to});
    }
    if (!arrow) throw source.error({lines.line(), 0}, "neighbours", "the \"->\" is missing");
  }
  // Each side names the other: two directed records a link.
  for (const Neighbour& neighbour : neighbours) {
    ImportedLink link;
    link.a = neighbour.from;
    link.b = index.find(neighbour.to.text, neighbour.to.place, "neighbour");
    link.directed = true;
    link.line = neighbour.to.place.line;
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
