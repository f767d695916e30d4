// Repetita's .graph (Gay, Schaus, Vissicchio: "REPETITA", 2017): bw in kbit/s; the unit of delay
// differs from file to file and stands nowhere.
#include <fmt/format.h>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr std::size_t kMost = 10'000'000;

std::size_t read_heading(const TextSource& source, LineCursor& lines, std::string_view name) {
  if (!lines.next()) throw source.error({}, name, "the file ends before this section");
  if (lines.fields()[0].text != name)
    throw source.error(
        lines.fields()[0].place, name,
        fmt::format("\"{}\" where {} and a count are needed", lines.fields()[0].text, name));
  return to_count(source, lines.field(1, name), name, kMost);
}

void next_row(const TextSource& source, LineCursor& lines, std::string_view section,
              std::size_t row, std::size_t rows) {
  if (!lines.next())
    throw source.error({}, section, fmt::format("the file ends after {} of {} rows", row, rows));
}

}  // namespace

ImportedTopology read_repetita(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "Repetita"};
  LineCursor lines(source, "");
  NodeIndex index(source, topology);
  const std::size_t nodes = read_heading(source, lines, "NODES");
  if (!lines.next()) throw source.error({}, "NODES", "the line with the columns is missing");
  bool all_zero = true;
  for (std::size_t i = 0; i < nodes; ++i) {
    next_row(source, lines, "NODES", i, nodes);
    const Token& label = lines.field(0, "label");
    ImportedNode& node = index.add(label.text, label.place, "label");
    node.label = label.text;
    node.at = to_geo_point(source, lines.field(2, "y"), lines.field(1, "x"));
    all_zero = all_zero && node.at->latitude == 0 && node.at->longitude == 0;
  }
  if (all_zero && nodes > 0) {
    topology.warn("coordinates", "are all 0 and are not used", topology.nodes[0].line);
    for (ImportedNode& node : topology.nodes) node.at.reset();
  }
  const std::size_t edges = read_heading(source, lines, "EDGES");
  if (!lines.next()) throw source.error({}, "EDGES", "the line with the columns is missing");
  for (std::size_t i = 0; i < edges; ++i) {
    next_row(source, lines, "EDGES", i, edges);
    const auto end = [&](std::size_t column, std::string_view name) {
      const Token& token = lines.field(column, name);
      const std::size_t node = to_count(source, token, name, kMost);
      if (node >= nodes)
        throw source.error(token.place, name,
                           fmt::format("{} is not a node; there are 0 to {}", node, nodes - 1));
      return static_cast<std::uint32_t>(node);
    };
    ImportedLink link;
    link.name = lines.field(0, "label").text;
    link.a = end(1, "src");
    link.b = end(2, "dest");
    link.directed = true;
    link.bandwidth = BitRate::bits_per_s(
        1e3 * to_number(source, lines.field(4, "bw"), "bw", Sign::NOT_NEGATIVE));
    link.latency_number = to_number(source, lines.field(5, "delay"), "delay", Sign::NOT_NEGATIVE);
    link.line = lines.line();
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
