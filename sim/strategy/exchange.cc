#include "sim/strategy/exchange.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "sim/engine/when_all.h"
#include "sim/network/transfer_set.h"
#include "topology/check.h"

namespace syncline {

struct Exchange::Round {
  Round(Engine& engine, std::size_t workers) : joined(workers), arrived(workers) {
    for (std::size_t i = 0; i < workers; ++i) changed.emplace_back(engine);
  }

  // By worker.
  std::vector<Time> joined;
  std::vector<std::size_t> arrived;  // what partners have sent to it
  std::deque<Signal> changed;
  std::size_t left = 0;  // workers that have all they wait for
};

Exchange::Exchange(Network& network, Traffic& traffic, std::vector<NodeId> hosts)
    : network_(network), traffic_(traffic), hosts_(std::move(hosts)) {}

Exchange::~Exchange() = default;

Task<AverageTimes> Exchange::swap(std::uint32_t worker, std::uint64_t round,
                                  std::span<const std::uint32_t> partners, Bytes bytes) {
  Engine& engine = network_.engine();
  std::unique_ptr<Round>& place = rounds_[round];
  if (!place) place = std::make_unique<Round>(engine, hosts_.size());
  Round& now = *place;
  AverageTimes times;
  times.joined = times.all_joined = engine.now();
  now.joined[worker] = engine.now();
  std::vector<Task<>> sends;
  for (const std::uint32_t partner : partners) {
    SYNCLINE_CHECK(partner != worker, "a worker exchanges with others");
    sends.push_back(send(&now, worker, partner, bytes));
  }
  co_await when_all(engine, "gossip", std::move(sends));
  while (now.arrived[worker] < partners.size()) co_await now.changed[worker].wait();
  for (const std::uint32_t partner : partners)
    times.all_joined = std::max(times.all_joined, now.joined[partner]);
  times.back = engine.now();
  if (++now.left == hosts_.size()) rounds_.erase(round);
  co_return times;
}

Task<> Exchange::send(Round* round, std::uint32_t from, std::uint32_t to, Bytes bytes) {
  const TransferReport report = co_await transfer(
      network_,
      {.source = hosts_[from], .destination = hosts_[to], .bytes = bytes, .wait_for_route = true});
  SYNCLINE_CHECK(report.end == TransferEnd::DONE, "sends of an exchange stall and do not fail");
  traffic_.credit(hosts_[from], hosts_[to], report.delivered);
  ++round->arrived[to];
  round->changed[to].notify_all();
}

IdleAllReduce idle_exchange(const Topology& topology, std::vector<NodeId> hosts,
                            const Partners& partners, Bytes bytes, const Transport& transport) {
  IdleAllReduce result{Time(), Traffic(topology), {}};
  Engine engine;
  Network network(engine, topology, transport);
  Exchange exchange(network, result.traffic, std::move(hosts));
  const auto join = [](Exchange& all, std::uint32_t worker, std::span<const std::uint32_t> others,
                       Bytes each) -> Task<> { co_await all.swap(worker, 0, others, each); };
  for (std::uint32_t worker = 0; worker < partners.size(); ++worker)
    engine.spawn("member", join(exchange, worker, partners[worker], bytes));
  engine.run();
  result.duration = engine.now();
  result.channels = network.uses();
  return result;
}

}  // namespace syncline
