// SimGrid's clusters: flat ones with a backbone, fat trees (D-mod-K; Zahavi, 2010) and tori; and
// the peers of a Vivaldi zone (Dabek et al., SIGCOMM 2004).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/read/simgrid.h"
#include "topology/text.h"

namespace syncline {
namespace {

constexpr std::size_t kMostHosts = 1'000'000;
constexpr std::size_t kMostPeers = 2000;  // each is joined to each

Token optional_attribute(const TextSource& source, const pugi::xml_node& element, const char* name,
                         std::string_view otherwise) {
  const pugi::xml_attribute attribute = element.attribute(name);
  return {Token::Kind::QUOTED, attribute ? std::string_view(attribute.value()) : otherwise,
          place_of(source, element)};
}

std::vector<Token> split(const Token& token, char at) {
  std::vector<Token> parts;
  std::string_view text = token.text;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back({token.kind, trim(text.substr(0, end)), token.place});
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "0-15,20": the numbers of the hosts.
std::vector<std::size_t> read_radical(const TextSource& source, const Token& radical) {
  std::vector<std::size_t> numbers;
  for (const Token& part : split(radical, ',')) {
    const std::vector<Token> ends = split(part, '-');
    if (ends.size() > 2) throw source.error(part.place, "radical", "write for example 0-15,20");
    const std::size_t first = to_count(source, ends.front(), "radical", 1'000'000'000);
    const std::size_t last = to_count(source, ends.back(), "radical", 1'000'000'000);
    if (last < first || last - first >= kMostHosts - numbers.size())
      throw source.error(part.place, "radical",
                         fmt::format("\"{}\" falls or names over {} hosts", part.text, kMostHosts));
    for (std::size_t i = first; i <= last; ++i) numbers.push_back(i);
  }
  return numbers;
}

// Levels of switches over hosts (level 0). A node of level l is a number with a digit a level:
// below l which parent, from l on which child; the first digit counts fastest.
struct FatTree {
  std::vector<std::size_t> down, up, cables;

  std::size_t radix(std::size_t level, std::size_t digit) const {
    return digit < level ? up[digit] : down[digit];
  }
  std::size_t size(std::size_t level) const {
    std::size_t product = 1;
    for (std::size_t digit = 0; digit < down.size(); ++digit)
      product = std::min(product * radix(level, digit), kMostHosts + 1);
    return product;
  }
  // The same digits in the next level, but for digit `level`, which is the parent's there.
  std::size_t parent_of(std::size_t level, std::size_t node, std::size_t parent) const {
    std::size_t index = 0, weight = 1;
    for (std::size_t digit = 0; digit < down.size(); ++digit) {
      const std::size_t value = node % radix(level, digit);
      node /= radix(level, digit);
      index += (digit == level ? parent : value) * weight;
      weight *= radix(level + 1, digit);
    }
    return index;
  }
};

class ClusterReader {
 public:
  ClusterReader(const TextSource& source, const pugi::xml_node& element, std::uint32_t zone,
                SimgridParts& parts)
      : source_(source), element_(element), zone_(zone), parts_(parts) {
    const Token prefix = require_attribute(source, element, "prefix");
    const Token suffix = require_attribute(source, element, "suffix");
    id_ = require_attribute(source, element, "id").text;
    const Token bandwidth = require_attribute(source, element, "bw");
    bandwidth_ = to_simgrid_rate(source, bandwidth, "bw");
    latency_s_ = to_simgrid_seconds(source, require_attribute(source, element, "lat"), "lat");
    policy_ = optional_attribute(source, element, "sharing_policy", "SPLITDUPLEX");
    const Token radical = require_attribute(source, element, "radical");
    for (const std::size_t number : read_radical(source, radical))
      hosts_.push_back(parts.add_node(fmt::format("{}{}{}", prefix.text, number, suffix.text), true,
                                      zone, place_of(source, element)));
    const std::string router = fmt::format("{}{}_router{}", prefix.text, id_, suffix.text);
    router_ =
        parts.add_node(std::string(optional_attribute(source, element, "router_id", router).text),
                       false, zone, place_of(source, element));
    if (element.attribute("limiter_link"))
      throw source.error(place_of(source, element), "limiter_link", "is not read");
  }

  void read() {
    const Token kind = optional_attribute(source_, element_, "topology", "FLAT");
    if (kind.text == "FLAT") {
      read_flat();
    } else if (kind.text == "FAT_TREE") {
      read_fat_tree();
    } else if (kind.text == "TORUS") {
      read_torus();
    } else {
      throw source_.error(
          kind.place, "topology",
          fmt::format("\"{}\" is not read; FLAT, FAT_TREE and TORUS are", kind.text));
    }
  }

 private:
  std::uint32_t add_link(const std::string& name, std::uint32_t a, std::uint32_t b) {
    const std::string id = fmt::format("{}/{}", id_, name);
    const std::uint32_t link = parts_.add_link(
        {Token::Kind::QUOTED, id, place_of(source_, element_)}, bandwidth_, latency_s_, policy_);
    parts_.place_link(link, a, b);
    return link;
  }

  std::uint32_t add_switch(const std::string& name) {
    return parts_.add_junction(fmt::format("{}/{}", id_, name), zone_,
                               place_of(source_, element_).line);
  }

  std::vector<Token> parameters() const {
    const Token token = require_attribute(source_, element_, "topo_parameters");
    return split(token, ';');
  }

  std::vector<std::size_t> counts(const Token& list) const {
    std::vector<std::size_t> result;
    for (const Token& part : split(list, ',')) {
      result.push_back(to_count(source_, part, "topo_parameters", kMostHosts));
      if (result.back() == 0)
        throw source_.error(list.place, "topo_parameters", "a 0; 1 or more is right");
    }
    return result;
  }

  void check_hosts(const std::vector<std::size_t>& sizes) const {
    std::size_t product = 1;
    for (const std::size_t size : sizes) product = std::min(product * size, kMostHosts + 1);
    if (product != hosts_.size())
      throw source_.error(
          place_of(source_, element_), "topo_parameters",
          fmt::format("describe {} hosts; the radical names {}", product, hosts_.size()));
  }

  // Each host has a private link; all ways go over the backbone, where there is one.
  void read_flat() {
    std::optional<std::uint32_t> backbone;
    const std::uint32_t hub = add_switch("hub");
    if (element_.attribute("bb_bw")) {
      const std::string name = id_ + "_backbone";
      const Token id{Token::Kind::QUOTED, name, place_of(source_, element_)};
      backbone = parts_.add_link(
          id, to_simgrid_rate(source_, require_attribute(source_, element_, "bb_bw"), "bb_bw"),
          to_simgrid_seconds(source_, optional_attribute(source_, element_, "bb_lat", "0"),
                             "bb_lat"),
          optional_attribute(source_, element_, "bb_sharing_policy", "SHARED"));
      parts_.place_link(*backbone, hub, router_);
    }
    std::unordered_map<std::uint32_t, std::uint32_t> own;
    for (const std::uint32_t host : hosts_)
      own[host] = add_link(fmt::format("link{}", own.size()), host, backbone ? hub : router_);
    parts_.routes->zones[zone_].rule = [own, backbone](std::uint32_t from, std::uint32_t to) {
      SimgridSteps steps;
      if (const auto up = own.find(from); up != own.end()) steps.push_back({up->second, true});
      if (backbone) steps.push_back({*backbone, true});
      if (const auto down = own.find(to); down != own.end()) steps.push_back({down->second, false});
      return steps;
    };
  }

  void read_fat_tree() {
    const std::vector<Token> parts = parameters();
    if (parts.size() != 4)
      throw source_.error(parts[0].place, "topo_parameters", "write for example 2;4,4;1,2;1,2");
    const std::size_t levels = to_count(source_, parts[0], "topo_parameters", 8);
    const FatTree tree{counts(parts[1]), counts(parts[2]), counts(parts[3])};
    if (levels == 0 || tree.down.size() != levels || tree.up.size() != levels ||
        tree.cables.size() != levels)
      throw source_.error(parts[0].place, "topo_parameters",
                          fmt::format("{} levels need as many counts in each list", levels));
    check_hosts(tree.down);
    // links[l][node of level l][port]; port p leads to parent p % up, by cable p / up.
    std::vector<std::vector<std::vector<std::uint32_t>>> links;
    std::vector<std::uint32_t> nodes = hosts_;
    for (std::size_t level = 0; level < levels; ++level) {
      if (tree.size(level + 1) > kMostHosts)
        throw source_.error(parts[0].place, "topo_parameters",
                            fmt::format("more than {} switches in a level", kMostHosts));
      std::vector<std::uint32_t> switches;
      for (std::size_t i = 0; i < tree.size(level + 1); ++i)
        switches.push_back(add_switch(fmt::format("level{}_{}", level + 1, i)));
      auto& of_level = links.emplace_back(nodes.size());
      for (std::size_t node = 0; node < nodes.size(); ++node) {
        for (std::size_t port = 0; port < tree.up[level] * tree.cables[level]; ++port) {
          const std::size_t parent = tree.parent_of(level, node, port % tree.up[level]);
          // A further cable has an end of its own, so that it does not carry the first one's load.
          const std::uint32_t end =
              port < tree.up[level]
                  ? switches[parent]
                  : add_switch(fmt::format("level{}_{}/cable", level + 1, parent));
          of_level[node].push_back(
              add_link(fmt::format("up{}_{}_{}", level, node, port), nodes[node], end));
        }
      }
      nodes = std::move(switches);
    }
    const auto position = positions();
    parts_.routes->zones[zone_].rule = [=](std::uint32_t from, std::uint32_t to) -> SimgridSteps {
      const auto start = position.find(from), goal = position.find(to);
      if (start == position.end() || goal == position.end()) return {};
      // Up to the level where both meet, by ports that the goal chooses (D-mod-K); then down to the
      // goal by the first cables.
      SimgridSteps steps;
      std::vector<std::size_t> parents;
      std::size_t node = start->second, spread = 1, below = 1;
      for (std::size_t level = 0; start->second / below != goal->second / below; ++level) {
        const std::size_t port = goal->second / spread % (tree.up[level] * tree.cables[level]);
        parents.push_back(port % tree.up[level]);
        steps.push_back({links[level][node][port], true});
        node = tree.parent_of(level, node, parents.back());
        spread *= tree.up[level];
        below *= tree.down[level];
      }
      SimgridSteps back;
      node = goal->second;
      for (std::size_t level = 0; level < parents.size(); ++level) {
        back.push_back({links[level][node][parents[level]], false});
        node = tree.parent_of(level, node, parents[level]);
      }
      steps.insert(steps.end(), back.rbegin(), back.rend());
      return steps;
    };
  }

  std::unordered_map<std::uint32_t, std::size_t> positions() const {
    std::unordered_map<std::uint32_t, std::size_t> result;
    for (std::size_t i = 0; i < hosts_.size(); ++i) result[hosts_[i]] = i;
    return result;
  }

  // Each node has a link to its next one in every dimension; ways go dimension by dimension, the
  // shorter way round.
  void read_torus() {
    const std::vector<std::size_t> sizes = counts(parameters().front());
    check_hosts(sizes);
    std::vector<std::vector<std::uint32_t>> next(sizes.size());  // link to the next, by node
    std::size_t stride = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      next[d].assign(hosts_.size(), SimgridZone::kNone);
      for (std::size_t node = 0; node < hosts_.size(); ++node) {
        const std::size_t at = node / stride % sizes[d];
        // Two in a row have one link, not one each way round.
        if (sizes[d] == 1 || (sizes[d] == 2 && at == 1)) continue;
        const std::size_t other = node - at * stride + (at + 1) % sizes[d] * stride;
        next[d][node] = add_link(fmt::format("dim{}_{}", d, node), hosts_[node], hosts_[other]);
      }
      stride *= sizes[d];
    }
    const auto position = positions();
    parts_.routes->zones[zone_].rule = [=](std::uint32_t from, std::uint32_t to) -> SimgridSteps {
      const auto start = position.find(from), goal = position.find(to);
      if (start == position.end() || goal == position.end()) return {};
      SimgridSteps steps;
      std::size_t node = start->second, step = 1;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        while (node / step % sizes[d] != goal->second / step % sizes[d]) {
          const std::size_t at = node / step % sizes[d];
          const std::size_t ahead = (goal->second / step + sizes[d] - at) % sizes[d];
          const bool forward = sizes[d] == 2 ? at == 0 : ahead * 2 <= sizes[d];
          const std::size_t then = forward ? (at + 1) % sizes[d] : (at + sizes[d] - 1) % sizes[d];
          const std::size_t other = node - at * step + then * step;
          steps.push_back({next[d][forward ? node : other], forward});
          node = other;
        }
        step *= sizes[d];
      }
      return steps;
    };
  }

  const TextSource& source_;
  const pugi::xml_node element_;
  const std::uint32_t zone_;
  SimgridParts& parts_;
  std::string id_;
  BitRate bandwidth_;
  double latency_s_ = 0;
  Token policy_;
  std::vector<std::uint32_t> hosts_;
  std::uint32_t router_ = 0;
};

}  // namespace

void read_simgrid_cluster(const TextSource& source, const pugi::xml_node& element,
                          std::uint32_t zone, SimgridParts& parts) {
  ClusterReader(source, element, zone, parts).read();
}

void read_simgrid_peers(const TextSource& source, const pugi::xml_node& zone_element,
                        std::uint32_t zone, SimgridParts& parts) {
  struct Peer {
    std::uint32_t node;
    double x, y, height;  // ms
  };
  std::vector<Peer> peers;
  std::unordered_map<std::uint64_t, std::uint32_t> direct;  // by the lower node << 32 | the higher
  const auto key = [](std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  };
  for (const pugi::xml_node element : zone_element.children("peer")) {
    const TextPlace place = place_of(source, element);
    if (peers.size() == kMostPeers)
      throw source.error(place, "peer", fmt::format("more than {} in a zone", kMostPeers));
    std::vector<double> at;
    for (const Token& part : split(require_attribute(source, element, "coordinates"), ' ')) {
      if (!part.text.empty()) at.push_back(to_number(source, part, "coordinates"));
    }
    if (at.size() != 3 || at[2] < 0)
      throw source.error(place, "coordinates", "write X Y HEIGHT in ms, the height at least 0");
    const std::string id(require_attribute(source, element, "id").text);
    const Peer peer{parts.add_node(id, true, zone, place), at[0], at[1], at[2]};
    parts.set_rates(peer.node,
                    to_simgrid_rate(source, require_attribute(source, element, "bw_out"), "bw_out"),
                    to_simgrid_rate(source, require_attribute(source, element, "bw_in"), "bw_in"));
    for (const Peer& other : peers) {
      const double ms = std::hypot(peer.x - other.x, peer.y - other.y) + peer.height + other.height;
      if (!(ms <= 1e9)) throw source.error(place, "coordinates", "are over 1e9 ms from others");
      const std::string name = fmt::format("way {} {}", other.node, peer.node);
      const std::uint32_t link =
          parts.add_link({Token::Kind::QUOTED, name, place}, BitRate::infinite(), ms / 1e3,
                         {Token::Kind::QUOTED, "SPLITDUPLEX", place});
      parts.place_link(link, other.node, peer.node);
      direct[key(other.node, peer.node)] = link;
    }
    peers.push_back(peer);
  }
  parts.routes->zones[zone].rule = [=](std::uint32_t from, std::uint32_t to) -> SimgridSteps {
    const auto way = direct.find(key(from, to));
    if (way == direct.end()) return {};
    return {{way->second, from < to}};
  };
}

}  // namespace syncline
