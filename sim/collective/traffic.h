// What the collectives of a run sent, by host.
#pragma once

#include <vector>

#include "sim/network/network.h"
#include "topology/topology.h"

namespace syncline {

class Traffic {
 public:
  explicit Traffic(const Topology& topology)
      : sent_(topology.node_count()), received_(topology.node_count()) {}

  // What a transfer has delivered: at its end, or when it is given up.
  void credit(NodeId source, NodeId destination, Bytes delivered) {
    sent_[source.value] += delivered;
    received_[destination.value] += delivered;
    total_ += delivered;
  }
  // Traffic that was not carried event by event, but is known: `times` times what `once` holds.
  void add(const Traffic& once, std::int64_t times) {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      sent_[i] += Bytes(once.sent_[i].count() * times);
      received_[i] += Bytes(once.received_[i].count() * times);
    }
    total_ += Bytes(once.total_.count() * times);
  }

  Bytes sent(NodeId host) const { return sent_[host.value]; }
  Bytes received(NodeId host) const { return received_[host.value]; }
  Bytes total() const { return total_; }

 private:
  std::vector<Bytes> sent_;
  std::vector<Bytes> received_;
  Bytes total_;
};

}  // namespace syncline
