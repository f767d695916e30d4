#include "report/output_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "topology/input_error.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// The folder itself, past links and dots: a link cannot change places with a folder. Folders that
// are not there yet stay as they are written.
fs::path resolve(const std::string& path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(path), error);
  if (error)
    throw InputError(fmt::format("--out {}: cannot be written: {}", path, error.message()));
  if (!resolved.has_filename()) resolved = resolved.parent_path();
  return resolved;
}

// The folder that one stands in, or one above it, would be pulled away under one's feet.
bool holds_working_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  return !error && std::mismatch(folder.begin(), folder.end(), here.begin(), here.end()).first ==
                       folder.end();
}

}  // namespace

bool has_files(const fs::path& folder, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    std::error_code ignored;
    return fs::exists(folder / name, ignored);
  });
}

OutputPlace check_output_place(std::string path, const std::string& what,
                               const std::function<bool(const fs::path&)>& is_own) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const fs::path folder = resolve(path);
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (fs::exists(status) && !fs::is_directory(status))
    throw InputError(fmt::format("--out {}: is a file; name a folder", path));
  if (!fs::exists(status) && fs::is_symlink(fs::symlink_status(folder, error))) {
    throw InputError(
        fmt::format("--out {}: is a link to a folder that is not there; name another one", path));
  }
  if (holds_working_folder(folder))
    throw InputError(
        fmt::format("--out {}: is the folder that this command runs in; name one below it", path));
  if (fs::is_directory(status) && !fs::is_empty(folder, error) && !is_own(folder)) {
    throw InputError(fmt::format(
        "--out {}: is not empty and no {} folder, so it is left alone; name another one", path,
        what));
  }
  return {path, folder.string()};
}

}  // namespace syncline
