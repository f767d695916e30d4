#include "compute/cache/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "compute/cache/files.h"
#include "compute/interrupted.h"

namespace syncline {

FileDescriptor try_lock_folder(const std::string& folder) {
  const std::string path = folder + "/lock";
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file && errno == ENOENT) return {};
  if (!file) fail_on(path, "open the file");
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return {};
    if (errno != EINTR) fail_on(path, "lock the file");
  }
  // Whoever held it may have deleted it before we had it; then it is no longer what others would
  // lock.
  struct stat held = {};
  struct stat named = {};
  if (::fstat(file.get(), &held) != 0 || ::stat(path.c_str(), &named) != 0 ||
      held.st_ino != named.st_ino || held.st_dev != named.st_dev) {
    return {};
  }
  return file;
}

FileDescriptor lock_folder(const std::string& folder, const std::function<bool()>& interrupted) {
  while (true) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      throw std::runtime_error(folder + ": cannot make the folder: " + error.message());
    }
    if (FileDescriptor lock = try_lock_folder(folder)) return lock;
    if (interrupted && interrupted()) throw TrainingInterrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace syncline
