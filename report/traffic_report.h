// Reports of plain transfers, without training.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/network/flows.h"
#include "sim/simulation.h"

namespace syncline {

// One member of a collective.
struct HostOutcome {
  NodeId host;
  bool done = false;
  Time ended;
  Bytes sent, received;
};

struct TrafficFacts {
  const Topology& topology;  // must outlive the facts
  std::string name = {};     // of what ran: "flows.csv", "ring of 8 hosts"
  // One of the two:
  std::vector<Flow> flows = {};
  std::vector<FlowOutcome> outcomes = {};  // by flow
  std::vector<HostOutcome> hosts = {};
  Time ended = {};  // when nothing moved any more
  std::vector<LinkOutcome> links = {};
  double limited_by_latency_s = 0;
  double limited_by_cap_s = 0;
  std::vector<std::string> assumptions = {};
};

// Flows: `start_s,source,destination,bytes,finish_s,status,bottleneck` in their order; status is
// done, failed or waiting (for ever; without finish_s and bottleneck). A collective:
// `host,finish_s,status,sent_bytes,received_bytes`.
std::string traffic_csv(const TrafficFacts& facts);
// For people.
std::string traffic_text(const TrafficFacts& facts);
// For programs: the summary, and each flow or host.
std::string traffic_json(const TrafficFacts& facts);
// flows.csv or hosts.csv, links.csv and traffic.json, by name.
std::map<std::string, std::string> traffic_files(const TrafficFacts& facts);

}  // namespace syncline
