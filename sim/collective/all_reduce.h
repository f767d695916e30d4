// All-reduce: every member brings a payload, every member leaves with the sum.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/traffic.h"
#include "sim/engine/task.h"
#include "sim/network/network.h"

namespace syncline {

// What each member brings: `elements` numbers. Collectives split it into whole elements.
struct Payload {
  std::uint64_t elements = 0;
  double bytes_per_element = 4;
  // Compressed payloads: so many bytes more for each block of elements, also a last one that is not
  // full.
  std::uint64_t block = 0;  // elements; 0: none
  std::uint64_t bytes_per_block = 0;
  // Sparse payloads: `kept` of `of` elements travel, of a part as well, rounded up to whole ones.
  std::uint64_t kept = 1;
  std::uint64_t of = 1;

  // Part `index` of `parts`: sizes differ by at most one element.
  Payload part(std::uint32_t index, std::uint32_t parts) const;
  Bytes bytes() const;  // rounded up to whole bytes
};

// schedule.h says what each one sends, and what it takes on an idle network.
enum class CollectiveAlgorithm : std::uint8_t {
  RING,
  HIERARCHICAL,  // reduce-scatter inside each site, all-reduce of a shard each between the sites,
                 // all-gather inside
  PARAMETER_SERVER,
  HALVING_DOUBLING,
  TREE,        // binomial
  ALL_TO_ALL,  // everybody's payload to everybody
  SHARDED_PARAMETER_SERVER,
  PAIRWISE
};
enum class Fidelity : std::uint8_t {
  CHUNK,  // every send is a transfer
  STREAM  // a ring with links of its own is computed: the same times (ring_stream.h). Nobody else
          // may use or change these links meanwhile. Others are as with CHUNK.
};
struct Collective {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::RING;
  NodeId server = {};  // PARAMETER_SERVER only: its node
  Fidelity fidelity = Fidelity::CHUNK;
  std::vector<NodeId> ring = {};  // RING only: the members' first hosts in its order; empty: as the
                                  // members come. Who is not in it comes last
};

// A member: the hosts that act for it (one, or all hosts of a cluster that is one worker), and the
// site it is at.
struct CollectiveMember {
  std::vector<NodeId> hosts;
  std::string site;
};
std::vector<NodeId> first_hosts(const std::vector<CollectiveMember>& members);
// By member: its place in the ring.
std::vector<std::uint32_t> ring_places(const Collective& collective,
                                       const std::vector<NodeId>& first_hosts);

// One all-reduce, used once. Members join when they are ready, each at its own time, and leave when
// they have the sum. Its transfers stall where something goes down and wait where there is no
// route, but for what the event that takes it down says.
class AllReduce {
 public:
  virtual ~AllReduce() = default;
  // Ends when `member` has the sum and its own sends have ended. Once a member.
  virtual Task<> join(std::size_t member) = 0;

  // Called when one of its transfers failed (an outage with InFlight::FAIL): it will not end. It
  // must not be destroyed inside the call. Without a handler nobody hears of it.
  void on_failure(std::function<void()> handler) { handler_ = std::move(handler); }

 protected:
  void fail() const {
    if (handler_) handler_();
  }

 private:
  std::function<void()> handler_;
};

// Ranks are the members in their order (but see Collective::ring), by each one's first host.
// HIERARCHICAL: all hosts; sites in order of first appearance, and every site must have as many
// hosts as the others (InputError, naming them). `network` and `traffic` outlive it.
std::unique_ptr<AllReduce> make_all_reduce(const Collective& collective, Network& network,
                                           Traffic& traffic,
                                           const std::vector<CollectiveMember>& members,
                                           Payload payload);

// One all-reduce alone on an idle network, all members joining at once.
struct IdleAllReduce {
  Time duration;
  Traffic traffic;
  std::vector<ChannelUse> channels;  // by ChannelId
};
IdleAllReduce idle_all_reduce(const Collective& collective, const Topology& topology,
                              const std::vector<CollectiveMember>& members, Payload payload,
                              const Transport& transport = {});

}  // namespace syncline
