#include "app/network_file.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "topology/input_error.h"
#include "topology/read/read.h"
#include "topology/write/writers.h"

namespace syncline {

namespace {

bool is_scenario(const TopologyFileOptions& options) {
  if (!options.file.ends_with(".textproto")) return false;
  if (const char* flag = options.given_flag(); flag != nullptr)
    throw InputError(
        fmt::format("{}: is for topology files; {} says its values itself", flag, options.file));
  return true;
}

}  // namespace

LoadedNetwork read_network(const TopologyFileOptions& options) {
  const ReadOptions read = options.read_options();
  if (is_scenario(options)) return load_network(options.file);
  LoadedNetwork network;
  auto map = std::make_shared<const ImportedTopology>(read_imported(options.file));
  ReadTopology made = to_topology(*map, read);
  network.topology = std::move(made.topology);
  network.map = std::move(map);
  for (ReadTrace& trace : made.traces)
    network.traces.push_back({trace.link, std::move(trace.trace)});
  network.assumptions = std::move(made.assumed);
  for (const ImportWarning& warning : made.warnings)
    network.assumptions.push_back(to_text(warning));
  return network;
}

ImportedTopology read_map(const TopologyFileOptions& options) {
  if (!is_scenario(options)) return read_imported(options.file);
  LoadedNetwork network = load_network(options.file);
  ImportedTopology map = as_imported(network.topology);
  map.file = options.file;
  map.format = "text format of scenarios";
  map.assumed = std::move(network.assumptions);
  return map;
}

}  // namespace syncline
