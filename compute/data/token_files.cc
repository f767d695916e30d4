#include "compute/data/token_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <system_error>

#include "compute/file_descriptor.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

static_assert(std::endian::native == std::endian::little);

std::string error_text(int error) { return std::generic_category().message(error); }

class InputFile {
 public:
  explicit InputFile(const std::string& path)
      // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (!fd_) {
      if (errno == ENOENT) fail("no such file");
      fail("cannot be read: " + error_text(errno));
    }
    struct stat status = {};
    if (::fstat(fd_.get(), &status) != 0) fail("cannot be read: " + error_text(errno));
    if (S_ISDIR(status.st_mode)) fail("is a folder; name the files in it");
    if (!S_ISREG(status.st_mode)) fail("is not a regular file");
    if (status.st_size == 0) fail("is empty");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t size() const { return size_; }

  // Exactly `size` bytes from `offset` on.
  void read(std::uint64_t offset, void* to, std::size_t size) const {
    auto* at = static_cast<std::byte*>(to);
    while (size > 0) {
      const ssize_t got = ::pread(fd_.get(), at, size, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot be read: " + error_text(errno));
      if (got == 0) fail("became shorter while it was read");
      at += got;
      offset += static_cast<std::uint64_t>(got);
      size -= static_cast<std::size_t>(got);
    }
  }

  // Room for `count` more tokens; returns where they begin.
  Token* grow(std::vector<Token>& tokens, std::uint64_t count) const {
    const std::size_t before = tokens.size();
    try {
      tokens.resize(before + count);
    } catch (const std::exception&) {  // bad_alloc, length_error
      fail(fmt::format("its {} tokens do not fit into memory", count));
    }
    return tokens.data() + before;
  }

  [[noreturn]] void fail(const std::string& problem) const { throw InputError(problem).at(path_); }

 private:
  std::string path_;
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
};

constexpr std::uint64_t kHeaderBytes = 1024;
constexpr std::uint32_t kMagic = 20240520;       // llm.c dev/data/data_common.py, "gpt-2"
constexpr std::uint32_t kMagic32Bit = 20240801;  // the same place, "llama-3"

// How many tokens stand behind the header; 0 if there is none.
std::uint64_t read_header(const InputFile& file) {
  std::array<std::uint32_t, 3> words = {};
  if (file.size() < sizeof words[0]) return 0;
  file.read(0, words.data(), sizeof words[0]);
  if (words[0] == kMagic32Bit) {
    file.fail("has tokens of 32 bits (an llm.c Llama 3 shard); only 16-bit tokens are read");
  }
  if (words[0] != kMagic) return 0;
  if (file.size() < kHeaderBytes) {
    file.fail(fmt::format("is cut off: the token header has {} bytes, the file {}", kHeaderBytes,
                          file.size()));
  }
  file.read(0, words.data(), sizeof words);
  if (words[1] != 1) {
    file.fail(fmt::format("bad token header: version {}; only version 1 is read", words[1]));
  }
  const std::uint64_t bytes = file.size() - kHeaderBytes;
  if (words[2] == 0) file.fail("bad token header: it says that there are no tokens");
  if (bytes != 2 * std::uint64_t{words[2]}) {
    file.fail(fmt::format("is {}: its header says {} tokens, {} bytes; behind it are {} bytes",
                          bytes < 2 * std::uint64_t{words[2]} ? "cut off" : "too long", words[2],
                          2 * std::uint64_t{words[2]}, bytes));
  }
  return words[2];
}

}  // namespace

void append_text_file(const std::string& path, std::vector<Token>& tokens) {
  const InputFile file(path);
  Token* to = file.grow(tokens, file.size());
  std::array<unsigned char, 65536> block;
  for (std::uint64_t offset = 0; offset < file.size(); offset += block.size()) {
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), file.size() - offset));
    file.read(offset, block.data(), count);
    for (std::size_t i = 0; i < count; ++i) *to++ = block[i];
  }
}

void append_token_file(const std::string& path, std::vector<Token>& tokens) {
  const InputFile file(path);
  std::uint64_t count = read_header(file);
  const std::uint64_t offset = count > 0 ? kHeaderBytes : 0;
  if (count == 0) {
    if (file.size() % 2 != 0) {
      file.fail(fmt::format("has {} bytes, an odd number; tokens have 16 bits", file.size()));
    }
    count = file.size() / 2;
  }
  Token* to = file.grow(tokens, count);
  file.read(offset, to, static_cast<std::size_t>(count) * sizeof(Token));
}

}  // namespace syncline
