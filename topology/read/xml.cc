#include "topology/read/xml.h"

#include <fmt/format.h>

#include "topology/text.h"

namespace syncline {

pugi::xml_document parse_xml(const TextSource& source) {
  if (const std::size_t found = source.text().find("<!ENTITY"); found != std::string_view::npos)
    throw source.error(source.place_of(found), "",
                       "entities are not read; write the text itself in their place");
  pugi::xml_document document;
  // As UTF-8 whatever the file says: the offsets of elements stay those of the file.
  const pugi::xml_parse_result result = document.load_buffer(
      source.text().data(), source.text().size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result)
    throw source.error(source.place_of(static_cast<std::size_t>(result.offset)), "",
                       fmt::format("is not well-formed XML: {}", result.description()));
  return document;
}

TextPlace place_of(const TextSource& source, const pugi::xml_node& element) {
  const auto offset = element.offset_debug();
  return {offset < 0 ? 0 : source.place_of(static_cast<std::size_t>(offset)).line, 0};
}

Token require_attribute(const TextSource& source, const pugi::xml_node& element, const char* name) {
  const pugi::xml_attribute attribute = element.attribute(name);
  if (!attribute)
    throw source.error(place_of(source, element), element.name(),
                       fmt::format("the attribute {} is missing", name));
  return {Token::Kind::QUOTED, attribute.value(), place_of(source, element)};
}

Token require_child_text(const TextSource& source, const pugi::xml_node& element,
                         const char* name) {
  const pugi::xml_node child = element.child(name);
  if (!child)
    throw source.error(place_of(source, element), element.name(),
                       fmt::format("the element {} is missing", name));
  return {Token::Kind::QUOTED, trim(child.child_value()), place_of(source, child)};
}

}  // namespace syncline
