// States by key in one file that is replaced as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compute/file_descriptor.h"
#include "compute/program.h"

namespace syncline {

// 64-bit words: magic, size of the file, number of states, checksum of the table; the table: key
// (high, low), bytes, checksum of each state; then the states' bytes. A file in which anything does
// not match counts as not there; a state that does not match, as well.
class Snapshot {
 public:
  using View = std::pair<Key, std::span<const std::byte>>;

  // `salt` goes into the checksums: what was written with another is not believed.
  Snapshot(std::string path, std::uint64_t salt);

  bool has(Key key) const;  // reads and checks the state when it is asked for the first time
  std::vector<std::byte> state(Key key) const;  // has(key); std::runtime_error if it changed since
  void replace(std::span<const View> states);   // std::runtime_error; the old one then stands
  std::uint64_t file_bytes() const { return file_bytes_; }
  static std::uint64_t file_bytes(std::span<const View> states);  // what replace() would write

 private:
  struct Entry {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;
    enum class Verdict : std::uint8_t { UNKNOWN, GOOD, BAD };
    mutable Verdict verdict = Verdict::UNKNOWN;
  };
  void open();
  bool read_table();
  bool read_state(Key key, const Entry& entry, std::vector<std::byte>& data) const;

  std::string path_;
  std::uint64_t salt_;
  FileDescriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::unordered_map<Key, Entry, KeyHash> entries_;
};

}  // namespace syncline
