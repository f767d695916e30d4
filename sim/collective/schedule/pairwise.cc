#include "sim/collective/schedule.h"

namespace syncline {
namespace {

class Pairwise final : public Schedule {
 public:
  Pairwise(CollectiveOperation operation, std::uint32_t ranks, std::uint64_t elements)
      : ranks_(ranks),
        parts_(elements, ranks),
        first_(operation == CollectiveOperation::ALL_GATHER ? ranks - 1 : 0),
        steps_((operation == CollectiveOperation::ALL_REDUCE ? 2 : 1) * (ranks - 1)) {}

  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t steps(std::uint32_t) const override { return steps_; }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    const std::uint32_t round = first_ + index;
    const bool reduces = round < ranks_ - 1;
    const std::uint32_t distance = 1 + (reduces ? round : round - (ranks_ - 1));
    const std::uint32_t to = (rank + distance) % ranks_;
    const std::uint32_t from = (rank + ranks_ - distance) % ranks_;
    step.sends.assign(1, {to, index, parts_[reduces ? to : rank]});
    step.receives.assign(1, {from, reduces, parts_[reduces ? rank : from]});
  }

 private:
  std::uint32_t ranks_;
  Parts parts_;
  std::uint32_t first_;  // of all rounds of an all-reduce
  std::uint32_t steps_;
};

}  // namespace

std::unique_ptr<Schedule> pairwise_schedule(CollectiveOperation operation, std::uint32_t ranks,
                                            std::uint64_t elements) {
  return std::make_unique<Pairwise>(operation, ranks, elements);
}

}  // namespace syncline
