// What links and nodes can do at this moment: the topology's values with the changes of the run
// upon them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/topology.h"

namespace syncline {

class Conditions {
 public:
  explicit Conditions(const Topology& topology);

  struct Changed {
    // Whose channels may have another capacity now; valid until the next change.
    std::span<const BundleId> bundles;
    bool for_paths = false;  // more than that: up or down, some capacity or none, a member cap
  };
  Changed set_capacity(LinkId link, Direction direction, double bytes_per_s);
  Changed set_link_up(LinkId link, bool up);
  Changed set_node_up(NodeId node, bool up);
  void set_latency(LinkId link, Direction direction, double latency_s);

  // Down: no member is up, or the node at one end is down.
  bool down(ChannelId channel) const { return channels_[channel.value].down; }
  // The sum over the members that are up; 0 while down.
  double capacity(ChannelId channel) const { return channels_[channel.value].capacity; }
  // What one transfer can have of it, where that is not its capacity: the largest member that is up
  // (0 while down); infinite for a bundle of one.
  double member_cap(ChannelId channel) const { return channels_[channel.value].member_cap; }
  // Of a bundle, seen in its own direction: the least of its members that are up.
  double latency_s(BundleId bundle, Direction direction) const;

 private:
  struct LinkState {
    std::array<double, 2> capacity;  // bytes/s, by the link's own direction
    std::array<double, 2> latency_s;
    bool up = true;
  };
  struct ChannelState {
    double capacity = 0;
    double member_cap = 0;
    bool down = false;
  };

  bool derive(BundleId bundle);  // whether it changed for paths
  Changed derive_bundle_of(LinkId link);

  const Topology& topology_;
  std::vector<LinkState> links_;
  std::vector<bool> node_up_;
  std::vector<ChannelState> channels_;
  BundleId changed_;
};

}  // namespace syncline
