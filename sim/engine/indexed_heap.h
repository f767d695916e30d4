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
    entries_.push_back({key, index});
    rise(entries_.size() - 1);
  }

  // Adds it, or moves it to its new place.
  void set(std::uint32_t index, const Key& key) {
    if (!contains(index)) return push(index, key);
    std::size_t at = position_[index];
    bool earlier = key < entries_[at].key;
    entries_[at].key = key;
    if (earlier) {
      rise(at);
    } else {
      sink(at);
    }
  }

  // False if it was not there.
  bool erase(std::uint32_t index) {
    if (!contains(index)) return false;
    std::size_t at = position_[index];
    position_[index] = kAbsent;
    Entry last = entries_.back();
    entries_.pop_back();
    if (at == entries_.size()) return true;
    bool earlier = last.key < entries_[at].key;
    entries_[at] = last;
    if (earlier) {
      rise(at);
    } else {
      sink(at);
    }
    return true;
  }

  void pop() { erase(top()); }

 private:
  struct Entry {
    Key key;
    std::uint32_t index;
  };
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  // Half the levels of a binary heap; four children are two cache lines.
  static constexpr std::size_t kArity = 4;

  void place(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    position_[entry.index] = static_cast<std::uint32_t>(at);
  }

  void rise(std::size_t at) {
    Entry entry = entries_[at];
    while (at > 0) {
      std::size_t parent = (at - 1) / kArity;
      if (!(entry.key < entries_[parent].key)) break;
      place(at, entries_[parent]);
      at = parent;
    }
    place(at, entry);
  }

  void sink(std::size_t at) {
    Entry entry = entries_[at];
    while (true) {
      std::size_t first = at * kArity + 1;
      if (first >= entries_.size()) break;
      std::size_t last = first + kArity < entries_.size() ? first + kArity : entries_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < last; ++child) {
        if (entries_[child].key < entries_[least].key) least = child;
      }
      if (!(entries_[least].key < entry.key)) break;
      place(at, entries_[least]);
      at = least;
    }
    place(at, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> position_;  // by index
};

}  // namespace syncline
