// Numbers by key in a file that only grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compute/file_descriptor.h"
#include "compute/program.h"

namespace syncline {

// Records of 32 bytes: key (high, low), number, checksum of these. A torn record at the end is cut
// off at opening; records whose checksum does not match are passed over. Errors: std::runtime_error
// with the path.
class Journal {
 public:
  // `salt` goes into the checksums: records that were written with another are not believed.
  Journal(std::string path, std::uint64_t salt);

  std::optional<double> number(Key key) const;
  void record(Key key, double number);  // into memory
  // Into the file, durably. After an error (a full disk) the file is as before and flush() may be
  // tried again.
  void flush();

 private:
  std::string path_;
  std::uint64_t salt_;
  FileDescriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::unordered_map<Key, double, KeyHash> numbers_;
  std::vector<std::byte> pending_;  // records
};

}  // namespace syncline
