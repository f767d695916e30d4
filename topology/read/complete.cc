#include "topology/read/complete.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <unordered_map>

#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr double kSpeedInFibre = 2e8;  // m/s
constexpr double kSpeedOfLight = 299792458;
constexpr std::size_t kMostListed = 5;

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
  std::unordered_map<std::string, std::size_t> labels;
  for (const ImportedNode& node : imported.nodes) ++labels[node.label];
  for (const ImportedNode& node : imported.nodes) {
    if (!node.label.empty() && labels.at(node.label) > 1)
      imported.warn(
          "repeated label",
          fmt::format("several nodes are called \"{}\"; they are named by id", node.label),
          node.line);
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

// Where a value came from, counted for the assumptions.
struct Sources {
  std::size_t given_bandwidth = 0, from_nodes = 0;
  std::size_t given_latency = 0, from_length = 0, from_map = 0;
};

struct Asked {
  Lacking bandwidth, bandwidth_unit, latency, latency_unit;
};

std::optional<BitRate> bandwidth_of(const ImportedTopology& imported, const ImportedLink& link,
                                    const ReadOptions& options, const std::string& ends,
                                    Sources& sources, Asked& asked) {
  if (link.bandwidth) return link.bandwidth;
  if (link.bandwidth_number) {
    if (!options.bandwidth_unit.empty())
      return parse_bit_rate(fmt::format("{} {}", *link.bandwidth_number, options.bandwidth_unit));
    asked.bandwidth_unit.add(fmt::format("{}: {}", ends, *link.bandwidth_number), link.line);
    return std::nullopt;
  }
  if (imported.nodes[link.a].up && imported.nodes[link.b].up) {
    ++sources.from_nodes;
    return BitRate::infinite();  // the rates are those of the nodes
  }
  if (options.missing_bandwidth) {
    ++sources.given_bandwidth;
    return options.missing_bandwidth;
  }
  asked.bandwidth.add(ends, link.line);
  return std::nullopt;
}

std::optional<double> latency_of(const ImportedLink& link, std::optional<double> straight_m,
                                 const ReadOptions& options, const std::string& ends,
                                 Sources& sources, Asked& asked) {
  if (link.latency_s) return link.latency_s;
  if (link.latency_number) {
    if (!options.latency_unit.empty())
      return parse_quantity(fmt::format("{} {}", *link.latency_number, options.latency_unit),
                            Dimension::TIME);
    asked.latency_unit.add(fmt::format("{}: {}", ends, *link.latency_number), link.line);
    return std::nullopt;
  }
  if (link.length_m) {
    ++sources.from_length;
    return *link.length_m * options.detour / kSpeedInFibre;
  }
  if (straight_m) {
    ++sources.from_map;
    return *straight_m * options.detour / kSpeedInFibre;
  }
  if (options.missing_latency_s) {
    ++sources.given_latency;
    return options.missing_latency_s;
  }
  asked.latency.add(ends, link.line);
  return std::nullopt;
}

void check_options(const ReadOptions& options) {
  if (!(options.detour >= 1 && options.detour <= 1000))
    throw InputError(fmt::format("detour: {} is not a factor of 1 to 1000", options.detour));
}

}  // namespace

CompletedLinks complete_links(ImportedTopology& imported, const ReadOptions& options) {
  check_options(options);
  const std::vector<std::string> names = imported_node_names(imported);
  warn_of_shape(imported, names);
  CompletedLinks result;
  Sources sources;
  Asked asked;
  std::size_t dropped = 0;
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
    const std::string ends = names[link.a] + " - " + names[link.b];
    const std::optional<double> straight_m = distance_m(imported, link);
    CompletedLink completed{&link, {}, {}};
    completed.bandwidth = bandwidth_of(imported, link, options, ends, sources, asked);
    completed.latency_s = latency_of(link, straight_m, options, ends, sources, asked);
    if ((link.latency_s || link.latency_number) && completed.latency_s && straight_m &&
        *completed.latency_s * kSpeedOfLight < *straight_m)
      imported.warn("faster than light",
                    fmt::format("{}: {:.4g} km in {:.4g} ms", ends, *straight_m / 1e3,
                                *completed.latency_s * 1e3),
                    link.line);
    result.links.push_back(completed);
  }

  const auto ask = [&](const Lacking& lacking, std::string_view what, std::string_view remedy) {
    if (lacking.count() > 0)
      result.lacking.push_back(fmt::format("{} link{} {}; {}{}", lacking.count(),
                                           lacking.count() == 1 ? " has" : "s have", what, remedy,
                                           lacking.text()));
  };
  ask(asked.bandwidth, "no bandwidth", "give a missing bandwidth, for example \"10 Gbit/s\"");
  ask(asked.bandwidth_unit, "a bandwidth without unit",
      "give the bandwidth unit, for example Mbit/s");
  ask(asked.latency, "no latency", "give a missing latency, for example \"2 ms\"");
  ask(asked.latency_unit, "a latency without unit", "give the latency unit, for example us");

  result.assumed = imported.assumed;
  const auto tell = [&](std::size_t links, const std::string& what) {
    if (links > 0)
      result.assumed.push_back(
          fmt::format("{} of {} links: {}", links, imported.links.size(), what));
  };
  tell(sources.given_bandwidth, "bandwidth as given for missing ones");
  tell(sources.from_nodes, "no limit of their own; the rates of the nodes hold");
  tell(sources.given_latency, "latency as given for missing ones");
  tell(sources.from_length,
       fmt::format("latency from the length, 2e8 m/s, detour {}", options.detour));
  tell(sources.from_map,
       fmt::format("latency from the coordinates, 2e8 m/s, detour {}", options.detour));
  tell(dropped, "planned, left out");
  return result;
}

}  // namespace syncline
