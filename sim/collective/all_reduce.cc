#include "sim/collective/all_reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "sim/collective/ring_stream.h"
#include "sim/collective/schedule.h"
#include "sim/collective/scheduled_all_reduce.h"
#include "sim/engine/engine.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

// The hosts of each site, and where each member's are.
struct Sites {
  std::vector<std::string> names;
  std::vector<std::vector<NodeId>> hosts;
  struct Place {
    std::uint32_t site, place;
  };
  std::vector<std::vector<Place>> members;
};

Sites group_by_site(const std::vector<CollectiveMember>& members) {
  Sites sites;
  for (const CollectiveMember& member : members) {
    const auto known = std::find(sites.names.begin(), sites.names.end(), member.site);
    const auto site = static_cast<std::size_t>(known - sites.names.begin());
    if (known == sites.names.end()) {
      sites.names.push_back(member.site);
      sites.hosts.emplace_back();
    }
    std::vector<Sites::Place>& places = sites.members.emplace_back();
    for (const NodeId host : member.hosts) {
      places.push_back(
          {static_cast<std::uint32_t>(site), static_cast<std::uint32_t>(sites.hosts[site].size())});
      sites.hosts[site].push_back(host);
    }
  }
  const std::size_t size = sites.hosts.front().size();
  for (std::size_t site = 0; site < sites.hosts.size(); ++site) {
    if (sites.hosts[site].size() == size) continue;
    throw InputError(fmt::format(
        "a HIERARCHICAL collective needs as many hosts in every cluster: {} has {}, {} has {}; use "
        "RING, or give them equal numbers",
        sites.names.front(), size, sites.names[site], sites.hosts[site].size()));
  }
  return sites;
}

std::unique_ptr<AllReduce> make_hierarchical(Network& network, Traffic& traffic,
                                             const std::vector<CollectiveMember>& members,
                                             const Payload& payload) {
  const Sites sites = group_by_site(members);
  const auto places = static_cast<std::uint32_t>(sites.hosts.front().size());
  std::vector<NodeId> hosts;
  for (const std::vector<NodeId>& site : sites.hosts)
    hosts.insert(hosts.end(), site.begin(), site.end());
  std::vector<std::vector<std::uint32_t>> ranks;
  for (const std::vector<Sites::Place>& member : sites.members) {
    std::vector<std::uint32_t>& own = ranks.emplace_back();
    for (const auto [site, place] : member) own.push_back(site * places + place);
  }
  auto schedule = hierarchical_schedule(static_cast<std::uint32_t>(sites.hosts.size()), places,
                                        payload.elements);
  return std::make_unique<ScheduledAllReduce>(network, traffic, std::move(schedule),
                                              std::move(hosts), std::move(ranks), payload);
}

std::unique_ptr<Schedule> flat_schedule(CollectiveAlgorithm algorithm, std::uint32_t members,
                                        std::uint64_t elements) {
  constexpr auto kAllReduce = CollectiveOperation::ALL_REDUCE;
  switch (algorithm) {
    case CollectiveAlgorithm::RING:
      return ring_schedule(kAllReduce, members, elements);
    case CollectiveAlgorithm::PARAMETER_SERVER:
      return parameter_server_schedule(members, elements);
    case CollectiveAlgorithm::HALVING_DOUBLING:
      return halving_doubling_schedule(kAllReduce, members, elements);
    case CollectiveAlgorithm::TREE:
      return binomial_tree_schedule(members, elements);
    case CollectiveAlgorithm::ALL_TO_ALL:
      return all_to_all_schedule(members, elements);
    case CollectiveAlgorithm::SHARDED_PARAMETER_SERVER:
      return sharded_server_schedule(kAllReduce, members, elements);
    case CollectiveAlgorithm::PAIRWISE:
      return pairwise_schedule(kAllReduce, members, elements);
    case CollectiveAlgorithm::HIERARCHICAL:
      break;
  }
  SYNCLINE_CHECK(false, "a collective of single hosts");
}

}  // namespace

Payload Payload::part(std::uint32_t index, std::uint32_t parts) const {
  Payload part = *this;
  part.elements = Parts(elements, parts)[index].elements;
  return part;
}

std::vector<NodeId> first_hosts(const std::vector<CollectiveMember>& members) {
  std::vector<NodeId> hosts;
  hosts.reserve(members.size());
  for (const CollectiveMember& member : members) hosts.push_back(member.hosts.front());
  return hosts;
}

std::vector<std::uint32_t> ring_places(const Collective& collective,
                                       const std::vector<NodeId>& first_hosts) {
  std::vector<std::uint32_t> places(first_hosts.size());
  std::iota(places.begin(), places.end(), 0);
  if (collective.algorithm != CollectiveAlgorithm::RING || collective.ring.empty()) return places;
  std::unordered_map<std::uint32_t, std::size_t> wanted;  // by node
  for (const NodeId host : collective.ring) wanted.emplace(host.value, wanted.size());
  const auto place_of = [&](std::uint32_t member) {
    const auto found = wanted.find(first_hosts[member].value);
    return found == wanted.end() ? wanted.size() : found->second;
  };
  std::vector<std::uint32_t> order = places;  // members
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return place_of(a) < place_of(b); });
  for (std::uint32_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  return places;
}

Bytes Payload::bytes() const {
  const std::uint64_t travel = elements / of * kept + (elements % of * kept + of - 1) / of;
  const auto plain =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(travel) * bytes_per_element));
  const std::uint64_t blocks = block == 0 ? 0 : (elements + block - 1) / block;
  return Bytes(plain + static_cast<std::int64_t>(blocks * bytes_per_block));
}

std::unique_ptr<AllReduce> make_all_reduce(const Collective& collective, Network& network,
                                           Traffic& traffic,
                                           const std::vector<CollectiveMember>& members,
                                           Payload payload) {
  SYNCLINE_CHECK(!members.empty(), "a collective has members");
  if (collective.algorithm == CollectiveAlgorithm::HIERARCHICAL)
    return make_hierarchical(network, traffic, members, payload);
  const std::vector<NodeId> by_member = first_hosts(members);
  const std::vector<std::uint32_t> places = ring_places(collective, by_member);
  std::vector<NodeId> hosts(by_member.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[places[i]] = by_member[i];
  if (collective.fidelity == Fidelity::STREAM &&
      collective.algorithm == CollectiveAlgorithm::RING) {
    if (auto ways = private_ring(network, hosts))
      return std::make_unique<StreamedRing>(network, traffic, std::move(hosts), std::move(*ways),
                                            places, payload);
  }
  std::vector<std::vector<std::uint32_t>> ranks;
  for (const std::uint32_t place : places) ranks.push_back({place});
  auto schedule = flat_schedule(collective.algorithm, static_cast<std::uint32_t>(hosts.size()),
                                payload.elements);
  if (schedule->ranks() > hosts.size()) hosts.push_back(collective.server);
  return std::make_unique<ScheduledAllReduce>(network, traffic, std::move(schedule),
                                              std::move(hosts), std::move(ranks), payload);
}

IdleAllReduce idle_all_reduce(const Collective& collective, const Topology& topology,
                              const std::vector<CollectiveMember>& members, Payload payload,
                              const Transport& transport) {
  IdleAllReduce result{Time(), Traffic(topology), {}};
  Engine engine;
  Network network(engine, topology, transport);
  const auto all_reduce = make_all_reduce(collective, network, result.traffic, members, payload);
  for (std::size_t member = 0; member < members.size(); ++member)
    engine.spawn("member", all_reduce->join(member));
  engine.run();
  result.duration = engine.now();
  result.channels = network.uses();
  return result;
}

}  // namespace syncline
