// Broken input: what is cut off, changed or of another kind ends in an InputError that names the
// file, or is read; it never crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "tests/topology/read_helpers.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(BrokenTopologies, TruncatedAtEveryTenthByte) {
  // Rows of these are whole wherever a line ends.
  const std::set<std::string> open_ended = {"orbis.txt", "skyplane.csv", "pairs.csv", "ookla.csv"};
  for (const auto& entry : fs::directory_iterator(SYNCLINE_SAMPLES)) {
    const std::string text = text_of(entry.path().string());
    const bool whole = open_ended.contains(entry.path().filename().string());
    for (std::size_t length = 0; length < text.size(); length += 10) {
      const Written file(text.substr(0, length));
      const std::string error = error_of([&] { read_imported(file.path()); });
      if (error != "no error") {
        EXPECT_THAT(error, HasSubstr(file.path())) << entry.path() << " " << length;
      }
      if (length < text.size() / 2 && !whole) {
        EXPECT_NE(error, "no error") << entry.path() << " " << length;
      }
    }
  }
}

// Each number of each sample in turn: no value of these may crash or stand for infinity.
TEST(BrokenTopologies, OneWrongNumber) {
  for (const auto& entry : fs::directory_iterator(SYNCLINE_SAMPLES)) {
    const std::string text = text_of(entry.path().string());
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::isdigit(static_cast<unsigned char>(text[i])) == 0 ||
          (i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0))
        continue;
      const std::size_t end = std::min(text.find_first_not_of("0123456789.", i), text.size());
      for (const char* const wrong : {"nan", "-1", "1e400", "99999999999999999999", ""}) {
        const Written file(text.substr(0, i) + wrong + text.substr(end));
        const std::string error = error_of([&] { read_imported(file.path()); });
        if (error != "no error") {
          EXPECT_THAT(error, HasSubstr(file.path())) << entry.path() << " " << i << wrong;
        }
      }
      i = end;
    }
  }
}

TEST(BrokenTopologies, ALineOfAGigabyte) {
  const Written file("0 1\n");
  fs::resize_file(file.path(), std::uintmax_t{1} << 30);  // a hole: it takes no space
  EXPECT_THAT(error_of([&] { read_imported(file.path()); }),
              HasSubstr("has 1073741824 bytes; at most 67108864 are read"));
}

}  // namespace
}  // namespace syncline
