// The .topo files of htsim and of ASTRA-sim's htsim back end: a fat tree or leaf-spine by the
// radixes, speeds and latencies of its tiers of switches (0: the ones that hosts hang on).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr std::size_t kMostHosts = 1'000'000;
constexpr std::size_t kMostLinks = 4'000'000;
constexpr double kMostGbps = 1e9;

struct Tier {
  TextPlace place;
  std::map<std::string, Token> values;  // by name in small letters
};

struct Reader {
  const TextSource& source;
  std::map<std::string, Token> values = {};
  std::vector<Tier> tiers = {};
  ImportedTopology topology = {};

  static std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
  }

  void read_lines() {
    static constexpr std::array kKnown = {"nodes",
                                          "tiers",
                                          "podsize",
                                          "tier",
                                          "radix_down",
                                          "radix_up",
                                          "downlink_speed_gbps",
                                          "downlink_latency_ns",
                                          "oversubscribed",
                                          "bundle",
                                          "switch_latency_ns"};
    LineCursor lines(source, "#");
    while (lines.next()) {
      const Token& name = lines.field(0, "setting");
      const Token& value = lines.field(1, name.text);
      const std::string key = lower(name.text);
      if (lines.fields().size() > 2)
        throw source.error(lines.fields()[2].place, name.text, "one value is needed");
      if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) {
        topology.warn("further settings",
                      fmt::format("\"{}\" is not of the topology and is not read", name.text),
                      name.place.line);
        continue;
      }
      if (key == "tier") {
        if (to_count(source, value, "Tier", 2) != tiers.size())
          throw source.error(value.place, "Tier",
                             fmt::format("{} where tier {} is next", value.text, tiers.size()));
        tiers.push_back({name.place, {}});
        continue;
      }
      auto& section = tiers.empty() ? values : tiers.back().values;
      if (!section.emplace(key, value).second)
        throw source.error(name.place, name.text, "is written twice");
    }
  }

  std::optional<std::size_t> count(const std::map<std::string, Token>& section,
                                   const std::string& key) const {
    const auto found = section.find(key);
    if (found == section.end()) return std::nullopt;
    const std::size_t value = to_count(source, found->second, key, kMostHosts);
    if (value == 0) throw source.error(found->second.place, key, "is 0; 1 or more is right");
    return value;
  }

  std::size_t required(const std::map<std::string, Token>& section, const std::string& key,
                       TextPlace place) const {
    const auto value = count(section, key);
    if (!value) throw source.error(place, key, "is missing");
    return *value;
  }

  double number(const Tier& tier, const std::string& key, std::optional<double> otherwise,
                Sign sign) const {
    const auto found = tier.values.find(key);
    if (found != tier.values.end()) {
      const double value = to_number(source, found->second, key, sign);
      if (value > kMostGbps)
        throw source.error(found->second.place, key, fmt::format("is above {}", kMostGbps));
      return value;
    }
    if (!otherwise) throw source.error(tier.place, key, "is missing");
    return *otherwise;
  }

  // `parts` of a whole; the counts of such a fabric must come out even.
  std::size_t divide(std::size_t whole, std::size_t parts, TextPlace place,
                     const std::string& what) const {
    if (whole % parts != 0)
      throw source.error(place, what, fmt::format("{} do not divide by {}", whole, parts));
    return whole / parts;
  }

  std::uint32_t add_nodes(std::size_t count, const std::string& prefix, bool host,
                          std::size_t line) {
    const auto first = static_cast<std::uint32_t>(topology.nodes.size());
    if (topology.nodes.size() + count > 2 * kMostHosts)
      throw source.error({line, 0}, "nodes", fmt::format("more than {} of them", 2 * kMostHosts));
    for (std::size_t i = 0; i < count; ++i) {
      ImportedNode& node = topology.nodes.emplace_back();
      node.id = node.label = fmt::format("{}{}", prefix, i);
      node.host = host;
      node.line = line;
    }
    return first;
  }

  // Half of a switch's own latency belongs to each link at it: a way crosses two of its links.
  void add_links(const Tier& tier, double below_switch_ns, std::uint32_t low, std::uint32_t high,
                 std::size_t times) {
    ImportedLink link;
    link.a = low;
    link.b = high;
    link.bandwidth =
        BitRate::bits_per_s(1e9 * number(tier, "downlink_speed_gbps", {}, Sign::POSITIVE));
    const double own_ns = number(tier, "switch_latency_ns", 0, Sign::NOT_NEGATIVE);
    link.latency_s = 1e-9 * (number(tier, "downlink_latency_ns", {}, Sign::NOT_NEGATIVE) +
                             (own_ns + below_switch_ns) / 2);
    link.line = tier.place.line;
    if (topology.links.size() + times > kMostLinks)
      throw source.error(tier.place, "links", fmt::format("more than {} of them", kMostLinks));
    topology.links.insert(topology.links.end(), times, link);
  }

  ImportedTopology read() {
    topology.file = source.name();
    topology.format = "htsim topology";
    read_lines();
    const std::size_t hosts = required(values, "nodes", {});
    const std::size_t count_of_tiers = required(values, "tiers", {});
    if (count_of_tiers != 2 && count_of_tiers != 3)
      throw source.error(values.at("tiers").place, "Tiers", "2 or 3 are read");
    if (tiers.size() != count_of_tiers)
      throw source.error(
          {}, "Tier", fmt::format("{} are described; Tiers says {}", tiers.size(), count_of_tiers));
    const std::size_t pod = count_of_tiers == 2 ? hosts : required(values, "podsize", {});
    const std::size_t pods = divide(hosts, pod, {}, "hosts in pods");
    const auto radix = [&](std::size_t tier, const char* key) {
      return required(tiers[tier].values, key, tiers[tier].place);
    };
    const auto bundle = [&](std::size_t tier) {
      return count(tiers[tier].values, "bundle").value_or(1);
    };
    const auto switch_ns = [&](std::size_t tier) {
      return number(tiers[tier], "switch_latency_ns", 0, Sign::NOT_NEGATIVE);
    };
    const std::size_t below = radix(0, "radix_down");
    const std::size_t tors_a_pod =
        divide(pod, below, tiers[0].place, "hosts of a pod, by Radix_Down");
    const std::size_t tors = tors_a_pod * pods;
    // Each switch of a pod's upper tier takes `bundle` links from every lower one of the pod.
    const std::size_t uppers_a_pod =
        divide(radix(0, "radix_up"), bundle(1), tiers[0].place, "Radix_Up by Bundle of tier 1");
    if (tors_a_pod * bundle(1) != radix(1, "radix_down"))
      throw source.error(
          tiers[1].place, "Radix_Down",
          fmt::format("is {}; {} switches below with bundles of {} need {}", radix(1, "radix_down"),
                      tors_a_pod, bundle(1), tors_a_pod * bundle(1)));
    const std::size_t uppers = uppers_a_pod * pods;

    const std::uint32_t host0 = add_nodes(hosts, "h", true, values.at("nodes").place.line);
    const std::uint32_t tor0 = add_nodes(tors, "tor", false, tiers[0].place.line);
    const std::uint32_t upper0 =
        add_nodes(uppers, count_of_tiers == 2 ? "spine" : "agg", false, tiers[1].place.line);
    const auto at = [](std::uint32_t first, std::size_t i) {
      return first + static_cast<std::uint32_t>(i);
    };
    for (std::size_t host = 0; host < hosts; ++host)
      add_links(tiers[0], 0, at(host0, host), at(tor0, host / below), 1);
    for (std::size_t tor = 0; tor < tors; ++tor)
      for (std::size_t i = 0; i < uppers_a_pod; ++i)
        add_links(tiers[1], switch_ns(0), at(tor0, tor),
                  at(upper0, tor / tors_a_pod * uppers_a_pod + i), bundle(1));
    if (count_of_tiers == 2) return std::move(topology);
    // A core switch is joined to the same place of every pod.
    const std::size_t ways =
        divide(radix(1, "radix_up"), bundle(2), tiers[1].place, "Radix_Up by Bundle of tier 2");
    if (pods * bundle(2) != radix(2, "radix_down"))
      throw source.error(tiers[2].place, "Radix_Down",
                         fmt::format("is {}; {} pods with bundles of {} need {}",
                                     radix(2, "radix_down"), pods, bundle(2), pods * bundle(2)));
    const std::uint32_t core0 = add_nodes(uppers_a_pod * ways, "core", false, tiers[2].place.line);
    for (std::size_t upper = 0; upper < uppers; ++upper)
      for (std::size_t i = 0; i < ways; ++i)
        add_links(tiers[2], switch_ns(1), at(upper0, upper),
                  at(core0, upper % uppers_a_pod * ways + i), bundle(2));
    return std::move(topology);
  }
};

}  // namespace

ImportedTopology read_tiers(const TextSource& source) { return Reader{source}.read(); }

}  // namespace syncline
