// DOT (https://graphviz.org/doc/info/lang.html): graphs and digraphs with attributes of nodes and
// edges, chains of edges and defaults. Subgraphs are read as their statements; HTML labels, ports
// and edges to subgraphs are refused.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topology/read/readers.h"

namespace syncline {
namespace {

constexpr int kDeepest = 64;

// The same text with blanks in place of comments, so that all else keeps its place.
std::string blank_comments(const TextSource& source) {
  std::string text(source.text());
  bool quoted = false, line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    const bool to_line_end = (line_start && c == '#') || text.compare(i, 2, "//") == 0;
    line_start = c == '\n' || (line_start && (c == ' ' || c == '\t'));
    if (!to_line_end && text.compare(i, 2, "/*") != 0) continue;
    const std::size_t close = text.find(to_line_end ? "\n" : "*/", i + (to_line_end ? 0 : 2));
    if (close == std::string::npos && !to_line_end)
      throw source.error(source.place_of(i), "", "the comment that opens here is never closed");
    const std::size_t end = std::min(to_line_end ? close : close + 2, text.size());
    std::replace_if(
        text.begin() + static_cast<std::ptrdiff_t>(i),
        text.begin() + static_cast<std::ptrdiff_t>(end), [](char each) { return each != '\n'; },
        ' ');
    i = end - 1;
  }
  return text;
}

// Values that hold for the nodes and edges to come, by the block that they stand in.
struct Defaults {
  std::vector<Attribute> node, edge;
};

class DotReader {
 public:
  explicit DotReader(const TextSource& source)
      : source_(source),
        blanked_(source.name(), blank_comments(source)),
        tokens_(blanked_, {.signs = "{}[];,=->:<+", .comments = "", .escapes = true}),
        topology_{.file = source.name(), .format = "DOT"} {}

  ImportedTopology read() {
    if (is_word("strict")) tokens_.next();
    directed_ = is_word("digraph");
    if (!directed_ && !is_word("graph"))
      throw source_.error(tokens_.peek().place, "", "graph or digraph is needed here");
    tokens_.next();
    if (!tokens_.peek().is_sign('{')) read_id("graph");
    read_block({}, 1);
    if (tokens_.peek().kind != Token::Kind::END)
      throw source_.error(tokens_.peek().place, "", "text behind the graph; one graph is read");
    return std::move(topology_);
  }

 private:
  bool is_word(std::string_view word) const {
    const Token& token = tokens_.peek();
    return token.kind == Token::Kind::WORD &&
           std::equal(token.text.begin(), token.text.end(), word.begin(), word.end(),
                      [](unsigned char a, char b) { return std::tolower(a) == b; });
  }

  // A name or a number; "-1.5" comes as a sign and a word.
  Token read_id(std::string_view field) {
    if (tokens_.peek().is_sign('<'))
      throw source_.error(tokens_.peek().place, field,
                          "HTML is not read; write the text in quotes");
    if (!tokens_.peek().is_sign('-')) {
      Token id = tokens_.expect_text(field);
      if (tokens_.peek().is_sign('+') && id.kind == Token::Kind::QUOTED)
        throw source_.error(tokens_.peek().place, field, "joined strings are not read; write one");
      return id;
    }
    Token sign = tokens_.next();
    const Token digits = tokens_.expect_text(field);
    if (digits.text.data() != sign.text.data() + 1)
      throw source_.error(sign.place, field, "a '-' that belongs to no number");
    sign.kind = Token::Kind::WORD;
    sign.text = {sign.text.data(), digits.text.size() + 1};
    return sign;
  }

  void read_attributes(std::vector<Attribute>& into) {
    while (tokens_.peek().is_sign('[')) {
      tokens_.next();
      while (!tokens_.peek().is_sign(']')) {
        const Token name = read_id("attribute");
        tokens_.expect('=', name.text);
        // What is written here goes before what stood as a default.
        into.insert(into.begin(), {std::string(name.text), read_id(name.text)});
        if (tokens_.peek().is_sign(',') || tokens_.peek().is_sign(';')) tokens_.next();
      }
      tokens_.next();
    }
  }

  std::uint32_t node_of(const Token& id, const Defaults& defaults) {
    const std::string name = unescaped(id);
    if (const auto known = index_.find(name); known != index_.end()) return known->second;
    if (name.empty()) throw source_.error(id.place, "node", "the id is empty");
    const auto node = static_cast<std::uint32_t>(topology_.nodes.size());
    index_.emplace(name, node);
    ImportedNode& made = topology_.nodes.emplace_back();
    made.id = made.label = name;
    made.line = id.place.line;
    apply_attributes(source_, defaults.node, made);
    return node;
  }

  // True where the token before was an edge; whether it has the right sign is checked here.
  bool read_edge_sign() {
    if (!tokens_.peek().is_sign('-')) return false;
    const Token first = tokens_.next();
    const Token second = tokens_.next();
    const bool arrow = second.is_sign('>');
    if ((!arrow && !second.is_sign('-')) || second.text.data() != first.text.data() + 1)
      throw source_.error(first.place, "edge", "-> or -- is needed here");
    if (arrow != directed_)
      throw source_.error(first.place, "edge",
                          directed_ ? "a digraph has edges with ->" : "a graph has edges with --");
    return true;
  }

  void read_statement(Defaults& defaults, int depth) {
    if (tokens_.peek().is_sign('{') || is_word("subgraph")) {
      if (is_word("subgraph")) tokens_.next();
      if (!tokens_.peek().is_sign('{')) read_id("subgraph");
      read_block(defaults, depth + 1);
      if (tokens_.peek().is_sign('-'))
        throw source_.error(tokens_.peek().place, "edge", "edges of a subgraph are not read");
      return;
    }
    const bool quoted = tokens_.peek().kind == Token::Kind::QUOTED;
    if (!quoted && (is_word("node") || is_word("edge") || is_word("graph"))) {
      const bool node = is_word("node"), edge = is_word("edge");
      tokens_.next();
      std::vector<Attribute> unused;
      read_attributes(node ? defaults.node : edge ? defaults.edge : unused);
      return;
    }
    std::vector<Token> chain{read_id("statement")};
    if (tokens_.peek().is_sign('=')) {  // an attribute of the graph
      tokens_.next();
      read_id(chain[0].text);
      return;
    }
    do {
      if (tokens_.peek().is_sign(':'))
        throw source_.error(tokens_.peek().place, "node", "ports are not read; leave them out");
      if (!read_edge_sign()) break;
      if (tokens_.peek().is_sign('{') || is_word("subgraph"))
        throw source_.error(tokens_.peek().place, "edge", "edges to a subgraph are not read");
      chain.push_back(read_id("edge"));
    } while (true);
    std::vector<Attribute> attributes;
    if (chain.size() == 1) {
      read_attributes(attributes);
      const std::uint32_t node = node_of(chain[0], defaults);
      apply_attributes(source_, attributes, topology_.nodes[node]);
      return;
    }
    attributes = defaults.edge;
    read_attributes(attributes);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      ImportedLink link;
      link.a = node_of(chain[i], defaults);
      link.b = node_of(chain[i + 1], defaults);
      link.directed = directed_;
      link.line = chain[i].place.line;
      apply_attributes(source_, attributes, link);
      // An edge of a digraph that leads both ways.
      const auto flag = std::find_if(attributes.begin(), attributes.end(),
                                     [](const Attribute& each) { return each.name == "directed"; });
      if (flag != attributes.end()) link.directed = to_flag(source_, flag->value, "directed");
      topology_.links.push_back(std::move(link));
    }
  }

  void read_block(Defaults defaults, int depth) {
    if (depth > kDeepest)
      throw source_.error(tokens_.peek().place, "",
                          fmt::format("subgraphs are nested over {} deep", kDeepest));
    tokens_.expect('{', "graph");
    while (!tokens_.peek().is_sign('}')) {
      if (tokens_.peek().is_sign(';')) {
        tokens_.next();
        continue;
      }
      if (tokens_.peek().kind == Token::Kind::END)
        throw source_.error(tokens_.peek().place, "graph", "the file ends here; '}' is missing");
      read_statement(defaults, depth);
    }
    tokens_.next();
  }

  const TextSource& source_;
  const TextSource blanked_;
  Tokenizer tokens_;
  ImportedTopology topology_;
  std::unordered_map<std::string, std::uint32_t> index_;
  bool directed_ = false;
};

}  // namespace

ImportedTopology read_dot(const TextSource& source) { return DotReader(source).read(); }

}  // namespace syncline
