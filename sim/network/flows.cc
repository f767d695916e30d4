#include "sim/network/flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace syncline {

FlowCheck::FlowCheck(const Topology& topology)
    : topology_(topology), component_(topology.node_count()) {
  std::iota(component_.begin(), component_.end(), 0U);
  const auto find = [&](std::uint32_t node) {
    while (component_[node] != node) node = component_[node] = component_[component_[node]];
    return node;
  };
  for (std::uint32_t i = 0; i < topology.bundle_count(); ++i) {
    const Bundle& bundle = topology.bundle(BundleId{i});
    component_[find(bundle.a.value)] = find(bundle.b.value);
  }
  for (std::uint32_t node = 0; node < component_.size(); ++node) component_[node] = find(node);
}

std::string FlowCheck::problem(NodeId source, NodeId destination) const {
  for (const NodeId end : {source, destination}) {
    if (!topology_.node(end).host)
      return fmt::format("\"{}\" is a switch, which only forwards; name a host",
                         topology_.node(end).name);
  }
  if (component_[source.value] == component_[destination.value]) return {};
  return fmt::format("no route from {} to {}", topology_.node(source).name,
                     topology_.node(destination).name);
}

FlowRun::FlowRun(Network& network, std::vector<Flow> flows, FlowPolicy policy)
    : network_(network),
      flows_(std::move(flows)),
      policy_(policy),
      outcomes_(flows_.size()),
      under_way_(flows_.size()),
      order_(flows_.size()),
      limited_s_(network.topology().channel_count()) {
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return flows_[a].start < flows_[b].start;
  });
}

void FlowRun::begin() { schedule_next(); }

void FlowRun::schedule_next() {
  if (next_ == order_.size()) return;
  next_start_ = network_.engine().schedule(flows_[order_[next_]].start, Phase::TIMER, *this, START);
}

void FlowRun::look_again(Time at) {
  // After the change itself, which is made in the phase before.
  looks_.push_back(network_.engine().schedule(at, Phase::ARRIVAL, *this, LOOK));
}

void FlowRun::stop() {
  network_.engine().cancel(next_start_);
  for (const EventHandle look : looks_) network_.engine().cancel(look);
  next_ = order_.size();
  without_way_.clear();
  for (TransferId& transfer : under_way_) {
    if (transfer != 0) network_.cancel(std::exchange(transfer, 0));
  }
}

std::vector<FlowOutcome> FlowRun::outcomes() const {
  std::vector<FlowOutcome> now = outcomes_;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (under_way_[i] != 0) now[i].delivered += network_.delivered(under_way_[i]);
  }
  return now;
}

void FlowRun::on_event(std::uint64_t tag) {
  if (tag == LOOK) {
    for (const std::uint32_t flow : std::exchange(without_way_, {})) start(flow);
    return;
  }
  const Time now = network_.engine().now();
  while (next_ < order_.size() && flows_[order_[next_]].start == now) start(order_[next_++]);
  schedule_next();
}

void FlowRun::start(std::uint32_t index) {
  const Flow& flow = flows_[index];
  const bool again = policy_ == FlowPolicy::RESTART || policy_ == FlowPolicy::RESUME;
  if (again && !network_.way(flow.source, flow.destination)) {
    without_way_.push_back(index);
    return;
  }
  if (policy_ == FlowPolicy::RESTART) outcomes_[index].delivered = Bytes();
  Bytes rest = flow.bytes;
  if (policy_ == FlowPolicy::RESUME) rest = rest - outcomes_[index].delivered;
  under_way_[index] =
      network_.start({.source = flow.source,
                      .destination = flow.destination,
                      .bytes = rest,
                      .in_flight = policy_ == FlowPolicy::STALL ? InFlight::STALL : InFlight::FAIL,
                      .wait_for_route = true},
                     *this, index);
}

void FlowRun::on_transfer_end(const TransferReport& report, std::uint64_t tag) {
  const auto index = static_cast<std::uint32_t>(tag);
  under_way_[index] = 0;
  for (const HeldLimit& held : report.limits) {
    const double held_s = held.held.in_seconds();
    switch (held.limit.kind) {
      case Limit::Kind::LATENCY:
        limited_by_latency_s_ += held_s;
        break;
      case Limit::Kind::CAP:
        limited_by_cap_s_ += held_s;
        break;
      case Limit::Kind::LINK:
      case Limit::Kind::OUTAGE:
        limited_s_[held.limit.channel.value] += held_s;
    }
  }
  FlowOutcome& outcome = outcomes_[index];
  outcome.bottleneck = report.bottleneck;
  outcome.ended = report.ended;
  outcome.delivered += report.delivered;
  if (report.end == TransferEnd::DONE) {
    outcome.status = FlowOutcome::Status::DONE;
  } else if (policy_ == FlowPolicy::FAIL) {
    outcome.status = FlowOutcome::Status::FAILED;
  } else {
    start(index);
  }
}

}  // namespace syncline
