// A 4-ary heap of (key, index) whose entries can be moved and taken out by index in O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/check.h"

namespace syncline {

// Indexes are small dense numbers that the owner gives out (slots of a pool); each is in the heap
// at most once. Keys are totally ordered by operator<; equal keys come out in no stated order.
template <class Key>
class IndexedHeap {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool contains(std::uint32_t index) const {
    return index < position_.size() && position_[index] != kAbsent;
  }

  const Key& top_key() const { return entries_.front().key; }
  std::uint32_t top() const { return entries_.front().index; }

  void push(std::uint32_t index, const Key& key) {
    if (index >= position_.size()) position_.resize(index + 1, kAbsent);
    SYNCLINE_CHECK(position_[index] == kAbsent, "an index is in a heap at most once");
    entries_.emplace_back();
    rise(entries_.size() - 1, {key, index});
  }

  // Adds it, or moves it to its new place.
  void set(std::uint32_t index, const Key& key) {
    if (!contains(index)) return push(index, key);
    std::size_t at = position_[index];
    if (key < entries_[at].key) {
      rise(at, {key, index});
    } else {
      sink(at, {key, index});
    }
  }

  // False if it was not there.
  bool erase(std::uint32_t index) {
    if (!contains(index)) return false;
    std::size_t at = position_[index];
    position_[index] = kAbsent;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (at == entries_.size()) return true;
    if (last.key < entries_[at].key) {
      rise(at, last);
    } else {
      sink(at, last);
    }
    return true;
  }

  void pop() {
    position_[top()] = kAbsent;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) sink(0, last);
  }

 private:
  struct Entry {
    Key key{};
    std::uint32_t index = 0;
  };
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::size_t kArity =
      4;  // half the levels of a binary heap; four children are two cache lines

  void place(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    position_[entry.index] = static_cast<std::uint32_t>(at);
  }

  // Moves others down until `entry` can stand at `at` or above.
  void rise(std::size_t at, const Entry entry) {
    while (at > 0) {
      std::size_t parent = (at - 1) / kArity;
      if (!(entry.key < entries_[parent].key)) break;
      place(at, entries_[parent]);
      at = parent;
    }
    place(at, entry);
  }

  void sink(std::size_t at, const Entry entry) {
    while (true) {
      std::size_t first = at * kArity + 1;
      if (first >= entries_.size()) break;
      std::size_t least = least_child(first);
      if (!(entries_[least].key < entry.key)) break;
      place(at, entries_[least]);
      at = least;
    }
    place(at, entry);
  }

  // Of the (at most) four from `first` on. Which of four is least is nothing that a processor could
  // guess, so that no branch depends on it.
  std::size_t least_child(std::size_t first) const {
    std::size_t count = entries_.size() - first;
    const Entry* child = &entries_[first];
    if (count >= kArity) {
      std::size_t a = child[1].key < child[0].key ? 1 : 0;
      std::size_t b = child[3].key < child[2].key ? 3 : 2;
      return first + (child[b].key < child[a].key ? b : a);
    }
    std::size_t least = 0;
    for (std::size_t i = 1; i < count; ++i) {
      if (child[i].key < child[least].key) least = i;
    }
    return first + least;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> position_;  // by index
};

}  // namespace syncline
