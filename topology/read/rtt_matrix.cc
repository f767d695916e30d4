// A matrix of round-trip times (github.com/uofa-rzhu3/NetLatency-Data): row i, column j is what i
// measured to j, in a unit that stands nowhere; 0 beside the diagonal is a missing measurement. One
// way is half of it. Where it has more columns than rows, the first ones are read.
#include <fmt/format.h>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr std::size_t kMostNodes = 4000;  // 16 million links

}  // namespace

ImportedTopology read_rtt_matrix(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "RTT matrix", .paths = true};
  std::size_t rows = 0;
  for (LineCursor lines(source, "#"); lines.next();) ++rows;
  LineCursor lines(source, "#");
  std::size_t columns = 0;
  for (std::size_t row = 0; lines.next(); ++row) {
    if (row == 0) {
      columns = lines.fields().size();
      if (rows > columns)
        throw source.error({lines.line(), 0}, "row",
                           fmt::format("{} columns for {} rows; a matrix of round-trip times has "
                                       "as many columns as rows",
                                       columns, rows));
      if (rows > kMostNodes)
        throw source.error({}, "rows", fmt::format("{}; at most {} are read", rows, kMostNodes));
      if (rows < columns)
        topology.warn(
            "further columns",
            fmt::format("{} columns for {} rows: the first {} are read", columns, rows, rows),
            lines.line());
      topology.links.reserve(rows * rows);
    }
    if (lines.fields().size() != columns)
      throw source.error(
          {lines.line(), 0}, "row",
          fmt::format("has {} values; the first row has {}", lines.fields().size(), columns));
    ImportedNode& node = topology.nodes.emplace_back();
    node.id = node.label = std::to_string(row);
    node.line = lines.line();
    for (std::size_t column = 0; column < rows; ++column) {
      const double rtt =
          to_number(source, lines.fields()[column], "round-trip time", Sign::NOT_NEGATIVE);
      ImportedLink link;
      link.a = static_cast<std::uint32_t>(row);
      link.b = static_cast<std::uint32_t>(column);
      link.directed = true;
      link.line = lines.line();
      if (rtt > 0) {
        link.latency_number = rtt / 2;
      } else if (row == column) {
        continue;
      } else {
        topology.warn("missing measurement",
                      fmt::format("{} to {} is 0: nothing was measured", row, column),
                      lines.line());
      }
      topology.links.push_back(std::move(link));
    }
  }
  topology.assumed.push_back("one way takes half of a round-trip time");
  return topology;
}

}  // namespace syncline
