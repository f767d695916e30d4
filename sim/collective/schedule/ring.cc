#include "sim/collective/schedule.h"

namespace syncline {
namespace {

// In its first half rank i sends part i-1-s in step s, in its second half part i-s.
class Ring final : public Schedule {
 public:
  Ring(CollectiveOperation operation, std::uint32_t ranks, std::uint64_t elements)
      : ranks_(ranks),
        parts_(elements, ranks),
        first_(operation == CollectiveOperation::ALL_GATHER ? ranks - 1 : 0),
        steps_((operation == CollectiveOperation::ALL_REDUCE ? 2 : 1) * (ranks - 1)) {}

  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t steps(std::uint32_t) const override { return steps_; }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    const std::uint32_t next = rank + 1 == ranks_ ? 0 : rank + 1;
    const std::uint32_t previous = rank == 0 ? ranks_ - 1 : rank - 1;
    const std::uint32_t round = first_ + index;
    step.sends.assign(1, {next, index, sent(rank, round)});
    step.receives.assign(1, {previous, round < ranks_ - 1, sent(previous, round)});
  }

 private:
  Range sent(std::uint32_t rank, std::uint32_t round) const {
    std::uint32_t part = rank + 2 * ranks_ - 1 - round;
    while (part >= ranks_) part -= ranks_;
    return parts_[part];
  }

  std::uint32_t ranks_;
  Parts parts_;
  std::uint32_t first_;  // of all rounds of an all-reduce
  std::uint32_t steps_;
};

}  // namespace

std::unique_ptr<Schedule> ring_schedule(CollectiveOperation operation, std::uint32_t ranks,
                                        std::uint64_t elements) {
  return std::make_unique<Ring>(operation, ranks, elements);
}

}  // namespace syncline
