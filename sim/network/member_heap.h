// The members of a group, the one that ends first on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/release.h"

namespace syncline {

// A 4-ary heap by key. Where each member stands is kept by its owner: `place(member)` is a
// reference to it, so that many small heaps need no index of their own.
class MemberHeap {
 public:
  bool empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }
  double top_key() const { return keys_.front(); }
  std::uint32_t top() const { return members_.front(); }
  double key(std::size_t place) const { return keys_[place]; }
  std::span<const std::uint32_t> members() const { return members_; }  // in no order

  void reserve(std::size_t size) {
    keys_.reserve(size);
    members_.reserve(size);
  }

  template <class Place>
  void push(double key, std::uint32_t member, Place&& place) {
    keys_.emplace_back();
    members_.emplace_back();
    rise(keys_.size() - 1, key, member, place);
  }

  template <class Place>
  void erase(std::size_t at, Place&& place) {
    double key = keys_.back();
    std::uint32_t member = members_.back();
    keys_.pop_back();
    members_.pop_back();
    if (at == keys_.size()) {
      if (release_if_large(keys_)) release_if_large(members_);
      return;
    }
    if (key < keys_[at]) {
      rise(at, key, member, place);
    } else {
      sink(at, key, member, place);
    }
  }

  // From all keys; their order stays.
  void subtract(double high, double low) {
    for (double& key : keys_) key = (key - high) - low;
  }

 private:
  static constexpr std::size_t kArity = 4;

  template <class Place>
  void put(std::size_t at, double key, std::uint32_t member, Place&& place) {
    keys_[at] = key;
    members_[at] = member;
    place(member) = static_cast<std::uint32_t>(at);
  }

  // Moves others down until it can stand at `at` or above.
  template <class Place>
  void rise(std::size_t at, double key, std::uint32_t member, Place&& place) {
    while (at > 0) {
      std::size_t parent = (at - 1) / kArity;
      if (!(key < keys_[parent])) break;
      put(at, keys_[parent], members_[parent], place);
      at = parent;
    }
    put(at, key, member, place);
  }

  template <class Place>
  void sink(std::size_t at, double key, std::uint32_t member, Place&& place) {
    while (true) {
      std::size_t first = at * kArity + 1;
      if (first >= keys_.size()) break;
      std::size_t least = first;
      std::size_t last = first + kArity < keys_.size() ? first + kArity : keys_.size();
      for (std::size_t child = first + 1; child < last; ++child) {
        least = keys_[child] < keys_[least] ? child : least;
      }
      if (!(keys_[least] < key)) break;
      put(at, keys_[least], members_[least], place);
      at = least;
    }
    put(at, key, member, place);
  }

  std::vector<double> keys_;
  std::vector<std::uint32_t> members_;
};

}  // namespace syncline
