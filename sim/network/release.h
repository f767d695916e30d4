// Memory that only a burst needed.
#pragma once

#include <cstddef>
#include <vector>

namespace syncline {

// Gives back the memory of an empty vector that has become large: one burst must not hold it for
// ever. True if it did.
template <class T>
bool release_if_large(std::vector<T>& vector, std::size_t large = 512) {
  if (!vector.empty() || vector.capacity() < large) return false;
  std::vector<T>().swap(vector);
  return true;
}

}  // namespace syncline
