#include "scenarios/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "topology/input_error.h"

namespace syncline {

std::vector<std::string> find_data_files(const std::string& source, const std::string& suffix,
                                         const std::string& folder,
                                         const std::string& cache_folder) {
  namespace fs = std::filesystem;
  constexpr std::string_view kCache = "cache:";
  const bool cached = source.starts_with(kCache);
  fs::path path = cached ? fs::path(cache_folder) / "text" / source.substr(kCache.size())
                         : fs::path(folder) / source;
  path = path.lexically_normal();
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw InputError(
        cached
            ? fmt::format("\"{}\" is not in the cache ({}); ./dev setup fetches cache:shakespeare",
                          source, path.string())
            : fmt::format("there is no file or folder \"{}\" ({})", source, path.string()));
  }
  if (!fs::is_directory(path, error)) return {path.string()};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == suffix && entry.is_regular_file(error))
      files.push_back(entry.path().string());
  }
  if (error)
    throw InputError(
        fmt::format("the folder \"{}\" cannot be read: {}", path.string(), error.message()));
  if (files.empty())
    throw InputError(fmt::format("the folder \"{}\" holds no *{} file", path.string(), suffix));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace syncline
