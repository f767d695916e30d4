// A text file in memory, and what all readers share: limits, tokens, strict numbers, and errors
// that name file, line and column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/input_error.h"

namespace syncline {

struct TextLimits {
  std::size_t file_bytes = std::size_t{64} << 20;
  std::size_t line_bytes = std::size_t{16} << 20;
};

// Both count from 1; a column counts bytes. Line 0: the file as a whole.
struct TextPlace {
  std::size_t line = 0;
  std::size_t column = 0;
};

class TextSource {
 public:
  // Throws InputError, naming the file: not there, a directory or device, not readable, above a
  // limit, binary (a zero byte).
  static TextSource load(const std::string& path, const TextLimits& limits = {});
  // For text that does not stand in a file of its own. Same checks.
  TextSource(std::string name, std::string text, const TextLimits& limits = {});

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  TextPlace place_of(std::size_t offset) const;

  // "NAME:LINE:COLUMN: FIELD: PROBLEM"; what is not known is left out.
  InputError error(TextPlace place, std::string_view field, const std::string& problem) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;  // a file is far below 4 GiB
};

// A piece of text with its place. It points into the source, which must live longer.
struct Token {
  enum class Kind { END, WORD, QUOTED, SIGN };
  Kind kind = Kind::END;
  std::string_view text;  // of a quoted one: what stands between the quotes
  TextPlace place;
  bool is_sign(char c) const { return kind == Kind::SIGN && text.size() == 1 && text[0] == c; }
};

// Cuts text into words, quoted strings ("..." where quotes are on; they may span lines) and single
// signs. White space divides; a comment goes from its sign to the end of the line.
class Tokenizer {
 public:
  struct Rules {
    std::string_view signs;     // each is a token of its own
    std::string_view comments;  // each begins a comment
    bool quotes = true;
    bool escapes = false;  // a backslash takes the next character of a quoted string with it
  };
  Tokenizer(const TextSource& source, Rules rules);
  const Token& peek() const { return next_; }
  Token next();
  // The next token; throws InputError if it is not this sign.
  void expect(char sign, std::string_view field);
  // The next token; throws InputError if it is the end or a sign.
  Token expect_text(std::string_view field);

 private:
  Token read();

  const TextSource& source_;
  Rules rules_;
  std::size_t offset_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  Token next_;
};

// The lines of a text that hold something, each cut at white space. No quotes; a comment goes from
// its sign to the end of the line.
class LineCursor {
 public:
  LineCursor(const TextSource& source, std::string_view comments);
  // False at the end. Otherwise fields() are those of the next line that is not empty.
  bool next();
  const std::vector<Token>& fields() const { return fields_; }
  std::size_t line() const { return line_; }
  // Throws InputError where the line has no such field.
  const Token& field(std::size_t index, std::string_view name) const;

 private:
  const TextSource& source_;
  std::string_view comments_;
  std::size_t offset_ = 0;
  std::size_t line_ = 0;
  std::vector<Token> fields_;
};

// The rows of a CSV (RFC 4180: a field may stand in quotes, "" in it is one) under their header.
// Empty lines are left out; a quoted field ends on its line.
class CsvCursor {
 public:
  explicit CsvCursor(const TextSource& source);
  // Names as the first line has them.
  const std::vector<std::string>& header() const { return header_; }
  // The column of the first of these names that is there.
  std::optional<std::size_t> column(std::initializer_list<std::string_view> names) const;
  // False at the end. Throws InputError for a row that has other columns than the header.
  bool next();
  std::size_t line() const { return line_; }
  // A field of the row; the text stays until the next row.
  const Token& field(std::size_t column) const { return fields_[column]; }

 private:
  bool read_line();

  const TextSource& source_;
  std::size_t offset_ = 0;
  std::size_t line_ = 0;
  std::vector<std::string> header_;
  std::vector<Token> fields_;
  std::deque<std::string> unquoted_;  // texts that differ from those in the source
};

enum class Sign { ANY, NOT_NEGATIVE, POSITIVE };

// The whole token as a finite decimal number. Throws InputError for all else: "nan", "inf",
// "1e400", "0x10", "3 ms", or a sign that is not allowed.
double to_number(const TextSource& source, const Token& token, std::string_view field,
                 Sign sign = Sign::ANY);
// What stands between the quotes of a string with escapes: \" is ", \\ is \.
std::string unescaped(const Token& token);
// A whole number of 0 to `most`.
std::size_t to_count(const TextSource& source, const Token& token, std::string_view field,
                     std::size_t most);

}  // namespace syncline
