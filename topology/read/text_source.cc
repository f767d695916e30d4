#include "topology/read/text_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "topology/text.h"

namespace syncline {
namespace {

constexpr std::size_t kMostShown = 60;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

bool contains(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

}  // namespace

TextSource TextSource::load(const std::string& path, const TextLimits& limits) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) throw InputError(fmt::format("{}: there is no such file", path));
  if (fs::is_directory(status))
    throw InputError(fmt::format("{}: is a directory; name a file in it", path));
  if (!fs::is_regular_file(status)) throw InputError(fmt::format("{}: is not a plain file", path));
  const std::uintmax_t size = fs::file_size(path, failed);
  if (failed) throw InputError(fmt::format("{}: cannot be read: {}", path, failed.message()));
  if (size > limits.file_bytes)
    throw InputError(
        fmt::format("{}: has {} bytes; at most {} are read", path, size, limits.file_bytes));
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(size)))
    throw InputError(fmt::format("{}: cannot be read", path));
  return TextSource(path, std::move(text), limits);
}

TextSource::TextSource(std::string name, std::string text, const TextLimits& limits)
    : name_(std::move(name)), text_(std::move(text)) {
  if (text_.size() > limits.file_bytes)
    throw InputError(fmt::format("{}: has {} bytes; at most {} are read", name_, text_.size(),
                                 limits.file_bytes));
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\0')
      throw error(place_of(i), "", "a zero byte: this is a binary file; a text file is needed");
    if (text_[i] == '\n') line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
    if (i + 1 - line_starts_.back() > limits.line_bytes)
      throw error({line_starts_.size(), 0}, "",
                  fmt::format("the line has more than {} bytes", limits.line_bytes));
  }
}

TextPlace TextSource::place_of(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return {static_cast<std::size_t>(after - line_starts_.begin()), offset - *(after - 1) + 1};
}

InputError TextSource::error(TextPlace place, std::string_view field,
                             const std::string& problem) const {
  std::string where = name_;
  if (place.line > 0) where += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) where += fmt::format(":{}", place.column);
  if (!field.empty()) where += fmt::format(": {}", field);
  return InputError(problem).at(where);
}

Tokenizer::Tokenizer(const TextSource& source, Rules rules) : source_(source), rules_(rules) {
  next_ = read();
}

Token Tokenizer::next() {
  Token token = next_;
  next_ = read();
  return token;
}

void Tokenizer::expect(char sign, std::string_view field) {
  const Token token = next();
  if (token.is_sign(sign)) return;
  throw source_.error(
      token.place, field,
      token.kind == Token::Kind::END
          ? fmt::format("the file ends here; '{}' is missing", sign)
          : fmt::format("'{}' where '{}' is needed", shown(token.text, kMostShown), sign));
}

Token Tokenizer::expect_text(std::string_view field) {
  Token token = next();
  if (token.kind == Token::Kind::END)
    throw source_.error(token.place, field, "the file ends here; a value is missing");
  if (token.kind == Token::Kind::SIGN)
    throw source_.error(token.place, field,
                        fmt::format("'{}' where a value is needed", token.text));
  return token;
}

Token Tokenizer::read() {
  const std::string_view text = source_.text();
  const auto end_line = [&] {
    ++line_;
    line_start_ = offset_ + 1;
  };
  for (; offset_ < text.size(); ++offset_) {
    if (text[offset_] == '\n') {
      end_line();
    } else if (contains(rules_.comments, text[offset_])) {
      while (offset_ + 1 < text.size() && text[offset_ + 1] != '\n') ++offset_;
    } else if (!is_space(text[offset_])) {
      break;
    }
  }
  Token token;
  token.place = {line_, offset_ - line_start_ + 1};
  if (offset_ == text.size()) return token;
  const char first = text[offset_];
  if (contains(rules_.signs, first)) {
    token.kind = Token::Kind::SIGN;
    token.text = text.substr(offset_++, 1);
    return token;
  }
  const std::size_t start = offset_;
  if (rules_.quotes && first == '"') {
    for (++offset_; offset_ < text.size() && text[offset_] != '"'; ++offset_) {
      if (rules_.escapes && text[offset_] == '\\' && offset_ + 1 < text.size()) ++offset_;
      if (text[offset_] == '\n') end_line();
    }
    if (offset_ >= text.size())
      throw source_.error(token.place, "", "the quote that opens here is never closed");
    token.kind = Token::Kind::QUOTED;
    token.text = text.substr(start + 1, offset_ - start - 1);
    ++offset_;
    return token;
  }
  const auto in_word = [&](char c) {
    return !is_space(c) && !contains(rules_.signs, c) && !contains(rules_.comments, c) &&
           !(rules_.quotes && c == '"');
  };
  while (offset_ < text.size() && in_word(text[offset_])) ++offset_;
  token.kind = Token::Kind::WORD;
  token.text = text.substr(start, offset_ - start);
  return token;
}

LineCursor::LineCursor(const TextSource& source, std::string_view comments)
    : source_(source), comments_(comments) {}

bool LineCursor::next() {
  const std::string_view text = source_.text();
  fields_.clear();
  while (offset_ < text.size() && fields_.empty()) {
    ++line_;
    const std::size_t end = std::min(text.find('\n', offset_), text.size());
    std::string_view line = text.substr(offset_, end - offset_);
    offset_ = end + 1;
    line = line.substr(0, line.find_first_of(comments_));
    for (std::size_t i = 0; i < line.size();) {
      if (is_space(line[i])) {
        ++i;
        continue;
      }
      const std::size_t start = i;
      while (i < line.size() && !is_space(line[i])) ++i;
      fields_.push_back({Token::Kind::WORD, line.substr(start, i - start), {line_, start + 1}});
    }
  }
  return !fields_.empty();
}

const Token& LineCursor::field(std::size_t index, std::string_view name) const {
  if (index >= fields_.size())
    throw source_.error({line_, 0}, name,
                        fmt::format("is missing; the line has only {} values", fields_.size()));
  return fields_[index];
}

CsvCursor::CsvCursor(const TextSource& source) : source_(source) {
  if (!read_line()) throw source_.error({}, "", "the file is empty; a header is needed");
  for (const Token& token : fields_) header_.emplace_back(token.text);
}

std::optional<std::size_t> CsvCursor::column(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  }
  return std::nullopt;
}

bool CsvCursor::next() {
  if (!read_line()) return false;
  if (fields_.size() != header_.size())
    throw source_.error(
        {line_, 0}, "",
        fmt::format("the row has {} fields; the header has {}", fields_.size(), header_.size()));
  return true;
}

bool CsvCursor::read_line() {
  const std::string_view text = source_.text();
  fields_.clear();
  unquoted_.clear();
  std::string_view line;
  std::size_t start = 0;
  while (trim(line).empty()) {
    if (offset_ >= text.size()) return false;
    ++line_;
    start = offset_;
    const std::size_t end = std::min(text.find('\n', offset_), text.size());
    line = text.substr(offset_, end - offset_);
    offset_ = end + 1;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (start == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const std::size_t column = i + 1;
    if (i == line.size() || line[i] != '"') {
      const std::size_t comma = std::min(line.find(',', i), line.size());
      fields_.push_back({Token::Kind::WORD, trim(line.substr(i, comma - i)), {line_, column}});
      i = comma;
      continue;
    }
    std::string& unquoted = unquoted_.emplace_back();
    for (++i; i < line.size() && (line[i] != '"' || line.substr(i, 2) == "\"\""); ++i) {
      if (line[i] == '"') ++i;
      unquoted += line[i];
    }
    if (i >= line.size())
      throw source_.error({line_, column}, "", "the quote that opens here is never closed");
    if (++i < line.size() && line[i] != ',')
      throw source_.error({line_, i + 1}, "", "text behind a quoted field");
    fields_.push_back({Token::Kind::QUOTED, unquoted, {line_, column}});
  }
  return true;
}

std::string unescaped(const Token& token) {
  std::string text;
  for (std::size_t i = 0; i < token.text.size(); ++i) {
    const bool escape = token.kind == Token::Kind::QUOTED && token.text[i] == '\\' &&
                        i + 1 < token.text.size() &&
                        (token.text[i + 1] == '"' || token.text[i + 1] == '\\');
    text += token.text[escape ? ++i : i];
  }
  return text;
}

double to_number(const TextSource& source, const Token& token, std::string_view field, Sign sign) {
  double value = 0;
  const char* const end = token.text.data() + token.text.size();
  const std::string_view digits = token.text.substr(!token.text.empty() && token.text[0] == '+');
  const auto [stop, failure] = std::from_chars(digits.data(), end, value);
  if (failure == std::errc::result_out_of_range)
    throw source.error(
        token.place, field,
        fmt::format("\"{}\" is outside of what a double holds", shown(token.text, kMostShown)));
  if (failure != std::errc() || stop != end || !std::isfinite(value))
    throw source.error(token.place, field,
                       fmt::format("\"{}\" is not a number; write for example 12.5",
                                   shown(token.text, kMostShown)));
  if (sign != Sign::ANY && value < 0)
    throw source.error(
        token.place, field,
        fmt::format("\"{}\" is negative; 0 or more is right", shown(token.text, kMostShown)));
  if (sign == Sign::POSITIVE && value == 0)
    throw source.error(token.place, field, "is 0; more than 0 is right");
  return value;
}

std::size_t to_count(const TextSource& source, const Token& token, std::string_view field,
                     std::size_t most) {
  std::size_t value = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, failure] = std::from_chars(token.text.data(), end, value);
  if (failure != std::errc() || stop != end || value > most)
    throw source.error(token.place, field,
                       fmt::format("\"{}\" is not a whole number of 0 to {}",
                                   shown(token.text, kMostShown), most));
  return value;
}

}  // namespace syncline
