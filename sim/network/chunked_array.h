// An array that grows without moving what it holds and without the peak of a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace syncline {

template <class T>
class ChunkedArray {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return chunks_[index / kChunk][index % kChunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / kChunk][index % kChunk]; }

  // At least `size` elements; new ones are value-initialised.
  void grow(std::size_t size) {
    while (chunks_.size() * kChunk < size) chunks_.push_back(std::make_unique<T[]>(kChunk));
    if (size > size_) size_ = size;
  }

 private:
  static constexpr std::size_t kChunk = 512;

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace syncline
