#include "app/topology_file.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "topology/input_error.h"

namespace syncline {
namespace {

template <class Parse>
auto flag(const char* name, const Parse& parse) {
  try {
    return parse();
  } catch (const InputError& problem) {
    throw problem.at(name);
  }
}

// A unit is right if "1 UNIT" is.
std::string unit(const char* name, const std::string& text, Dimension dimension) {
  if (!text.empty()) flag(name, [&] { return parse_quantity("1 " + text, dimension); });
  return text;
}

}  // namespace

ReadOptions TopologyFileOptions::read_options() const {
  ReadOptions options;
  options.latency_unit = unit("--latency-unit", latency_unit, Dimension::TIME);
  options.bandwidth_unit = unit("--bandwidth-unit", bandwidth_unit, Dimension::BIT_RATE);
  if (!missing_latency.empty())
    options.missing_latency_s =
        flag("--missing-latency", [&] { return parse_quantity(missing_latency, Dimension::TIME); });
  if (!missing_bandwidth.empty())
    options.missing_bandwidth =
        flag("--missing-bandwidth", [&] { return parse_bit_rate(missing_bandwidth); });
  if (!(detour >= 1 && detour <= 1000))
    throw InputError(fmt::format("--detour: {} is not a factor of 1 to 1000", detour));
  options.detour = detour;
  options.drop_planned = drop_planned;
  return options;
}

const char* TopologyFileOptions::given_flag() const {
  if (!latency_unit.empty()) return "--latency-unit";
  if (!bandwidth_unit.empty()) return "--bandwidth-unit";
  if (!missing_latency.empty()) return "--missing-latency";
  if (!missing_bandwidth.empty()) return "--missing-bandwidth";
  if (detour != 1) return "--detour";
  return drop_planned ? "--drop-planned" : nullptr;
}

void add_topology_file_options(CLI::App& command, TopologyFileOptions& options,
                               const std::string& name) {
  command.add_option(name, options.file, "Topology file; its format is found by content")
      ->required();
  command
      .add_option("--latency-unit", options.latency_unit,
                  "Unit of latencies that are written without one: us, ms, …")
      ->type_name("UNIT");
  command
      .add_option("--bandwidth-unit", options.bandwidth_unit,
                  "Unit of bandwidths that are written without one: Mbit/s, …")
      ->type_name("UNIT");
  command
      .add_option("--missing-latency", options.missing_latency,
                  "Latency of links that have none, no length and no coordinates: '2 ms'")
      ->type_name("TIME");
  command
      .add_option("--missing-bandwidth", options.missing_bandwidth,
                  "Bandwidth of links that have none: '10 Gbit/s'")
      ->type_name("RATE");
  command
      .add_option("--detour", options.detour,
                  "Way of the fibre over the great circle, where latency comes from coordinates "
                  "at 2e8 m/s, or over the written length (default: 1)")
      ->type_name("FACTOR");
  command.add_flag("--drop-planned", options.drop_planned, "Leave links out that are not built");
}

}  // namespace syncline
