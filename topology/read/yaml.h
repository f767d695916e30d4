// YAML with the places of its values. Private to topology/read.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "topology/read/text_source.h"

namespace syncline {

// Throws InputError: above 16 MiB, not well-formed, nested too deep, or no map at its root.
YAML::Node parse_yaml(const TextSource& source);
TextPlace place_of(const YAML::Node& node);
// The value of a key; a null node where it is not there. Throws InputError where the node is no
// map.
YAML::Node find_child(const TextSource& source, const YAML::Node& map, const std::string& key);
// Throws InputError: there is no such key.
YAML::Node require_child(const TextSource& source, const YAML::Node& map, const std::string& key);
// A single value as a token. It points into the node. Throws InputError: a list or a map.
Token token_of(const TextSource& source, const YAML::Node& node, std::string_view field);

}  // namespace syncline
