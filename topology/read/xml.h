// XML with the places of its elements. Private to topology/read.
#pragma once

#include <pugixml.hpp>
#include <string_view>

#include "topology/read/text_source.h"

namespace syncline {

// Throws InputError: not well-formed, or declares entities (none are expanded and nothing outside
// of the file is ever read).
pugi::xml_document parse_xml(const TextSource& source);
TextPlace place_of(const TextSource& source, const pugi::xml_node& element);
// A token for an attribute or a child's text; throws InputError where it is not there.
Token require_attribute(const TextSource& source, const pugi::xml_node& element, const char* name);
Token require_child_text(const TextSource& source, const pugi::xml_node& element, const char* name);

}  // namespace syncline
