#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "report/report.h"
#include "report/results.h"

namespace syncline {
namespace {

struct MethodName {
  std::string operator()(const DataParallel&) const { return "data parallel"; }
  std::string operator()(const LocalSgd&) const { return "Local SGD"; }
  std::string operator()(const Diloco&) const { return "DiLoCo"; }
  std::string operator()(const StreamingDiloco& method) const {
    return "Streaming DiLoCo of " + std::to_string(method.fragments) +
           (method.fragments == 1 ? " fragment" : " fragments");
  }
  std::string operator()(const DelayedDiloco&) const { return "delayed DiLoCo"; }
  std::string operator()(const EagerDiloco&) const { return "DiLoCo with eager updates"; }
  std::string operator()(const SparseLoco& method) const {
    return fmt::format("SparseLoCo, {} of 4096 numbers", method.codec.keep);
  }
  std::string operator()(const Gossip& method) const {
    return std::string(method.momentum ? "NoLoCo" : "gossip") +
           (method.partners == Gossip::Partners::RANDOM_PAIRS ? " in random pairs"
                                                              : " over a graph");
  }
  std::string operator()(const AsyncLocalSgd&) const { return "asynchronous Local SGD"; }
  std::string operator()(const FedAvg& method) const {
    return fmt::format("FedAvg of {} clients a round", method.clients) +
           (method.chosen > method.clients ? fmt::format(", {} chosen", method.chosen) : "");
  }
};

std::string method_name(const StrategySetup& strategy) {
  std::string text = std::visit(MethodName(), strategy.method);
  if (std::holds_alternative<DataParallel>(strategy.method)) return text;
  if (strategy.gradient_steps > 0)
    text += fmt::format(", gradients for {} steps", strategy.gradient_steps);
  const bool changes = strategy.adaptive || !strategy.schedule.empty();
  text += changes ? ", syncs after a changing number of steps"
                  : fmt::format(", a sync every {} steps", strategy.local_steps);
  return text;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// "1.23 million": a count that is easily compared.
std::string many(double value) {
  if (value >= 1e12) return fmt::format("{:.4g} trillion", value / 1e12);
  if (value >= 1e9) return fmt::format("{:.4g} billion", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.4g} million", value / 1e6);
  return fmt::format("{:.0f}", value);
}

// The loss over the run in a dozen bars, highest loss highest.
std::string loss_curve(const proto::Results& results) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int kMost = 40;
  const int points = results.losses_size();
  if (points < 3) return {};
  const double high = results.summary().initial_loss();
  const double low = results.summary().best_loss();
  if (!(high > low)) return {};
  const int shown = std::min(points, kMost);
  std::string text;
  for (int i = 0; i < shown; ++i) {
    const proto::LossPoint& point = results.losses(i * (points - 1) / (shown - 1));
    if (!point.has_loss()) return {};
    const double height = (point.loss() - low) / (high - low) * 7;
    text += kBars[std::clamp(static_cast<int>(height + 0.5), 0, 7)];
  }
  return text;
}

}  // namespace

std::string summary_text(const RunFacts& facts) {
  const proto::Results results = make_results(facts);
  const proto::Summary& summary = results.summary();
  std::string text;
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", label, value);
  };

  text += fmt::format("{}: {} workers, {}\n", results.scenario(), facts.setup.workers.size(),
                      method_name(facts.setup.strategy));
  const double ideal = summary.ideal_network_time_s();
  std::string against;
  if (ideal > 0 && summary.virtual_time_s() > ideal) {
    against = fmt::format(" (the network adds {} to the {} of an ideal one)",
                          percent(summary.virtual_time_s() / ideal - 1),
                          to_text(facts.ideal_network_time));
  }
  line("virtual time", to_text(facts.outcome.virtual_time) + against);
  line("compute utilisation", percent(summary.compute_utilisation()));
  std::string shares;
  for (const proto::WaitingPart& part : results.time_of_a_worker()) {
    if (part.share() < 5e-4) continue;
    std::string what = part.what();
    std::replace(what.begin(), what.end(), '_', ' ');
    shares += fmt::format("{}{} {}", shares.empty() ? "" : " · ", what, percent(part.share()));
  }
  line("a worker's time", shares);
  if (results.transfers_limited_by_size() > 0) {
    const proto::LimitPart& limit = results.transfers_limited_by(0);
    line("transfers wait for",
         fmt::format("{} in {} of their time{}", limit.what(), percent(limit.share()),
                     results.transfers_limited_by_size() > 1
                         ? fmt::format(", then {}", results.transfers_limited_by(1).what())
                         : ""));
  }
  const Bytes within = facts.outcome.sent_within;
  line("sent",
       fmt::format(
           "{} in {:.0f} syncs of {} a worker{}", to_text(facts.outcome.sent - within),
           summary.syncs(), to_text(facts.setup.payload.bytes()),
           within > Bytes() ? fmt::format(", and {} inside clusters", to_text(within)) : ""));
  line("tokens",
       fmt::format("{} in {:.0f} steps a worker", many(summary.tokens()), summary.steps()));
  if (!facts.setup.events.empty() || facts.setup.strategy.deadline) {
    line("failures",
         fmt::format(
             "{:.4g} of {} workers in an average, {:.0f} steps lost, {} to workers that came back",
             summary.mean_workers(), facts.setup.workers.size(), summary.lost_steps(),
             to_text(Bytes(static_cast<std::int64_t>(summary.rejoin_bytes())))));
  }
  if (facts.program == nullptr) {
    line("loss", "not trained: time only");
    return text;
  }
  if (facts.scenario.projection)
    line("trained", fmt::format("{} tokens of the small model", many(summary.trained_tokens())));
  if (results.status() == "diverged") {
    line("loss", "diverged: it is not a number any more; try a lower learning rate");
  } else if (summary.has_initial_loss()) {
    const bool proxy = summary.has_proxy_loss();
    line(proxy ? "proxy loss" : "loss",
         fmt::format("{:.4f} -> {:.4f} nats a token, held-out", summary.initial_loss(),
                     proxy ? summary.proxy_loss() : summary.final_loss()));
    const std::string curve = loss_curve(results);
    if (!curve.empty()) line("", curve);
  }
  line("trained on", facts.device + (facts.effort.steps_executed == 0
                                         ? " (all of it before: the losses come from the cache)"
                                         : ""));
  return text;
}

}  // namespace syncline
