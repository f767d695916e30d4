// What the parts of the SimGrid reader share. Private to topology/read.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topology/read/readers.h"
#include "topology/read/simgrid_zones.h"
#include "topology/read/xml.h"

namespace syncline {

// SimGrid's quantities: "1.25E8Bps" and "0", which means the base unit. Throw InputError.
BitRate to_simgrid_rate(const TextSource& source, const Token& token, std::string_view field);
double to_simgrid_seconds(const TextSource& source, const Token& token, std::string_view field);

// Points of a profile: "TIME VALUE" a line and at most one "LOOPAFTER SECONDS", which says how long
// after the last point the profile begins anew.
struct SimgridProfile {
  std::vector<std::pair<double, double>> points;  // seconds, value
  std::optional<double> loop_after_s;
};
SimgridProfile parse_simgrid_profile(const TextSource& source);

// The profiles of one link as one trace: states (0: no bandwidth), bandwidths in bytes/s and
// latencies in s, which may repeat with periods of their own. Throws InputError: a state beside a
// bandwidth, or one that repeats beside one that does not.
struct SimgridLinkProfiles {
  std::optional<SimgridProfile> bandwidth, latency, state;
};
LinkTrace merge_simgrid_profiles(const SimgridLinkProfiles& profiles, BitRate nominal);

// Nodes and links as they come, and where a link stands: SimGrid's links have no ends, so each gets
// those that the first way over it suggests.
class SimgridParts {
 public:
  SimgridParts(const TextSource& source, ImportedTopology& topology);

  // Throws InputError: the id is empty or taken, or there are over a million nodes.
  std::uint32_t add_node(const std::string& id, bool host, std::uint32_t zone, TextPlace place);
  // Throws InputError: there is none.
  std::uint32_t find_node(const Token& id, std::string_view field) const;
  void set_rates(std::uint32_t node, BitRate up, BitRate down);
  // One that is nothing but the end of links.
  std::uint32_t add_junction(const std::string& name, std::uint32_t zone, std::size_t line);

  // A link without ends. Throws InputError: the id is empty or taken; a policy that is not read.
  std::uint32_t add_link(const Token& id, BitRate bandwidth, double latency_s, const Token& policy);
  std::optional<std::uint32_t> find_link(std::string_view id) const;
  void place_link(std::uint32_t link, std::uint32_t a, std::uint32_t b);
  // Gives the links of a way their ends, where they have none.
  void place_way(std::uint32_t from, std::uint32_t to, const SimgridSteps& steps,
                 std::uint32_t zone);
  bool is_placed(std::uint32_t link) const { return placed_[link]; }
  ImportedLink& link(std::uint32_t link) { return links_[link]; }
  std::size_t link_count() const { return links_.size(); }

  // Hands the links over to the topology; those without ends are left out, with a warning. Returns
  // the record of each.
  std::vector<std::uint32_t> finish();

  std::shared_ptr<SimgridRoutes> routes;

 private:
  const TextSource& source_;
  ImportedTopology& topology_;
  NodeIndex nodes_;
  std::vector<ImportedLink> links_;
  std::vector<bool> placed_;
  std::unordered_map<std::string, std::uint32_t> link_index_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

// <cluster> and <peer>: hosts with private links, and how ways go between them.
void read_simgrid_cluster(const TextSource& source, const pugi::xml_node& element,
                          std::uint32_t zone, SimgridParts& parts);
void read_simgrid_peers(const TextSource& source, const pugi::xml_node& zone_element,
                        std::uint32_t zone, SimgridParts& parts);

}  // namespace syncline
