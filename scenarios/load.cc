#include "scenarios/load.h"

#include <fmt/format.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "scenarios/readers.h"

namespace syncline {
namespace {

void read_name(Document& document, CheckedScenario& scenario) {
  proto::Scenario& written = document.scenario();
  if (!written.has_name()) written.set_name(std::filesystem::path(document.file()).stem().string());
  const std::string& name = written.name();
  const bool plain = !name.empty() && name.front() != '.' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                     });
  if (!plain)
    throw document.error(
        "name",
        fmt::format("\"{}\" cannot name a folder; use letters, digits, \"_\", \"-\" and \".\"",
                    name));
  scenario.name = name;
}

std::string print(const proto::Scenario& scenario) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(scenario, &text);
  return text;
}

// Where the file lies no longer matters.
void make_paths_absolute(const Document& document, proto::Scenario& scenario) {
  const auto absolute = [&](const std::string& path) {
    return path.starts_with("cache:") ? path : document.path_of(path);
  };
  for (proto::Link& link : *scenario.mutable_topology()->mutable_links()) {
    if (link.has_trace()) link.set_trace(absolute(link.trace()));
  }
  if (scenario.topology().has_file()) {
    proto::File& file = *scenario.mutable_topology()->mutable_file();
    file.set_path(absolute(file.path()));
  }
  if (scenario.topology().cloud().has_measured()) {
    proto::Cloud& cloud = *scenario.mutable_topology()->mutable_cloud();
    cloud.set_measured(absolute(cloud.measured()));
  }
  if (scenario.topology().has_edge()) {
    proto::Edge& edge = *scenario.mutable_topology()->mutable_edge();
    if (edge.has_measured()) edge.set_measured(absolute(edge.measured()));
    for (std::string& trace : *edge.mutable_traces()) trace = absolute(trace);
  }
  if (scenario.has_background())
    scenario.mutable_background()->set_flows(absolute(scenario.background().flows()));
  // Not where there is none: a `data {}` without a source would be an error when it is read again.
  if (!scenario.training().has_data()) return;
  proto::Data& data = *scenario.mutable_training()->mutable_data();
  if (data.has_text()) data.set_text(absolute(data.text()));
  if (data.has_tokens()) data.set_tokens(absolute(data.tokens()));
}

}  // namespace

std::string CheckedScenario::text(std::optional<Time> measured_step) const {
  if (!measured_step) return written;
  proto::Scenario scenario;
  google::protobuf::TextFormat::ParseFromString(written, &scenario);
  const Time step =
      Time::seconds(measured_step->in_seconds() * pace.device_factor);  // as the run had it
  scenario.mutable_pace()->set_fixed(fmt::format("{} ns", step.count_ns()));
  return print(scenario);
}

CheckedScenario load_scenario(const std::string& file, const LoadOptions& options) {
  Document document = Document::read(file, options.sets);
  CheckedScenario scenario;
  if (options.seed) document.scenario().set_seed(*options.seed);
  if (!document.scenario().has_seed()) document.scenario().set_seed(scenario.seed);
  scenario.seed = document.scenario().seed();
  read_name(document, scenario);
  read_topology(document, scenario);
  read_workers(document, scenario);
  read_strategy(document, scenario);
  if (options.without_training)
    document.scenario().mutable_training()->set_trainer(proto::Training::NONE);
  read_training(document, scenario, options.cache_folder);
  read_project(document, scenario);
  read_pace(document, scenario);
  read_events(document, scenario);
  read_stop(document, scenario);
  read_schedule(document, scenario);
  read_transport(document, scenario);
  read_background(document, scenario);
  read_fidelity(document, scenario);
  make_paths_absolute(document, document.scenario());
  scenario.written = print(document.scenario());
  return scenario;
}

}  // namespace syncline
