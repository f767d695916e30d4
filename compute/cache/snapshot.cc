#include "compute/cache/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <stdexcept>

#include "compute/cache/files.h"
#include "compute/checksum.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr std::uint64_t kMagic = 0x31304e5953504e53;  // "SNPSYN01"

struct Head {
  std::uint64_t magic;
  std::uint64_t file_bytes;
  std::uint64_t states;
  std::uint64_t table_checksum;  // of the three words above and the table
};
struct Row {
  Key key;
  std::uint64_t bytes;
  std::uint64_t checksum;
};
static_assert(sizeof(Head) == 32 && sizeof(Row) == 32);

std::uint64_t table_checksum(const Head& head, std::span<const Row> rows, std::uint64_t salt) {
  const auto words = std::as_bytes(std::span<const Head>(&head, 1));
  return checksum(std::as_bytes(rows), checksum(words.first(offsetof(Head, table_checksum)), salt));
}

// The key counts as well: the bytes of one state are not believed to be another's.
std::uint64_t state_checksum(Key key, std::span<const std::byte> data, std::uint64_t salt) {
  const auto words = std::as_bytes(std::span<const Key>(&key, 1));
  return checksum(data, checksum(words, salt));
}

}  // namespace

Snapshot::Snapshot(std::string path, std::uint64_t salt) : path_(std::move(path)), salt_(salt) {
  open();
}

void Snapshot::open() {
  entries_.clear();
  file_bytes_ = 0;
  file_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_ && read_table()) return;
  entries_.clear();
  file_bytes_ = 0;
  if (file_) ::unlink(path_.c_str());  // no use, but it takes space
  file_ = FileDescriptor();
}

bool Snapshot::read_table() {
  struct stat status = {};
  Head head = {};
  if (::fstat(file_.get(), &status) != 0) return false;
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  if (!read_at(file_, 0, std::as_writable_bytes(std::span(&head, 1)))) return false;
  if (head.magic != kMagic || head.file_bytes != file_bytes_) return false;
  if (head.states > (file_bytes_ - sizeof(Head)) / sizeof(Row)) return false;
  std::vector<Row> rows(head.states);
  if (!read_at(file_, sizeof(Head), std::as_writable_bytes(std::span(rows)))) return false;
  if (head.table_checksum != table_checksum(head, rows, salt_)) return false;
  std::uint64_t offset = sizeof(Head) + rows.size() * sizeof(Row);
  for (const Row& row : rows) {
    if (row.bytes > file_bytes_ - offset) return false;
    entries_[row.key] = {offset, row.bytes, row.checksum};
    offset += row.bytes;
  }
  return offset == file_bytes_;
}

bool Snapshot::read_state(Key key, const Entry& entry, std::vector<std::byte>& data) const {
  data.resize(entry.bytes);
  return read_at(file_, entry.offset, data) && state_checksum(key, data, salt_) == entry.checksum;
}

bool Snapshot::has(Key key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  const Entry& entry = found->second;
  if (entry.verdict == Entry::Verdict::UNKNOWN) {
    std::vector<std::byte> data;
    entry.verdict = read_state(key, entry, data) ? Entry::Verdict::GOOD : Entry::Verdict::BAD;
  }
  return entry.verdict == Entry::Verdict::GOOD;
}

std::vector<std::byte> Snapshot::state(Key key) const {
  const auto found = entries_.find(key);
  SYNCLINE_CHECK(found != entries_.end(), "this state is not in the snapshot");
  std::vector<std::byte> data;
  if (!read_state(key, found->second, data)) {
    found->second.verdict = Entry::Verdict::BAD;
    throw std::runtime_error(path_ + ": the state " + key.to_text() +
                             " does not match its checksum; delete the file");
  }
  found->second.verdict = Entry::Verdict::GOOD;
  return data;
}

std::uint64_t Snapshot::file_bytes(std::span<const View> states) {
  std::uint64_t bytes = sizeof(Head) + states.size() * sizeof(Row);
  for (const auto& [key, data] : states) bytes += data.size();
  return bytes;
}

void Snapshot::replace(std::span<const View> states) {
  std::vector<Row> rows;
  for (const auto& [key, data] : states) {
    rows.push_back({key, data.size(), state_checksum(key, data, salt_)});
  }
  Head head = {kMagic, file_bytes(states), states.size(), 0};
  head.table_checksum = table_checksum(head, rows, salt_);
  std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(&head, 1)),
                                                   std::as_bytes(std::span(rows))};
  for (const auto& [key, data] : states) parts.push_back(data);
  replace_file(path_, parts);
  open();
}

}  // namespace syncline
