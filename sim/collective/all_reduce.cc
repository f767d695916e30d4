#include "sim/collective/all_reduce.h"

#include <cmath>

#include "sim/collective/hierarchical.h"
#include "sim/collective/parameter_server.h"
#include "sim/collective/ring.h"
#include "sim/collective/ring_stream.h"
#include "sim/engine/engine.h"
#include "topology/check.h"

namespace syncline {

Payload Payload::part(std::uint64_t index, std::uint64_t parts) const {
  SYNCLINE_CHECK(index < parts && parts <= 0xFFFFFFFF, "a payload has parts 0 to parts - 1");
  // From floor(elements · index / parts) to that of the next: with no product that passes 2^64, and
  // with one division where the parts are equal.
  const std::uint64_t whole = elements / parts;
  const std::uint64_t rest = elements % parts;
  Payload part = *this;
  part.elements = rest == 0 ? whole : whole + rest * (index + 1) / parts - rest * index / parts;
  return part;
}

std::vector<NodeId> first_hosts(const std::vector<CollectiveMember>& members) {
  std::vector<NodeId> hosts;
  hosts.reserve(members.size());
  for (const CollectiveMember& member : members) hosts.push_back(member.hosts.front());
  return hosts;
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
  switch (collective.algorithm) {
    case CollectiveAlgorithm::RING:
      if (collective.fidelity == Fidelity::STREAM) {
        std::vector<NodeId> hosts = first_hosts(members);
        if (auto ways = private_ring(network, hosts))
          return std::make_unique<StreamedRing>(network, traffic, std::move(hosts),
                                                std::move(*ways), payload);
      }
      return std::make_unique<RingAllReduce>(network, traffic, members, payload);
    case CollectiveAlgorithm::HIERARCHICAL:
      return std::make_unique<HierarchicalAllReduce>(network, traffic, members, payload);
    case CollectiveAlgorithm::PARAMETER_SERVER:
      return std::make_unique<ParameterServer>(network, traffic, collective.server, members,
                                               payload);
  }
  SYNCLINE_CHECK(false, "unknown collective algorithm");
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
