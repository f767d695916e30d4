// SimGrid's platforms, version 4 (https://simgrid.org/doc/latest/Platform.html): zones, hosts,
// routers, links, clusters, peers and routes. Ways go exactly as SimGrid's own routing takes them;
// its links have no ends, so the graph around them is a likeness. A link is SHARED by both
// directions where nothing else is said. What computes (speeds, states of hosts) is not read.
#include "topology/read/simgrid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace syncline {
namespace {

constexpr std::uint32_t kDeepest = 64;

class SimgridReader {
 public:
  explicit SimgridReader(const TextSource& source)
      : source_(source),
        document_(parse_xml(source)),
        topology_{.file = source.name(), .format = "SimGrid platform"},
        parts_(source, topology_) {}

  ImportedTopology read() {
    const pugi::xml_node root = document_.document_element();
    const Token version = require_attribute(source_, root, "version");
    if (const double number = to_number(source_, version, "version"); number < 4 || number >= 5)
      throw source_.error(
          version.place, "version",
          fmt::format("{} is not 4 or 4.1; simgrid_update_xml brings a file there", version.text));
    bool zone = false;
    for (const pugi::xml_node element : elements(root)) {
      const std::string_view name = element.name();
      if (is_zone(name)) {
        if (zone) throw source_.error(place_of(source_, element), "zone", "a second root zone");
        zone = true;
        read_zone(element, SimgridZone::kNone);
      } else if (!read_trace(element) && name != "config" && name != "prop") {
        throw not_read(element);
      }
    }
    if (!zone) throw source_.error(place_of(source_, root), "zone", "is missing");
    // The shortest ways say best where a link stands. (They lie in maps, so they stay in place.)
    std::stable_sort(to_place_.begin(), to_place_.end(), [](const auto& a, const auto& b) {
      return a.first->steps.size() < b.first->steps.size();
    });
    for (const auto& [way, in] : to_place_)
      parts_.place_way(way->from_gateway, way->to_gateway, way->steps, in);
    place_loopbacks();
    for (const pugi::xml_node& element : connections_) connect(element);
    const std::vector<std::uint32_t> record = parts_.finish();
    for (const auto& [link, profiles] : profiles_) {
      if (record[link] == SimgridZone::kNone) continue;
      const ImportedLink& made = topology_.links[record[link]];
      try {
        topology_.traces.push_back(
            {record[link], merge_simgrid_profiles(profiles, *made.bandwidth)});
      } catch (const InputError& problem) {
        throw source_.error({made.line, 0}, fmt::format("link {}", made.name), problem.what());
      }
    }
    parts_.routes->record_of_link = record;
    topology_.routes = parts_.routes;
    return std::move(topology_);
  }

 private:
  static std::vector<pugi::xml_node> elements(const pugi::xml_node& parent) {
    std::vector<pugi::xml_node> result;
    for (const pugi::xml_node child : parent) {
      if (child.type() == pugi::node_element) result.push_back(child);
    }
    return result;
  }

  static bool is_zone(std::string_view name) { return name == "zone" || name == "AS"; }

  InputError not_read(const pugi::xml_node& element) const {
    return source_.error(
        place_of(source_, element), element.name(),
        std::string_view(element.name()) == "include"
            ? "is not read; put what it names into this file"
            : "is not read; zones, hosts, routers, links, clusters, peers, routes and traces are");
  }

  Token attribute(const pugi::xml_node& element, const char* name,
                  std::string_view otherwise) const {
    const pugi::xml_attribute found = element.attribute(name);
    return {Token::Kind::QUOTED, found ? std::string_view(found.value()) : otherwise,
            place_of(source_, element)};
  }

  std::uint32_t add_zone(const pugi::xml_node& element, std::uint32_t parent) {
    const Token id = require_attribute(source_, element, "id");
    auto& zones = parts_.routes->zones;
    const auto zone = static_cast<std::uint32_t>(zones.size());
    if (id.text.empty() || !zone_index_.try_emplace(std::string(id.text), zone).second)
      throw source_.error(id.place, "zone",
                          fmt::format("the id \"{}\" is empty or there already", id.text));
    const std::uint32_t depth =
        parent == SimgridZone::kNone ? 0 : parts_.routes->zones[parent].depth + 1;
    if (depth > kDeepest)
      throw source_.error(id.place, "zone", fmt::format("zones are nested over {} deep", kDeepest));
    SimgridZone& made = zones.emplace_back();
    made.id = id.text;
    made.parent = parent;
    made.depth = depth;
    return zone;
  }

  void read_zone(const pugi::xml_node& element, std::uint32_t parent) {
    const std::uint32_t zone = add_zone(element, parent);
    const Token routing = require_attribute(source_, element, "routing");
    static constexpr std::array kKnown = {"Full",          "Floyd", "Dijkstra",
                                          "DijkstraCache", "None",  "Vivaldi"};
    if (std::find(kKnown.begin(), kKnown.end(), routing.text) == kKnown.end())
      throw source_.error(
          routing.place, "routing",
          fmt::format("\"{}\" is none of {}", routing.text, fmt::join(kKnown, ", ")));
    parts_.routes->zones[zone].shortest =
        routing.text == "Floyd" || routing.text.starts_with("Dij");
    const bool vivaldi = routing.text == "Vivaldi";
    if (vivaldi) read_simgrid_peers(source_, element, zone, parts_);
    for (const pugi::xml_node child : elements(element)) {
      const std::string_view name = child.name();
      if (is_zone(name)) {
        read_zone(child, zone);
      } else if (name == "host" || name == "router") {
        read_node(child, zone);
      } else if (name == "link") {
        read_link(child);
      } else if (name == "cluster") {
        read_simgrid_cluster(source_, child, add_zone(child, zone), parts_);
      } else if (name == "route" && !vivaldi) {
        read_route(child, zone);
      } else if ((name == "zoneRoute" || name == "ASroute") && !vivaldi) {
        read_zone_route(child, zone);
      } else if (!(name == "peer" && vivaldi) && name != "prop" && !read_trace(child)) {
        throw not_read(child);
      }
    }
  }

  void read_node(const pugi::xml_node& element, std::uint32_t zone) {
    const bool host = std::string_view(element.name()) == "host";
    const Token id = require_attribute(source_, element, "id");
    parts_.add_node(std::string(id.text), host, zone, id.place);
    for (const char* const name : {"state_file", "speed_file", "availability_file"}) {
      if (element.attribute(name)) warn_of_host(id);
    }
  }

  void warn_of_host(const Token& id) {
    topology_.warn(
        "profiles of hosts",
        fmt::format("when \"{}\" computes, and how fast, is not of the network", id.text),
        id.place.line);
  }

  void read_link(const pugi::xml_node& element) {
    const Token id = require_attribute(source_, element, "id");
    const BitRate bandwidth =
        to_simgrid_rate(source_, require_attribute(source_, element, "bandwidth"), "bandwidth");
    const double latency_s =
        to_simgrid_seconds(source_, attribute(element, "latency", "0"), "latency");
    const std::uint32_t link =
        parts_.add_link(id, bandwidth, latency_s, attribute(element, "sharing_policy", "SHARED"));
    for (const auto& [name, part] : kFiles) {
      if (!element.attribute(name)) continue;
      profiles_[link].*part = load_profile(require_attribute(source_, element, name), name);
    }
  }

  SimgridProfile load_profile(const Token& file, std::string_view field) const {
    if (file.text.empty()) throw source_.error(file.place, field, "names no file");
    const auto folder = std::filesystem::path(source_.name()).parent_path();
    try {
      return parse_simgrid_profile(TextSource::load((folder / file.text).string()));
    } catch (const InputError& problem) {
      throw source_.error(file.place, field, problem.what());
    }
  }

  SimgridSteps read_steps(const pugi::xml_node& element) const {
    SimgridSteps steps;
    for (const pugi::xml_node child : elements(element)) {
      if (std::string_view(child.name()) != "link_ctn") throw not_read(child);
      const Token id = require_attribute(source_, child, "id");
      const Token direction = attribute(child, "direction", "NONE");
      if (direction.text != "UP" && direction.text != "DOWN" && direction.text != "NONE")
        throw source_.error(direction.place, "direction",
                            fmt::format("\"{}\" is none of UP, DOWN, NONE", direction.text));
      bool forward = direction.text != "DOWN";
      std::optional<std::uint32_t> link = parts_.find_link(id.text);
      for (const auto& [end, is_up] :
           {std::pair<std::string_view, bool>{"_UP", true}, {"_DOWN", false}}) {
        if (link || !id.text.ends_with(end)) continue;
        link = parts_.find_link(id.text.substr(0, id.text.size() - end.size()));
        forward = is_up;
      }
      if (!link)
        throw source_.error(id.place, "link_ctn", fmt::format("there is no link \"{}\"", id.text));
      steps.push_back({*link, forward});
    }
    if (steps.empty())
      throw source_.error(place_of(source_, element), element.name(), "names no link");
    return steps;
  }

  bool read_symmetrical(const pugi::xml_node& element) const {
    const Token token = attribute(element, "symmetrical", "YES");
    if (token.text == "YES" || token.text == "yes") return true;
    if (token.text == "NO" || token.text == "no") return false;
    throw source_.error(token.place, "symmetrical",
                        fmt::format("\"{}\" is neither YES nor NO", token.text));
  }

  void add_way(const pugi::xml_node& element, std::uint32_t zone, std::uint64_t from,
               std::uint64_t to, SimgridWay way) {
    auto& ways = parts_.routes->zones[zone].ways;
    const auto insert = [&](std::uint64_t a, std::uint64_t b, SimgridWay each) {
      const auto [entry, is_new] = ways.try_emplace({a, b}, std::move(each));
      if (is_new) to_place_.emplace_back(&entry->second, zone);
      if (!is_new)
        throw source_.error(
            place_of(source_, element), element.name(),
            fmt::format("{} to {} is there already", element.attribute("src").value(),
                        element.attribute("dst").value()));
    };
    const bool both = read_symmetrical(element);
    SimgridWay back{way.to_gateway, way.from_gateway, {way.steps.rbegin(), way.steps.rend()}};
    for (ImportedRoutes::Step& step : back.steps) step.forward = !step.forward;
    insert(from, to, std::move(way));
    if (both) insert(to, from, std::move(back));
  }

  void read_route(const pugi::xml_node& element, std::uint32_t zone) {
    const std::uint32_t from = find_member(element, "src", zone);
    const std::uint32_t to = find_member(element, "dst", zone);
    SimgridSteps steps = read_steps(element);
    if (from == to) {
      loopbacks_.push_back({from, steps.front().link});
      return;
    }
    add_way(element, zone, from, to, {from, to, std::move(steps)});
  }

  std::uint32_t find_member(const pugi::xml_node& element, const char* name,
                            std::uint32_t zone) const {
    const Token id = require_attribute(source_, element, name);
    const std::uint32_t node = parts_.find_node(id, name);
    if (parts_.routes->zone_of_node[node] != zone)
      throw source_.error(
          id.place, name,
          fmt::format("\"{}\" is in another zone; a zoneRoute leads there", id.text));
    return node;
  }

  void read_zone_route(const pugi::xml_node& element, std::uint32_t zone) {
    const auto [from, from_gateway] = find_zone(element, "src", "gw_src", zone);
    const auto [to, to_gateway] = find_zone(element, "dst", "gw_dst", zone);
    if (from == to) throw source_.error(place_of(source_, element), "dst", "is its own source");
    add_way(element, zone, SimgridZone::kZone + from, SimgridZone::kZone + to,
            {from_gateway, to_gateway, read_steps(element)});
  }

  std::pair<std::uint32_t, std::uint32_t> find_zone(const pugi::xml_node& element, const char* name,
                                                    const char* gateway_name,
                                                    std::uint32_t parent) const {
    const Token id = require_attribute(source_, element, name);
    const auto zone = zone_index_.find(std::string(id.text));
    if (zone == zone_index_.end() || parts_.routes->zones[zone->second].parent != parent)
      throw source_.error(id.place, name,
                          fmt::format("there is no zone \"{}\" in this one", id.text));
    const Token gateway = require_attribute(source_, element, gateway_name);
    const std::uint32_t node = parts_.find_node(gateway, gateway_name);
    if (!parts_.routes->holds(zone->second, node))
      throw source_.error(gateway.place, gateway_name,
                          fmt::format("\"{}\" is not in the zone \"{}\"", gateway.text, id.text));
    return {zone->second, node};
  }

  // A way to oneself is instant here; the link of it is a self-loop where nothing else uses it.
  void place_loopbacks() {
    for (const auto& [node, link] : loopbacks_) {
      if (!parts_.is_placed(link)) parts_.place_link(link, node, node);
    }
  }

  // True where the element is a trace or connects one.
  bool read_trace(const pugi::xml_node& element) {
    const std::string_view name = element.name();
    if (name == "trace_connect") {
      connections_.push_back(element);
      return true;
    }
    if (name != "trace") return false;
    const Token id = require_attribute(source_, element, "id");
    SimgridProfile profile;
    if (const Token file = attribute(element, "file", ""); !file.text.empty()) {
      profile = load_profile(file, "file");
    } else {
      // Lines count as in the file.
      const auto offset = element.first_child().offset_debug();
      const std::size_t line =
          offset < 0 ? id.place.line : source_.place_of(static_cast<std::size_t>(offset)).line;
      profile = parse_simgrid_profile(
          TextSource(source_.name(), std::string(line - 1, '\n') + element.child_value()));
    }
    if (element.attribute("periodicity")) {
      const Token period = require_attribute(source_, element, "periodicity");
      const double seconds = to_number(source_, period, "periodicity");
      if (seconds > 0) profile.loop_after_s = seconds;
    }
    if (!traces_.try_emplace(std::string(id.text), std::move(profile)).second)
      throw source_.error(id.place, "trace", fmt::format("\"{}\" is there already", id.text));
    return true;
  }

  void connect(const pugi::xml_node& element) {
    const Token trace = require_attribute(source_, element, "trace");
    const auto profile = traces_.find(std::string(trace.text));
    if (profile == traces_.end())
      throw source_.error(trace.place, "trace", fmt::format("there is no \"{}\"", trace.text));
    const Token kind = attribute(element, "kind", "HOST_AVAIL");
    const Token target = require_attribute(source_, element, "element");
    if (kind.text == "HOST_AVAIL" || kind.text == "SPEED") {
      parts_.find_node(target, "element");
      warn_of_host(target);
      return;
    }
    const auto link = parts_.find_link(target.text);
    if (!link)
      throw source_.error(target.place, "element",
                          fmt::format("there is no link \"{}\"", target.text));
    SimgridLinkProfiles& profiles = profiles_[*link];
    if (kind.text == "LINK_AVAIL") {
      profiles.state = profile->second;
    } else if (kind.text == "BANDWIDTH") {
      profiles.bandwidth = profile->second;
    } else if (kind.text == "LATENCY") {
      profiles.latency = profile->second;
    } else {
      throw source_.error(
          kind.place, "kind",
          fmt::format("\"{}\" is none of HOST_AVAIL, SPEED, LINK_AVAIL, BANDWIDTH, LATENCY",
                      kind.text));
    }
  }

  using Part = std::optional<SimgridProfile> SimgridLinkProfiles::*;
  static constexpr std::array<std::pair<const char*, Part>, 3> kFiles = {
      {{"bandwidth_file", &SimgridLinkProfiles::bandwidth},
       {"latency_file", &SimgridLinkProfiles::latency},
       {"state_file", &SimgridLinkProfiles::state}}};

  const TextSource& source_;
  const pugi::xml_document document_;
  ImportedTopology topology_;
  SimgridParts parts_;
  std::unordered_map<std::string, std::uint32_t> zone_index_;
  std::vector<std::pair<const SimgridWay*, std::uint32_t>> to_place_;  // with the zone of each
  std::vector<std::pair<std::uint32_t, std::uint32_t>> loopbacks_;     // node, link
  std::map<std::uint32_t, SimgridLinkProfiles> profiles_;              // by link
  std::map<std::string, SimgridProfile> traces_;
  std::vector<pugi::xml_node> connections_;
};

}  // namespace

ImportedTopology read_simgrid(const TextSource& source) { return SimgridReader(source).read(); }

}  // namespace syncline
