#include "topology/read/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topology/text.h"

namespace syncline {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

const Token* find(const std::vector<Attribute>& attributes,
                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const Attribute& attribute : attributes) {
      if (lower(attribute.name) == name && !attribute.value.text.empty()) return &attribute.value;
    }
  }
  return nullptr;
}

bool has(const std::vector<Attribute>& attributes, std::string_view name) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const Attribute& attribute) { return lower(attribute.name) == name; });
}

bool ends_in_letter(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
}

template <class Parse>
auto at(const TextSource& source, const Token& token, std::string_view field, const Parse& parse) {
  try {
    return parse();
  } catch (const InputError& problem) {
    throw source.error(token.place, field, problem.what());
  }
}

// "20 Mbit" of Shadow is a rate: the second is left out there.
BitRate to_rate(const TextSource& source, const Token& token, std::string_view field) {
  std::string text(token.text);
  if (text.size() > 3 && text.ends_with("bit")) text += "/s";
  for (const auto& [written, known] :
       {std::pair<std::string_view, std::string_view>{"kilobit", "Kbit"},
        {"megabit", "Mbit"},
        {"gigabit", "Gbit"},
        {"kibibit", "Kibit"},
        {"mebibit", "Mibit"},
        {"gibibit", "Gibit"}}) {
    if (const std::size_t found = text.find(written); found != std::string::npos)
      text = fmt::format("{}{}/s", text.substr(0, found), known);
  }
  return at(source, token, field, [&] { return parse_bit_rate(text); });
}

// The Topology Zoo writes the speed as number and unit letter where it gives no LinkSpeedRaw.
std::optional<BitRate> zoo_speed(const TextSource& source,
                                 const std::vector<Attribute>& attributes) {
  if (const Token* raw = find(attributes, {"linkspeedraw"}))
    return BitRate::bits_per_s(to_number(source, *raw, "LinkSpeedRaw", Sign::NOT_NEGATIVE));
  const Token* speed = find(attributes, {"linkspeed"});
  const Token* units = find(attributes, {"linkspeedunits"});
  if (speed == nullptr || units == nullptr) return std::nullopt;
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t power = kUnits.find(units->text);
  if (power == std::string_view::npos || units->text.size() != 1)
    throw source.error(units->place, "LinkSpeedUnits",
                       fmt::format("\"{}\" is none of K, M, G, T", units->text));
  double factor = 1000;
  for (std::size_t i = 0; i < power; ++i) factor *= 1000;
  return BitRate::bits_per_s(to_number(source, *speed, "LinkSpeed", Sign::NOT_NEGATIVE) * factor);
}

}  // namespace

bool to_flag(const TextSource& source, const Token& token, std::string_view field) {
  if (token.text == "true") return true;
  if (token.text == "false") return false;
  throw source.error(token.place, field,
                     fmt::format("\"{}\" is neither true nor false", shown(token.text)));
}

ImportedNode& NodeIndex::add(std::string_view id, TextPlace place, std::string_view field) {
  if (id.empty()) throw source_.error(place, field, "the id is empty");
  const auto [known, is_new] =
      index_.try_emplace(std::string(id), static_cast<std::uint32_t>(topology_.nodes.size()));
  if (!is_new)
    throw source_.error(place, field,
                        fmt::format("\"{}\" is there already, in line {}; ids are unique", id,
                                    topology_.nodes[known->second].line));
  ImportedNode& node = topology_.nodes.emplace_back();
  node.id = id;
  node.line = place.line;
  return node;
}

std::uint32_t NodeIndex::find(std::string_view id, TextPlace place, std::string_view field) const {
  const auto known = index_.find(std::string(id));
  if (known == index_.end())
    throw source_.error(place, field, fmt::format("there is no node \"{}\"", id));
  return known->second;
}

GeoPoint to_geo_point(const TextSource& source, const Token& latitude, const Token& longitude) {
  const GeoPoint point{to_number(source, latitude, "latitude"),
                       to_number(source, longitude, "longitude")};
  if (point.latitude < -90 || point.latitude > 90)
    throw source.error(latitude.place, "latitude",
                       fmt::format("{} is not in -90 to 90", latitude.text));
  if (point.longitude < -180 || point.longitude > 180)
    throw source.error(longitude.place, "longitude",
                       fmt::format("{} is not in -180 to 180", longitude.text));
  return point;
}

void apply_attributes(const TextSource& source, const std::vector<Attribute>& attributes,
                      ImportedNode& node) {
  if (const Token* label = find(attributes, {"label", "name"})) {
    node.label = unescaped(*label);
  } else if (has(attributes, "label")) {
    node.label.clear();  // written, and empty
  }
  if (const Token* cluster = find(attributes, {"cluster"})) node.cluster = unescaped(*cluster);
  if (const Token* type = find(attributes, {"type"}))
    node.host = lower(type->text) != "switch" && lower(type->text) != "router";
  const Token* latitude = find(attributes, {"latitude", "lat"});
  const Token* longitude = find(attributes, {"longitude", "lon", "lng"});
  if (latitude != nullptr && longitude != nullptr)
    node.at = to_geo_point(source, *latitude, *longitude);
  if (const Token* up = find(attributes, {"host_bandwidth_up"}))
    node.up = to_rate(source, *up, "host_bandwidth_up");
  if (const Token* down = find(attributes, {"host_bandwidth_down"}))
    node.down = to_rate(source, *down, "host_bandwidth_down");
  if (const Token* latency = find(attributes, {"self_latency"}))
    node.self_latency_s = at(source, *latency, "self_latency",
                             [&] { return parse_quantity(latency->text, Dimension::TIME); });
}

void apply_attributes(const TextSource& source, const std::vector<Attribute>& attributes,
                      ImportedLink& link) {
  link.bandwidth = zoo_speed(source, attributes);
  const Token* bandwidth = find(attributes, {"bandwidth", "capacity"});
  if (bandwidth != nullptr && !link.bandwidth) {
    if (bandwidth->text == "no limit") {
      link.bandwidth = BitRate::infinite();
    } else if (ends_in_letter(bandwidth->text)) {
      link.bandwidth = to_rate(source, *bandwidth, "bandwidth");
    } else {
      link.bandwidth_number = to_number(source, *bandwidth, "bandwidth", Sign::NOT_NEGATIVE);
    }
  }
  if (const Token* latency = find(attributes, {"latency", "delay"})) {
    if (ends_in_letter(latency->text)) {
      link.latency_s = at(source, *latency, "latency",
                          [&] { return parse_quantity(latency->text, Dimension::TIME); });
    } else {
      link.latency_number = to_number(source, *latency, "latency", Sign::NOT_NEGATIVE);
    }
  }
  if (const Token* dist = find(attributes, {"dist"}))  // topohub: kilometres
    link.length_m = 1e3 * to_number(source, *dist, "dist", Sign::NOT_NEGATIVE);
  if (const Token* label = find(attributes, {"linkstatus", "linklabel"}))
    link.status = unescaped(*label);
  if (const Token* status = find(attributes, {"linkstatus"}))
    link.planned = lower(status->text) == "planned";
  if (const Token* name = find(attributes, {"name"})) link.name = unescaped(*name);
  if (const Token* length = find(attributes, {"length_m"}))
    link.length_m = to_number(source, *length, "length_m", Sign::NOT_NEGATIVE);
  if (const Token* shared = find(attributes, {"shared"}))
    link.shared = to_flag(source, *shared, "shared");
}

}  // namespace syncline
