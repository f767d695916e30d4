// A small run and its reports, without LibTorch: the losses are made up.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "report/report.h"
#include "scenarios/load.h"
#include "scenarios/setup.h"
#include "sim/baseline.h"
#include "sim/simulation.h"
#include "tests/compute/temporary_folder.h"

namespace syncline {

// Two sites of one host behind a core, at 1 Gbit/s and 20 ms each; two rounds of five steps.
inline constexpr const char* kTwoSites = R"(
  name: "two_sites"
  topology { clusters { names: ["milan", "paris"] wan { bandwidth: "1 Gbit/s" latency: "20 ms" } } }
  training { model { context: 16 } batch: 2 data { markov {} } }
  pace { fixed: "50 ms" }
  strategy { diloco {} local_steps: 5 }
  stop { steps: 10 }
)";

class SmallRun {
 public:
  using Numbers = std::function<double(NumberIndex)>;

  // 250,000 parameters, so that a payload has a million bytes. Without `numbers` nothing is
  // trained.
  explicit SmallRun(const std::string& text, std::vector<std::string> sets = {},
                    Numbers numbers = nullptr)
      : numbers_(std::move(numbers)) {
    const TemporaryFolder folder;
    LoadOptions options;
    options.sets = std::move(sets);
    options.without_training = !numbers_;
    scenario_ = load_scenario(folder.write("small.textproto", text), options);
    setup_ = simulation_setup(scenario_, 250'000, Time::seconds(1));
    if (numbers_) program_ = std::make_unique<Program>("settings of a test");
    outcome_ = simulate(scenario_.topology, setup_, program_.get());
    ideal_ = ideal_network_time(scenario_.topology, setup_, outcome_);
  }

  // Another computer would take another `effort`.
  RunFacts facts(TrainingEffort effort = {}, double total_s = 0) const {
    return {
        .scenario = scenario_,
        .setup = setup_,
        .outcome = outcome_,
        .program = program_.get(),
        .number = [this](NumberIndex number) { return numbers_ ? numbers_(number) : std::nan(""); },
        .device = numbers_ ? "a slide rule" : "",
        .measured_step = scenario_.pace.source == PaceSetup::Source::MEASURED
                             ? std::optional(Time::seconds(1))
                             : std::nullopt,
        .ideal_network_time = ideal_,
        .effort = effort,
        .total_s = total_s,
        .simulation_s = total_s};
  }

  std::string file(const std::string& name) const { return run_files(facts()).at(name); }
  nlohmann::json json(const std::string& name = "results.json") const {
    return nlohmann::json::parse(file(name));
  }
  nlohmann::json summary() const { return json().at("summary"); }
  const SimulationOutcome& outcome() const { return outcome_; }
  const CheckedScenario& scenario() const { return scenario_; }

 private:
  Numbers numbers_;
  CheckedScenario scenario_;
  SimulationSetup setup_;
  std::unique_ptr<Program> program_;
  SimulationOutcome outcome_;
  Time ideal_;
};

// The rows of a CSV by the names of its columns; RFC 4180.
using Row = std::map<std::string, std::string>;
inline std::vector<Row> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        lines.back().back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        lines.back().back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      lines.back().emplace_back();
    } else if (c == '\n') {
      lines.push_back({""});
    } else {
      lines.back().back() += c;
    }
  }
  EXPECT_EQ(lines.back(), std::vector<std::string>{""}) << "the last line ends";
  lines.pop_back();
  std::vector<Row> rows;
  for (std::size_t line = 1; line < lines.size(); ++line) {
    EXPECT_EQ(lines[line].size(), lines[0].size()) << "line " << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(lines[0].size(), lines[line].size()); ++i)
      row[lines[0][i]] = lines[line][i];
  }
  return rows;
}

inline double number(const Row& row, const std::string& column) {
  const auto found = row.find(column);
  if (found == row.end() || found->second.empty()) {
    ADD_FAILURE() << "no number in column " << column;
    return std::nan("");
  }
  return std::stod(found->second);
}

inline double sum(const std::vector<Row>& rows, const std::string& column) {
  double sum = 0;
  for (const Row& row : rows) sum += number(row, column);
  return sum;
}

}  // namespace syncline
