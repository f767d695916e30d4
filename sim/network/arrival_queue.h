// Transfers in their latency phase whose routes have one latency: the first to start is the first
// to arrive, so they need no order but their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace syncline {

// A first-in-first-out queue of slots, in a ring that grows.
class ArrivalQueue {
 public:
  bool empty() const { return first_ == end_; }
  std::uint32_t front() const { return ring_[first_ & (ring_.size() - 1)]; }
  void pop() {
    ++first_;
    if (!empty() || ring_.size() <= kKept) return;
    std::vector<std::uint32_t>().swap(ring_);  // one burst must not hold its memory for ever
    first_ = end_ = 0;
  }
  void push(std::uint32_t slot) {
    if (end_ - first_ == ring_.size()) grow();
    ring_[end_++ & (ring_.size() - 1)] = slot;
  }

 private:
  static constexpr std::size_t kKept = 65536;

  void grow() {
    std::vector<std::uint32_t> larger(ring_.empty() ? 16 : 2 * ring_.size());
    std::size_t count = end_ - first_;
    for (std::size_t i = 0; i < count; ++i) larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    first_ = 0;
    end_ = count;
  }

  std::vector<std::uint32_t> ring_;  // its size is a power of two
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

}  // namespace syncline
