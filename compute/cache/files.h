// Files that are read and written as wholes. All errors are std::runtime_error "PATH: cannot …:
// reason".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/file_descriptor.h"

namespace syncline {

// "PATH: cannot `action`: " and the reason that errno has.
[[noreturn]] void fail_on(const std::string& path, const std::string& action);

FileDescriptor open_to_write(const std::string& path, int flags);
void write_all(const FileDescriptor& file, std::span<const std::byte> data,
               const std::string& path);

// Nothing if there is no such file.
std::optional<std::vector<std::byte>> read_whole(const std::string& path);
// `data.size()` bytes from `offset` on; false if they are not there or cannot be read.
bool read_at(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> data);

// The file has either its old content or all of the new one, whatever happens meanwhile: written
// beside it, made durable, renamed. After an error the old one stands and nothing is left beside
// it.
void replace_file(const std::string& path, std::span<const std::span<const std::byte>> parts);
// What a kill during replace_file() may have left.
std::string unfinished(const std::string& path);

}  // namespace syncline
