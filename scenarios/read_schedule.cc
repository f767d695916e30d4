// H over the run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "scenarios/readers.h"
#include "scenarios/setup.h"

namespace syncline {
namespace {

const std::string kPath = "strategy.schedule";

// Rounds that a schedule is written out for: those of a long run, and far below what is slow.
constexpr std::size_t kMostRounds = 1'000'000;

std::uint64_t required_steps(const Document& document, const std::string& path, bool there,
                             std::uint64_t steps) {
  if (!there) throw document.error(path, "is missing: inner steps; write for example steps: 1000");
  if (steps == 0) throw document.error(path, "0; write 1 or more inner steps");
  return steps;
}

// One round after the other until step `end`; `interval_at` says H of the round that begins there.
template <class IntervalAt>
void write_out(const Document& document, const std::string& path, StrategySetup& strategy,
               std::uint64_t end, IntervalAt interval_at) {
  std::uint64_t last = 0;
  std::size_t rounds = 0;
  for (std::uint64_t begin = 0; begin < end; begin += last) {
    const std::uint64_t interval = interval_at(begin);
    if (interval != last) strategy.schedule.push_back({begin, interval});
    last = interval;
    if (++rounds > kMostRounds)
      throw document.error(path, fmt::format("more than {} rounds before the learning rate, or H, "
                                             "stays as it is; write larger local_steps",
                                             kMostRounds));
  }
}

void read_warm_up(const Document& document, StrategySetup& strategy, proto::WarmUp& warm_up) {
  const std::string path = kPath + ".warm_up.steps";
  const std::uint64_t steps = required_steps(document, path, warm_up.has_steps(), warm_up.steps());
  warm_up.set_growth(warm_up.growth());
  const bool doubling = warm_up.growth() == proto::WarmUp::EXPONENTIAL;
  const auto most = static_cast<double>(strategy.local_steps);
  write_out(document, path, strategy, steps, [&](std::uint64_t begin) {
    const double part = static_cast<double>(begin) / static_cast<double>(steps);
    const double interval = doubling
                                ? std::exp2(std::floor(part * (std::floor(std::log2(most)) + 1)))
                                : std::floor(1 + part * (most - 1));
    return static_cast<std::uint64_t>(std::min(interval, most));
  });
  strategy.schedule.push_back({steps, strategy.local_steps});
}

// How many steps rounds have is not known when the training's length is decided.
void no_stop_by_rounds(const Document& document, const CheckedScenario& scenario,
                       const std::string& path) {
  if (scenario.stop.rounds)
    throw document.error(path, "does not go with stop.rounds; write stop.steps or stop.tokens");
}

void read_learning_rate(Document& document, CheckedScenario& scenario, proto::LearningRate& rule) {
  const std::string path = kPath + ".learning_rate";
  InnerOptimizer inner = scenario.training.inner;
  if (inner.decay != InnerOptimizer::Decay::COSINE)
    throw document.error(path,
                         "the learning rate does not decay; write training.inner.decay: COSINE");
  const StopSetup& stop = scenario.stop;
  if (!stop.steps && !stop.tokens && !scenario.training_tokens)
    throw document.error(path,
                         "the learning rate's schedule has no length in steps; give stop.steps, "
                         "stop.tokens or training.tokens");
  no_stop_by_rounds(document, scenario, path);
  inner.horizon = planned_steps(scenario);
  if (!rule.has_power()) rule.set_power(2);
  if (!(rule.power() > 0 && rule.power() <= 10))
    throw document.error(path + ".power",
                         fmt::format("{}; write a number above 0, at most 10", rule.power()));
  const auto least = static_cast<double>(scenario.strategy.local_steps);
  if (!rule.has_coefficient()) rule.set_coefficient(inner.lr * std::pow(least, 1 / rule.power()));
  if (!(rule.coefficient() > 0 && std::isfinite(rule.coefficient())))
    throw document.error(path + ".coefficient",
                         fmt::format("{}; write a number above 0", rule.coefficient()));
  constexpr double kMost = 1e9;
  write_out(document, path, scenario.strategy, inner.horizon + 1, [&](std::uint64_t begin) {
    const double lr = inner.lr_at(std::max(begin, inner.warmup));  // past the horizon: its floor
    // A quotient that is whole but for its last bits counts as whole.
    const double interval =
        std::floor(std::pow(rule.coefficient() / lr, rule.power()) * (1 + 1e-12));
    return static_cast<std::uint64_t>(std::clamp(interval, least, kMost));
  });
}

void check_adaptive(const Document& document, const CheckedScenario& scenario,
                    const std::string& path) {
  if (!scenario.train)
    throw document.error(path,
                         "asks the trainer, and there is none; write warm_up, post_local or "
                         "learning_rate");
  no_stop_by_rounds(document, scenario, path);
  if (!scenario.stop.steps && !scenario.stop.tokens)
    throw document.error(path,
                         "rounds have no fixed number of steps; give stop.steps or "
                         "stop.tokens");
}

void read_by_divergence(const Document& document, StrategySetup& strategy,
                        proto::ByDivergence& rule) {
  const std::string path = kPath + ".by_divergence";
  if (!rule.has_target())
    throw document.error(path + ".target", "is missing; write for example target: 0.02");
  if (!(rule.target() > 0 && std::isfinite(rule.target())))
    throw document.error(path + ".target",
                         fmt::format("{}; write a number above 0", rule.target()));
  constexpr std::uint64_t kMostTimes = 64;
  if (!rule.has_most()) rule.set_most(kMostTimes * strategy.local_steps);
  if (rule.most() < strategy.local_steps || rule.most() > 1'000'000'000'000)
    throw document.error(path + ".most",
                         fmt::format("{}; write at least local_steps, {}, and at most 1e12",
                                     rule.most(), strategy.local_steps));
  strategy.adaptive =
      AdaptiveInterval{AdaptiveInterval::Rule::DIVERGENCE, rule.target(), rule.most()};
}

}  // namespace

void read_schedule(Document& document, CheckedScenario& scenario) {
  proto::Strategy& written = *document.scenario().mutable_strategy();
  if (!written.has_schedule()) return;
  StrategySetup& strategy = scenario.strategy;
  proto::Schedule& schedule = *written.mutable_schedule();
  if (written.has_data_parallel())
    throw document.error(kPath, "is of local_steps, and data_parallel has none; leave it out");
  if (written.has_async_local_sgd())
    throw document.error(kPath, "is of rounds, and async_local_sgd has none; leave it out");
  if (written.has_streaming_diloco())
    throw document.error(kPath,
                         "each fragment has its turn every local_steps, always; choose "
                         "diloco {}, or leave it out");
  if (strategy.within_cluster && document.scenario().workers().per() == proto::Workers::HOST &&
      strategy.within_cluster->local_steps != 1)
    throw document.error(kPath,
                         "its intervals must be whole ones of within_cluster; write "
                         "within_cluster { local_steps: 1 }");
  const bool simple = written.has_local_sgd() || written.has_diloco();
  const auto only_simple = [&](const char* kind) {
    if (!simple) throw document.error(kPath + "." + kind, "goes with local_sgd {} and diloco {}");
  };
  switch (schedule.kind_case()) {
    case proto::Schedule::kWarmUp:
      return read_warm_up(document, strategy, *schedule.mutable_warm_up());
    case proto::Schedule::kPostLocal:
      only_simple("post_local");
      strategy.gradient_steps =
          required_steps(document, kPath + ".post_local.steps", schedule.post_local().has_steps(),
                         schedule.post_local().steps());
      return;
    case proto::Schedule::kLearningRate:
      return read_learning_rate(document, scenario, *schedule.mutable_learning_rate());
    case proto::Schedule::kByLoss:
      only_simple("by_loss");
      check_adaptive(document, scenario, kPath + ".by_loss");
      strategy.adaptive =
          AdaptiveInterval{AdaptiveInterval::Rule::LOSS, 0, 1'000 * strategy.local_steps};
      return;
    case proto::Schedule::kByDivergence:
      only_simple("by_divergence");
      check_adaptive(document, scenario, kPath + ".by_divergence");
      return read_by_divergence(document, strategy, *schedule.mutable_by_divergence());
    case proto::Schedule::KIND_NOT_SET:
      break;
  }
  throw document.error(kPath,
                       "has no kind; write warm_up {}, post_local {}, learning_rate {}, by_loss {} "
                       "or by_divergence {}");
}

}  // namespace syncline
