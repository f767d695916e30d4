#include "compute/cache/journal.h"

#include <fcntl.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "compute/cache/files.h"
#include "compute/checksum.h"

namespace syncline {
namespace {

struct Record {
  Key key;
  std::uint64_t number_bits;
  std::uint64_t checksum;
};
static_assert(sizeof(Record) == 32 && std::is_trivially_copyable_v<Record>);

std::uint64_t checksum_of(const Record& record, std::uint64_t salt) {
  const auto bytes = std::as_bytes(std::span<const Record>(&record, 1));
  return checksum(bytes.first(offsetof(Record, checksum)), salt);
}

}  // namespace

Journal::Journal(std::string path, std::uint64_t salt)
    : path_(std::move(path)), salt_(salt), file_(open_to_write(path_, O_RDWR | O_APPEND)) {
  const std::vector<std::byte> data = read_whole(path_).value_or(std::vector<std::byte>());
  file_bytes_ = data.size() - data.size() % sizeof(Record);
  if (file_bytes_ != data.size() &&
      ::ftruncate(file_.get(), static_cast<off_t>(file_bytes_)) != 0) {
    fail_on(path_, "cut off a torn record");
  }
  for (std::size_t at = 0; at < file_bytes_; at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, data.data() + at, sizeof record);
    if (record.checksum != checksum_of(record, salt_)) continue;
    numbers_[record.key] = std::bit_cast<double>(record.number_bits);
  }
}

std::optional<double> Journal::number(Key key) const {
  const auto found = numbers_.find(key);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

void Journal::record(Key key, double number) {
  Record record = {key, std::bit_cast<std::uint64_t>(number), 0};
  const auto [place, is_new] = numbers_.try_emplace(key, number);
  if (!is_new && std::bit_cast<std::uint64_t>(place->second) == record.number_bits) return;
  place->second = number;
  record.checksum = checksum_of(record, salt_);
  const auto bytes = std::as_bytes(std::span<const Record>(&record, 1));
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
}

void Journal::flush() {
  if (pending_.empty()) return;
  try {
    write_all(file_, pending_, path_);
    if (::fdatasync(file_.get()) != 0) fail_on(path_, "write");
  } catch (...) {
    // What was written of it would put all later records out of step. If this fails too, the next
    // record's place is unknown, but a wrong number is still never read: the checksums tell.
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(file_bytes_));
    throw;
  }
  file_bytes_ += pending_.size();
  pending_.clear();
}

}  // namespace syncline
