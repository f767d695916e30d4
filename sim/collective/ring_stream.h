// A ring all-reduce that is computed instead of simulated, where that is exact.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/signal.h"

namespace syncline {

// Whether no two sends of this ring ever share a link, and each has one rate all the time: every
// edge has its links to itself, none is a bundle, all have capacity, and the transport sets no
// limits. The ring is then independent of what else happens as long as nobody else uses these links
// and they do not change.
bool ring_is_private(Network& network, const std::vector<NodeId>& hosts);

// On a private ring, without an event a send: host i starts step s+1 at
//   x_i(s+1) = max(x_{i-1}(s) + d_{i-1}, x_i(s) + d_i)
// where d is a send's latency and time on the link, each rounded to the clock as a transfer's. Ends
// and accounts are those of RingAllReduce, which says what a step is; the accounts come at each
// host's end. Costs 2(p-1)p maxima when the last host has joined.
class StreamedRing final : public AllReduce {
 public:
  // `hosts`: a private ring of at least two.
  StreamedRing(Network& network, Traffic& traffic, std::vector<NodeId> hosts, Payload payload);
  Task<> join(std::size_t member) override;

 private:
  void compute();

  Network& network_;
  Traffic& traffic_;
  std::vector<NodeId> hosts_;
  Payload payload_;
  std::vector<Time> at_;  // by host: when it joined; then its end
  std::size_t joined_ = 0;
  Signal computed_;
};

}  // namespace syncline
