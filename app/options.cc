#include "app/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>

#include "app/environment.h"

namespace syncline {

LoadOptions ScenarioOptions::load_options() const { return {sets, seed, no_train, cache_folder()}; }

void add_scenario_options(CLI::App& command, ScenarioOptions& options) {
  command.add_option("SCENARIO", options.scenario, "Scenario file (*.textproto)")->required();
  // One value an occurrence, taken as it stands: values may hold commas and spaces.
  command
      .add_option("--set", options.sets,
                  "Change a field: PATH=VALUE, for example topology.clusters.wan.bandwidth='100 "
                  "Mbit/s' (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  // CLI11 reads "-1" and numbers of any length.
  command.add_option("--seed", options.seed, "Take this seed instead of the scenario's")
      ->check([](const std::string& text) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size()
                   ? std::string()
                   : fmt::format("\"{}\"; write a whole number from 0 to 2^64 - 1", text);
      });
  command.add_flag("--no-train", options.no_train, "Time only: nothing is trained, no loss");
  command.add_flag("--json", options.json, "Print the summary as JSON");
}

void add_output_options(CLI::App& command, std::string& out, const std::string& by_default,
                        const std::string& owner) {
  command
      .add_option("--out", out,
                  fmt::format("Folder of the results (default: {}); {} folder is replaced",
                              by_default, owner))
      ->type_name("DIR")
      // An empty name is a slip (--out "$FOLDER"), not a wish for the default.
      ->check([](const std::string& name) {
        return name.empty() ? std::string("names no folder") : std::string();
      });
}

void add_device_options(CLI::App& command, DeviceChoice& device, bool& quiet) {
  static const std::map<std::string, DeviceChoice> kDevices{
      {"auto", DeviceChoice::AUTO}, {"cpu", DeviceChoice::CPU}, {"cuda", DeviceChoice::CUDA}};
  command
      .add_option_function<std::string>(
          "--device", [&device](const std::string& name) { device = kDevices.at(name); },
          "Train on: auto, cpu or cuda (default: auto, a GPU where there is one)")
      ->check([](const std::string& name) {
        return kDevices.contains(name) ? std::string()
                                       : fmt::format("\"{}\"; write auto, cpu or cuda", name);
      })
      ->type_name("DEVICE");
  command.add_flag("--quiet", quiet, "No progress on stderr");
}

}  // namespace syncline
