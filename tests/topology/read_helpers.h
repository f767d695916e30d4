// What the tests of the readers share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "topology/input_error.h"
#include "topology/read/read.h"

namespace syncline {

inline std::string sample(const std::string& name) {
  return std::string(SYNCLINE_SAMPLES) + "/" + name;
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A file that is there as long as the test.
class Written {
 public:
  explicit Written(const std::string& text)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("read_test_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~Written() { std::filesystem::remove(path_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string error_of_text(const std::string& text) {
  const Written file(text);
  return error_of([&] { read_imported(file.path()); });
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The link between two nodes by their ids; the first one.
inline const ImportedLink& link_of(const ImportedTopology& read, const std::string& a,
                                   const std::string& b) {
  for (const ImportedLink& link : read.links) {
    if (read.nodes[link.a].id == a && read.nodes[link.b].id == b) return link;
  }
  throw std::runtime_error("no link " + a + " - " + b);
}

inline std::size_t times_warned(const ImportedTopology& read, const std::string& kind) {
  for (const ImportWarning& warning : read.warnings) {
    if (warning.kind == kind) return warning.count;
  }
  return 0;
}

// The folder of the published files; empty: the tests of them are skipped.
inline std::string published_folder() {
  const char* const data = std::getenv("SYNCLINE_DATA");
  return data == nullptr ? "" : data;
}

}  // namespace syncline
