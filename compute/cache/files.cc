#include "compute/cache/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace syncline {

void fail_on(const std::string& path, const std::string& action) {
  throw std::runtime_error(path + ": cannot " + action + ": " +
                           std::generic_category().message(errno));
}

FileDescriptor open_to_write(const std::string& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0666));
  if (!file) fail_on(path, "open the file");
  return file;
}

void write_all(const FileDescriptor& file, std::span<const std::byte> data,
               const std::string& path) {
  while (!data.empty()) {
    const ssize_t written = ::write(file.get(), data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_on(path, "write");
    data = data.subspan(static_cast<std::size_t>(written));
  }
}

std::optional<std::vector<std::byte>> read_whole(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) fail_on(path, "read");
  std::vector<std::byte> data(static_cast<std::size_t>(status.st_size));
  if (!read_at(file, 0, data)) fail_on(path, "read");
  return data;
}

bool read_at(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> data) {
  while (!data.empty()) {
    const ssize_t got = ::pread(file.get(), data.data(), data.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    data = data.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

void replace_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  const std::string beside = unfinished(path);
  try {
    const FileDescriptor file = open_to_write(beside, O_WRONLY | O_TRUNC);
    for (const std::span<const std::byte> part : parts) write_all(file, part, path);
    if (::fsync(file.get()) != 0) fail_on(path, "write");
    if (std::rename(beside.c_str(), path.c_str()) != 0) fail_on(path, "replace the file");
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
  // Makes the rename durable. A file system that cannot do this for folders loses at most the new
  // content.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const FileDescriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) ::fsync(parent.get());
}

std::string unfinished(const std::string& path) { return path + ".new"; }

}  // namespace syncline
