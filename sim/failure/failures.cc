#include "sim/failure/failures.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "sim/no_progress.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr std::uint64_t kMostEventsWithoutProgress = 100'000;
constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

// Connected parts of the graph, over what neither `links` nor `nodes` counts as missing.
std::vector<std::uint32_t> components(const Topology& topology,
                                      const std::vector<std::uint32_t>& links,
                                      const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> component(topology.node_count(), kUnseen);
  std::vector<NodeId> reached;
  const auto has_link = [&](const Bundle& bundle) {
    for (const LinkId member : bundle.members) {
      if (links[member.value] == 0) return true;
    }
    return false;
  };
  std::uint32_t next = 0;
  for (std::uint32_t first = 0; first < topology.node_count(); ++first) {
    if (component[first] != kUnseen) continue;
    component[first] = next;
    if (nodes[first] == 0) reached.push_back(NodeId{first});
    while (!reached.empty()) {
      const NodeId node = reached.back();
      reached.pop_back();
      for (const BundleId id : topology.bundles_at(node)) {
        const Bundle& bundle = topology.bundle(id);
        const NodeId other = bundle.a == node ? bundle.b : bundle.a;
        if (component[other.value] != kUnseen || nodes[other.value] != 0 || !has_link(bundle)) {
          continue;
        }
        component[other.value] = next;
        reached.push_back(other);
      }
    }
    ++next;
  }
  return component;
}

}  // namespace

Failures::Failures(Network& network, std::span<const FailureEvent> events, std::size_t workers,
                   std::uint64_t seed, FailureListener& listener)
    : network_(network),
      events_(events),
      seed_(seed),
      listener_(listener),
      speed_(workers, 1),
      machines_down_(workers),
      links_down_(network.topology().link_count()),
      links_failing_(network.topology().link_count()),
      nodes_down_(network.topology().node_count()),
      nodes_failing_(network.topology().node_count()) {}

void Failures::start() {
  for (const FailureEvent& event : events_) {
    processes_.push_back(network_.engine().spawn("event on " + event.target, drive(event)));
  }
}

void Failures::stop() {
  for (const ProcessId process : processes_) network_.engine().cancel(process);
  processes_.clear();
}

Task<> Failures::drive(const FailureEvent& event) {
  Engine& engine = network_.engine();
  if (const auto* once = std::get_if<Once>(&event.when)) {
    co_await engine.sleep_until(once->at);
    begin(event);
    if (once->lasting == Time::max()) co_return;
    co_await engine.sleep(once->lasting);
    end(event);
    co_return;
  }
  const auto& churn = std::get<Churn>(event.when);
  RandomStream random(seed_, "events." + event.target);
  while (true) {
    co_await engine.sleep(Time::seconds(churn.up.draw(random)));
    begin(event);
    co_await engine.sleep(Time::seconds(churn.down.draw(random)));
    end(event);
  }
}

void Failures::change_links(const DownEffect& effect, bool down) {
  const bool fails = effect.in_flight == InFlight::FAIL;
  const Time now = network_.engine().now();
  const auto change = [&](std::uint32_t& count, std::uint32_t& failing) {
    count += down ? 1 : -1;
    failing += !fails ? 0 : down ? 1 : -1;
    return count == (down ? 1u : 0u);  // the first to take it down, or the last to bring it back
  };
  for (const LinkId link : effect.links) {
    if (change(links_down_[link.value], links_failing_[link.value])) {
      network_.change_link_state(now, link, !down, effect.in_flight);
    }
  }
  for (const NodeId node : effect.nodes) {
    if (change(nodes_down_[node.value], nodes_failing_[node.value])) {
      network_.change_node_state(now, node, !down, effect.in_flight);
    }
  }
  components_known_ = false;
}

void Failures::begin(const FailureEvent& event) {
  if (++events_without_progress_ > kMostEventsWithoutProgress) {
    throw NoProgress(fmt::format("no progress at {}: {} events passed and no worker got on",
                                 to_text(network_.engine().now()), kMostEventsWithoutProgress));
  }
  const Time now = network_.engine().now();
  std::visit(
      Overloaded{[&](const DownEffect& down) {
                   change_links(down, true);
                   for (const std::uint32_t worker : down.workers) {
                     if (++machines_down_[worker] == 1) listener_.machine_down(worker);
                   }
                   listener_.network_changed();
                 },
                 [&](const SpeedEffect& speed) {
                   for (const std::uint32_t worker : speed.workers) {
                     speed_[worker] = speed.factor;
                     listener_.speed_changed(worker);
                   }
                 },
                 [&](const BandwidthEffect& bandwidth) {
                   for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
                     network_.change_capacity(now, bandwidth.link, direction, bandwidth.value);
                   }
                 },
                 [&](const LatencyEffect& latency) {
                   for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
                     network_.change_latency(now, latency.link, direction, latency.value_s);
                   }
                 }},
      event.effect);
}

void Failures::end(const FailureEvent& event) {
  const Time now = network_.engine().now();
  std::visit(
      Overloaded{[&](const DownEffect& down) {
                   change_links(down, false);
                   for (const std::uint32_t worker : down.workers) {
                     if (--machines_down_[worker] == 0) listener_.machine_up(worker);
                   }
                   listener_.network_changed();
                 },
                 [&](const SpeedEffect& speed) {
                   for (const std::uint32_t worker : speed.workers) {
                     speed_[worker] = 1;
                     listener_.speed_changed(worker);
                   }
                 },
                 [&](const BandwidthEffect& bandwidth) {
                   const Link& plain = network_.topology().link(bandwidth.link);
                   for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
                     network_.change_capacity(now, bandwidth.link, direction,
                                              plain.capacity[static_cast<int>(direction)]);
                   }
                 },
                 [&](const LatencyEffect& latency) {
                   const Link& plain = network_.topology().link(latency.link);
                   for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
                     network_.change_latency(now, latency.link, direction,
                                             plain.latency_s[static_cast<int>(direction)]);
                   }
                 }},
      event.effect);
}

void Failures::find_components() const {
  if (std::exchange(components_known_, true)) return;
  component_ = components(network_.topology(), links_down_, nodes_down_);
  stalling_component_ = components(network_.topology(), links_failing_, nodes_failing_);
}

std::uint32_t Failures::component(NodeId node) const {
  find_components();
  return component_[node.value];
}

bool Failures::cut_off(NodeId a, NodeId b) const {
  find_components();
  return stalling_component_[a.value] != stalling_component_[b.value];
}

}  // namespace syncline
