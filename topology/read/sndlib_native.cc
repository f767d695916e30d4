// SNDlib's native format for networks (http://sndlib.zib.de, "Native format").
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "topology/read/readers.h"
#include "topology/read/sndlib.h"

namespace syncline {
namespace {

constexpr std::string_view kSections[] = {"META", "NODES", "LINKS", "DEMANDS", "ADMISSIBLE_PATHS"};

// The unit in META; its other lines are prose. Ends behind the section's ")", a line of its own.
std::string find_unit(const TextSource& source) {
  LineCursor lines(source, "#");
  while (lines.next()) {
    const auto& fields = lines.fields();
    if (fields[0].text == "unit" && fields.size() == 3 && fields[1].text == "=")
      return std::string(fields[2].text);
    if (fields[0].text == "NODES") break;
  }
  return "";
}

void skip_section(const TextSource& source, Tokenizer& tokens, const Token& name) {
  tokens.expect('(', name.text);
  for (int depth = 1; depth > 0;) {
    const Token token = tokens.next();
    if (token.kind == Token::Kind::END)
      throw source.error(name.place, name.text, "the section that opens here is never closed");
    if (token.is_sign('(')) ++depth;
    if (token.is_sign(')')) --depth;
  }
}

void read_nodes(const TextSource& source, Tokenizer& tokens, NodeIndex& index,
                SndlibPoints& points) {
  tokens.expect('(', "NODES");
  while (!tokens.peek().is_sign(')')) {
    const Token id = tokens.expect_text("node id");
    index.add(id.text, id.place, "node id").label = id.text;
    if (!tokens.peek().is_sign('(')) continue;
    tokens.next();
    const Token x = tokens.expect_text("longitude");
    const Token y = tokens.expect_text("latitude");
    tokens.expect(')', "coordinates");
    points.add(source, x, y);
  }
  tokens.next();
}

void read_links(const TextSource& source, Tokenizer& tokens, const NodeIndex& index,
                const std::string& unit, ImportedTopology& topology) {
  std::map<std::string_view, std::size_t> seen;
  tokens.expect('(', "LINKS");
  while (!tokens.peek().is_sign(')')) {
    const Token id = tokens.expect_text("link id");
    if (const auto [known, is_new] = seen.try_emplace(id.text, id.place.line); !is_new)
      throw source.error(
          id.place, "link id",
          fmt::format("\"{}\" is there already, in line {}", id.text, known->second));
    tokens.expect('(', "link ends");
    const Token from = tokens.expect_text("source");
    const Token to = tokens.expect_text("target");
    tokens.expect(')', "link ends");
    ImportedLink link;
    link.name = id.text;
    link.a = index.find(from.text, from.place, "source");
    link.b = index.find(to.text, to.place, "target");
    link.line = id.place.line;
    set_sndlib_capacity(source, tokens.expect_text("pre_installed_capacity"), unit, link);
    for (const char* const cost : {"pre_installed_capacity_cost", "routing_cost", "setup_cost"})
      to_number(source, tokens.expect_text(cost), cost);
    tokens.expect('(', "modules");  // what could be bought, not what is there
    while (!tokens.peek().is_sign(')'))
      to_number(source, tokens.expect_text("module"), "module", Sign::NOT_NEGATIVE);
    tokens.next();
    topology.links.push_back(std::move(link));
  }
  tokens.next();
}

}  // namespace

ImportedTopology read_sndlib_native(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "SNDlib native"};
  const std::string unit = find_unit(source);
  NodeIndex index(source, topology);
  SndlibPoints points;
  Tokenizer tokens(source, {.signs = "()", .comments = "#", .quotes = false});
  // "?SNDlib native format; type: network; version: 1.0"
  while (tokens.peek().kind != Token::Kind::END && tokens.peek().place.line == 1) tokens.next();
  bool nodes = false, links = false;
  while (tokens.peek().kind != Token::Kind::END) {
    const Token name = tokens.expect_text("section");
    if (std::find(std::begin(kSections), std::end(kSections), name.text) == std::end(kSections))
      throw source.error(name.place, "section",
                         fmt::format("\"{}\" is not a section of this format", name.text));
    if (name.text == "NODES") {
      read_nodes(source, tokens, index, points);
      nodes = true;
    } else if (name.text == "LINKS") {
      read_links(source, tokens, index, unit, topology);
      links = true;
    } else {
      skip_section(source, tokens, name);
    }
  }
  if (!nodes) throw source.error({}, "NODES", "the section is missing");
  if (!links) throw source.error({}, "LINKS", "the section is missing");
  points.apply(topology);
  return topology;
}

}  // namespace syncline
