// Inet 3.0's output as ns-3's InetTopologyReader takes it: counts of nodes and links; id, x and y
// of each node on a plane; source, destination and weight of each link. A weight is no latency.
#include <fmt/format.h>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr std::size_t kMost = 10'000'000;

}  // namespace

ImportedTopology read_inet(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "Inet"};
  LineCursor lines(source, "");
  if (!lines.next()) throw source.error({}, "nodes", "the file is empty");
  const std::size_t nodes = to_count(source, lines.field(0, "nodes"), "nodes", kMost);
  const std::size_t links = to_count(source, lines.field(1, "links"), "links", kMost);
  NodeIndex index(source, topology);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (!lines.next())
      throw source.error({}, "nodes", fmt::format("the file ends after {} of {} nodes", i, nodes));
    const Token& id = lines.field(0, "node id");
    index.add(id.text, id.place, "node id").label = id.text;
    to_number(source, lines.field(1, "x"), "x");
    to_number(source, lines.field(2, "y"), "y");
  }
  for (std::size_t i = 0; i < links; ++i) {
    if (!lines.next())
      throw source.error({}, "links", fmt::format("the file ends after {} of {} links", i, links));
    ImportedLink link;
    const Token& from = lines.field(0, "source");
    const Token& to = lines.field(1, "destination");
    link.a = index.find(from.text, from.place, "source");
    link.b = index.find(to.text, to.place, "destination");
    to_number(source, lines.field(2, "weight"), "weight", Sign::NOT_NEGATIVE);
    link.line = lines.line();
    topology.links.push_back(std::move(link));
  }
  if (lines.next())
    throw source.error({lines.line(), 0}, "links",
                       fmt::format("more lines than the {} links of the first line", links));
  return topology;
}

}  // namespace syncline
