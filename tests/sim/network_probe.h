// What the tests of the network use: small topologies, and a sink that keeps every report.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "sim/network/network.h"
#include "topology/topology.h"

namespace syncline {

// Keeps reports by tag.
class Probe final : public TransferSink {
 public:
  void on_transfer_end(const TransferReport& report, std::uint64_t tag) override {
    reports_.insert_or_assign(tag, report);
    order_.push_back(tag);
  }
  bool ended(std::uint64_t tag) const { return reports_.contains(tag); }
  const TransferReport& report(std::uint64_t tag) const { return reports_.at(tag); }
  std::int64_t end_ns(std::uint64_t tag) const { return report(tag).ended.count_ns(); }
  const std::vector<std::uint64_t>& order() const { return order_; }

 private:
  std::map<std::uint64_t, TransferReport> reports_;
  std::vector<std::uint64_t> order_;
};

// A process that starts a transfer later.
inline Task<> start_at(Network& network, TransferSpec spec, Probe& probe, std::uint64_t tag,
                       Time at) {
  co_await network.engine().sleep_until(at);
  network.start(spec, probe, tag);
}

struct LinkValues {
  double capacity = 0;  // bytes/s, both directions
  double latency_s = 0;
  bool shared = false;
};

inline NodeId add_host(Topology& topology, const std::string& name) {
  return topology.add_node({.name = name, .host = true, .cluster = {}});
}

inline LinkId connect(Topology& topology, const std::string& name, NodeId a, NodeId b,
                      const LinkValues& values) {
  BitRate capacity = BitRate::bytes_per_s(values.capacity);
  return topology.add_link({.name = name,
                            .a = a,
                            .b = b,
                            .capacity = {capacity, capacity},
                            .latency_s = {values.latency_s, values.latency_s},
                            .shared = values.shared});
}

// Hosts 0 … n in a row, joined by n links.
struct Line {
  explicit Line(std::initializer_list<LinkValues> values) {
    hosts.push_back(add_host(topology, "h0"));
    for (const LinkValues& link : values) {
      std::string number = std::to_string(hosts.size());
      hosts.push_back(add_host(topology, "h" + number));
      links.push_back(connect(topology, "l" + number, hosts[hosts.size() - 2], hosts.back(), link));
    }
  }
  // From the first host towards the last.
  ChannelId channel(std::size_t link) const {
    return topology.bundle(topology.bundle_of(links[link])).channel[0];
  }

  Topology topology;
  std::vector<NodeId> hosts;
  std::vector<LinkId> links;
};

// A line of hosts on its network; transfers from one host to another, told to the probe.
struct LineNetwork {
  explicit LineNetwork(std::initializer_list<LinkValues> values)
      : line(values), network(engine, line.topology) {}

  TransferSpec spec(std::size_t from, std::size_t to, std::int64_t bytes) const {
    return {.source = line.hosts[from], .destination = line.hosts[to], .bytes = Bytes(bytes)};
  }
  void start(std::uint64_t tag, std::size_t from, std::size_t to, std::int64_t bytes) {
    network.start(spec(from, to, bytes), probe, tag);
  }

  Line line;
  Probe probe;
  Engine engine;
  Network network;
};

}  // namespace syncline
