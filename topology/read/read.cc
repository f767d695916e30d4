#include "topology/read/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topology/read/readers.h"
#include "topology/read/xml.h"
#include "topology/text.h"

namespace syncline {
namespace {

bool is_count(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_gml(const TextSource& source) {
  Tokenizer tokens(source, {.signs = "[]", .comments = "#", .quotes = false});
  for (Token token = tokens.next(); token.kind != Token::Kind::END; token = tokens.next()) {
    if (token.text == "graph") return tokens.peek().is_sign('[');
    if (token.text.ends_with(':')) return false;  // YAML around a graph: Shadow's whole experiment
  }
  return false;
}

InputError unknown(const TextSource& source, const std::string& why) {
  return source.error(
      {}, "",
      why +
          "; topologies are read from GraphML, GML, SNDlib (native, XML), "
          "Repetita, HPCC topology.txt, Inet, Orbis, Rocketfuel and node-link JSON");
}

ImportedTopology read_any_xml(const TextSource& source) {
  const pugi::xml_document document = parse_xml(source);
  const std::string root = document.document_element().name();
  if (root == "graphml") return read_graphml(source);
  if (root == "network") return read_sndlib_xml(source);
  throw unknown(source, fmt::format("XML with the root \"{}\" is not known", root));
}

}  // namespace

ImportedTopology read_imported(const std::string& path) {
  const TextSource source = TextSource::load(path);
  // Looks like an Orbis file from within.
  if (path.ends_with(".profile"))
    throw unknown(source, "a SimGrid profile of times and values is not known as a topology");
  const std::string_view text = trim(source.text());
  if (text.empty()) throw unknown(source, "the file is empty");
  if (text.front() == '<' || text.starts_with("\xEF\xBB\xBF<")) return read_any_xml(source);
  if (text.front() == '{') return read_node_link_json(source);
  if (text.starts_with("?SNDlib native format")) return read_sndlib_native(source);
  LineCursor lines(source, "");
  lines.next();
  const std::vector<Token> first = lines.fields();
  if (first[0].text == "NODES") return read_repetita(source);
  const bool counts =
      std::all_of(first.begin(), first.end(), [](const Token& t) { return is_count(t.text); });
  if (counts && first.size() == 3) return read_hpcc(source);
  if (counts && first.size() == 2)
    return lines.next() && lines.fields().size() == 3 ? read_inet(source) : read_orbis(source);
  if (first.size() > 2 && first[1].text.starts_with('@')) return read_rocketfuel(source);
  if (is_gml(source)) return read_gml(source);
  throw unknown(source, "the format is not known");
}

}  // namespace syncline
