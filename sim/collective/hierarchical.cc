#include "sim/collective/hierarchical.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/engine/when_all.h"
#include "topology/input_error.h"

namespace syncline {

HierarchicalAllReduce::HierarchicalAllReduce(Network& network, Traffic& traffic,
                                             const std::vector<CollectiveMember>& members,
                                             Payload payload)
    : engine_(network.engine()) {
  std::vector<std::string> names;
  std::vector<std::vector<NodeId>> sites;
  for (const CollectiveMember& member : members) {
    const auto known = std::find(names.begin(), names.end(), member.site);
    const auto site = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(member.site);
      sites.emplace_back();
    }
    std::vector<Place>& places = places_.emplace_back();
    for (const NodeId host : member.hosts) {
      places.push_back(Place{site, sites[site].size()});
      sites[site].push_back(host);
    }
  }
  const std::size_t ranks = sites.front().size();
  for (std::size_t site = 0; site < sites.size(); ++site) {
    if (sites[site].size() == ranks) continue;
    throw InputError(
        fmt::format("a HIERARCHICAL collective needs as many hosts in every cluster: {} has {}, {} "
                    "has {}; use RING, or give them equal numbers",
                    names.front(), ranks, names[site], sites[site].size()));
  }
  const auto failed = [this] { fail(); };
  for (const std::vector<NodeId>& hosts : sites) {
    reduce_scatter_.push_back(std::make_unique<RingPass>(RingKind::REDUCE_SCATTER, network, traffic,
                                                         hosts, payload, failed));
    all_gather_.push_back(
        std::make_unique<RingPass>(RingKind::ALL_GATHER, network, traffic, hosts, payload, failed));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<NodeId> hosts;
    for (const std::vector<NodeId>& site : sites) hosts.push_back(site[rank]);
    // After the reduce-scatter host `rank` holds part rank + 1.
    between_.push_back(std::make_unique<RingPass>(RingKind::ALL_REDUCE, network, traffic,
                                                  std::move(hosts),
                                                  payload.part((rank + 1) % ranks, ranks), failed));
  }
}

Task<> HierarchicalAllReduce::join(std::size_t member) {
  const std::vector<Place>& places = places_[member];
  if (places.size() == 1) return join_host(places.front());
  std::vector<Task<>> hosts;
  hosts.reserve(places.size());
  for (const Place place : places) hosts.push_back(join_host(place));
  return when_all(engine_, "hierarchical all-reduce", std::move(hosts));
}

Task<> HierarchicalAllReduce::join_host(Place place) {
  co_await reduce_scatter_[place.site]->join(place.rank);
  co_await between_[place.rank]->join(place.site);
  co_await all_gather_[place.site]->join(place.rank);
}

}  // namespace syncline
