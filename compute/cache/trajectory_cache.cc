#include "compute/cache/trajectory_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "compute/cache/files.h"
#include "compute/cache/folder_lock.h"
#include "compute/cache/journal.h"
#include "compute/cache/snapshot.h"
#include "compute/checksum.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// In the order in which a folder is emptied: without its header, nothing in it is believed. The
// lock goes last.
constexpr std::array<const char*, 6> kFiles = {"header",   "header.new",   "journal",
                                               "snapshot", "snapshot.new", "lock"};

// The header's folder was used now.
void touch(const std::string& folder) { ::utimensat(AT_FDCWD, folder.c_str(), nullptr, 0); }

// Whether what the folder holds was made for this header.
bool has_header(const std::string& path, std::span<const std::byte> header) {
  const auto present = read_whole(path);
  return present && std::equal(present->begin(), present->end(), header.begin(), header.end());
}

struct HeaderFolder {
  std::string path;
  std::int64_t used_s = 0;
  std::int64_t used_ns = 0;
  std::uint64_t bytes = 0;
};

bool is_header_name(const std::string& name) {
  return name.size() == 32 && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Least recently used first. What else lies in `root` is not ours and does not count.
std::vector<HeaderFolder> header_folders(const std::string& root) {
  std::vector<HeaderFolder> folders;
  std::error_code error;
  for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    if (!is_header_name(at->path().filename().string())) continue;
    HeaderFolder folder{at->path().string()};
    struct stat status = {};
    if (::lstat(folder.path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    folder.used_s = status.st_mtim.tv_sec;
    folder.used_ns = status.st_mtim.tv_nsec;
    for (const char* name : kFiles) folder.bytes += file_bytes(folder.path + "/" + name);
    folders.push_back(std::move(folder));
  }
  std::sort(folders.begin(), folders.end(), [](const HeaderFolder& a, const HeaderFolder& b) {
    return std::tie(a.used_s, a.used_ns, a.path) < std::tie(b.used_s, b.used_ns, b.path);
  });
  return folders;
}

// False if it is in use or cannot be removed.
bool remove_folder(const std::string& folder) {
  try {
    const FileDescriptor lock = try_lock_folder(folder);
    if (!lock) return false;
    for (const char* name : kFiles) ::unlink((folder + "/" + name).c_str());
    return ::rmdir(folder.c_str()) == 0;
  } catch (const std::runtime_error&) {  // another user's, perhaps
    return false;
  }
}

}  // namespace

struct TrajectoryCache::State {
  State(const std::string& root_folder, const std::string& header, std::uint64_t limit_bytes,
        const std::function<bool()>& interrupted)
      : root(root_folder),
        folder(root + "/" + hash_text(header).to_text()),
        limit(limit_bytes),
        lock(lock_folder(folder, interrupted)),
        salt(prepare(folder, header)),
        journal(folder + "/journal", salt),
        snapshot(folder + "/snapshot", salt) {
    touch(folder);
    evict(0);
  }

  // Clears away what was made for another header or left unfinished; returns what goes into all
  // checksums.
  static std::uint64_t prepare(const std::string& folder, const std::string& header) {
    const auto bytes = std::as_bytes(std::span(header.data(), header.size()));
    ::unlink(unfinished(folder + "/header").c_str());
    ::unlink(unfinished(folder + "/snapshot").c_str());
    if (!has_header(folder + "/header", bytes)) {
      ::unlink((folder + "/journal").c_str());
      ::unlink((folder + "/snapshot").c_str());
      replace_file(folder + "/header", std::array{bytes});
    }
    return checksum(bytes, 0);
  }

  // Until `more` bytes have room as well.
  void evict(std::uint64_t more) const {
    const std::vector<HeaderFolder> folders = header_folders(root);
    std::uint64_t total = more;
    for (const HeaderFolder& one : folders) total += one.bytes;
    for (const HeaderFolder& one : folders) {
      if (total <= limit) return;
      if (fs::path(one.path).filename() == fs::path(folder).filename()) continue;
      if (remove_folder(one.path)) total -= one.bytes;
    }
  }

  std::string root;
  std::string folder;
  std::uint64_t limit;
  FileDescriptor lock;
  std::uint64_t salt;
  Journal journal;
  Snapshot snapshot;
};

TrajectoryCache::TrajectoryCache(const std::string& folder, const std::string& header,
                                 std::uint64_t limit_bytes,
                                 const std::function<bool()>& interrupted)
    : state_(std::make_unique<State>(folder, header, limit_bytes, interrupted)) {}

TrajectoryCache::~TrajectoryCache() {
  try {
    state_->journal.flush();
  } catch (const std::exception&) {
    // Lost numbers are trained again; there is nobody left to tell.
  }
  touch(state_->folder);
}

std::optional<double> TrajectoryCache::number(Key key) const { return state_->journal.number(key); }
void TrajectoryCache::record(Key key, double number) { state_->journal.record(key, number); }
void TrajectoryCache::flush() { state_->journal.flush(); }

bool TrajectoryCache::has_state(Key key) const { return state_->snapshot.has(key); }
std::vector<std::byte> TrajectoryCache::state(Key key) const { return state_->snapshot.state(key); }

bool TrajectoryCache::replace_states(std::span<const StateView> states) {
  state_->journal.flush();
  const std::uint64_t bytes = Snapshot::file_bytes(states);
  if (bytes > state_->limit / 2) return false;
  const std::uint64_t present = state_->snapshot.file_bytes();
  state_->evict(bytes > present ? bytes - present : 0);
  state_->snapshot.replace(states);
  return true;
}

}  // namespace syncline
