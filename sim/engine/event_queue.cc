#include "sim/engine/event_queue.h"

#include "topology/check.h"

namespace syncline {

EventHandle EventQueue::push(Time at, Phase phase, std::uint64_t order, EventTarget& target,
                             std::uint64_t tag) {
  std::uint32_t index;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Slot& slot = slots_[index];
  slot.target = &target;
  slot.tag = tag;
  std::uint64_t phase_bits = static_cast<std::uint64_t>(phase) << Key::kSequenceBits;
  heap_.push(index, {at, order, phase_bits | sequence_++});
  return {index, slot.generation};
}

bool EventQueue::pending(EventHandle event) const {
  return event.generation != 0 && event.index < slots_.size() &&
         slots_[event.index].generation == event.generation;
}

bool EventQueue::cancel(EventHandle event) {
  if (!pending(event)) return false;
  heap_.erase(event.index);
  release(event.index);
  return true;
}

EventQueue::Event EventQueue::pop() {
  SYNCLINE_CHECK(!heap_.empty(), "pop from an empty event queue");
  std::uint32_t index = heap_.top();
  Event event{heap_.top_key().at, slots_[index].target, slots_[index].tag};
  heap_.pop();
  release(index);
  return event;
}

void EventQueue::release(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (++slot.generation == 0) slot.generation = 1;
  free_.push_back(index);
}

}  // namespace syncline
