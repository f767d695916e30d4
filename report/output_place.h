// The place that --out names. Inside report/ only.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace syncline {

struct OutputPlace {
  std::string path;    // as it was named
  std::string folder;  // the place itself, absolute, past links and dots
};

// Checks that a folder can stand there: there is nothing, an empty folder, or a folder that
// `is_own`. Throws InputError: any other folder that is not empty (`what`: "run's", "sweep's"), a
// file, the working folder.
OutputPlace check_output_place(std::string path, const std::string& what,
                               const std::function<bool(const std::filesystem::path&)>& is_own);

bool has_files(const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace syncline
