// A ring all-reduce that is computed instead of simulated, where that is exact.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/signal.h"

namespace syncline {

// The edges of a ring in which no two sends ever share a link, and each has one rate all the time:
// every edge has its links to itself, none is a bundle, all have capacity, and the transport sets
// no limits. The ring is then independent of what else happens as long as nobody else uses these
// links and they do not change. None: it is another ring.
std::optional<std::vector<Network::Way>> private_ring(const Network& network,
                                                      const std::vector<NodeId>& hosts);

// On a private ring, without an event a send: host i starts step s+1 at
//   x_i(s+1) = max(x_{i-1}(s) + d_{i-1}, x_i(s) + d_i)
// where d is a send's latency and time on the link, each rounded to the clock as a transfer's. Ends
// and accounts are those of ring_schedule(), which says what a step is; the accounts come at each
// host's end. Costs 2(p-1)p maxima when the last host has joined.
class StreamedRing final : public AllReduce {
 public:
  // `ways`: private_ring() of these hosts, which stand in the ring's order; `places`: by member.
  StreamedRing(Network& network, Traffic& traffic, std::vector<NodeId> hosts,
               std::vector<Network::Way> ways, std::vector<std::uint32_t> places, Payload payload);
  Task<> join(std::size_t member) override;

 private:
  // Parts have at most two sizes; `larger` ones have one element more.
  bool is_larger(std::size_t part) const;
  void compute();
  void credit(std::size_t place);

  Network& network_;
  Traffic& traffic_;
  std::vector<NodeId> hosts_;
  std::vector<Network::Way> ways_;     // by host: to the next one
  std::vector<std::uint32_t> places_;  // by member
  Payload payload_;
  Bytes smaller_bytes_, larger_bytes_;
  std::vector<Time> at_;  // by host: when it joined; then its end
  std::size_t joined_ = 0;
  Signal computed_;
};

}  // namespace syncline
