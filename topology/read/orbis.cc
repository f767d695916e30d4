// Orbis' output as ns-3's OrbisTopologyReader takes it: two node ids a line, one line a link.
#include <unordered_set>

#include "topology/read/readers.h"

namespace syncline {

ImportedTopology read_orbis(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "Orbis"};
  NodeIndex index(source, topology);
  std::unordered_set<std::string_view> seen;
  LineCursor lines(source, "");
  const auto end = [&](const Token& id, std::string_view field) {
    to_count(source, id, field, 1'000'000'000'000);
    // A node is there as soon as a link names it.
    if (seen.insert(id.text).second) index.add(id.text, id.place, field).label = id.text;
    return index.find(id.text, id.place, field);
  };
  while (lines.next()) {
    if (lines.fields().size() > 2)
      throw source.error(lines.fields()[2].place, "link", "a line has two node ids");
    ImportedLink link;
    link.a = end(lines.field(0, "source"), "source");
    link.b = end(lines.field(1, "destination"), "destination");
    link.line = lines.line();
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
