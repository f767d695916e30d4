#include "report/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "report/output_file.h"
#include "report/output_place.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error(
      fmt::format("{}: cannot be written: {}; nothing was changed", path, std::strerror(error)));
}

// Removes what is left of it when the work in between throws.
struct RemoveOnExit {
  std::string path;
  ~RemoveOnExit() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// What processes that were killed while they wrote have left beside `folder`.
void remove_remains(const fs::path& folder) {
  const std::string prefix = "." + folder.filename().string() + ".partial-";
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const long process = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    // Our own number is that of an earlier process: in containers they often have the same.
    const bool dead =
        process == ::getpid() || (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH);
    if (process > 0 && dead) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

const FolderKind kRunFolder{"run's", {"results.json", "scenario.textproto"}};
const FolderKind kTrafficFolder{"traffic's", {"traffic.json", "links.csv"}};

OutputFolder::OutputFolder(std::string path, const FolderKind& kind) : kind_(kind) {
  const OutputPlace place =
      check_output_place(std::move(path), kind.owner,
                         [&](const fs::path& folder) { return has_files(folder, kind.marks); });
  path_ = place.path;
  folder_ = place.folder;
  std::error_code error;
  const fs::path folder = folder_;
  const fs::path parent = folder.parent_path();
  partial_ =
      (parent / fmt::format(".{}.partial-{}", folder.filename().string(), ::getpid())).string();
  remove_remains(folder);
  fs::create_directories(parent, error);
  if (!error) fs::create_directory(partial_, error);
  if (error)
    throw InputError(fmt::format("--out {}: cannot be written: {}", path_, error.message()));
  fs::remove(partial_, error);
}

void OutputFolder::publish(const std::map<std::string, std::string>& files) const {
  const RemoveOnExit clean{partial_};
  if (::mkdir(partial_.c_str(), 0777) != 0) fail(partial_, errno);
  for (const auto& [name, text] : files) write_new_file(partial_ + "/" + name, text);
  if (::rename(partial_.c_str(), folder_.c_str()) == 0)
    return;  // nothing there, or an empty folder
  if (errno != ENOTEMPTY && errno != EEXIST) fail(path_, errno);
  if (!has_files(folder_, kind_.marks))
    fail(path_, ENOTEMPTY);  // somebody filled it while we worked
  // The old run and the new one change places; `clean` then removes the old one.
  if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, folder_.c_str(), RENAME_EXCHANGE) == 0)
    return;
  if (errno != EINVAL && errno != ENOSYS) fail(path_, errno);
  // A file system that cannot (NFS, some of FUSE): one after the other.
  const RemoveOnExit old{partial_ + "-old"};
  if (::rename(folder_.c_str(), old.path.c_str()) != 0) fail(path_, errno);
  if (::rename(partial_.c_str(), folder_.c_str()) == 0) return;
  const int error = errno;
  ::rename(old.path.c_str(), folder_.c_str());
  fail(path_, error);
}

}  // namespace syncline
