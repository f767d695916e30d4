#include "sim/collective/all_reduce.h"

#include <cmath>

#include "sim/collective/hierarchical.h"
#include "sim/collective/parameter_server.h"
#include "sim/collective/ring.h"
#include "sim/engine/engine.h"
#include "topology/check.h"

namespace syncline {
namespace {

// First element of part `index`; 128 bits, since elements · parts may pass 2^64.
std::uint64_t first_element(std::uint64_t elements, std::uint64_t index, std::uint64_t parts) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{elements} * index / parts);
}

}  // namespace

Payload Payload::part(std::uint64_t index, std::uint64_t parts) const {
  SYNCLINE_CHECK(index < parts, "a payload has parts 0 to parts - 1");
  return Payload{first_element(elements, index + 1, parts) - first_element(elements, index, parts),
                 bytes_per_element};
}

Bytes Payload::bytes() const {
  return Bytes(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(elements) * bytes_per_element)));
}

std::unique_ptr<AllReduce> make_all_reduce(const Collective& collective, Network& network,
                                           Traffic& traffic,
                                           const std::vector<CollectiveMember>& members,
                                           Payload payload) {
  SYNCLINE_CHECK(!members.empty(), "a collective has members");
  switch (collective.algorithm) {
    case CollectiveAlgorithm::RING:
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
                              const std::vector<CollectiveMember>& members, Payload payload) {
  IdleAllReduce result{Time(), Traffic(topology), {}};
  Engine engine;
  Network network(engine, topology);
  const auto all_reduce = make_all_reduce(collective, network, result.traffic, members, payload);
  for (std::size_t member = 0; member < members.size(); ++member)
    engine.spawn("member", all_reduce->join(member));
  engine.run();
  result.duration = engine.now();
  result.channels = network.uses();
  return result;
}

}  // namespace syncline
