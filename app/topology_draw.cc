#include "app/topology_draw.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "app/network_file.h"
#include "report/output_file.h"
#include "report/topology_svg.h"
#include "topology/input_error.h"
#include "topology/read/complete.h"
#include "topology/read/text_source.h"

namespace syncline {
namespace {

using Ends = std::pair<std::string, std::string>;

// Of the busier direction, by the names of the ends.
std::map<Ends, double> read_loads(const std::string& folder) {
  const std::string path = folder + "/links.csv";
  if (!std::filesystem::is_regular_file(path))
    throw InputError(fmt::format(
        "--load {}: has no links.csv; name the folder of a run or of traffic --out", folder));
  const TextSource source = TextSource::load(path);
  CsvCursor rows(source);
  const auto from = rows.column({"from"}), to = rows.column({"to"});
  const auto load = rows.column({"mean_load"});
  if (!from || !to || !load)
    throw source.error({1, 0}, "header", "needs from, to and mean_load; this is no links.csv");
  std::map<Ends, double> loads;
  while (rows.next()) {
    const Ends ends =
        std::minmax(std::string(rows.field(*from).text), std::string(rows.field(*to).text));
    double& busiest = loads[ends];
    busiest =
        std::max(busiest, to_number(source, rows.field(*load), "mean_load", Sign::NOT_NEGATIVE));
  }
  return loads;
}

// Two directed records there and back are one line.
std::vector<DrawnLink> drawn_links(const CompletedLinks& completed,
                                   const std::vector<std::string>& names) {
  std::vector<DrawnLink> links;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> waiting;
  for (const CompletedLink& link : completed.links) {
    const ImportedLink& record = *link.record;
    if (record.directed) {
      std::vector<std::size_t>& twins = waiting[{record.b, record.a}];
      if (!twins.empty()) {
        std::optional<BitRate>& slower = links[twins.back()].bandwidth;
        if (slower && link.bandwidth) slower = std::min(*slower, *link.bandwidth);
        twins.pop_back();
        continue;
      }
      waiting[{record.a, record.b}].push_back(links.size());
    }
    links.push_back({record.a,
                     record.b,
                     record.name.empty() ? names[record.a] + "-" + names[record.b] : record.name,
                     link.bandwidth,
                     {}});
  }
  return links;
}

}  // namespace

void add_topology_draw_options(CLI::App& command, TopologyDrawOptions& options) {
  add_topology_file_options(command, options, "FILE");
  command.add_option("-o,--output", options.out, "File to write (default: stdout)")
      ->type_name("X.svg");
  command
      .add_option("--load", options.load,
                  "Colour links by their mean load in this folder of a run, or of traffic --out "
                  "(default: by bandwidth)")
      ->type_name("DIR");
}

int topology_draw(const TopologyDrawOptions& options) {
  ImportedTopology imported = read_map(options);
  const std::vector<std::string> names = imported_node_names(imported);
  const CompletedLinks completed = complete_links(imported, options.read_options());
  std::vector<DrawnNode> nodes;
  for (std::size_t i = 0; i < names.size(); ++i)
    nodes.push_back({names[i], imported.nodes[i].host, imported.nodes[i].at});
  std::vector<DrawnLink> links = drawn_links(completed, names);
  if (!options.load.empty()) {
    const std::map<Ends, double> loads = read_loads(options.load);
    std::size_t found = 0;
    for (DrawnLink& link : links) {
      const auto load = loads.find(std::minmax(names[link.a], names[link.b]));
      if (load == loads.end()) continue;
      link.load = load->second;
      ++found;
    }
    if (found == 0 && !links.empty())
      throw InputError(
          fmt::format("--load {}: has none of the links of {}", options.load, options.file));
  }
  const std::string title =
      fmt::format("{}: {} nodes, {} links", std::filesystem::path(options.file).filename().string(),
                  nodes.size(), links.size());
  const std::string svg = topology_svg(
      title, nodes, links, options.load.empty() ? LinkColour::BANDWIDTH : LinkColour::LOAD);
  if (options.out.empty()) {
    fmt::print("{}", svg);
  } else {
    publish_file(options.out, svg);
  }
  return 0;
}

}  // namespace syncline
