#include "topology/read/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "topology/read/readers.h"
#include "topology/read/xml.h"
#include "topology/read/yaml.h"
#include "topology/text.h"

namespace syncline {
namespace {

bool is_count(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_number(const Token& token) { return number_of<double>(token.text).has_value(); }

bool same_word(std::string_view text, std::string_view small) {
  return std::equal(text.begin(), text.end(), small.begin(), small.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

bool has_column(const std::vector<std::string_view>& header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

// What is known of a file before a reader takes it.
struct Beginning {
  std::vector<std::vector<Token>> lines = {};  // the first ones that hold something
  std::vector<std::string_view> header = {};   // the first line, cut at commas
};

Beginning begin(const TextSource& source) {
  constexpr std::size_t kLines = 3;
  Beginning result;
  LineCursor lines(source, "#");
  while (result.lines.size() < kLines && lines.next()) result.lines.push_back(lines.fields());
  std::string_view first = trim(source.text());
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  first = first.substr(0, first.find('\n'));
  while (!first.empty()) {
    const std::size_t comma = first.find(',');
    result.header.push_back(trim(first.substr(0, comma)));
    first.remove_prefix(comma == std::string_view::npos ? first.size() : comma + 1);
  }
  return result;
}

bool is_gml(const TextSource& source) {
  Tokenizer tokens(source, {.signs = "[]", .comments = "#", .quotes = false});
  for (Token token = tokens.next(); token.kind != Token::Kind::END; token = tokens.next()) {
    if (token.text == "graph") return tokens.peek().is_sign('[');
    if (token.text.ends_with(':')) return false;  // YAML around a graph: Shadow's whole experiment
  }
  return false;
}

// The text behind the blanks and comments that DOT and GML may begin with.
std::string_view behind_comments(std::string_view text) {
  while (true) {
    text = trim(text);
    std::string_view end;
    if (text.starts_with('#') || text.starts_with("//")) end = "\n";
    if (text.starts_with("/*")) end = "*/";
    if (end.empty()) return text;
    const std::size_t found = text.find(end);
    text.remove_prefix(found == std::string_view::npos ? text.size() : found + end.size());
  }
}

bool is_dot(const TextSource& source) {
  std::string_view text = behind_comments(source.text());
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n{[\"/"));
  if (same_word(word, "strict") || same_word(word, "digraph")) return true;
  if (!same_word(word, "graph")) return false;
  text = behind_comments(text.substr(word.size()));
  return !text.starts_with('[') && text.find('{') != std::string_view::npos;
}

// Numbers in rows of one length, at least three in each.
bool is_matrix(const Beginning& file) {
  return file.lines.front().size() >= 3 &&
         std::all_of(file.lines.begin(), file.lines.end(), [&](const auto& fields) {
           return fields.size() == file.lines.front().size() &&
                  std::all_of(fields.begin(), fields.end(), is_number);
         });
}

// A SimGrid profile of a state also has two whole numbers a line: rising times, and 0 or 1.
bool is_state_profile(const TextSource& source) {
  LineCursor lines(source, "#");
  double before = -1;
  std::size_t count = 0;
  for (; lines.next(); ++count) {
    const auto& fields = lines.fields();
    const auto time = number_of<double>(fields[0].text);
    if (fields.size() != 2 || !time || *time <= before) return false;
    if (fields[1].text != "0" && fields[1].text != "1") return false;
    before = *time;
  }
  return count > 1;
}

// What a file is that is no topology, where that shows; else "the format is not known".
std::string other_kind(const TextSource& source, const Beginning& file) {
  const auto& first = file.lines.front();
  const std::string_view text = trim(source.text());
  if (has_column(file.header, "src") && has_column(file.header, "cost"))
    return "prices of traffic between regions are no topology: they have no rates";
  for (const char* const name : {"DL_bitrate", "timestamp_start_dl"}) {
    if (has_column(file.header, name))
      return "a measured bandwidth log is a link's trace, no topology";
  }
  if (text.find("LOOPAFTER") != std::string_view::npos || is_state_profile(source))
    return "a SimGrid profile of times and values is no topology; name the platform file";
  if (first.size() == 5 && first[3].text == "h")
    return "network coordinates alone are no topology; they are read as peers of a SimGrid "
           "platform";
  if (first.size() <= 2 && std::all_of(first.begin(), first.end(), is_number))
    return "numbers over time are a link's trace, no topology";
  if (text.find("| ---") != std::string_view::npos)
    return "a page with several tables is not read; save one as CSV with the columns a, b, "
           "delay_ms "
           "and bandwidth_gbit_per_s";
  return "the format is not known";
}

InputError unknown(const TextSource& source, const std::string& why) {
  return source.error(
      {}, "",
      why +
          "; topologies are read from GraphML, GML, DOT, SimGrid XML, SNDlib (native, XML), "
          "Repetita, HPCC topology.txt, Inet, Orbis, Rocketfuel, node-link JSON, "
          "htsim and ASTRA-sim .topo, ASTRA-sim and Shadow YAML, Skyplane "
          "throughput CSV, RTT matrices and Ookla CSV");
}

ImportedTopology read_any_xml(const TextSource& source) {
  const pugi::xml_document document = parse_xml(source);
  const std::string root = document.document_element().name();
  if (root == "graphml") return read_graphml(source);
  if (root == "platform") return read_simgrid(source);
  if (root == "network") return read_sndlib_xml(source);
  throw unknown(source, fmt::format("XML with the root \"{}\" is not known", root));
}

// A key with its colon stands first, or the mark of a document.
bool is_yaml(const Beginning& file) {
  const std::string_view first = file.lines.front().front().text;
  return (first.ends_with(':') && std::isalnum(static_cast<unsigned char>(first.front())) != 0) ||
         first == "---" || first.starts_with("%YAML");
}

ImportedTopology read_any_yaml(const TextSource& source) {
  const YAML::Node root = parse_yaml(source);
  if (!find_child(source, root, "npus_count").IsNull()) return read_astra(source);
  if (!find_child(source, root, "network").IsNull()) return read_shadow(source);
  throw unknown(source,
                "YAML with neither npus_count (ASTRA-sim) nor network (Shadow) is not known");
}

ImportedTopology read_lines(const TextSource& source) {
  const Beginning file = begin(source);
  if (file.lines.empty()) throw unknown(source, "there are only comments");
  if (has_column(file.header, "src_region") ||
      (has_column(file.header, "a") && has_column(file.header, "b")))
    return read_link_table(source);
  if (has_column(file.header, "downlink_Mbps")) return read_speed_tests(source);
  const std::vector<Token>& first = file.lines.front();
  if (is_yaml(file)) return read_any_yaml(source);
  if (first[0].text == "NODES") return read_repetita(source);
  for (const char* const word : {"nodes", "tiers", "podsize"}) {
    if (first.size() == 2 && same_word(first[0].text, word)) return read_tiers(source);
  }
  if (first.size() > 2 && first[1].text.starts_with('@')) return read_rocketfuel(source);
  if (is_matrix(file)) return read_rtt_matrix(source);
  const bool counts =
      std::all_of(first.begin(), first.end(), [](const Token& t) { return is_count(t.text); });
  if (counts && first.size() == 3) return read_hpcc(source);
  const std::size_t then = file.lines.size() > 1 ? file.lines[1].size() : 0;
  if (counts && first.size() == 2 && then == 3) return read_inet(source);
  if (counts && first.size() == 2 && (then == 2 || then == 0) && !is_state_profile(source) &&
      source.text().find("LOOPAFTER") == std::string_view::npos)
    return read_orbis(source);
  throw unknown(source, other_kind(source, file));
}

}  // namespace

ImportedTopology read_imported(const std::string& path) {
  const TextSource source = TextSource::load(path);
  const std::string_view text = trim(source.text());
  if (text.empty()) throw unknown(source, "the file is empty");
  if (text.front() == '<' || text.starts_with("\xEF\xBB\xBF<")) return read_any_xml(source);
  if (text.front() == '{') return read_node_link_json(source);
  if (text.starts_with("?SNDlib native format")) return read_sndlib_native(source);
  if (is_dot(source)) return read_dot(source);
  if (is_gml(source)) return read_gml(source);
  return read_lines(source);
}

}  // namespace syncline
