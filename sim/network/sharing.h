// How concurrent flows share channels: the seam behind which the solver can be replaced.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/quantity.h"
#include "topology/topology.h"

namespace syncline {

using FlowId = std::uint32_t;  // dense, reused after removal

// Bytes in motion: weighted max-min fair rates below each flow's cap, and when each flow will have
// delivered its bytes. All changes of one instant come first, then one solve(). Rates hold until
// the next solve().
class Sharing {
 public:
  virtual ~Sharing() = default;

  virtual void set_capacity(ChannelId channel, double bytes_per_s) = 0;
  // `channels`: each at most once. weight > 0. cap may be infinite. bytes >= 0. `tag` comes back
  // from take_finished().
  virtual FlowId add(std::span<const ChannelId> channels, double bytes, double weight, double cap,
                     std::uint64_t tag) = 0;
  virtual void set_cap(FlowId flow, double cap) = 0;
  virtual void remove(FlowId flow) = 0;

  // Brings the flows to `now` at the rates that held, then finds the new rates.
  virtual void solve(Time now) = 0;
  // When the first flow ends at the present rates, rounded once to the clock; Time::max() if none
  // does.
  virtual Time next_finish() = 0;
  // Brings the flows to `now`; removes every flow within half a nanosecond of its end and returns
  // their tags, ascending.
  virtual void take_finished(Time now, std::vector<std::uint64_t>& tags) = 0;

  virtual double rate(FlowId flow) const = 0;                 // bytes/s since the last solve()
  virtual double remaining(FlowId flow, Time now) const = 0;  // bytes
  virtual double load(ChannelId channel) const = 0;           // bytes/s, sum of the rates across it
  // What holds the flow's rate: the first saturated channel of its own order on which no flow has a
  // higher rate per weight (within 1e-9), or nothing: its cap.
  virtual bool bottleneck(FlowId flow, ChannelId& channel) const = 0;
  // The flows whose bottleneck the last solve() changed, new flows among them; each once. So
  // whoever keeps account of bottlenecks looks at these alone. Valid until the next change.
  virtual std::span<const FlowId> bottleneck_changes() const = 0;
};

}  // namespace syncline
