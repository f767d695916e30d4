// HPCC's topology.txt (github.com/alibaba-edu/High-Precision-Congestion-Control): a line with the
// counts of nodes, switches and links, the ids of the switches, then a line a link with its ends,
// rate, delay and error rate.
#include <fmt/format.h>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr std::size_t kMost = 10'000'000;
constexpr std::size_t kMostNodes = 1'000'000;  // they are made before a line of theirs is read

}  // namespace

ImportedTopology read_hpcc(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "HPCC topology"};
  LineCursor lines(source, "");
  if (!lines.next()) throw source.error({}, "nodes", "the file is empty");
  const std::size_t nodes = to_count(source, lines.field(0, "nodes"), "nodes", kMostNodes);
  const std::size_t switches = to_count(source, lines.field(1, "switches"), "switches", nodes);
  const std::size_t links = to_count(source, lines.field(2, "links"), "links", kMost);
  for (std::size_t i = 0; i < nodes; ++i) {
    ImportedNode& node = topology.nodes.emplace_back();
    node.id = node.label = std::to_string(i);
    node.line = 1;
  }
  const auto node_at = [&](const Token& token, std::string_view field) {
    const std::size_t node = to_count(source, token, field, kMost);
    if (node >= nodes)
      throw source.error(
          token.place, field,
          fmt::format("{} is not a node; the first line says {} nodes", node, nodes));
    return static_cast<std::uint32_t>(node);
  };
  for (std::size_t read = 0; read < switches;) {
    if (!lines.next()) throw source.error({}, "switches", "the file ends before their ids");
    for (const Token& token : lines.fields()) {
      if (read++ == switches)
        throw source.error(token.place, "switches",
                           fmt::format("more ids than the {} of the first line", switches));
      topology.nodes[node_at(token, "switches")].host = false;
    }
  }
  for (std::size_t i = 0; i < links; ++i) {
    if (!lines.next())
      throw source.error({}, "links", fmt::format("the file ends after {} of {} links", i, links));
    ImportedLink link;
    link.a = node_at(lines.field(0, "source"), "source");
    link.b = node_at(lines.field(1, "destination"), "destination");
    const auto place = [&](const Token& token, std::string_view field, const auto& parse) {
      try {
        return parse(token.text);
      } catch (const InputError& problem) {
        throw source.error(token.place, field, problem.what());
      }
    };
    link.bandwidth = place(lines.field(2, "rate"), "rate", parse_bit_rate);
    link.latency_s = place(lines.field(3, "delay"), "delay", [](std::string_view text) {
      return parse_quantity(text, Dimension::TIME);
    });
    to_number(source, lines.field(4, "error rate"), "error rate", Sign::NOT_NEGATIVE);
    link.line = lines.line();
    topology.links.push_back(std::move(link));
  }
  while (lines.next())
    topology.warn("further lines",
                  fmt::format("the first line says {} links; what follows them is not read", links),
                  lines.line());
  return topology;
}

}  // namespace syncline
