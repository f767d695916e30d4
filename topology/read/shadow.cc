// Shadow's experiments (shadow.github.io): a GML graph of places in `network.graph`, and `hosts`
// that stand at them with rates of their own. An edge's latency is that of a way from place to
// place, and that of a place to itself holds between two hosts there.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "topology/read/readers.h"
#include "topology/read/yaml.h"
#include "topology/text.h"

namespace syncline {
namespace {

constexpr std::size_t kMostHosts = 1'000'000;

// A text of the file with as many line ends before it as it has there, so that places in it are
// those in the file: of a literal block ("|") its lines as they stand, below that sign.
std::string in_place(const TextSource& source, const Token& token) {
  std::string text(token.place.line, '\n');
  const std::size_t end =
      token.place.line + 1 +
      static_cast<std::size_t>(std::count(token.text.begin(), token.text.end(), '\n'));
  std::string_view rest = source.text();
  for (std::size_t line = 1; line < end && !rest.empty(); ++line) {
    const std::size_t length = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view whole = rest.substr(0, length);
    rest.remove_prefix(length);
    if (line == token.place.line && !trim(whole).ends_with('|'))
      return text + std::string(token.text);
    if (line > token.place.line) text += whole;
  }
  return text;
}

ImportedTopology read_graph(const TextSource& source, const YAML::Node& graph) {
  const Token type = token_of(source, require_child(source, graph, "type"), "network.graph.type");
  if (type.text == "1_gbit_switch") {
    return read_gml(TextSource(
        source.name(),
        std::string(type.place.line - 1, '\n') +
            "graph [ node [ id 0 host_bandwidth_down \"1 Gbit\" host_bandwidth_up \"1 Gbit\" ] "
            "edge [ source 0 target 0 latency \"1 ms\" packet_loss 0.0 ] ]"));
  }
  if (type.text != "gml")
    throw source.error(type.place, "network.graph.type",
                       fmt::format("\"{}\" is neither gml nor 1_gbit_switch", type.text));
  if (const YAML::Node inner = find_child(source, graph, "inline"); !inner.IsNull()) {
    const Token text = token_of(source, inner, "network.graph.inline");
    return read_gml(TextSource(source.name(), in_place(source, text)));
  }
  YAML::Node file = require_child(source, graph, "file");
  if (file.IsMap()) file.reset(require_child(source, file, "path"));
  const Token path = token_of(source, file, "network.graph.file");
  if (path.text.ends_with(".xz"))
    throw source.error(path.place, "network.graph.file", "is packed; unpack it first");
  const auto folder = std::filesystem::path(source.name()).parent_path();
  return read_gml(TextSource::load((folder / path.text).string()));
}

class ShadowReader {
 public:
  ShadowReader(const TextSource& source, const YAML::Node& root)
      : source_(source), topology_(read_graph(source, graph_of(source, root))) {
    topology_.file = source.name();
    topology_.format = "Shadow";
    for (std::uint32_t i = 0; i < topology_.nodes.size(); ++i)
      place_of_id_.emplace(topology_.nodes[i].id, i);
    if (const YAML::Node hosts = find_child(source, root, "hosts"); !hosts.IsNull())
      read_hosts(hosts);
  }

  ImportedTopology take() {
    if (!hosts_.empty()) attach();
    return std::move(topology_);
  }

 private:
  struct Host {
    std::string name;
    std::uint32_t place;
    std::optional<BitRate> up, down;
    std::size_t line;
  };

  static YAML::Node graph_of(const TextSource& source, const YAML::Node& root) {
    return require_child(source, require_child(source, root, "network"), "graph");
  }

  std::optional<BitRate> rate(const YAML::Node& host, const std::string& key) const {
    const YAML::Node value = find_child(source_, host, key);
    if (value.IsNull()) return std::nullopt;
    ImportedNode node;
    apply_attributes(source_, {{"host_bandwidth_up", token_of(source_, value, key)}}, node);
    return node.up;
  }

  void read_hosts(const YAML::Node& hosts) {
    if (!hosts.IsMap()) throw source_.error(syncline::place_of(hosts), "hosts", "a map is needed");
    std::set<std::string> names;
    for (const auto& entry : hosts) {
      const Token name = token_of(source_, entry.first, "hosts");
      const std::string path = fmt::format("hosts.{}", name.text);
      const Token id = token_of(source_, require_child(source_, entry.second, "network_node_id"),
                                path + ".network_node_id");
      const auto place = place_of_id_.find(id.text);
      if (place == place_of_id_.end())
        throw source_.error(id.place, path + ".network_node_id",
                            fmt::format("there is no node \"{}\" in the graph", id.text));
      std::size_t times = 1;
      for (const char* const key : {"count", "quantity"}) {
        if (const YAML::Node count = find_child(source_, entry.second, key); !count.IsNull())
          times = to_count(source_, token_of(source_, count, key), path + "." + key, kMostHosts);
      }
      if (hosts_.size() + times > kMostHosts)
        throw source_.error(name.place, "hosts", fmt::format("more than {} of them", kMostHosts));
      Host host{std::string(name.text), place->second, rate(entry.second, "bandwidth_up"),
                rate(entry.second, "bandwidth_down"), name.place.line};
      for (std::size_t i = 1; i <= times; ++i) {
        host.name = times == 1 ? std::string(name.text) : fmt::format("{}{}", name.text, i);
        if (host.name.empty() || !names.insert(host.name).second)
          throw source_.error(name.place, "hosts",
                              fmt::format("\"{}\" is empty or there already", host.name));
        hosts_.push_back(host);
      }
    }
  }

  // True where every way from place to place is one edge that is as long as both of its ends' own
  // ways together, at least. Then these halves can stand at the hosts.
  bool halves_fit() const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const ImportedLink& link : topology_.links) {
      if (link.a == link.b) continue;
      if (!link.latency_s || *link.latency_s < (own_s(link.a) + own_s(link.b)) / 2) return false;
      pairs.insert(std::minmax(link.a, link.b));
    }
    const std::size_t n = topology_.nodes.size();
    return pairs.size() == n * (n - 1) / 2;
  }

  double own_s(std::uint32_t place) const {
    return topology_.nodes[place].self_latency_s.value_or(0);
  }

  // The places become switches, and the hosts hang on them.
  void attach() {
    const bool fit = halves_fit();
    if (fit) {
      for (ImportedLink& link : topology_.links) {
        if (link.a != link.b) *link.latency_s -= (own_s(link.a) + own_s(link.b)) / 2;
      }
    } else {
      topology_.warn("places",
                     "ways from place to place are longer by half of the latency inside of each",
                     topology_.nodes.front().line);
    }
    topology_.assumed.push_back(
        fmt::format("half of the latency inside of a place stands at each host{}",
                    fit ? ", and is taken off the links between places" : ""));
    std::set<std::string> taken;
    for (const Host& host : hosts_) taken.insert(host.name);
    const std::vector<ImportedNode> places = topology_.nodes;
    for (ImportedNode& place : topology_.nodes) {
      place.host = false;
      place.up = place.down = std::nullopt;
      place.self_latency_s.reset();
      place.id = "place " + place.id;
      if (place.label.empty() || taken.contains(place.label)) place.label = place.id;
    }
    for (ImportedLink& link : topology_.links) {
      if (!link.bandwidth) link.bandwidth = BitRate::infinite();  // the rates are those of hosts
    }
    for (const Host& host : hosts_) {
      const ImportedNode& place = places[host.place];
      ImportedNode& node = topology_.nodes.emplace_back();
      node.id = node.label = host.name;
      node.line = host.line;
      node.up = host.up ? host.up : place.up;
      node.down = host.down ? host.down : place.down;
      if (!node.up || !node.down)
        throw source_.error({host.line, 0}, fmt::format("hosts.{}", host.name),
                            "has no bandwidth, up or down, and its place has none");
      ImportedLink link;
      link.a = static_cast<std::uint32_t>(topology_.nodes.size() - 1);
      link.b = host.place;
      link.bandwidth = BitRate::infinite();
      link.latency_s = place.self_latency_s.value_or(0) / 2;
      link.line = host.line;
      topology_.links.push_back(std::move(link));
    }
  }

  const TextSource& source_;
  ImportedTopology topology_;
  std::map<std::string, std::uint32_t, std::less<>> place_of_id_;
  std::vector<Host> hosts_;
};

}  // namespace

ImportedTopology read_shadow(const TextSource& source) {
  return ShadowReader(source, parse_yaml(source)).take();
}

}  // namespace syncline
