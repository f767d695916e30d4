// The rest of a scenario: what the clock is charged for, the pace, and the stop.
#include <fmt/format.h>

#include <cmath>

#include "compute/pace/flops.h"
#include "scenarios/readers.h"
#include "scenarios/setup.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

constexpr double kMostSteps =
    1e12;  // of a worker in a run: far more than any run takes, and far below what counts can hold

double positive(const Document& document, const char* path, double value) {
  if (!(value > 0 && std::isfinite(value)))
    throw document.error(path, fmt::format("{}; write a number above 0", value));
  return value;
}

void read_flops_pace(Document& document, CheckedScenario& scenario) {
  const proto::Workers& workers = document.scenario().workers();
  PaceSetup& pace = scenario.pace;
  pace.source = PaceSetup::Source::FLOPS;
  pace.mfu = document.scenario().pace().mfu();
  if (!(pace.mfu > 0 && pace.mfu <= 1))
    throw document.error("pace.mfu",
                         fmt::format("{}; write a number above 0, at most 1", pace.mfu));
  if (!workers.has_device())
    throw document.error(
        "workers.device",
        R"(is missing: pace.mfu needs the chip's peak; write for example device: "H100")");
  pace.peak_flops = document.at("workers.device", [&] { return peak_flops(workers.device()); });
  if (workers.has_chips() && workers.chips() == 0)
    throw document.error("workers.chips", "0; write 1 or more");
  for (const WorkerSetup& worker : scenario.workers) {
    pace.chips.push_back(workers.has_chips() ? workers.chips()
                                             : static_cast<double>(worker.hosts.size()));
  }
  if (scenario.projection && !scenario.projection->tokens_per_step) {
    throw document.error(
        "project.tokens_per_step",
        "is missing: pace.mfu needs the tokens of one inner step over all workers");
  }
}

}  // namespace

void read_project(Document& document, CheckedScenario& scenario) {
  if (!document.scenario().has_project()) return;
  proto::Project& project = *document.scenario().mutable_project();
  if (!project.has_parameters())
    throw document.error("project.parameters", "is missing; write for example parameters: 7e9");
  if (!project.has_bytes_per_parameter()) project.set_bytes_per_parameter(4);
  Projection projection;
  projection.parameters = positive(document, "project.parameters", project.parameters());
  if (projection.parameters < 1 || projection.parameters > 1e15)
    throw document.error("project.parameters",
                         fmt::format("{}; write 1 to 1e15", projection.parameters));
  projection.bytes_per_parameter =
      positive(document, "project.bytes_per_parameter", project.bytes_per_parameter());
  if (projection.bytes_per_parameter > 64)
    throw document.error("project.bytes_per_parameter",
                         fmt::format("{}; write at most 64", projection.bytes_per_parameter));
  if (project.has_tokens_per_step())
    projection.tokens_per_step =
        positive(document, "project.tokens_per_step", project.tokens_per_step());
  scenario.projection = projection;
  scenario.assumptions.push_back(
      fmt::format("The clock and the links are charged for {:.4g} parameters at {:g} bytes each; "
                  "the loss is that of the small model that was trained.",
                  projection.parameters, projection.bytes_per_parameter));
}

void read_pace(Document& document, CheckedScenario& scenario) {
  proto::Pace& pace = *document.scenario().mutable_pace();
  switch (pace.source_case()) {
    case proto::Pace::kFixed:
      scenario.pace.source = PaceSetup::Source::FIXED;
      scenario.pace.fixed = document.at("pace.fixed", [&] { return parse_time(pace.fixed()); });
      if (scenario.pace.fixed == Time::max())
        throw document.error("pace.fixed",
                             fmt::format("\"{}\"; the clock counts to 292 years", pace.fixed()));
      if (scenario.pace.fixed <= Time())
        throw document.error(
            "pace.fixed",
            fmt::format("\"{}\"; a step takes time; write for example \"50 ms\"", pace.fixed()));
      break;
    case proto::Pace::kMfu:
      read_flops_pace(document, scenario);
      break;
    default: {
      scenario.pace.source = PaceSetup::Source::MEASURED;
      proto::Measured& measured = *pace.mutable_measured();
      if (!measured.has_device_factor()) measured.set_device_factor(1);
      scenario.pace.device_factor =
          positive(document, "pace.measured.device_factor", measured.device_factor());
      if (scenario.projection)
        throw document.error("pace",
                             "the measured pace is that of the small model; with `project` write "
                             "fixed: \"2.4 s\" or mfu: 0.4");
      if (!scenario.train)
        throw document.error("pace",
                             "a measured pace needs training; without it write fixed: \"50 ms\"");
    }
  }
  if (!pace.has_spread()) pace.set_spread("1");
  const Distribution spread = document.at(
      "pace.spread", [&] { return Distribution::parse(pace.spread(), Dimension::NUMBER); });
  RandomStream random(scenario.seed, "pace.spread");
  for (std::size_t i = 0; i < scenario.workers.size(); ++i) {
    const double factor = spread.draw(random);
    if (!(factor > 0))
      throw document.error(
          "pace.spread", fmt::format("\"{}\" drew {}; a factor is above 0", pace.spread(), factor));
    scenario.pace.factor.push_back(factor);
  }
}

void read_stop(Document& document, CheckedScenario& scenario) {
  const proto::Stop& stop = document.scenario().stop();
  StopSetup& setup = scenario.stop;
  if (stop.has_tokens()) setup.tokens = positive(document, "stop.tokens", stop.tokens());
  if (stop.has_steps()) setup.steps = stop.steps();
  if (stop.has_rounds()) setup.rounds = stop.rounds();
  if (setup.steps == 0u) throw document.error("stop.steps", "0; write 1 or more");
  if (setup.rounds == 0u) throw document.error("stop.rounds", "0; write 1 or more");
  const auto at_most = [&](const char* path, std::uint64_t value) {
    if (static_cast<double>(value) > kMostSteps)
      throw document.error(path, fmt::format("{}; write at most {:.0f}", value, kMostSteps));
  };
  at_most("stop.steps", setup.steps.value_or(0));
  at_most("stop.rounds", setup.rounds.value_or(0));
  if (stop.has_time()) {
    setup.time = document.at("stop.time", [&] { return parse_time(stop.time()); });
    if (*setup.time == Time::max())
      throw document.error("stop.time",
                           fmt::format("\"{}\"; the clock counts to 292 years", stop.time()));
    if (*setup.time <= Time())
      throw document.error("stop.time", fmt::format("\"{}\"; write a time above 0", stop.time()));
  }
  if (stop.has_loss()) {
    setup.loss = positive(document, "stop.loss", stop.loss());
    if (!scenario.train)
      throw document.error("stop.loss", "without training there is no loss to stop at");
    if (scenario.projection)
      throw document.error(
          "stop.loss",
          "with `project` the loss is the small model's; stop by tokens, steps, rounds or time");
  }
  if (!setup.tokens && !setup.steps && !setup.rounds && !setup.time && !setup.loss) {
    throw document.error("stop", "says nothing; write for example stop { steps: 600 }");
  }
  if (setup.tokens && scenario.projection && !scenario.projection->tokens_per_step) {
    throw document.error("project.tokens_per_step",
                         "is missing: a stop by tokens counts the large run's");
  }
  if (setup.tokens && *setup.tokens / counted_tokens_per_step(scenario) > kMostSteps) {
    throw document.error(
        "stop.tokens", fmt::format("{}, at {} a step of all workers, takes more than {:.0f} steps",
                                   *setup.tokens, counted_tokens_per_step(scenario), kMostSteps));
  }
  const bool ends_by_steps =
      setup.tokens || setup.steps || setup.rounds || scenario.training_tokens;
  if (!ends_by_steps && setup.loss) {
    throw document.error("stop",
                         "a stop by loss alone may never come, and the schedule needs its length; "
                         "give steps, rounds, tokens or training.tokens as well");
  }
  if (!ends_by_steps && scenario.train &&
      scenario.training.inner.decay == InnerOptimizer::Decay::COSINE) {
    throw document.error("stop",
                         "with a stop by time alone the learning rate's schedule has no length; "
                         "give training.tokens, stop.steps, or training.inner.decay: CONSTANT");
  }
}

}  // namespace syncline
