// Attributes of nodes and links as GraphML and DOT have them. Private to topology/write.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/read/imported.h"

namespace syncline {

// Names and values, as apply_attributes() of topology/read reads them. The label is always there,
// also an empty one.
using WrittenAttributes = std::vector<std::pair<std::string, std::string>>;
WrittenAttributes attributes_of(const ImportedNode& node);
WrittenAttributes attributes_of(const ImportedLink& link);

}  // namespace syncline
