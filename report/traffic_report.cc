#include "report/traffic_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/csv.h"
#include "report/links_csv.h"

namespace syncline {
namespace {

constexpr std::size_t kListed = 5;
using Json = nlohmann::ordered_json;
using Status = FlowOutcome::Status;

const char* status_text(Status status) {
  switch (status) {
    case Status::WAITING:
      return "waiting";
    case Status::DONE:
      return "done";
    case Status::FAILED:
      return "failed";
  }
  return "";
}

// Of one that never ends: none, the message about it says what it waits for.
std::string bottleneck_text(const Topology& topology, const FlowOutcome& outcome) {
  if (outcome.status == Status::WAITING) return {};
  switch (outcome.bottleneck.kind) {
    case Limit::Kind::LINK:
      return topology.channel_name(outcome.bottleneck.channel);
    case Limit::Kind::CAP:
      return "cap";
    case Limit::Kind::LATENCY:
      return "latency";
    case Limit::Kind::OUTAGE:
      return "outage";
  }
  return "";
}

struct Summary {
  std::size_t done = 0, failed = 0, waiting = 0;
  Bytes delivered;
  Time last;                  // end of a flow or host
  std::vector<Time> lasting;  // of flows that are done, in rising order
  std::vector<std::pair<std::string, double>> limited_by;  // share, largest first
  std::vector<std::pair<std::string, double>> busiest;     // mean load, largest first
};

void add_limits(const TrafficFacts& facts, Summary& summary) {
  std::vector<std::pair<std::string, double>>& limits = summary.limited_by;
  limits = {{"latency", facts.limited_by_latency_s}, {"cap", facts.limited_by_cap_s}};
  for (const LinkOutcome& link : facts.links) {
    if (link.limited_s > 0)
      limits.emplace_back(facts.topology.channel_name(link.channel), link.limited_s);
  }
  double sum = 0;
  for (const auto& [what, seconds] : limits) sum += seconds;
  std::erase_if(limits, [](const auto& limit) { return limit.second <= 0; });
  std::stable_sort(limits.begin(), limits.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  limits.resize(std::min(limits.size(), kListed));
  for (auto& [what, seconds] : limits) seconds /= sum;
}

void add_loads(const TrafficFacts& facts, Summary& summary) {
  for (const LinkOutcome& link : facts.links) {
    const double load = mean_load(facts.topology, link, facts.ended);
    if (load > 0) summary.busiest.emplace_back(facts.topology.channel_name(link.channel), load);
  }
  std::stable_sort(summary.busiest.begin(), summary.busiest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  summary.busiest.resize(std::min(summary.busiest.size(), kListed));
}

Summary summarise(const TrafficFacts& facts) {
  Summary summary;
  for (std::size_t i = 0; i < facts.flows.size(); ++i) {
    const FlowOutcome& outcome = facts.outcomes[i];
    summary.delivered += outcome.delivered;
    ++(outcome.status == Status::DONE     ? summary.done
       : outcome.status == Status::FAILED ? summary.failed
                                          : summary.waiting);
    if (outcome.status == Status::WAITING) continue;
    summary.last = std::max(summary.last, outcome.ended);
    if (outcome.status == Status::DONE)
      summary.lasting.push_back(outcome.ended - facts.flows[i].start);
  }
  for (const HostOutcome& host : facts.hosts) {
    ++(host.done ? summary.done : summary.waiting);
    if (host.done) summary.last = std::max(summary.last, host.ended);
    summary.delivered += host.sent;
  }
  std::sort(summary.lasting.begin(), summary.lasting.end());
  add_limits(facts, summary);
  add_loads(facts, summary);
  return summary;
}

// The value that so large a share of them does not exceed.
Time percentile(const std::vector<Time>& sorted, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

Json parts_json(const std::vector<std::pair<std::string, double>>& parts, const char* value) {
  Json list = Json::array();
  for (const auto& [what, share] : parts) list.push_back({{"what", what}, {value, share}});
  return list;
}

}  // namespace

std::string traffic_csv(const TrafficFacts& facts) {
  const Topology& topology = facts.topology;
  const auto name = [&](NodeId node) { return csv_field(topology.node(node).name); };
  std::string text;
  auto out = std::back_inserter(text);
  if (facts.flows.empty()) {
    text = "host,finish_s,status,sent_bytes,received_bytes\n";
    for (const HostOutcome& host : facts.hosts) {
      fmt::format_to(out, "{},{},{},{},{}\n", name(host.host),
                     host.done ? fmt::format("{}", host.ended.in_seconds()) : "",
                     host.done ? "done" : "waiting", host.sent.count(), host.received.count());
    }
    return text;
  }
  text = "start_s,source,destination,bytes,finish_s,status,bottleneck\n";
  for (std::size_t i = 0; i < facts.flows.size(); ++i) {
    const Flow& flow = facts.flows[i];
    const FlowOutcome& outcome = facts.outcomes[i];
    const bool ended = outcome.status != Status::WAITING;
    fmt::format_to(out, "{},{},{},{},{},{},{}\n", flow.start.in_seconds(), name(flow.source),
                   name(flow.destination), flow.bytes.count(),
                   ended ? fmt::format("{}", outcome.ended.in_seconds()) : "",
                   status_text(outcome.status), csv_field(bottleneck_text(topology, outcome)));
  }
  return text;
}

std::string traffic_text(const TrafficFacts& facts) {
  const Summary summary = summarise(facts);
  std::string text = facts.name + "\n";
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", label, value);
  };
  line(facts.flows.empty() ? "hosts" : "flows",
       fmt::format("{} done, {} failed, {} wait for ever", summary.done, summary.failed,
                   summary.waiting));
  line("last end", to_text(summary.last));
  line("sent", to_text(summary.delivered));
  if (!summary.lasting.empty())
    line("a flow takes",
         fmt::format("median {}, 95th percentile {}, longest {}",
                     to_text(percentile(summary.lasting, 0.5)),
                     to_text(percentile(summary.lasting, 0.95)), to_text(summary.lasting.back())));
  for (const auto& [what, share] : summary.limited_by)
    line(&what == &summary.limited_by.front().first ? "limited by" : "",
         fmt::format("{} in {:.1f} % of their time", what, share * 100));
  for (const auto& [what, load] : summary.busiest)
    line(&what == &summary.busiest.front().first ? "mean load" : "",
         fmt::format("{} {:.1f} %", what, load * 100));
  for (const std::string& assumption : facts.assumptions) line("assumed", assumption);
  return text;
}

std::string traffic_json(const TrafficFacts& facts) {
  const Summary summary = summarise(facts);
  const auto name = [&](NodeId node) { return facts.topology.node(node).name; };
  Json json;
  json["traffic"] = facts.name;
  json["done"] = summary.done;
  json["failed"] = summary.failed;
  json["waiting"] = summary.waiting;
  json["last_end_s"] = summary.last.in_seconds();
  json["bytes"] = summary.delivered.count();
  if (!summary.lasting.empty())
    json["flow_s"] = {{"median", percentile(summary.lasting, 0.5).in_seconds()},
                      {"percentile_95", percentile(summary.lasting, 0.95).in_seconds()},
                      {"longest", summary.lasting.back().in_seconds()}};
  json["limited_by"] = parts_json(summary.limited_by, "share");
  json["busiest"] = parts_json(summary.busiest, "mean_load");
  json["assumptions"] = facts.assumptions;
  for (std::size_t i = 0; i < facts.flows.size(); ++i) {
    const Flow& flow = facts.flows[i];
    const FlowOutcome& outcome = facts.outcomes[i];
    const bool ended = outcome.status != Status::WAITING;
    json["flows"].push_back({{"start_s", flow.start.in_seconds()},
                             {"source", name(flow.source)},
                             {"destination", name(flow.destination)},
                             {"bytes", flow.bytes.count()},
                             {"finish_s", ended ? Json(outcome.ended.in_seconds()) : Json(nullptr)},
                             {"status", status_text(outcome.status)},
                             {"bottleneck", bottleneck_text(facts.topology, outcome)},
                             {"delivered_bytes", outcome.delivered.count()}});
  }
  for (const HostOutcome& host : facts.hosts)
    json["hosts"].push_back(
        {{"host", name(host.host)},
         {"finish_s", host.done ? Json(host.ended.in_seconds()) : Json(nullptr)},
         {"status", host.done ? "done" : "waiting"},
         {"sent_bytes", host.sent.count()},
         {"received_bytes", host.received.count()}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::map<std::string, std::string> traffic_files(const TrafficFacts& facts) {
  return {{facts.flows.empty() ? "hosts.csv" : "flows.csv", traffic_csv(facts)},
          {"links.csv", links_csv(facts.topology, facts.links, facts.ended)},
          {"traffic.json", traffic_json(facts)}};
}

}  // namespace syncline
