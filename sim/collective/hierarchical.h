// Hierarchical all-reduce: inside each site, between the sites, and back.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "sim/collective/ring.h"

namespace syncline {

// With g hosts a site: a ring reduce-scatter inside each site leaves host r with 1/g of the site's
// sum; g rings between the sites, one a rank, at the same time, all-reduce these shards; a ring
// all-gather inside each site brings them together.
class HierarchicalAllReduce final : public AllReduce {
 public:
  HierarchicalAllReduce(Network& network, Traffic& traffic,
                        const std::vector<CollectiveMember>& members, Payload payload);
  Task<> join(std::size_t member) override;

 private:
  struct Place {
    std::size_t site;
    std::size_t rank;
  };
  Task<> join_host(Place place);

  Engine& engine_;
  std::vector<std::vector<Place>> places_;                 // by member, its hosts
  std::vector<std::unique_ptr<RingPass>> reduce_scatter_;  // by site
  std::vector<std::unique_ptr<RingPass>> between_;         // by rank
  std::vector<std::unique_ptr<RingPass>> all_gather_;      // by site
};

}  // namespace syncline
