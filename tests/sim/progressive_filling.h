// The plain way to share: raise the rates of all flows together until a channel is full or a flow
// is at its cap, fix those, go on with the rest (Bertsekas and Gallager, Data Networks, 6.5.2:
// progressive filling; with weights and caps). Every rate of the part that a change can reach is
// found anew, and no state is kept but the flows: the second oracle of sim/network/sharing.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/indexed_heap.h"
#include "topology/topology.h"

namespace syncline {

// Solves anew the flows that a change can reach: those connected to it by channels with a limit.
// With n flows of h channels each in that part a solve costs O(n h log n).
class ProgressiveFilling {
 public:
  using FlowId = std::uint32_t;  // dense, reused after removal

  // Every channel starts without limit.
  explicit ProgressiveFilling(std::size_t channels);

  void set_capacity(ChannelId channel, double bytes_per_s);
  // `channels`: each at most once. weight > 0. cap may be infinite. bytes >= 0.
  FlowId add(std::span<const ChannelId> channels, double bytes, double weight, double cap);
  void set_cap(FlowId flow, double cap);
  void remove(FlowId flow);
  void solve(Time now);

  // Of the last solve():
  double rate(FlowId flow) const;                 // bytes/s
  double remaining(FlowId flow, Time now) const;  // bytes
  Time next_finish() const;
  // The first saturated channel of its own order on which no flow has a higher rate per weight
  // (within 1e-9), or nothing: its cap.
  bool bottleneck(FlowId flow, ChannelId& channel) const;

 private:
  // A flow in a channel's list knows which of its hops this is, a hop where in the list it stands:
  // removal is O(1).
  struct Member {
    FlowId flow;
    std::uint32_t hop;
  };
  struct Hop {
    std::uint32_t channel;
    std::uint32_t position;
  };

  struct Channel {
    double capacity;
    std::vector<Member> members;
    bool dirty = false;
    // Of the last solve:
    bool saturated = false;
    double top_level = 0;  // the highest rate per weight across it
    // While solving:
    bool in_part = false;
    double left = 0;         // capacity not given away
    double open_weight = 0;  // of members whose rate is open
    std::size_t open_members = 0;
  };

  struct Flow {
    std::vector<Hop> hops;
    double weight = 1;
    double cap = 0;
    // `remaining` was true at `since`; at `rate` the flow ends at `end`. Touched only when the rate
    // changes, so that a flow at a constant rate gathers no rounding.
    double remaining = 0;
    Time since;
    double rate = 0;
    Time end;
    std::uint32_t bottleneck = 0;
    bool dirty = false;
    // While solving:
    bool in_part = false;
    bool open = false;
    double new_rate = 0;
  };

  void touch(std::uint32_t channel);
  void touch_flow(FlowId flow);
  void collect_part();
  void enter(FlowId flow);
  void fill();
  void fix(FlowId flow, double rate);
  void set_rate(FlowId flow, double rate, Time now);
  void note_saturation(Channel& channel);
  std::uint32_t find_bottleneck(const Flow& flow) const;

  std::vector<Channel> channels_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  IndexedHeap<Time> ends_;  // of flows that end

  std::vector<std::uint32_t> dirty_channels_;
  std::vector<FlowId> dirty_flows_;

  // The part being solved, and the orders in which it is filled.
  std::vector<std::uint32_t> part_channels_;
  std::vector<FlowId> part_flows_;
  std::vector<FlowId> capped_;  // by cap per weight
  IndexedHeap<double> levels_;  // of channels: the rate per weight at which they are full
};

}  // namespace syncline
