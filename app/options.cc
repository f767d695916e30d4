#include "app/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
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

}  // namespace syncline
