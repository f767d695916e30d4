#include "app/topology_convert.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "app/network_file.h"
#include "report/output_file.h"
#include "scenarios/write_topology.h"
#include "topology/input_error.h"
#include "topology/read/complete.h"
#include "topology/write/writers.h"

namespace syncline {
namespace {

// What the flags complete is written down as if the file had said it.
void fill_in(ImportedTopology& imported, const ReadOptions& options) {
  ImportedTopology as_it_was = imported;
  const CompletedLinks completed = complete_links(as_it_was, options);
  for (const CompletedLink& link : completed.links) {
    ImportedLink& record =
        imported.links[static_cast<std::size_t>(link.record - as_it_was.links.data())];
    // Without a limit: the rates are those of the nodes, which stay.
    if (link.bandwidth && std::isfinite(link.bandwidth->in_bytes_per_s())) {
      record.bandwidth = link.bandwidth;
      record.bandwidth_number.reset();
    }
    if (link.latency_s) {
      record.latency_s = link.latency_s;
      record.latency_number.reset();
    }
  }
  if (options.drop_planned)
    std::erase_if(imported.links, [](const ImportedLink& link) { return link.planned; });
}

// Of what only the file's own format can say.
void tell_what_is_lost(const ImportedTopology& imported) {
  if (imported.routes || imported.paths)
    fmt::print(stderr, "{}: its ways between nodes are not kept; the least latency will count\n",
               imported.file);
  if (!imported.traces.empty())
    fmt::print(stderr, "{}: how its links change over time is not kept\n", imported.file);
}

}  // namespace

void add_topology_convert_options(CLI::App& command, TopologyConvertOptions& options) {
  add_topology_file_options(command, options, "FILE");
  command
      .add_option("-o,--output", options.out,
                  "File to write; its suffix says the format: .textproto, .graphml or .dot")
      ->type_name("X")
      ->required();
}

int topology_convert(const TopologyConvertOptions& options) {
  const bool textproto = options.out.ends_with(".textproto");
  const bool graphml = options.out.ends_with(".graphml");
  if (!textproto && !graphml && !options.out.ends_with(".dot"))
    throw InputError(
        fmt::format("-o {}: write a name that ends in .textproto, .graphml or .dot", options.out));
  std::string text;
  if (textproto) {
    const LoadedNetwork network = read_network(options);
    if (network.map) tell_what_is_lost(*network.map);
    text = write_topology(network.topology);
  } else {
    ImportedTopology imported = read_map(options);
    tell_what_is_lost(imported);
    if (options.given_flag() != nullptr) fill_in(imported, options.read_options());
    text = graphml ? write_graphml(imported) : write_dot(imported);
  }
  publish_file(options.out, text);
  return 0;
}

}  // namespace syncline
