// One file: whole, or as it was.
#pragma once

#include <string>
#include <string_view>

namespace syncline {

// Makes a file that is not there, down to the disk. Throws std::runtime_error (disk full, …).
void write_new_file(const std::string& path, std::string_view text);

// Writes beside `path` and renames; what was there stays until then. Throws InputError: a folder, a
// place that cannot be written; std::runtime_error (disk full, …), and nothing is changed.
void publish_file(const std::string& path, std::string_view text);

}  // namespace syncline
