// Gossip: after H steps each worker mixes with few others, and nobody ever averages over all.
// Decentralised SGD (Lian et al. 2017: arXiv 1705.09056, algorithm 1), and NoLoCo (Kolehmainen et
// al. 2025: arXiv 2506.10911).
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/strategy/gossip_partners.h"
#include "sim/strategy/round_plan.h"
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

// What a worker sends: its parameters, or the last two.
struct Message {
  SharedValue theta, delta, phi;
};

struct Round {
  Partners partners;
  // By worker.
  std::vector<Message> sent;
  std::vector<SharedValue> mixed;
  std::size_t done = 0;  // workers that have mixed
};

struct State {
  State(Fleet& fleet, const Gossip& gossip)
      : method(gossip),
        theta(fleet.initial()),
        exchange(fleet.network(), fleet.traffic(), hosts_of(fleet)) {}

  static std::vector<NodeId> hosts_of(Fleet& fleet) {
    std::vector<NodeId> hosts;
    for (const Worker& worker : fleet.workers()) hosts.push_back(worker.setup->hosts.front());
    return hosts;
  }
  Round& round(Fleet& fleet, std::uint64_t number) {
    const auto [place, is_new] = rounds.try_emplace(number);
    Round& round = place->second;
    if (is_new) {
      const std::size_t workers = fleet.workers().size();
      round.partners = gossip_partners(method, workers, fleet.setup().seed, number);
      round.sent.resize(workers);
      round.mixed.resize(workers);
    }
    return round;
  }

  Gossip method;
  SharedValue theta;  // that all begin with
  Exchange exchange;
  std::map<std::uint64_t, Round> rounds;  // those that somebody is in
};

// sum_j W_ij theta_j
SharedValue average(Recorder& record, const Round& round, std::uint32_t worker) {
  std::vector<Recorder::Term> terms;
  for (const Share& share : gossip_shares(round.partners, worker))
    terms.push_back({round.sent[share.worker].theta, share.weight});
  return record.sum(terms);
}

// delta_i <- momentum delta_i + sum_j W_ij (pull phi_j - lr Delta_j) - pull phi_i, Delta being what
// the model has lost
SharedValue momentum(Recorder& record, const Round& round, std::uint32_t worker,
                     const Gossip::Momentum& rule, const SharedValue& before) {
  std::vector<Recorder::Term> terms;
  if (before) terms.push_back({before, rule.momentum});
  for (const Share& share : gossip_shares(round.partners, worker)) {
    const Message& message = round.sent[share.worker];
    terms.push_back({message.delta, -rule.lr * share.weight});
    terms.push_back({message.phi, rule.pull * share.weight});
  }
  terms.push_back({round.sent[worker].phi, -rule.pull});
  return record.sum(terms);
}

Task<> run_worker(Fleet& fleet, Worker& worker, std::shared_ptr<State> state) {
  Recorder& record = fleet.record();
  const std::optional<Gossip::Momentum>& rule = state->method.momentum;
  const std::uint32_t i = worker.index;
  SharedValue phi = state->theta;  // NoLoCo: that the round began with, and how it came to it
  SharedValue delta;
  while (fleet.begin_round(worker)) {
    const std::uint64_t number = worker.round - 1;
    // theta_i = InnerOpt^H(theta_i)
    co_await fleet.local_steps(worker);
    Round& round = state->round(fleet, number);
    SharedValue theta = record.read_parameters(worker.replica);
    if (rule) {
      round.sent[i] = {nullptr, fleet.encoded(worker, record.difference(phi, theta)), phi};
    } else {
      round.sent[i] = {theta, nullptr, nullptr};
    }
    const Bytes bytes = gossip_message(fleet.setup());
    const AverageTimes times = co_await state->exchange.swap(i, number, round.partners[i], bytes);
    fleet.note_average(worker, times);
    if (rule) {
      delta = momentum(record, round, i, *rule, delta);
      phi = record.sum({{phi, 1}, {delta, 1}});
      theta = phi;
    } else {
      theta = average(record, round, i);
    }
    record.write_parameters(worker.replica, theta);
    round.mixed[i] = std::move(theta);
    // The workers' models differ; what is evaluated is their mean, which nobody has.
    if (++round.done == round.mixed.size()) {
      const std::vector<double> weights(round.mixed.size(), 1);
      fleet.publish(worker, record.mean(round.mixed, weights));
      state->rounds.erase(number);
    }
    fleet.end_round(worker);
  }
}

}  // namespace

void start_gossip(Fleet& fleet, const Gossip& method) {
  const auto state = std::make_shared<State>(fleet, method);
  fleet.start([&fleet, state](Worker& worker) { return run_worker(fleet, worker, state); });
}

}  // namespace syncline
