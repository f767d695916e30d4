#include <fmt/format.h>

#include <algorithm>

#include "topology/read/simgrid.h"

namespace syncline {
namespace {

constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostLinks = 4'000'000;

bool is_plain_number(std::string_view text) {
  return text.find_first_not_of("0123456789.+-eE") == std::string_view::npos;
}

}  // namespace

BitRate to_simgrid_rate(const TextSource& source, const Token& token, std::string_view field) {
  if (is_plain_number(token.text))
    return BitRate::bytes_per_s(to_number(source, token, field, Sign::NOT_NEGATIVE));
  try {
    return parse_bit_rate(token.text);
  } catch (const InputError& problem) {
    throw source.error(token.place, field, problem.what());
  }
}

double to_simgrid_seconds(const TextSource& source, const Token& token, std::string_view field) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"s", 1},
      {"m", 60},    {"h", 3600},  {"d", 86400}, {"w", 604800}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!token.text.ends_with(unit)) continue;
    Token number = token;
    number.text.remove_suffix(unit.size());
    return to_number(source, number, field, Sign::NOT_NEGATIVE) * seconds;
  }
  return to_number(source, token, field, Sign::NOT_NEGATIVE);
}

SimgridParts::SimgridParts(const TextSource& source, ImportedTopology& topology)
    : routes(std::make_shared<SimgridRoutes>()),
      source_(source),
      topology_(topology),
      nodes_(source, topology) {}

std::uint32_t SimgridParts::add_node(const std::string& id, bool host, std::uint32_t zone,
                                     TextPlace place) {
  if (topology_.nodes.size() >= kMostNodes)
    throw source_.error(place, "host", fmt::format("more than {} nodes", kMostNodes));
  ImportedNode& node = nodes_.add(id, place, "id");
  node.label = id;
  node.host = host;
  routes->zone_of_node.push_back(zone);
  return static_cast<std::uint32_t>(topology_.nodes.size() - 1);
}

void SimgridParts::set_rates(std::uint32_t node, BitRate up, BitRate down) {
  topology_.nodes[node].up = up;
  topology_.nodes[node].down = down;
}

std::uint32_t SimgridParts::find_node(const Token& id, std::string_view field) const {
  return nodes_.find(id.text, id.place, field);
}

std::uint32_t SimgridParts::add_junction(const std::string& name, std::uint32_t zone,
                                         std::size_t line) {
  std::string id = name;
  for (int i = 2; nodes_.contains(id); ++i) id = fmt::format("{}#{}", name, i);
  return add_node(id, false, zone, {line, 0});
}

std::uint32_t SimgridParts::add_link(const Token& id, BitRate bandwidth, double latency_s,
                                     const Token& policy) {
  if (id.text.empty()) throw source_.error(id.place, "link", "the id is empty");
  const auto index = static_cast<std::uint32_t>(links_.size());
  if (const auto [known, is_new] = link_index_.try_emplace(std::string(id.text), index); !is_new)
    throw source_.error(id.place, "link",
                        fmt::format("\"{}\" is there already, in line {}; ids are unique", id.text,
                                    links_[known->second].line));
  if (links_.size() >= kMostLinks)
    throw source_.error(id.place, "link", fmt::format("more than {} of them", kMostLinks));
  ImportedLink& link = links_.emplace_back();
  placed_.push_back(false);
  link.name = id.text;
  link.bandwidth = bandwidth;
  link.latency_s = latency_s;
  link.line = id.place.line;
  if (policy.text == "SHARED") {
    link.shared = true;
  } else if (policy.text == "FATPIPE") {
    link.bandwidth = BitRate::infinite();
    topology_.warn("FATPIPE",
                   fmt::format("\"{}\" is not shared: here it limits no transfer at all", id.text),
                   id.place.line);
  } else if (policy.text != "SPLITDUPLEX" && policy.text != "FULLDUPLEX") {
    throw source_.error(policy.place, "sharing_policy",
                        fmt::format("\"{}\" is none of SHARED, SPLITDUPLEX, FATPIPE", policy.text));
  }
  return index;
}

std::optional<std::uint32_t> SimgridParts::find_link(std::string_view id) const {
  const auto found = link_index_.find(std::string(id));
  if (found == link_index_.end()) return std::nullopt;
  return found->second;
}

void SimgridParts::place_link(std::uint32_t link, std::uint32_t a, std::uint32_t b) {
  links_[link].a = a;
  links_[link].b = b;
  placed_[link] = true;
  pairs_.insert(std::minmax(a, b));
}

void SimgridParts::place_way(std::uint32_t from, std::uint32_t to, const SimgridSteps& steps,
                             std::uint32_t zone) {
  std::uint32_t at = from;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ImportedRoutes::Step& step = steps[i];
    ImportedLink& link = links_[step.link];
    if (!placed_[step.link]) {
      // Each link stands alone between its ends: parallel ones would carry each other's transfers.
      std::uint32_t far = to;
      if (i + 1 < steps.size() || far == at || pairs_.contains(std::minmax(at, far)))
        far = add_junction(link.name + "/end", zone, link.line);
      place_link(step.link, step.forward ? at : far, step.forward ? far : at);
      at = far;
    } else {
      at = link.a == at ? link.b : link.b == at ? link.a : step.forward ? link.b : link.a;
    }
  }
}

std::vector<std::uint32_t> SimgridParts::finish() {
  std::vector<std::uint32_t> record(links_.size(), SimgridZone::kNone);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!placed_[i]) {
      topology_.warn("unused link",
                     fmt::format("\"{}\" is on no route and is left out", links_[i].name),
                     links_[i].line);
      continue;
    }
    record[i] = static_cast<std::uint32_t>(topology_.links.size());
    topology_.links.push_back(std::move(links_[i]));
  }
  return record;
}

}  // namespace syncline
