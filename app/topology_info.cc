#include "app/topology_info.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "app/network_file.h"
#include "topology/facts.h"
#include "topology/input_error.h"
#include "topology/read/complete.h"

namespace syncline {
namespace {

constexpr std::size_t kNarrowest = 5;
constexpr std::size_t kNamed = 5;  // nodes in a line

// Of the values that are known.
struct Range {
  std::size_t known = 0;
  double least = 0, median = 0, most = 0;
};

Range range_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.size(), values.front(), values[values.size() / 2], values.back()};
}

struct Info {
  ImportedTopology imported;
  std::vector<std::string> names;
  ImportedCounts counts;
  std::size_t with_coordinates = 0;
  CompletedLinks completed;
  Range bandwidth, latency;  // bit/s, s; of the links with two different ends
  std::vector<CompletedLink> narrowest;
  std::optional<Diameter> hops, delay;
  std::optional<Cut> cut;
  std::vector<std::string> cut_groups;   // names, one a group
  std::vector<std::uint32_t> cut_nodes;  // that it divides
  std::string no_cut;                    // why there is none
};

std::vector<Arc> arcs_of(const CompletedLinks& links, bool by_latency) {
  std::vector<Arc> arcs;
  for (const CompletedLink& link : links.links) {
    const double length = by_latency ? *link.latency_s : 1;
    arcs.push_back({link.record->a, link.record->b, BitRate(), length});
    if (!link.record->directed) arcs.push_back({link.record->b, link.record->a, BitRate(), length});
  }
  return arcs;
}

std::vector<Arc> arcs_of(const Topology& topology) {
  std::vector<Arc> arcs;
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link(LinkId{i});
    arcs.push_back({link.a.value, link.b.value, link.capacity[0], link.latency_s[0]});
    arcs.push_back({link.b.value, link.a.value, link.capacity[1], link.latency_s[1]});
  }
  return arcs;
}

// The nodes of the largest component, by a walk over links without direction.
std::vector<std::uint32_t> largest_component(const Info& info) {
  std::vector<std::vector<std::uint32_t>> neighbours(info.names.size());
  for (const CompletedLink& link : info.completed.links) {
    neighbours[link.record->a].push_back(link.record->b);
    neighbours[link.record->b].push_back(link.record->a);
  }
  std::vector<bool> seen(info.names.size());
  std::vector<std::uint32_t> largest;
  for (std::uint32_t first = 0; first < seen.size(); ++first) {
    if (seen[first]) continue;
    std::vector<std::uint32_t> component{first};
    seen[first] = true;
    for (std::size_t at = 0; at < component.size(); ++at) {
      for (const std::uint32_t next : neighbours[component[at]]) {
        if (!seen[next]) component.push_back(next);
        seen[next] = true;
      }
    }
    if (component.size() > largest.size()) largest = std::move(component);
  }
  return largest;
}

void find_cut(Info& info, const TopologyInfoOptions& options, ReadOptions read) {
  std::vector<std::uint32_t> ends;
  for (const std::string& name : options.between)
    ends.push_back(find_imported_node(info.imported, name));
  if (info.bandwidth.known < info.completed.links.size()) {
    info.no_cut = "some links have no bandwidth";
    return;
  }
  info.cut_nodes = largest_component(info);
  if (ends.empty()) {
    ends = info.cut_nodes;
  } else {
    info.cut_nodes.resize(info.names.size());
    std::iota(info.cut_nodes.begin(), info.cut_nodes.end(), 0U);
  }
  // Latencies do not matter here.
  read.missing_latency_s = 0;
  if (read.latency_unit.empty()) read.latency_unit = "s";
  std::optional<ReadTopology> made;
  try {
    made = to_topology(info.imported, read);
  } catch (const InputError& problem) {
    info.no_cut = problem.what();
    return;
  }
  std::vector<std::vector<std::uint32_t>> groups;
  const std::vector<std::string> clusters = made->topology.clusters();
  if (options.between.empty() && clusters.size() > 1) {
    for (const std::string& cluster : clusters) {
      std::vector<std::uint32_t>& group = groups.emplace_back();
      for (std::uint32_t i = 0; i < made->topology.node_count(); ++i) {
        if (made->topology.node(NodeId{i}).cluster == cluster) group.push_back(i);
      }
      info.cut_groups.push_back(cluster);
    }
  } else {
    for (const std::uint32_t end : ends) {
      groups.push_back({made->topology.require_node(info.names[end]).value});
      info.cut_groups.push_back(info.names[end]);
    }
  }
  const auto nodes = static_cast<std::uint32_t>(made->topology.node_count());
  info.cut = find_narrowest_cut(nodes, arcs_of(made->topology), groups);
  if (info.cut) {
    // The topology has more nodes than the file where nodes have rates of their own.
    std::vector<bool> near;
    for (const std::string& name : info.names)
      near.push_back(info.cut->near[made->topology.require_node(name).value]);
    info.cut->near = std::move(near);
  }
  if (!info.cut)
    info.no_cut = groups.size() < 2 ? "there are no two nodes to divide"
                                    : "it is too large for a cut between all nodes; name some "
                                      "with --between";
}

void check_between(const TopologyInfoOptions& options) {
  if (options.between.size() == 1)
    throw InputError("--between: one node; name two or more, each with its own --between");
  std::vector<std::string> sorted = options.between;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw InputError(fmt::format("--between: \"{}\" is named twice", *twice));
}

Info find_info(const TopologyInfoOptions& options) {
  check_between(options);
  const ReadOptions read = options.read_options();
  Info info;
  info.imported = read_map(options);
  info.names = imported_node_names(info.imported);
  info.completed = complete_links(info.imported, read);
  ImportedTopology counted = info.imported;
  if (options.drop_planned)
    std::erase_if(counted.links, [](const ImportedLink& link) { return link.planned; });
  info.counts = count(counted);
  for (const ImportedNode& node : info.imported.nodes) info.with_coordinates += node.at.has_value();

  std::vector<double> rates, latencies;
  for (const CompletedLink& link : info.completed.links) {
    if (link.bandwidth) rates.push_back(link.bandwidth->in_bits_per_s());
    if (link.latency_s) latencies.push_back(*link.latency_s);
    if (link.bandwidth && std::isfinite(link.bandwidth->in_bits_per_s()))
      info.narrowest.push_back(link);
  }
  info.bandwidth = range_of(rates);
  info.latency = range_of(latencies);
  std::stable_sort(
      info.narrowest.begin(), info.narrowest.end(),
      [](const CompletedLink& a, const CompletedLink& b) { return *a.bandwidth < *b.bandwidth; });
  info.narrowest.resize(std::min(info.narrowest.size(), kNarrowest));

  const auto nodes = static_cast<std::uint32_t>(info.names.size());
  info.hops = find_diameter(nodes, arcs_of(info.completed, false));
  if (info.latency.known == info.completed.links.size())
    info.delay = find_diameter(nodes, arcs_of(info.completed, true));
  find_cut(info, options, read);
  return info;
}

// The side of the cut that has fewer nodes, by their names.
std::vector<std::string> smaller_side(const Info& info) {
  std::vector<std::string> near, far;
  for (const std::uint32_t node : info.cut_nodes)
    (info.cut->near[node] ? near : far).push_back(info.names[node]);
  return near.size() <= far.size() ? near : far;
}

std::string rate_text(double bits_per_s) { return to_text(BitRate::bits_per_s(bits_per_s)); }
std::string latency_text(double seconds) { return to_text(Time::seconds(seconds)); }

std::string ends_of(const Info& info, const ImportedLink& link) {
  return fmt::format("{} {} {}", info.names[link.a], link.directed ? "->" : "-",
                     info.names[link.b]);
}

std::string diameter_text(const Info& info, const Diameter& diameter, const std::string& length) {
  return fmt::format("{}{} from {} to {}", diameter.exact ? "" : "at least ", length,
                     info.names[diameter.from], info.names[diameter.to]);
}

std::string cut_text(const Info& info) {
  if (!info.cut) return "not known: " + info.no_cut;
  std::vector<std::string> side = smaller_side(info);
  const std::size_t size = side.size();
  std::string names;
  for (std::size_t i = 0; i < std::min(size, kNamed); ++i)
    names += (names.empty() ? "" : ", ") + side[i];
  if (size > kNamed) names += fmt::format(" and {} more", size - kNamed);
  return fmt::format("{} from {} to {}, around {}", to_text(info.cut->bandwidth),
                     info.cut_groups[info.cut->from], info.cut_groups[info.cut->to], names);
}

template <class Text>
std::string range_text(const Range& range, std::size_t links, const Text& text) {
  std::string shown;
  if (range.known > 0)
    shown = range.least == range.most ? text(range.least)
                                      : fmt::format("{} to {}, median {}", text(range.least),
                                                    text(range.most), text(range.median));
  if (range.known < links)
    shown += fmt::format("{}not known for {} of {} links", shown.empty() ? "" : "; ",
                         links - range.known, links);
  return shown.empty() ? "no links" : shown;
}

void print_text(const Info& info) {
  const auto line = [](const char* label, std::string value) {
    constexpr std::string_view kIndented = "\n                  ";
    for (std::size_t at = 0; (at = value.find('\n', at)) != std::string::npos;
         at += kIndented.size())
      value.replace(at, 1, kIndented);
    fmt::print("  {:<16}{}\n", label, value);
  };
  const ImportedCounts& counts = info.counts;
  const auto many = [](std::size_t number, const char* one, const char* more) {
    return fmt::format("{} {}", number, number == 1 ? one : more);
  };
  fmt::print("{}: {}\n", info.imported.file, info.imported.format);
  line("nodes", fmt::format("{}, {} with coordinates, {} without a link", info.names.size(),
                            info.with_coordinates, counts.isolated_nodes));
  line("links",
       fmt::format("{} ({}, {}, {})", counts.links, many(counts.records, "record", "records"),
                   many(counts.parallel_links, "parallel to another", "parallel to others"),
                   many(counts.self_loops, "self-loop", "self-loops")));
  line("components", fmt::format("{}", counts.components));
  const std::size_t links = info.completed.links.size();
  line("bandwidth", range_text(info.bandwidth, links, rate_text));
  line("latency", range_text(info.latency, links, latency_text));
  if (info.hops)
    line("diameter",
         diameter_text(info, *info.hops,
                       many(static_cast<std::size_t>(info.hops->length), "hop", "hops")));
  if (info.delay) line("", diameter_text(info, *info.delay, latency_text(info.delay->length)));
  line("narrowest cut", cut_text(info));
  const bool all_alike = info.bandwidth.least == info.bandwidth.most;
  for (std::size_t i = 0; i < info.narrowest.size() && !all_alike; ++i) {
    const CompletedLink& link = info.narrowest[i];
    line(i == 0 ? "narrowest links" : "",
         fmt::format("{}: {}", ends_of(info, *link.record), to_text(*link.bandwidth)));
  }
  for (const std::string& text : info.completed.lacking) line("to be given", text);
  for (const std::string& text : info.completed.assumed) line("assumed", text);
  for (const ImportWarning& warning : info.imported.warnings) line("warning", to_text(warning));
}

using Json = nlohmann::ordered_json;

Json range_json(const Range& range) {
  if (range.known == 0) return nullptr;
  return {{"links", range.known},
          {"least", range.least},
          {"median", range.median},
          {"most", range.most}};
}

Json diameter_json(const Info& info, const std::optional<Diameter>& diameter, const char* length) {
  if (!diameter) return nullptr;
  return {{length, diameter->length},
          {"from", info.names[diameter->from]},
          {"to", info.names[diameter->to]},
          {"exact", diameter->exact}};
}

void print_json(const Info& info) {
  Json json;
  json["file"] = info.imported.file;
  json["format"] = info.imported.format;
  json["nodes"] = info.names.size();
  json["records"] = info.counts.records;
  json["links"] = info.counts.links;
  json["components"] = info.counts.components;
  json["links_with_bandwidth"] = info.counts.links_with_bandwidth;
  json["self_loops"] = info.counts.self_loops;
  json["parallel_links"] = info.counts.parallel_links;
  json["isolated_nodes"] = info.counts.isolated_nodes;
  json["nodes_with_coordinates"] = info.with_coordinates;
  json["bandwidth_bit_s"] = range_json(info.bandwidth);
  json["latency_s"] = range_json(info.latency);
  json["diameter_hops"] = diameter_json(info, info.hops, "hops");
  json["diameter_latency"] = diameter_json(info, info.delay, "seconds");
  json["narrowest_cut"] = nullptr;
  if (info.cut) {
    Json& cut = json["narrowest_cut"];
    // JSON has no infinity.
    const double rate = info.cut->bandwidth.in_bits_per_s();
    cut["bandwidth_bit_s"] = std::isfinite(rate) ? Json(rate) : Json(nullptr);
    cut["from"] = info.cut_groups[info.cut->from];
    cut["to"] = info.cut_groups[info.cut->to];
    cut["around"] = smaller_side(info);
  }
  json["narrowest_links"] = Json::array();
  for (const CompletedLink& link : info.narrowest)
    json["narrowest_links"].push_back({{"a", info.names[link.record->a]},
                                       {"b", info.names[link.record->b]},
                                       {"bandwidth_bit_s", link.bandwidth->in_bits_per_s()},
                                       {"line", link.record->line}});
  json["missing"] = info.completed.lacking;
  json["assumed"] = info.completed.assumed;
  json["warnings"] = Json::array();
  for (const ImportWarning& warning : info.imported.warnings)
    json["warnings"].push_back({{"kind", warning.kind},
                                {"text", warning.text},
                                {"line", warning.line},
                                {"count", warning.count}});
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

void add_topology_info_options(CLI::App& command, TopologyInfoOptions& options) {
  add_topology_file_options(command, options, "FILE");
  command
      .add_option(
          "--between", options.between,
          "A node that the narrowest cut divides from others so named (repeatable; default: "
          "any two nodes)")
      ->type_name("NODE")
      ->allow_extra_args(false);
  command.add_flag("--json", options.json, "Print it as JSON");
}

int topology_info(const TopologyInfoOptions& options) {
  const Info info = find_info(options);
  if (options.json) {
    print_json(info);
  } else {
    print_text(info);
  }
  return 0;
}

}  // namespace syncline
