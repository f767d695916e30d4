#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compute/checksum.h"
#include "scenarios/readers.h"
#include "topology/read/read.h"

namespace syncline {
namespace {

// Names these bytes; after read_imported() has read them, so that errors are its.
std::string hash_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(bytes.data(), bytes.size())), 0));
}

ReadOptions read_options(const Document& document, const proto::File& file,
                         const std::string& path) {
  ReadOptions options;
  const auto unit = [&](bool has, const char* field, const std::string& text, Dimension dimension) {
    if (has)
      document.at(path + "." + field, [&] { return parse_quantity("1 " + text, dimension); });
    return text;
  };
  options.latency_unit =
      unit(file.has_latency_unit(), "latency_unit", file.latency_unit(), Dimension::TIME);
  options.bandwidth_unit =
      unit(file.has_bandwidth_unit(), "bandwidth_unit", file.bandwidth_unit(), Dimension::BIT_RATE);
  options.drop_planned = file.drop_planned();
  options.detour = file.detour();
  if (!(options.detour >= 1 && options.detour <= 1000))
    throw document.error(path + ".detour",
                         fmt::format("{}; write a factor of 1 to 1000", options.detour));
  if (!file.has_missing()) return options;
  const proto::Link& missing = file.missing();
  if (missing.has_name() || missing.has_a() || missing.has_b() || missing.has_bandwidth_back() ||
      missing.has_shared() || missing.has_trace() || missing.has_latency_back())
    throw document.error(path + ".missing", "has more than bandwidth and latency; leave it out");
  if (missing.has_bandwidth())
    options.missing_bandwidth = document.at(path + ".missing.bandwidth",
                                            [&] { return parse_bit_rate(missing.bandwidth()); });
  if (missing.has_latency())
    options.missing_latency_s = document.at(path + ".missing.latency", [&] {
      return parse_quantity(missing.latency(), Dimension::TIME);
    });
  return options;
}

}  // namespace

void read_topology_file(Document& document, CheckedScenario& scenario) {
  const std::string path = "topology.file";
  proto::File& file = *document.scenario().mutable_topology()->mutable_file();
  if (!file.has_path())
    throw document.error(path + ".path", R"(is missing; write for example path: "map.graphml")");
  if (!file.has_detour()) file.set_detour(1);
  if (!file.has_drop_planned()) file.set_drop_planned(false);
  const ReadOptions options = read_options(document, file, path);
  const std::string place = document.path_of(file.path());
  auto map = std::make_shared<const ImportedTopology>(
      document.at(path + ".path", [&] { return read_imported(place); }));
  const std::string hash = hash_of(place);
  if (file.has_hash() && file.hash() != hash)
    throw document.error(path + ".hash",
                         fmt::format("{}, but {} has {}: it was changed since; leave hash out to "
                                     "take it as it is",
                                     file.hash(), place, hash));
  file.set_hash(hash);
  ReadTopology made = document.at(path + ".path", [&] { return to_topology(*map, options); });
  scenario.topology = std::move(made.topology);
  for (ReadTrace& trace : made.traces)
    scenario.traces.push_back({trace.link, std::move(trace.trace)});
  scenario.map = std::move(map);
  // Without its folder: the same where the scenario as run names another one.
  const std::string name = std::filesystem::path(file.path()).filename().string();
  for (const std::string& assumed : made.assumed)
    scenario.assumptions.push_back(fmt::format("{}: {}", name, assumed));
  for (const ImportWarning& warning : made.warnings)
    scenario.assumptions.push_back(fmt::format("{}: {}", name, to_text(warning)));
}

}  // namespace syncline
