// Which files a scenario's data are. Inside scenarios/ only.
#pragma once

#include <string>
#include <vector>

namespace syncline {

// The files that `source` names: a file itself; of a folder, its files with `suffix`, by name;
// "cache:NAME" is the folder NAME below CACHE/text. Relative paths start from `folder`. All
// absolute. Throws InputError: not there, or a folder without such files.
std::vector<std::string> find_data_files(const std::string& source, const std::string& suffix,
                                         const std::string& folder,
                                         const std::string& cache_folder);

}  // namespace syncline
