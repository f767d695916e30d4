#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "topology/input_error.h"
#include "topology/read/read.h"

namespace syncline {
namespace {

constexpr double kSpeedInFibre = 2e8;  // m/s
constexpr double kSpeedOfLight = 299792458;
constexpr std::size_t kMostListed = 5;

// A link whose values are complete.
struct Ready {
  const ImportedLink* record = nullptr;
  BitRate bandwidth;
  double latency_s = 0;
  std::optional<std::pair<BitRate, double>> back;  // where a record of the way back says them
};

std::unordered_map<std::string, std::size_t> count_labels(const ImportedTopology& imported) {
  std::unordered_map<std::string, std::size_t> seen;
  for (const ImportedNode& node : imported.nodes) ++seen[node.label];
  return seen;
}

std::vector<std::string> name_nodes(const ImportedTopology& imported) {
  const auto seen = count_labels(imported);
  std::vector<std::string> names;
  for (const ImportedNode& node : imported.nodes)
    names.push_back(!node.label.empty() && seen.at(node.label) == 1 ? node.label : "id:" + node.id);
  return names;
}

// Links that lack something, for one message.
class Lacking {
 public:
  void add(const std::string& link, std::size_t line) {
    if (count_++ >= kMostListed) return;
    shown_ += line > 0 ? fmt::format("\n  line {}: {}", line, link) : fmt::format("\n  {}", link);
  }
  std::size_t count() const { return count_; }
  std::string text() const {
    return count_ > kMostListed ? fmt::format("{}\n  and {} more", shown_, count_ - kMostListed)
                                : shown_;
  }

 private:
  std::size_t count_ = 0;
  std::string shown_;
};

void warn_of_shape(ImportedTopology& imported, const std::vector<std::string>& names) {
  for (const auto& [label, times] : count_labels(imported)) {
    if (label.empty() || times == 1) continue;
    for (const ImportedNode& node : imported.nodes) {
      if (node.label == label)
        imported.warn("repeated label", "nodes share a label; they are named by id:", node.line);
    }
  }
  std::vector<bool> joined(imported.nodes.size());
  std::map<std::array<std::uint32_t, 2>, std::size_t> pairs;
  for (const ImportedLink& link : imported.links) {
    if (link.a == link.b) {
      imported.warn("self-loop", "a link from a node to itself is left out", link.line);
      continue;
    }
    joined[link.a] = joined[link.b] = true;
    const std::array<std::uint32_t, 2> pair =
        link.directed || link.a < link.b ? std::array{link.a, link.b} : std::array{link.b, link.a};
    if (pairs[pair]++ > 0)
      imported.warn("parallel links",
                    fmt::format("{} - {} has several; all are kept", names[link.a], names[link.b]),
                    link.line);
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (!joined[i])
      imported.warn("isolated node", fmt::format("{} has no link", names[i]),
                    imported.nodes[i].line);
  }
}

// Metres between the ends, where both stand somewhere.
std::optional<double> distance_m(const ImportedTopology& imported, const ImportedLink& link) {
  const ImportedNode& a = imported.nodes[link.a];
  const ImportedNode& b = imported.nodes[link.b];
  if (!a.at || !b.at) return std::nullopt;
  return great_circle_m(*a.at, *b.at);
}

// Opposite directed records become one link: those with equal values first, then what is left in
// the order of the file.
std::vector<Ready> merge(std::vector<Ready> all) {
  std::vector<bool> taken(all.size());
  const auto pair_up = [&](const auto& key_of) {
    std::map<decltype(key_of(all[0], false)), std::deque<std::size_t>> waiting;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (taken[i] || !all[i].record->directed || all[i].back) continue;
      auto& twins = waiting[key_of(all[i], true)];
      if (twins.empty()) {
        waiting[key_of(all[i], false)].push_back(i);
        continue;
      }
      all[twins.front()].back = {all[i].bandwidth, all[i].latency_s};
      taken[i] = true;
      twins.pop_front();
    }
  };
  const auto ends = [](const Ready& ready, bool turned) {
    const ImportedLink& link = *ready.record;
    return turned ? std::pair{link.b, link.a} : std::pair{link.a, link.b};
  };
  pair_up([&](const Ready& ready, bool turned) {
    return std::tuple{ends(ready, turned), ready.bandwidth.in_bytes_per_s(), ready.latency_s};
  });
  pair_up(ends);
  std::vector<Ready> merged;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!taken[i]) merged.push_back(all[i]);
  }
  return merged;
}

// A host's own rates become a link from it to the place where it stands.
NodeId add_node(Topology& topology, const ImportedNode& node, const std::string& name) {
  const NodeId made = topology.add_node({name, node.host, ""});
  if (!node.up || !node.down) return made;
  const NodeId place = topology.add_node({name + "/place", false, ""});
  topology.add_link({name + "/access", made, place, {*node.up, *node.down}, {}, false});
  return place;
}

}  // namespace

std::string imported_node_name(const ImportedTopology& imported, std::uint32_t node) {
  return name_nodes(imported).at(node);
}

std::uint32_t find_imported_node(const ImportedTopology& imported, const std::string& name) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < imported.nodes.size(); ++i) {
    if ("id:" + imported.nodes[i].id == name) return i;
    if (imported.nodes[i].label == name) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    std::string list;
    for (const std::string& near : nearest_names(name, name_nodes(imported)))
      list += (list.empty() ? "" : ", ") + near;
    throw InputError(
        fmt::format("{}: there is no node \"{}\"; nearest: {}", imported.file, name, list));
  }
  std::string list;
  for (const std::uint32_t i : found)
    list += fmt::format("{}\"id:{}\" (line {})", list.empty() ? "" : ", ", imported.nodes[i].id,
                        imported.nodes[i].line);
  throw InputError(fmt::format("{}: {} nodes are called \"{}\"; write one of {}", imported.file,
                               found.size(), name, list));
}

ReadTopology to_topology(const ImportedTopology& original, const ReadOptions& options) {
  if (!(options.detour >= 1 && options.detour <= 1000))
    throw InputError(fmt::format("detour: {} is not a factor of 1 to 1000", options.detour));
  ImportedTopology imported = original;
  const std::vector<std::string> names = name_nodes(imported);
  warn_of_shape(imported, names);

  Lacking no_bandwidth, no_bandwidth_unit, no_latency, no_latency_unit;
  std::size_t given_bandwidth = 0, given_latency = 0, from_length = 0, from_map = 0, from_nodes = 0;
  std::size_t dropped = 0;
  std::vector<Ready> ready;
  for (const ImportedLink& link : imported.links) {
    if (link.planned) {
      imported.warn("planned link",
                    fmt::format("{} - {} is planned; it is {}", names[link.a], names[link.b],
                                options.drop_planned ? "left out" : "kept"),
                    link.line);
      if (options.drop_planned) {
        ++dropped;
        continue;
      }
    }
    if (link.a == link.b) continue;
    Ready values;
    values.record = &link;
    const std::string ends = names[link.a] + " - " + names[link.b];
    if (link.bandwidth) {
      values.bandwidth = *link.bandwidth;
    } else if (link.bandwidth_number && !options.bandwidth_unit.empty()) {
      values.bandwidth =
          parse_bit_rate(fmt::format("{} {}", *link.bandwidth_number, options.bandwidth_unit));
    } else if (link.bandwidth_number) {
      no_bandwidth_unit.add(fmt::format("{}: {}", ends, *link.bandwidth_number), link.line);
    } else if (imported.nodes[link.a].up && imported.nodes[link.b].up) {
      values.bandwidth = BitRate::infinite();  // the rates are those of the nodes
      ++from_nodes;
    } else if (options.missing_bandwidth) {
      values.bandwidth = *options.missing_bandwidth;
      ++given_bandwidth;
    } else {
      no_bandwidth.add(ends, link.line);
    }
    const std::optional<double> straight = distance_m(imported, link);
    if (link.latency_s) {
      values.latency_s = *link.latency_s;
    } else if (link.latency_number && !options.latency_unit.empty()) {
      values.latency_s = parse_quantity(
          fmt::format("{} {}", *link.latency_number, options.latency_unit), Dimension::TIME);
    } else if (link.latency_number) {
      no_latency_unit.add(fmt::format("{}: {}", ends, *link.latency_number), link.line);
    } else if (link.length_m) {
      values.latency_s = *link.length_m * options.detour / kSpeedInFibre;
      ++from_length;
    } else if (straight) {
      values.latency_s = *straight * options.detour / kSpeedInFibre;
      ++from_map;
    } else if (options.missing_latency_s) {
      values.latency_s = *options.missing_latency_s;
      ++given_latency;
    } else {
      no_latency.add(ends, link.line);
    }
    if ((link.latency_s || link.latency_number) && straight &&
        values.latency_s * kSpeedOfLight < *straight)
      imported.warn(
          "faster than light",
          fmt::format("{}: {:.4g} km in {:.4g} ms", ends, *straight / 1e3, values.latency_s * 1e3),
          link.line);
    ready.push_back(values);
  }

  std::string problem;
  const auto ask = [&](const Lacking& lacking, std::string_view what, std::string_view remedy) {
    if (lacking.count() > 0)
      problem += fmt::format("{}{} links have {}; {}{}", problem.empty() ? "" : "\n",
                             lacking.count(), what, remedy, lacking.text());
  };
  ask(no_bandwidth, "no bandwidth", "give a missing bandwidth, for example \"10 Gbit/s\"");
  ask(no_bandwidth_unit, "a bandwidth without unit", "give the bandwidth unit, for example Mbit/s");
  ask(no_latency, "no latency", "give a missing latency, for example \"2 ms\"");
  ask(no_latency_unit, "a latency without unit", "give the latency unit, for example us");
  if (!problem.empty()) throw InputError(problem).at(imported.file);

  ReadTopology result;
  std::vector<NodeId> ends;
  for (std::size_t i = 0; i < names.size(); ++i)
    ends.push_back(add_node(result.topology, imported.nodes[i], names[i]));
  std::unordered_map<std::string, std::size_t> used;
  Lacking no_way_back;
  for (const Ready& values : merge(std::move(ready))) {
    const ImportedLink& record = *values.record;
    const std::string base =
        record.name.empty() ? names[record.a] + "-" + names[record.b] : record.name;
    if (record.directed && !values.back) {
      no_way_back.add(base, record.line);
      continue;
    }
    Link link;
    // Names repeat where links are parallel: the second is "a-b#2".
    do {
      const std::size_t times = ++used[base];
      link.name = times == 1 ? base : fmt::format("{}#{}", base, times);
    } while (result.topology.find_link(link.name));
    link.a = ends[record.a];
    link.b = ends[record.b];
    const auto [bandwidth, latency_s] =
        values.back.value_or(std::pair{values.bandwidth, values.latency_s});
    link.capacity = {values.bandwidth, bandwidth};
    link.latency_s = {values.latency_s, latency_s};
    result.topology.add_link(std::move(link));
  }
  ask(no_way_back, "no record of the way back", "write one for each direction");
  if (!problem.empty()) throw InputError(problem).at(imported.file);
  result.warnings = std::move(imported.warnings);
  result.assumed = std::move(imported.assumed);
  const auto tell = [&](std::size_t links, const std::string& what) {
    if (links > 0)
      result.assumed.push_back(
          fmt::format("{} of {} links: {}", links, imported.links.size(), what));
  };
  tell(given_bandwidth, "bandwidth as given for missing ones");
  tell(from_nodes, "no limit of their own; the rates of the nodes hold");
  tell(given_latency, "latency as given for missing ones");
  tell(from_length, fmt::format("latency from the length, 2e8 m/s, detour {}", options.detour));
  tell(from_map, fmt::format("latency from the coordinates, 2e8 m/s, detour {}", options.detour));
  tell(dropped, "planned, left out");
  return result;
}

ReadTopology read_topology(const std::string& path, const ReadOptions& options) {
  return to_topology(read_imported(path), options);
}

}  // namespace syncline
