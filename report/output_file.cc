#include "report/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "topology/input_error.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error(
      fmt::format("{}: cannot be written: {}; nothing was changed", path, std::strerror(error)));
}

}  // namespace

void write_new_file(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail(path, errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(file);
      fail(path, error);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  // Some file systems tell of a full disk only here.
  if (::fsync(file) != 0) {
    const int error = errno;
    ::close(file);
    fail(path, error);
  }
  if (::close(file) != 0) fail(path, errno);
}

void publish_file(const std::string& path, std::string_view text) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(path + ": is a folder; name a file");
  const fs::path parent = fs::absolute(path).parent_path();
  if (!fs::is_directory(parent, error))
    throw InputError(fmt::format("{}: there is no folder {}", path, parent.string()));
  const std::string partial =
      (parent / fmt::format(".{}.partial-{}", fs::path(path).filename().string(), ::getpid()))
          .string();
  fs::remove(partial, error);
  try {
    write_new_file(partial, text);
    fs::rename(partial, path);
  } catch (...) {
    fs::remove(partial, error);
    throw;
  }
}

}  // namespace syncline
