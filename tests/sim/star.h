// Stars of hosts for the tests of collectives and strategies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/setup.h"
#include "topology/topology.h"

namespace syncline {

// The random numbers of the benchmark traffic: splitmix64.
class BenchmarkRandom {
 public:
  explicit BenchmarkRandom(std::uint64_t seed) : state_(seed) {}
  double u01() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

// Hosts around a switch; each has one access link of `bandwidth` bytes/s each way and `latency_s`.
struct TestStar {
  TestStar(std::size_t count, double bandwidth, double latency_s, double jitter = 0) {
    BenchmarkRandom random(42);
    const NodeId centre = topology.add_node({.name = "switch", .host = false, .cluster = {}});
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "h" + std::to_string(i);
      hosts.push_back(topology.add_node({.name = name, .host = true, .cluster = {}}));
      const BitRate rate = BitRate::bytes_per_s(bandwidth * (1 + jitter * (2 * random.u01() - 1)));
      links.push_back(topology.add_link({.name = name + "-switch",
                                         .a = hosts.back(),
                                         .b = centre,
                                         .capacity = {rate, rate},
                                         .latency_s = {latency_s, latency_s},
                                         .shared = false}));
    }
  }
  std::vector<CollectiveMember> members() const {
    std::vector<CollectiveMember> members;
    for (const NodeId host : hosts) members.push_back({{host}, ""});
    return members;
  }
  // One worker a host, all with the same pace.
  std::vector<WorkerSetup> workers(Time step) const {
    std::vector<WorkerSetup> workers;
    for (const NodeId host : hosts) workers.push_back({topology.node(host).name, {host}, "", step});
    return workers;
  }

  Topology topology;
  std::vector<NodeId> hosts;
  std::vector<LinkId> links;
};

// Sites of `per_site` hosts each around their switch (fabric), the switches around a core (wan).
struct TestSites {
  TestSites(std::size_t count, std::size_t per_site, double fabric, double fabric_latency_s,
            double wan, double wan_latency_s) {
    const auto join = [this](NodeId a, NodeId b, double bandwidth, double latency_s) {
      const BitRate rate = BitRate::bytes_per_s(bandwidth);
      return topology.add_link({.name = topology.node(a).name + "-" + topology.node(b).name,
                                .a = a,
                                .b = b,
                                .capacity = {rate, rate},
                                .latency_s = {latency_s, latency_s},
                                .shared = false});
    };
    const NodeId core = topology.add_node({.name = "core", .host = false, .cluster = {}});
    for (std::size_t site = 0; site < count; ++site) {
      const std::string name = "s" + std::to_string(site);
      const NodeId gate = topology.add_node({.name = name, .host = false, .cluster = name});
      wan_links.push_back(join(gate, core, wan, wan_latency_s));
      for (std::size_t i = 0; i < per_site; ++i) {
        const NodeId host = topology.add_node(
            {.name = name + "/" + std::to_string(i), .host = true, .cluster = name});
        join(host, gate, fabric, fabric_latency_s);
        members.push_back({{host}, name});
      }
    }
  }
  std::vector<WorkerSetup> workers(Time step) const {
    std::vector<WorkerSetup> workers;
    for (const CollectiveMember& member : members) {
      workers.push_back(
          {topology.node(member.hosts.front()).name, member.hosts, member.site, step});
    }
    return workers;
  }

  Topology topology;
  std::vector<CollectiveMember> members;
  std::vector<LinkId> wan_links;
};

}  // namespace syncline
