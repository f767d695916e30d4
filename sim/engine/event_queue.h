// Future events in the order in which they happen: by time, then phase, then order, then who came
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/indexed_heap.h"
#include "topology/quantity.h"

namespace syncline {

class EventTarget;  // sim/engine/engine.h

// The order within one instant (docs/network.md).
enum class Phase : std::uint8_t {
  COMPLETION,  // ends of transfers
  TIMER,       // processes wake
  CHANGE,      // capacities and states change
  ARRIVAL      // latencies end
};

// Names an event that was scheduled. A handle of an event that has happened names nothing, for ever
// (until its slot was used four thousand million times). The default one names nothing.
struct EventHandle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: none
};

// Insert, cancel and pop in O(log n); no allocation in steady state.
class EventQueue {
 public:
  struct Event {
    Time at;
    EventTarget* target;
    std::uint64_t tag;
  };

  EventHandle push(Time at, Phase phase, std::uint64_t order, EventTarget& target,
                   std::uint64_t tag);
  // False if it has happened or was cancelled already.
  bool cancel(EventHandle event);
  bool pending(EventHandle event) const;

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Time next_time() const { return heap_.top_key().at; }  // not when empty
  Event pop();                                           // not when empty

 private:
  struct Key {
    static constexpr int kSequenceBits = 56;

    Time at;
    std::uint64_t order;
    std::uint64_t phase_and_sequence;  // the phase above the sequence: an entry is 32 bytes

    bool operator<(const Key& other) const {
      if (at != other.at) return at < other.at;
      std::uint64_t phase = phase_and_sequence >> kSequenceBits;
      std::uint64_t other_phase = other.phase_and_sequence >> kSequenceBits;
      if (phase != other_phase) return phase < other_phase;
      if (order != other.order) return order < other.order;
      return phase_and_sequence < other.phase_and_sequence;
    }
  };
  struct Slot {
    EventTarget* target = nullptr;
    std::uint64_t tag = 0;
    std::uint32_t generation = 1;
  };

  void release(std::uint32_t index);

  IndexedHeap<Key> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t sequence_ = 0;
};

}  // namespace syncline
