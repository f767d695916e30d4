#include "tests/sim/random_networks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/network/network.h"
#include "tests/sim/network_probe.h"
#include "tests/sim/oracle.h"
#include "topology/distribution.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

// Draws a random network with its traffic and changes. "Round" ones are made of powers of two, so
// that many things happen in one instant.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed, "network oracle"), round_(seed % 3 == 0) {}

  oracle::Traffic draw() {
    int hosts = 1 + below(chance(0.5) ? 6 : 60);
    draw_links(hosts);
    for (int i = 1 + below(4 + 2 * hosts); i > 0; --i) draw_transfer(hosts);
    if (chance(0.4)) draw_traces();
    if (chance(0.4)) draw_protocol();
    for (int i = below(30); i > 0 && !traffic_.links.empty(); --i) draw_change();
    auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
    std::stable_sort(traffic_.transfers.begin(), traffic_.transfers.end(), by_start);
    auto by_time = [](const auto& a, const auto& b) { return a.at < b.at; };
    std::stable_sort(traffic_.changes.begin(), traffic_.changes.end(), by_time);
    return traffic_;
  }

 private:
  int below(int limit) { return static_cast<int>(random_.next() % static_cast<unsigned>(limit)); }
  bool chance(double probability) { return random_.uniform() < probability; }

  // Within a factor of 32, and of 128 with four members in a bundle.
  double capacity() {
    return 131072 * (round_ ? std::exp2(below(6)) : std::exp2(5 * random_.uniform()));
  }
  double latency() {
    if (chance(0.3)) return 0;
    return round_ ? below(20) / 512.0 : 0.04 * random_.uniform();
  }
  std::int64_t instant(double span_s) {
    if (round_) return std::int64_t{62'500'000} * below(static_cast<int>(span_s * 16));
    return static_cast<std::int64_t>(span_s * 1e9 * random_.uniform());
  }

  void draw_links(int hosts) {
    std::set<std::pair<int, int>> pairs;
    auto join = [&](int a, int b) {
      if (a != b) pairs.insert({std::min(a, b), std::max(a, b)});
    };
    traffic_.nodes = hosts;
    switch (below(4)) {
      case 0:  // a star
        traffic_.nodes = hosts + 1;
        for (int i = 0; i < hosts; ++i) join(i, hosts);
        break;
      case 1:  // a line
        for (int i = 1; i < hosts; ++i) join(i - 1, i);
        break;
      case 2:  // two stars, joined
        traffic_.nodes = hosts + 2;
        for (int i = 0; i < hosts; ++i) join(i, hosts + i % 2);
        join(hosts, hosts + 1);
        break;
      case 3:  // a tree with some more edges
        for (int i = 1; i < hosts; ++i) join(i, below(i));
        for (int i = 0; i < hosts / 3; ++i) join(below(hosts), below(hosts));
        break;
    }
    for (auto [a, b] : pairs) {
      bool shared = chance(0.2);
      for (int members = chance(0.8) ? 1 : 2 + below(3); members > 0; --members) {
        oracle::Link link{.a = a, .b = b, .shared = shared};
        if (chance(0.5)) std::swap(link.a, link.b);
        for (int direction : {0, 1}) {
          link.capacity[direction] = capacity();
          link.latency[direction] = latency();
        }
        if (shared) link.capacity[1] = link.capacity[0];
        traffic_.links.push_back(link);
      }
    }
  }

  void draw_traces() {
    traced_.resize(traffic_.links.size());
    for (int link = 0; link < static_cast<int>(traffic_.links.size()); ++link) {
      if (chance(0.5) || traffic_.traces.size() == 8) continue;
      traced_[link] = true;
      oracle::Trace trace{.link = link};
      // The periods fall together after 3 s.
      if (chance(0.7)) trace.period = std::array{500'000'000, 750'000'000, 1'500'000'000}[below(3)];
      const std::int64_t end = trace.period > 0 ? trace.period : 4'000'000'000;
      for (std::int64_t at = instant(0.5); at < end; at += 62'500'000 + instant(1)) {
        oracle::Trace::Point point{.at = at};
        if (!chance(0.2)) point.capacity = chance(0.2) ? 0 : capacity();
        if (chance(0.3)) point.latency = latency();
        trace.points.push_back(point);
      }
      if (!trace.points.empty()) traffic_.traces.push_back(trace);
    }
    traffic_.common_period = 3'000'000'000;
  }

  void draw_protocol() {
    oracle::Protocol& protocol = traffic_.protocol;
    protocol.streams = 1 + below(4);
    if (chance(0.5)) protocol.window = 65536.0 * (1 + below(32));
    if (chance(0.4)) protocol.loss = 1e-5 * (1 + below(50));
    if (chance(0.5)) protocol.header = 1 + below(100);
    // Not in one instant with changes: what is narrowest then depends on their order.
    protocol.slow_start = !round_ && chance(0.5);
  }

  void draw_transfer(int hosts) {
    oracle::Transfer transfer;
    transfer.start = instant(2);
    transfer.source = below(hosts);
    transfer.destination = below(hosts);
    if (!chance(0.1)) {
      transfer.bytes = round_ ? 16384.0 * (1 + below(64))
                              : std::floor(std::pow(10.0, 2 + 4 * random_.uniform()));
    }
    transfer.weight = chance(0.3) ? 1 + below(4) : 1;
    if (chance(0.2)) transfer.cap = capacity();
    transfer.fail = chance(0.4);
    if (chance(0.1)) transfer.cancel_at = transfer.start + 1 + instant(1);
    traffic_.transfers.push_back(transfer);
  }

  void draw_change() {
    oracle::Change change;
    change.at = instant(3);
    change.direction = below(2);
    change.target = below(static_cast<int>(traffic_.links.size()));
    // Of a traced link only the state changes otherwise.
    const bool traced = !traced_.empty() && traced_[change.target];
    const double what = traced ? 0.6 + 0.4 * random_.uniform() : random_.uniform();
    oracle::Change back = change;
    back.at += instant(1);
    if (what < 0.5) {
      change.value = chance(0.2) ? 0 : capacity();
      back.value = capacity();
    } else if (what < 0.6) {
      change.kind = oracle::Change::LATENCY;
      change.value = latency();
      back = change;
    } else {
      if (what < 0.85) {
        change.kind = oracle::Change::LINK_STATE;
      } else {
        change.kind = oracle::Change::NODE_STATE;
        change.target = below(traffic_.nodes);
      }
      change.up = false;
      back.kind = change.kind;
      back.target = change.target;
    }
    traffic_.changes.push_back(change);
    if (chance(0.9)) traffic_.changes.push_back(back);
  }

  RandomStream random_;
  bool round_;
  std::vector<bool> traced_;  // by link; empty: none
  oracle::Traffic traffic_;
};

Topology build(const oracle::Traffic& traffic) {
  Topology topology;
  for (int i = 0; i < traffic.nodes; ++i) add_host(topology, fmt::format("n{}", i));
  for (std::size_t i = 0; i < traffic.links.size(); ++i) {
    const oracle::Link& link = traffic.links[i];
    topology.add_link({.name = fmt::format("l{}", i),
                       .a = NodeId{static_cast<std::uint32_t>(link.a)},
                       .b = NodeId{static_cast<std::uint32_t>(link.b)},
                       .capacity = {BitRate::bytes_per_s(link.capacity[0]),
                                    BitRate::bytes_per_s(link.capacity[1])},
                       .latency_s = {link.latency[0], link.latency[1]},
                       .shared = link.shared});
  }
  return topology;
}

Transport transport_of(const oracle::Protocol& protocol) {
  Transport transport{.streams = static_cast<std::uint32_t>(protocol.streams),
                      .loss = protocol.loss,
                      .mss = Bytes(static_cast<std::int64_t>(protocol.mss)),
                      .header = Bytes(static_cast<std::int64_t>(protocol.header)),
                      .slow_start = protocol.slow_start};
  if (protocol.window < oracle::kNever)
    transport.window = Bytes(static_cast<std::int64_t>(protocol.window));
  return transport;
}

LinkTrace trace_of(const oracle::Trace& trace) {
  LinkTrace made;
  for (const oracle::Trace::Point& point : trace.points) {
    LinkTrace::Point& added = made.points.emplace_back();
    added.at = Time::ns(point.at);
    if (point.capacity >= 0) added.bandwidth = BitRate::bytes_per_s(point.capacity);
    if (point.latency >= 0) added.latency_s = point.latency;
  }
  if (trace.period > 0) made.period = Time::ns(trace.period);
  return made;
}

// Runs the traffic on the network and compares, at random instants and at the end.
class Comparison final : public EventTarget {
 public:
  explicit Comparison(oracle::Traffic traffic)
      : traffic_(std::move(traffic)),
        expected_(oracle::simulate(traffic_)),
        world_(traffic_),
        topology_(build(traffic_)),
        network_(engine_, topology_, transport_of(traffic_.protocol)),
        ids_(traffic_.transfers.size()),
        has_route_(traffic_.transfers.size(), true) {
    for (const oracle::Resource& resource : world_.resources()) {
      LinkId link{static_cast<std::uint32_t>(resource.links[0])};
      Direction direction = topology_.turned(link, static_cast<Direction>(resource.directions[0]));
      channels_.push_back(
          topology_.bundle(topology_.bundle_of(link)).channel[static_cast<std::size_t>(direction)]);
    }
    schedule();
  }

  void run(RandomStream& random) {
    std::vector<Time> samples;
    for (int i = 0; i < 12; ++i) samples.push_back(Time::seconds(4 * random.uniform()));
    for (std::size_t i = 0; i < 4; ++i) {
      const oracle::Outcome& outcome = expected_[random.next() % expected_.size()];
      if (outcome.ended < 100) samples.push_back(Time::seconds(outcome.ended));
    }
    std::sort(samples.begin(), samples.end());
    for (Time at : samples) {
      engine_.run_until(at);
      check_rates();
    }
    engine_.run();
    check_ends();
  }

  double largest_difference_s() const { return largest_difference_s_; }
  int flows_checked() const { return flows_checked_; }

 private:
  enum Kind : std::uint64_t { START, CANCEL };

  void schedule() {
    for (std::size_t i = 0; i < traffic_.transfers.size(); ++i) {
      const oracle::Transfer& transfer = traffic_.transfers[i];
      engine_.schedule(Time::ns(transfer.start), Phase::TIMER, *this, i << 1 | START);
      if (transfer.cancel_at < 0) continue;
      engine_.schedule(Time::ns(transfer.cancel_at), Phase::TIMER, *this, i << 1 | CANCEL, 1);
    }
    for (const oracle::Trace& trace : traffic_.traces)
      network_.follow(LinkId{static_cast<std::uint32_t>(trace.link)}, trace_of(trace));
    for (const oracle::Change& change : traffic_.changes) {
      Time at = Time::ns(change.at);
      LinkId link{static_cast<std::uint32_t>(change.target)};
      auto direction = static_cast<Direction>(change.direction);
      switch (change.kind) {
        case oracle::Change::CAPACITY:
          network_.change_capacity(at, link, direction, BitRate::bytes_per_s(change.value));
          break;
        case oracle::Change::LATENCY:
          network_.change_latency(at, link, direction, change.value);
          break;
        case oracle::Change::LINK_STATE:
          network_.change_link_state(at, link, change.up);
          break;
        case oracle::Change::NODE_STATE:
          network_.change_node_state(at, NodeId{link.value}, change.up);
          break;
      }
    }
  }

  void on_event(std::uint64_t tag) override {
    std::uint64_t i = tag >> 1;
    if ((tag & 1) == CANCEL) return network_.cancel(ids_[i]);
    const oracle::Transfer& transfer = traffic_.transfers[i];
    try {
      ids_[i] =
          network_.start({.source = NodeId{static_cast<std::uint32_t>(transfer.source)},
                          .destination = NodeId{static_cast<std::uint32_t>(transfer.destination)},
                          .bytes = Bytes(static_cast<std::int64_t>(transfer.bytes)),
                          .streams = static_cast<std::uint32_t>(transfer.weight),
                          .cap = BitRate::bytes_per_s(transfer.cap),
                          .in_flight = transfer.fail ? InFlight::FAIL : InFlight::STALL},
                         probe_, i);
    } catch (const InputError&) {
      has_route_[i] = false;
    }
  }

  bool flowing(std::size_t i) const {
    const oracle::Transfer& transfer = traffic_.transfers[i];
    std::int64_t now = engine_.now().count_ns();
    bool cancelled = transfer.cancel_at >= 0 && transfer.cancel_at <= now;
    return transfer.start <= now && expected_[i].arrival >= 0 && expected_[i].arrival <= now &&
           !cancelled && !probe_.ended(i);
  }

  // Bytes on the links for each of payload.
  double expansion(std::size_t i) const {
    const double payload = traffic_.transfers[i].bytes;
    return payload == 0 ? 1 : 1 + traffic_.protocol.headers(payload) / payload;
  }

  double cap_now(std::size_t i) const {
    double rate = oracle::kNever;
    for (const oracle::Outcome::Cap& cap : expected_[i].caps) {
      if (cap.since <= engine_.now().count_ns()) rate = cap.rate;
    }
    return rate;
  }

  bool at_a_point() const {
    const auto at_point = [now = engine_.now().count_ns()](const oracle::Trace& trace) {
      return oracle::next_point(trace, now - 1) == now;
    };
    return std::any_of(traffic_.traces.begin(), traffic_.traces.end(), at_point);
  }

  void check_rates() {
    while (applied_ < traffic_.changes.size() &&
           traffic_.changes[applied_].at <= engine_.now().count_ns()) {
      world_.apply(traffic_.changes[applied_++]);
    }
    world_.follow_traces(engine_.now().count_ns());
    if (at_a_point()) return;  // see Network::capacity
    std::vector<double> capacity;
    for (std::size_t r = 0; r < channels_.size(); ++r) {
      capacity.push_back(network_.capacity(channels_[r]).in_bytes_per_s());
      ASSERT_DOUBLE_EQ(capacity[r], world_.capacity(static_cast<int>(r)));
    }
    std::vector<oracle::Flow> flows;
    std::vector<double> rates;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!flowing(i)) {
        ASSERT_EQ(network_.rate(ids_[i]), 0) << i;
        continue;
      }
      const std::vector<int>& route = expected_[i].route;
      flows.push_back({route, traffic_.transfers[i].weight * traffic_.protocol.streams,
                       world_.cap_on(route, cap_now(i))});
      rates.push_back(network_.rate(ids_[i]) * expansion(i));
    }
    flows_checked_ += static_cast<int>(flows.size());
    std::vector<double> expected = oracle::max_min_rates(flows, capacity);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      ASSERT_NEAR(rates[f], expected[f], 1e-9 * expected[f]) << "flow " << f;
    }
    check_certificate(flows, rates, capacity);
  }

  // No link carries more than it can; each flow is at its cap, or crosses a saturated link on which
  // none has more per weight.
  static void check_certificate(const std::vector<oracle::Flow>& flows,
                                const std::vector<double>& rates,
                                const std::vector<double>& capacity) {
    std::vector<double> load(capacity.size());
    std::vector<double> top(capacity.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
      ASSERT_LE(rates[f], flows[f].cap * (1 + 1e-9));
      for (int r : flows[f].route) {
        load[r] += rates[f];
        top[r] = std::max(top[r], rates[f] / flows[f].weight);
      }
    }
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      ASSERT_LE(load[r], capacity[r] * (1 + 1e-9)) << "resource " << r;
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      bool held = rates[f] >= flows[f].cap * (1 - 1e-9);
      for (int r : flows[f].route) {
        held = held || (load[r] >= capacity[r] * (1 - 1e-9) &&
                        rates[f] / flows[f].weight >= top[r] * (1 - 1e-9));
      }
      ASSERT_TRUE(held) << "flow " << f << " could have more";
    }
  }

  void check_ends() {
    std::size_t never = 0;
    std::vector<double> crossed(channels_.size());
    std::vector<double> slack(channels_.size());
    std::vector<double> headers(channels_.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const oracle::Outcome& outcome = expected_[i];
      ASSERT_EQ(has_route_[i], outcome.status != oracle::Outcome::NO_ROUTE) << i;
      bool told =
          outcome.status == oracle::Outcome::DONE || outcome.status == oracle::Outcome::FAILED;
      ASSERT_EQ(probe_.ended(i), told) << i << " status " << outcome.status;
      if (outcome.status == oracle::Outcome::NEVER) ++never;
      // The clock's half nanoseconds can only matter where the oracle is at a whole byte.
      double whole = std::floor(outcome.delivered);
      double fraction = outcome.delivered - whole;
      double unsure = fraction < 0.02 || fraction > 0.98 ? 1 : 0;
      if (told) {
        const TransferReport& report = probe_.report(i);
        ASSERT_EQ(report.end == TransferEnd::DONE, outcome.status == oracle::Outcome::DONE) << i;
        double difference = std::abs(report.ended.in_seconds() - outcome.ended);
        largest_difference_s_ = std::max(largest_difference_s_, difference);
        ASSERT_LE(difference, 1e-6) << i;
        if (report.end == TransferEnd::DONE) unsure = 0;
        ASSERT_NEAR(static_cast<double>(report.delivered.count()), whole, unsure) << i;
        whole = static_cast<double>(report.delivered.count());
        unsure = 0;
      } else if (outcome.status != oracle::Outcome::CANCELLED) {
        continue;
      }
      for (int r : outcome.route) {
        crossed[r] += whole;
        slack[r] += unsure;
        headers[r] += traffic_.protocol.headers(whole);
      }
    }
    ASSERT_EQ(network_.active(), never);
    ASSERT_EQ(network_.stuck(1000).size(), never);
    std::vector<ChannelUse> uses = network_.uses();
    for (std::size_t r = 0; r < channels_.size(); ++r) {
      const ChannelUse& use = uses[channels_[r].value];
      ASSERT_NEAR(static_cast<double>(use.bytes.count()), crossed[r], slack[r]);
      ASSERT_NEAR(static_cast<double>(use.header_bytes.count()), headers[r],
                  slack[r] * traffic_.protocol.header);
      if (never == 0) {
        // What was cut off is rounded down in the bytes alone.
        ASSERT_NEAR(use.byte_s_load, crossed[r], static_cast<double>(ids_.size()) + slack[r]);
      }
    }
  }

  oracle::Traffic traffic_;
  std::vector<oracle::Outcome> expected_;
  oracle::World world_;
  std::size_t applied_ = 0;
  Probe probe_;
  Topology topology_;
  Engine engine_;
  Network network_;
  std::vector<ChannelId> channels_;  // by the oracle's resource
  std::vector<TransferId> ids_;
  std::vector<bool> has_route_;
  double largest_difference_s_ = 0;
  int flows_checked_ = 0;
};

}  // namespace

RandomNetworks compare_random_networks(std::uint64_t first_seed, std::uint64_t last_seed) {
  RandomNetworks found;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomStream samples(seed, "samples");
    Comparison comparison(Generator(seed).draw());
    comparison.run(samples);
    if (::testing::Test::HasFatalFailure()) return found;
    found.largest_difference_s =
        std::max(found.largest_difference_s, comparison.largest_difference_s());
    found.flows_checked += comparison.flows_checked();
  }
  return found;
}

}  // namespace syncline
