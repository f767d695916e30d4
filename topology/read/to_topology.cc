#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "topology/input_error.h"
#include "topology/read/complete.h"
#include "topology/read/plans.h"

namespace syncline {
namespace {

// A link whose values are complete.
struct Ready {
  const ImportedLink* record = nullptr;
  BitRate bandwidth;
  double latency_s = 0;
  std::optional<std::pair<BitRate, double>> back;  // where a record of the way back says them
};

// Opposite directed records become one link: namesakes first, then those with equal values, then
// what is left in the order of the file.
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
    // One without a name has no namesake.
    const std::string& name = ready.record->name;
    return std::tuple{ends(ready, turned),
                      name.empty() ? std::to_string(&ready - all.data()) : name, name.empty()};
  });
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
MadeNode add_node(Topology& topology, const ImportedNode& node, const std::string& name) {
  const NodeId made = topology.add_node({name, node.host, node.cluster, node.at});
  if (!node.up || !node.down) return {made, made, {}};
  const NodeId place = topology.add_node({name + "/place", false, ""});
  const LinkId access =
      topology.add_link({name + "/access", made, place, {*node.up, *node.down}, {}, false});
  return {made, place, access};
}

}  // namespace

ReadTopology to_topology(const ImportedTopology& original, const ReadOptions& options) {
  ImportedTopology imported = original;
  CompletedLinks completed = complete_links(imported, options);
  if (!completed.lacking.empty())
    throw InputError(fmt::format("{}", fmt::join(completed.lacking, "\n"))).at(imported.file);
  std::vector<Ready> ready;
  for (const CompletedLink& link : completed.links)
    ready.push_back({link.record, *link.bandwidth, *link.latency_s, {}});

  const std::vector<std::string> names = imported_node_names(imported);
  ReadTopology result;
  std::vector<MadeNode> ends;
  for (std::size_t i = 0; i < names.size(); ++i)
    ends.push_back(add_node(result.topology, imported.nodes[i], names[i]));
  auto direct = std::make_shared<DirectPlan>(ends, result.topology.node_count());
  std::vector<std::optional<LinkId>> link_of_record(imported.links.size());
  std::unordered_map<std::string, std::size_t> used;
  for (const Ready& values : merge(std::move(ready))) {
    const ImportedLink& record = *values.record;
    const std::string base =
        record.name.empty() ? names[record.a] + "-" + names[record.b] : record.name;
    if (record.directed && !values.back)
      throw InputError(fmt::format("link \"{}\" has no record of the way back; write one for each "
                                   "direction",
                                   base))
          .at(record.line > 0 ? fmt::format("{}:{}", imported.file, record.line) : imported.file);
    Link link;
    // Names repeat where links are parallel: the second is "a-b#2".
    do {
      const std::size_t times = ++used[base];
      link.name = times == 1 ? base : fmt::format("{}#{}", base, times);
    } while (result.topology.find_link(link.name));
    link.a = ends[record.a].place;
    link.b = ends[record.b].place;
    link.shared = record.shared;
    const auto [bandwidth, latency_s] =
        values.back.value_or(std::pair{values.bandwidth, values.latency_s});
    link.capacity = {values.bandwidth, bandwidth};
    link.latency_s = {values.latency_s, latency_s};
    const LinkId id = result.topology.add_link(std::move(link));
    link_of_record[static_cast<std::size_t>(&record - imported.links.data())] = id;
    if (imported.paths) direct->add(record.a, record.b, id);
  }
  for (ImportedTrace& trace : imported.traces) {
    if (const auto link = link_of_record[trace.link])
      result.traces.push_back({*link, std::move(trace.trace)});
  }
  if (imported.paths) result.topology.set_route_plan(std::move(direct));
  if (imported.routes)
    result.topology.set_route_plan(std::make_shared<GivenPlan>(
        ends, result.topology.node_count(), imported.routes, std::move(link_of_record)));
  result.warnings = std::move(imported.warnings);
  result.assumed = std::move(completed.assumed);
  return result;
}

ReadTopology read_topology(const std::string& path, const ReadOptions& options) {
  return to_topology(read_imported(path), options);
}

}  // namespace syncline
