#include "tests/scenarios/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

namespace syncline {
namespace {

template <class Values>
std::string list(const Values& values) {
  std::string text;
  for (const auto& value : values) text += fmt::format("[{}]", value);
  return text;
}

std::string describe(const Topology& topology) {
  std::string text;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const Node& node = topology.node(NodeId{i});
    text += fmt::format("node {} {} [{}]\n", node.name, node.host, node.cluster);
  }
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link(LinkId{i});
    text += fmt::format("link {} {}-{} {} {} {} {} {}\n", link.name, link.a.value, link.b.value,
                        link.capacity[0].in_bytes_per_s(), link.capacity[1].in_bytes_per_s(),
                        link.latency_s[0], link.latency_s[1], link.shared);
  }
  return text;
}

std::string describe(const StrategySetup& strategy) {
  std::string text = fmt::format(
      "strategy {} H={} {} {}", strategy.method.index(), strategy.local_steps,
      static_cast<int>(strategy.collective.algorithm), strategy.collective.server.value);
  std::visit(
      [&](const auto& method) {
        if constexpr (requires { method.outer; }) {
          text += fmt::format(" outer {} {} {}", static_cast<int>(method.outer.kind),
                              method.outer.lr, method.outer.momentum);
        }
      },
      strategy.method);
  if (const auto* streaming = std::get_if<StreamingDiloco>(&strategy.method)) {
    text += fmt::format(" fragments {} {} overlap {} alpha {}", streaming->fragments,
                        static_cast<int>(streaming->pattern), streaming->overlap, streaming->alpha);
  }
  if (const auto* local_sgd = std::get_if<LocalSgd>(&strategy.method))
    text += fmt::format(" optimizer {}", local_sgd->optimizer);
  if (const auto* fed_avg = std::get_if<FedAvg>(&strategy.method))
    text += fmt::format(" clients {} of {}", fed_avg->clients, fed_avg->chosen);
  if (const auto* async = std::get_if<AsyncLocalSgd>(&strategy.method))
    text += fmt::format(" delay {} {} {}", async->delay, async->activation, async->by_speed);
  if (const auto* gossip = std::get_if<Gossip>(&strategy.method)) {
    text += fmt::format(" partners {}", static_cast<int>(gossip->partners));
    for (const auto& neighbours : gossip->neighbours)
      text += fmt::format(" [{}]", fmt::join(neighbours, " "));
    if (gossip->momentum)
      text += fmt::format(" momentum {} {} {}", gossip->momentum->lr, gossip->momentum->momentum,
                          gossip->momentum->pull);
  }
  if (strategy.within_cluster) {
    text += fmt::format(" within {} {}", strategy.within_cluster->local_steps,
                        static_cast<int>(strategy.within_cluster->collective.algorithm));
  }
  return text + "\n";
}

std::string describe(const TrainingConfig& config) {
  const InnerOptimizer& inner = config.inner;
  return fmt::format("model {} {} {} {}\ndata {} {} {} {} {} {} {}\ninner {} {} {} {} {} {} {}\n",
                     config.model.layers, config.model.width, config.model.heads,
                     config.model.context, static_cast<int>(config.data.source),
                     list(config.data.files), config.data.markov_states, config.data.markov_entropy,
                     static_cast<int>(config.data.split), config.data.alpha, config.data.streams,
                     static_cast<int>(inner.kind), inner.lr, inner.momentum, inner.weight_decay,
                     inner.clip, inner.warmup, static_cast<int>(inner.decay)) +
         fmt::format("batch {} precision {} seed {} eval {}\n", config.batch,
                     static_cast<int>(config.precision), config.seed, config.eval_tokens);
}

template <class T>
std::string maybe(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

}  // namespace

std::string describe(const CheckedScenario& scenario) {
  std::string text =
      fmt::format("name {} seed {} train {}\n", scenario.name, scenario.seed, scenario.train);
  text += describe(scenario.topology);
  for (const WorkerSetup& worker : scenario.workers) {
    text += fmt::format("worker {} [{}]", worker.name, worker.cluster);
    for (const NodeId host : worker.hosts) text += fmt::format(" {}", host.value);
    text += "\n";
  }
  text += describe(scenario.strategy);
  const StopSetup& stop = scenario.stop;
  text += fmt::format("stop {} {} {} {} {}\n", maybe(stop.tokens), maybe(stop.steps),
                      maybe(stop.rounds), stop.time ? stop.time->count_ns() : -1, maybe(stop.loss));
  text += describe(scenario.training);
  text += fmt::format("tokens {} replicas {} evaluate {}\n", maybe(scenario.training_tokens),
                      scenario.replicas, maybe(scenario.evaluate_every));
  if (scenario.projection) {
    text += fmt::format("project {} {} {}\n", scenario.projection->parameters,
                        scenario.projection->bytes_per_parameter,
                        maybe(scenario.projection->tokens_per_step));
  }
  const PaceSetup& pace = scenario.pace;
  text += fmt::format("pace {} {} {} {} {} {} {}\n", static_cast<int>(pace.source),
                      pace.fixed.count_ns(), pace.device_factor, pace.mfu, pace.peak_flops,
                      list(pace.chips), list(pace.factor));
  return text + list(scenario.assumptions);
}

}  // namespace syncline
