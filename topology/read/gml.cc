// GML (Himsolt: "GML: A portable graph file format"), as the Topology Zoo, topohub and Shadow use
// it.
#include <fmt/format.h>

#include <optional>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr int kDeepest = 64;

// After "[": to the "]" that closes it.
void skip_list(const TextSource& source, Tokenizer& tokens, const Token& opened) {
  for (int depth = 1; depth > 0;) {
    const Token token = tokens.next();
    if (token.kind == Token::Kind::END)
      throw source.error(opened.place, opened.text, "the list that opens here is never closed");
    if (token.is_sign('[') && ++depth > kDeepest)
      throw source.error(token.place, "", fmt::format("lists are nested over {} deep", kDeepest));
    if (token.is_sign(']')) --depth;
  }
}

std::vector<Attribute> read_values(const TextSource& source, Tokenizer& tokens,
                                   const Token& opened) {
  tokens.expect('[', opened.text);
  std::vector<Attribute> values;
  while (!tokens.peek().is_sign(']')) {
    const Token key = tokens.expect_text(opened.text);
    if (tokens.peek().is_sign('[')) {
      tokens.next();
      skip_list(source, tokens, key);
    } else {
      values.push_back({std::string(key.text), tokens.expect_text(key.text)});
    }
  }
  tokens.next();
  return values;
}

Token require(const TextSource& source, const std::vector<Attribute>& values, std::string_view name,
              const Token& opened) {
  std::optional<Token> found;
  for (const Attribute& value : values) {
    if (value.name != name) continue;
    if (found)
      throw source.error(value.value.place, fmt::format("{}.{}", opened.text, name),
                         "is written twice");
    found = value.value;
  }
  if (!found)
    throw source.error(opened.place, fmt::format("{}.{}", opened.text, name), "is missing");
  return *found;
}

}  // namespace

ImportedTopology read_gml(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "GML"};
  Tokenizer tokens(source, {.signs = "[]", .comments = "#"});
  bool directed = false;
  struct Edge {
    Token opened;
    std::vector<Attribute> values;
  };
  std::vector<Edge> edges;  // may stand before their nodes
  NodeIndex index(source, topology);
  // Other keys ("Creator", "Version") may stand beside the graph.
  while (tokens.peek().kind != Token::Kind::END && tokens.peek().text != "graph") {
    const Token key = tokens.expect_text("");
    if (tokens.peek().is_sign('[')) {
      tokens.next();
      skip_list(source, tokens, key);
    } else {
      tokens.expect_text(key.text);
    }
  }
  tokens.expect_text("graph");
  tokens.expect('[', "graph");
  while (!tokens.peek().is_sign(']')) {
    const Token key = tokens.expect_text("graph");
    if (key.text == "node") {
      const std::vector<Attribute> values = read_values(source, tokens, key);
      const Token id = require(source, values, "id", key);
      apply_attributes(source, values, index.add(id.text, id.place, "node.id"));
    } else if (key.text == "edge") {
      edges.push_back({key, read_values(source, tokens, key)});
    } else if (tokens.peek().is_sign('[')) {
      tokens.next();
      skip_list(source, tokens, key);
    } else {
      const Token value = tokens.expect_text(key.text);
      if (key.text == "directed") directed = to_count(source, value, "directed", 1) == 1;
    }
  }
  for (const Edge& edge : edges) {
    const Token from = require(source, edge.values, "source", edge.opened);
    const Token to = require(source, edge.values, "target", edge.opened);
    ImportedLink link;
    link.a = index.find(from.text, from.place, "edge.source");
    link.b = index.find(to.text, to.place, "edge.target");
    link.directed = directed;
    link.line = edge.opened.place.line;
    apply_attributes(source, edge.values, link);
    if (link.a == link.b && link.latency_s) topology.nodes[link.a].self_latency_s = link.latency_s;
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
