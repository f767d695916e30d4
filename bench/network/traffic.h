// The traffic of the network benchmark. The same random numbers, in the same order, as
// bench/peers/simgrid/sgbench.cpp: both simulators answer the same question.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/network.h"
#include "topology/topology.h"

namespace syncline::bench {

// Hosts around a switch, each with a link of 1.25e9 bytes/s and 10 us each way.
struct Star {
  Topology topology;
  std::vector<NodeId> hosts;
};
// jitter_percent: host i has (1 + p/100 (2u - 1)) times the capacity, u drawn from seed 42 in host
// order. oversubscription k > 0: every route crosses one more shared link, without latency, of all
// hosts' capacity / k.
Star make_star(std::size_t hosts, double jitter_percent, double oversubscription);

// Two stars joined by a link of `wan_bytes_per_s` and 20 ms each way, and transfers between their
// hosts: starts a Poisson process scaled to fill `span_s`, sizes log-uniform from 1 to 100 MB, all
// drawn from seed 7.
struct Dumbbell {
  Topology topology;
  std::vector<double> start_s;
  std::vector<TransferSpec> transfers;
};
Dumbbell make_dumbbell(std::size_t transfers, std::size_t hosts_per_side, double wan_bytes_per_s,
                       double span_s);

struct Outcome {
  std::uint64_t transfers = 0;
  double end_s = 0;         // virtual time
  double sum_finish_s = 0;  // of the dumbbell: sum of the transfers' ends
  double platform_s = 0;    // what making the network took
  double wall_s = 0;        // what the run took
};

// Ring all-reduce of `bytes`.
Outcome run_ring(const Star& star, double bytes);
// Every host sends to every other one: all at once (burst), or to one after the other.
Outcome run_all_to_all(const Star& star, double bytes, bool burst);
// `csv`: where to write each transfer with its finish time; empty: nowhere.
Outcome run_dumbbell(Dumbbell dumbbell, const std::string& csv);

}  // namespace syncline::bench
