#include "topology/read/yaml.h"

#include <fmt/format.h>

namespace syncline {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // yaml-cpp takes 50 times that

TextPlace place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

}  // namespace

YAML::Node parse_yaml(const TextSource& source) {
  if (source.text().size() > kMostBytes)
    throw source.error(
        {}, "",
        fmt::format("has {} bytes; of YAML at most {} are read", source.text().size(), kMostBytes));
  YAML::Node root;
  try {
    root = YAML::Load(std::string(source.text()));
  } catch (const YAML::Exception& problem) {
    throw source.error(place_of(problem.mark), "",
                       fmt::format("is not well-formed YAML: {}", problem.msg));
  }
  if (!root.IsMap()) throw source.error({}, "", "a YAML map is needed");
  return root;
}

TextPlace place_of(const YAML::Node& node) { return place_of(node.Mark()); }

YAML::Node find_child(const TextSource& source, const YAML::Node& map, const std::string& key) {
  if (!map.IsMap()) throw source.error(place_of(map), key, "a map is needed around it");
  YAML::Node found(YAML::NodeType::Null);
  bool seen = false;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar() || entry.first.Scalar() != key) continue;
    if (seen) throw source.error(place_of(entry.first), key, "is written twice");
    seen = true;
    found.reset(entry.second);
  }
  return found;
}

YAML::Node require_child(const TextSource& source, const YAML::Node& map, const std::string& key) {
  YAML::Node found = find_child(source, map, key);
  if (found.IsNull()) throw source.error(place_of(map), key, "is missing");
  return found;
}

Token token_of(const TextSource& source, const YAML::Node& node, std::string_view field) {
  if (!node.IsScalar()) throw source.error(place_of(node), field, "one value is needed");
  return {Token::Kind::QUOTED, node.Scalar(), place_of(node)};
}

}  // namespace syncline
