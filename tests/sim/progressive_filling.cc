#include "tests/sim/progressive_filling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "topology/check.h"

namespace syncline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kCap = 0xFFFFFFFF;      // a bottleneck: no channel, its own cap
constexpr std::uint32_t kUnknown = 0xFFFFFFFE;  // of a flow that was never solved
constexpr double kSame = 1e-9;                  // relative: loads and rates that count as equal

double seconds_between(Time from, Time to) {
  return static_cast<double>(to.count_ns() - from.count_ns()) / 1e9;
}

}  // namespace

ProgressiveFilling::ProgressiveFilling(std::size_t channels) : channels_(channels) {
  for (Channel& channel : channels_) channel.capacity = kInfinity;
}

void ProgressiveFilling::set_capacity(ChannelId channel, double bytes_per_s) {
  SYNCLINE_CHECK(bytes_per_s >= 0, "a capacity is not negative");
  if (channels_[channel.value].capacity == bytes_per_s) return;
  channels_[channel.value].capacity = bytes_per_s;
  touch(channel.value);
  // A channel that had no limit, or now has none, connects nothing; its members are touched one by
  // one.
  for (const Member& member : channels_[channel.value].members) touch_flow(member.flow);
}

ProgressiveFilling::FlowId ProgressiveFilling::add(std::span<const ChannelId> channels,
                                                   double bytes, double weight, double cap) {
  SYNCLINE_CHECK(bytes >= 0 && weight > 0 && cap >= 0, "a flow's bytes, weight and cap");
  if (free_.empty()) {
    free_.push_back(static_cast<FlowId>(flows_.size()));
    flows_.emplace_back();
  }
  FlowId id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  flow.weight = weight;
  flow.cap = cap;
  flow.remaining = bytes;
  flow.rate = 0;
  flow.end = Time::max();
  flow.bottleneck = kUnknown;
  for (ChannelId channel : channels) {
    std::vector<Member>& members = channels_[channel.value].members;
    flow.hops.push_back({channel.value, static_cast<std::uint32_t>(members.size())});
    members.push_back({id, static_cast<std::uint32_t>(flow.hops.size() - 1)});
    touch(channel.value);
  }
  touch_flow(id);
  return id;
}

void ProgressiveFilling::set_cap(FlowId flow, double cap) {
  SYNCLINE_CHECK(cap >= 0, "a cap is not negative");
  if (flows_[flow].cap == cap) return;
  flows_[flow].cap = cap;
  touch_flow(flow);
}

void ProgressiveFilling::remove(FlowId id) {
  Flow& flow = flows_[id];
  for (const Hop& hop : flow.hops) {
    std::vector<Member>& members = channels_[hop.channel].members;
    Member last = members.back();
    members[hop.position] = last;
    flows_[last.flow].hops[last.hop].position = hop.position;
    members.pop_back();
    touch(hop.channel);
  }
  flow.hops.clear();
  ends_.erase(id);
  flow.dirty = false;  // collect_part() passes over it
  free_.push_back(id);
}

void ProgressiveFilling::touch(std::uint32_t channel) {
  if (channels_[channel].dirty) return;
  channels_[channel].dirty = true;
  dirty_channels_.push_back(channel);
}

void ProgressiveFilling::touch_flow(FlowId flow) {
  if (flows_[flow].dirty) return;
  flows_[flow].dirty = true;
  dirty_flows_.push_back(flow);
}

void ProgressiveFilling::solve(Time now) {
  if (dirty_channels_.empty() && dirty_flows_.empty()) return;
  collect_part();
  fill();
  for (FlowId flow : part_flows_) set_rate(flow, flows_[flow].new_rate, now);
  for (std::uint32_t channel : part_channels_) note_saturation(channels_[channel]);
  for (FlowId id : part_flows_) {
    Flow& flow = flows_[id];
    flow.bottleneck = find_bottleneck(flow);
    flow.in_part = false;
  }
  for (std::uint32_t channel : part_channels_) channels_[channel].in_part = false;
}

// What a change can reach: from each dirty channel and flow along the channels that have a limit.
void ProgressiveFilling::collect_part() {
  part_channels_.clear();
  part_flows_.clear();
  auto enter_channel = [this](std::uint32_t index) {
    Channel& channel = channels_[index];
    if (channel.in_part) return;
    channel.in_part = true;
    part_channels_.push_back(index);
  };
  for (std::uint32_t channel : dirty_channels_) {
    channels_[channel].dirty = false;
    enter_channel(channel);
  }
  for (FlowId flow : dirty_flows_) {
    if (!flows_[flow].dirty) continue;
    flows_[flow].dirty = false;
    enter(flow);
  }
  dirty_channels_.clear();
  dirty_flows_.clear();
  std::size_t next_flow = 0;
  for (std::size_t next = 0; next < part_channels_.size() || next_flow < part_flows_.size();) {
    if (next < part_channels_.size()) {
      const Channel& channel = channels_[part_channels_[next++]];
      if (channel.capacity == kInfinity) continue;
      for (const Member& member : channel.members) enter(member.flow);
    } else {
      for (const Hop& hop : flows_[part_flows_[next_flow++]].hops) {
        if (channels_[hop.channel].capacity != kInfinity) enter_channel(hop.channel);
      }
    }
  }
}

void ProgressiveFilling::enter(FlowId flow) {
  if (flows_[flow].in_part) return;
  flows_[flow].in_part = true;
  part_flows_.push_back(flow);
}

void ProgressiveFilling::fill() {
  for (std::uint32_t index : part_channels_) {
    Channel& channel = channels_[index];
    channel.left = channel.capacity;
    channel.open_weight = 0;
    channel.open_members = 0;
  }
  capped_.clear();
  for (FlowId id : part_flows_) {
    Flow& flow = flows_[id];
    flow.open = true;
    if (flow.cap != kInfinity) capped_.push_back(id);
    for (const Hop& hop : flow.hops) {
      channels_[hop.channel].open_weight += flow.weight;
      ++channels_[hop.channel].open_members;
    }
  }
  std::sort(capped_.begin(), capped_.end(), [this](FlowId a, FlowId b) {
    return flows_[a].cap / flows_[a].weight < flows_[b].cap / flows_[b].weight;
  });
  for (std::uint32_t index : part_channels_) {
    const Channel& channel = channels_[index];
    if (channel.capacity == kInfinity || channel.open_members == 0) continue;
    levels_.push(index, channel.left / channel.open_weight);
  }

  std::size_t next_capped = 0;
  while (true) {
    while (next_capped < capped_.size() && !flows_[capped_[next_capped]].open) ++next_capped;
    double cap_level = kInfinity;
    if (next_capped < capped_.size()) {
      const Flow& flow = flows_[capped_[next_capped]];
      cap_level = flow.cap / flow.weight;
    }
    if (!levels_.empty()) {
      // Levels only rise while others are fixed below them, so a key is brought up to date when it
      // comes to the top.
      std::uint32_t index = levels_.top();
      const Channel& channel = channels_[index];
      if (channel.open_members == 0) {
        levels_.pop();
        continue;
      }
      double level = channel.left / channel.open_weight;
      if (level > levels_.top_key()) {
        levels_.set(index, level);
        continue;
      }
      if (level < cap_level) {
        levels_.pop();
        for (const Member& member : channel.members) {
          if (flows_[member.flow].open) fix(member.flow, level * flows_[member.flow].weight);
        }
        continue;
      }
    }
    if (cap_level == kInfinity) break;
    fix(capped_[next_capped], flows_[capped_[next_capped]].cap);
  }
  for (FlowId flow : part_flows_) {
    if (flows_[flow].open) flows_[flow].new_rate = kInfinity;  // nothing limits it
  }
}

void ProgressiveFilling::fix(FlowId id, double rate) {
  Flow& flow = flows_[id];
  flow.open = false;
  flow.new_rate = rate;
  for (const Hop& hop : flow.hops) {
    Channel& channel = channels_[hop.channel];
    channel.left = std::max(0.0, channel.left - rate);
    channel.open_weight -= flow.weight;
    --channel.open_members;
  }
}

void ProgressiveFilling::set_rate(FlowId id, double rate, Time now) {
  Flow& flow = flows_[id];
  if (flow.bottleneck != kUnknown && rate == flow.rate) return;
  flow.remaining = flow.bottleneck == kUnknown ? flow.remaining : remaining(id, now);
  flow.since = now;
  flow.rate = rate;
  if (rate == 0) {
    flow.end = Time::max();
    ends_.erase(id);
    return;
  }
  flow.end = now + Time::seconds(flow.remaining / rate);
  ends_.set(id, flow.end);
}

void ProgressiveFilling::note_saturation(Channel& channel) {
  double load = 0;
  channel.top_level = 0;
  for (const Member& member : channel.members) {
    const Flow& flow = flows_[member.flow];
    load += flow.rate;
    channel.top_level = std::max(channel.top_level, flow.rate / flow.weight);
  }
  channel.saturated = channel.capacity != kInfinity && load >= channel.capacity * (1 - kSame);
}

std::uint32_t ProgressiveFilling::find_bottleneck(const Flow& flow) const {
  for (const Hop& hop : flow.hops) {
    const Channel& channel = channels_[hop.channel];
    if (channel.saturated && flow.rate / flow.weight >= channel.top_level * (1 - kSame)) {
      return hop.channel;
    }
  }
  return kCap;
}

Time ProgressiveFilling::next_finish() const {
  return ends_.empty() ? Time::max() : ends_.top_key();
}

double ProgressiveFilling::rate(FlowId flow) const { return flows_[flow].rate; }

double ProgressiveFilling::remaining(FlowId id, Time now) const {
  const Flow& flow = flows_[id];
  if (flow.bottleneck == kUnknown || flow.since == now) return flow.remaining;
  return std::max(0.0, flow.remaining - flow.rate * seconds_between(flow.since, now));
}

bool ProgressiveFilling::bottleneck(FlowId flow, ChannelId& channel) const {
  std::uint32_t found = flows_[flow].bottleneck;
  if (found >= kUnknown) return false;
  channel = ChannelId{found};
  return true;
}

}  // namespace syncline
