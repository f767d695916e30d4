#include "app/traffic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "app/environment.h"
#include "app/network_file.h"
#include "report/output_folder.h"
#include "report/traffic_report.h"
#include "scenarios/flow_files.h"
#include "sim/collective/all_reduce.h"
#include "topology/input_error.h"
#include "topology/read/read.h"
#include "topology/text.h"

namespace syncline {
namespace {

constexpr std::size_t kMostPairs = 1'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;

const std::map<std::string, CollectiveAlgorithm>& algorithms() {
  static const std::map<std::string, CollectiveAlgorithm> kAlgorithms{
      {"ring", CollectiveAlgorithm::RING},
      {"hierarchical", CollectiveAlgorithm::HIERARCHICAL},
      {"parameter-server", CollectiveAlgorithm::PARAMETER_SERVER},
      {"halving-doubling", CollectiveAlgorithm::HALVING_DOUBLING},
      {"tree", CollectiveAlgorithm::TREE},
      {"all-to-all", CollectiveAlgorithm::ALL_TO_ALL},
      {"sharded-parameter-server", CollectiveAlgorithm::SHARDED_PARAMETER_SERVER},
      {"pairwise", CollectiveAlgorithm::PAIRWISE}};
  return kAlgorithms;
}

std::string algorithm_names() {
  std::string names;
  for (const auto& [name, algorithm] : algorithms()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// What is to be carried: flows or a collective.
struct Job {
  std::string name;
  std::vector<Flow> flows;
  FlowPolicy policy = FlowPolicy::STALL;
  std::optional<Collective> collective;
  std::vector<CollectiveMember> members;
  Bytes payload;
};

FlowPolicy read_policy(const std::string& text) {
  static const std::map<std::string, FlowPolicy> kPolicies{{"", FlowPolicy::STALL},
                                                           {"stall", FlowPolicy::STALL},
                                                           {"fail", FlowPolicy::FAIL},
                                                           {"restart", FlowPolicy::RESTART},
                                                           {"resume", FlowPolicy::RESUME}};
  const auto known = kPolicies.find(text);
  if (known == kPolicies.end())
    throw InputError(
        fmt::format("--in-flight: \"{}\"; write stall, fail, restart or resume", shown(text)));
  return known->second;
}

// "1000000" and "1 MB".
Bytes read_bytes(const TrafficOptions& options) {
  if (options.bytes.empty())
    throw InputError("--bytes: is missing; write for example --bytes '100 MB'");
  try {
    const auto plain = number_of<double>(options.bytes);
    const Bytes bytes =
        parse_bytes(plain ? fmt::format("{} B", trim(options.bytes)) : options.bytes);
    if (bytes.count() > kMostBytes) throw InputError(fmt::format("more than {} B", kMostBytes));
    return bytes;
  } catch (const InputError& problem) {
    throw problem.at("--bytes");
  }
}

NodeId read_node(const LoadedNetwork& network, const std::string& name) {
  return require_node(network.topology, network.map.get(), name);
}

// Each value is a name, or names between commas.
std::vector<NodeId> read_hosts(const LoadedNetwork& network, const TrafficOptions& options) {
  const Topology& topology = network.topology;
  std::vector<NodeId> hosts;
  if (options.hosts.empty()) {
    for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
      const bool server = topology.node(NodeId{i}).name == options.server;
      if (topology.node(NodeId{i}).host && !server) hosts.push_back(NodeId{i});
    }
  }
  try {
    for (const std::string& value : options.hosts) {
      if (topology.find_node(value) || value.find(',') == std::string::npos) {
        hosts.push_back(read_node(network, value));
        continue;
      }
      for (std::size_t at = 0; at <= value.size();) {
        const std::size_t comma = std::min(value.find(',', at), value.size());
        hosts.push_back(read_node(network, std::string(trim(value.substr(at, comma - at)))));
        at = comma + 1;
      }
    }
    if (hosts.size() < 2)
      throw InputError(
          fmt::format("{} host{}; name two or more", hosts.size(), hosts.size() == 1 ? "" : "s"));
    std::vector<NodeId> sorted = hosts;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
      throw InputError(fmt::format("\"{}\" is named twice", topology.node(*twice).name));
    const FlowCheck check(topology);
    for (const NodeId host : hosts) {
      const std::string problem = check.problem(hosts.front(), host);
      if (!problem.empty())
        throw InputError(problem + (options.hosts.empty() ? "; name the hosts" : ""));
    }
  } catch (const InputError& problem) {
    throw problem.at("--hosts");
  }
  return hosts;
}

std::vector<Flow> all_pairs(const std::vector<NodeId>& hosts, Bytes bytes) {
  const std::size_t pairs = hosts.size() * (hosts.size() - 1);
  if (pairs > kMostPairs)
    throw InputError(
        fmt::format("--all-pairs: {} hosts have {} pairs; at most {}, name some hosts "
                    "with --hosts",
                    hosts.size(), pairs, kMostPairs));
  std::vector<Flow> flows;
  for (const NodeId source : hosts) {
    for (const NodeId destination : hosts) {
      if (source != destination) flows.push_back({Time(), source, destination, bytes});
    }
  }
  return flows;
}

void read_collective(const LoadedNetwork& network, const TrafficOptions& options, Job& job) {
  const auto known = algorithms().find(options.collective);
  if (known == algorithms().end())
    throw InputError(fmt::format("--collective: \"{}\"; write one of {}", shown(options.collective),
                                 algorithm_names()));
  Collective collective{.algorithm = known->second};
  const bool served = known->second == CollectiveAlgorithm::PARAMETER_SERVER;
  if (served && options.server.empty())
    throw InputError("--server: is missing; name the node that sums what the hosts send");
  if (!served && !options.server.empty())
    throw InputError("--server: is for --collective parameter-server");
  job.payload = read_bytes(options);
  const std::vector<NodeId> hosts = read_hosts(network, options);
  if (served) {
    try {
      collective.server = read_node(network, options.server);
      const std::string problem =
          FlowCheck(network.topology).problem(hosts.front(), collective.server);
      if (!problem.empty()) throw InputError(problem);
    } catch (const InputError& problem) {
      throw problem.at("--server");
    }
    if (std::find(hosts.begin(), hosts.end(), collective.server) != hosts.end())
      throw InputError(
          fmt::format("--server: \"{}\" is one of the hosts; name another", options.server));
  }
  for (const NodeId host : hosts)
    job.members.push_back({{host}, network.topology.node(host).cluster});
  job.collective = collective;
  job.name = fmt::format("{} all-reduce of {} over {} hosts", options.collective,
                         to_text(job.payload), hosts.size());
}

Job read_job(const LoadedNetwork& network, const TrafficOptions& options) {
  const int kinds = !options.flows.empty() + options.all_pairs + !options.collective.empty();
  if (kinds != 1)
    throw InputError(fmt::format("{}; give one of FLOWS.csv, --all-pairs and --collective",
                                 kinds == 0 ? "nothing to carry" : "several things to carry"));
  Job job;
  job.policy = read_policy(options.in_flight);
  if (!options.flows.empty()) {
    for (const auto& [given, flag] : {std::pair{!options.bytes.empty(), "--bytes"},
                                      {!options.hosts.empty(), "--hosts"},
                                      {!options.server.empty(), "--server"}}) {
      if (given)
        throw InputError(
            fmt::format("{}: is for --all-pairs and --collective; the file says it", flag));
    }
    job.name = options.flows;
    job.flows = read_flows(options.flows, network.topology, network.map.get());
  } else if (options.all_pairs) {
    if (!options.server.empty()) throw InputError("--server: is for --collective parameter-server");
    const Bytes bytes = read_bytes(options);
    const std::vector<NodeId> hosts = read_hosts(network, options);
    job.flows = all_pairs(hosts, bytes);
    job.name = fmt::format("{} between all pairs of {} hosts", to_text(bytes), hosts.size());
  } else {
    if (!options.in_flight.empty())
      throw InputError("--in-flight: is for flows; the transfers of a collective stall");
    read_collective(network, options, job);
  }
  return job;
}

struct Carried {
  TrafficFacts facts;
  std::string stuck;  // what waits for ever; empty: nothing
};

Task<> take_part(const Engine& engine, Task<> part, HostOutcome& outcome) {
  co_await part;
  outcome.done = true;
  outcome.ended = engine.now();
}

// The processes refer to the collective: they end before it does, whatever happens.
struct EndProcesses {
  Engine& engine;
  ~EndProcesses() { engine.cancel_all(); }
};

Carried carry(const LoadedNetwork& loaded, const std::vector<LinkEvent>& events, const Job& job) {
  const Topology& topology = loaded.topology;
  Engine engine;
  Network network(engine, topology, loaded.transport);
  for (const TracedLink& traced : loaded.traces) network.follow(traced.link, traced.trace);
  schedule(network, events);
  Carried carried{{.topology = topology, .name = job.name}, {}};
  TrafficFacts& facts = carried.facts;
  Traffic sums(topology);
  FlowRun flows(network, job.flows, job.policy);
  std::unique_ptr<AllReduce> collective;
  const EndProcesses end_processes{engine};
  if (job.collective) {
    collective = make_all_reduce(
        *job.collective, network, sums, job.members,
        {.elements = static_cast<std::uint64_t>(job.payload.count()), .bytes_per_element = 1});
    facts.hosts.resize(job.members.size());
    for (std::size_t i = 0; i < job.members.size(); ++i) {
      facts.hosts[i].host = job.members[i].hosts.front();
      engine.spawn(topology.node(facts.hosts[i].host).name,
                   take_part(engine, collective->join(i), facts.hosts[i]));
    }
  }
  for (const LinkEvent& event : events) {
    if (event.up.value_or(false)) flows.look_again(event.at);
  }
  flows.begin();
  engine.run(interrupted);

  for (HostOutcome& host : facts.hosts) {
    host.sent = sums.sent(host.host);
    host.received = sums.received(host.host);
  }
  facts.flows = flows.flows();
  facts.outcomes = flows.outcomes();
  const std::vector<ChannelUse> uses = network.uses();
  for (std::uint32_t i = 0; i < uses.size(); ++i)
    facts.links.push_back({ChannelId{i}, uses[i], uses[i].limited_s});
  facts.limited_by_latency_s = network.limited_by_latency_s();
  facts.limited_by_cap_s = network.limited_by_cap_s();
  facts.assumptions = loaded.assumptions;
  for (const FlowOutcome& outcome : facts.outcomes) {
    if (outcome.status != FlowOutcome::Status::WAITING)
      facts.ended = std::max(facts.ended, outcome.ended);
  }
  for (const HostOutcome& host : facts.hosts) facts.ended = std::max(facts.ended, host.ended);
  if (network.active() > 0 || flows.without_way() > 0) {
    facts.ended = std::max(facts.ended, engine.now());
    carried.stuck = fmt::format("no progress at {}: nothing more will happen, and {} wait",
                                to_text(engine.now()), network.active() + flows.without_way());
    for (const std::string& transfer : network.stuck()) carried.stuck += "; " + transfer;
  }
  return carried;
}

}  // namespace

void add_traffic_options(CLI::App& command, TrafficOptions& options) {
  add_topology_file_options(command, options, "TOPOLOGY");
  command.add_option("FLOWS", options.flows,
                     "Transfers: a CSV with the header start_s,source,destination,bytes");
  command
      .add_option("--events", options.events,
                  "Changes of links: a CSV with the header "
                  "time_s,link,direction,bandwidth,latency,state")
      ->type_name("EVENTS");
  command
      .add_option("--in-flight", options.in_flight,
                  "What a transfer does when a link of its way goes down: stall, fail, restart or "
                  "resume (default: stall)")
      ->type_name("POLICY");
  command.add_flag("--all-pairs", options.all_pairs,
                   "Instead of FLOWS: --bytes from each host to each other one, all at once");
  command
      .add_option("--collective", options.collective,
                  "Instead of FLOWS: an all-reduce of --bytes: " + algorithm_names())
      ->type_name("ALGORITHM");
  command
      .add_option("--bytes", options.bytes,
                  "For --all-pairs and --collective: '100 MB' or a number")
      ->type_name("BYTES");
  command
      .add_option("--hosts", options.hosts,
                  "For --all-pairs and --collective: hosts in their order (default: all)")
      ->type_name("HOST,…");
  command.add_option("--server", options.server, "For parameter-server: its node")
      ->type_name("NODE");
  command
      .add_option("--out", options.out,
                  "Also write the folder DIR (flows.csv or hosts.csv, links.csv, traffic.json) and "
                  "print a summary; a traffic's folder is replaced")
      ->type_name("DIR")
      ->check([](const std::string& name) {
        return name.empty() ? std::string("names no folder") : std::string();
      });
  command.add_flag("--json", options.json, "Print JSON instead");
}

int traffic(const TrafficOptions& options) {
  const LoadedNetwork network = read_network(options);
  const Job job = read_job(network, options);
  const std::vector<LinkEvent> events = options.events.empty()
                                            ? std::vector<LinkEvent>()
                                            : read_link_events(options.events, network.topology);
  std::optional<OutputFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out, kTrafficFolder);
  std::optional<Carried> carried;
  try {
    carried.emplace(carry(network, events, job));
  } catch (const Interrupted&) {
    fmt::print(stderr, "syncline: interrupted; nothing was written\n");
    return 130;
  }
  const TrafficFacts& facts = carried->facts;
  if (folder) folder->publish(traffic_files(facts));
  if (options.json) {
    fmt::print("{}", traffic_json(facts));
  } else if (folder) {
    fmt::print("{}  {:<14}{}\n", traffic_text(facts), "results", folder->path());
  } else {
    fmt::print("{}", traffic_csv(facts));
  }
  if (carried->stuck.empty()) return 0;
  fmt::print(stderr, "syncline: {}\n", carried->stuck);
  return 1;
}

}  // namespace syncline
