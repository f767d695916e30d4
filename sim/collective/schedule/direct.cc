#include "sim/collective/schedule.h"

namespace syncline {
namespace {

class ShardedServer final : public Schedule {
 public:
  ShardedServer(CollectiveOperation operation, std::uint32_t ranks, std::uint64_t elements)
      : operation_(operation), ranks_(ranks), parts_(elements, ranks) {}

  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t steps(std::uint32_t) const override {
    if (ranks_ == 1) return 0;
    return operation_ == CollectiveOperation::ALL_REDUCE ? 2 : 1;
  }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    const bool reduces = operation_ != CollectiveOperation::ALL_GATHER && index == 0;
    step.sends.clear();
    step.receives.clear();
    const Range own = parts_[rank];
    for (std::uint32_t distance = 1; distance < ranks_; ++distance) {
      const std::uint32_t to = (rank + distance) % ranks_;
      const std::uint32_t from = (rank + ranks_ - distance) % ranks_;
      step.sends.push_back({to, index, reduces ? parts_[to] : own});
      step.receives.push_back({from, reduces, reduces ? own : parts_[from]});
    }
  }

 private:
  CollectiveOperation operation_;
  std::uint32_t ranks_;
  Parts parts_;
};

class AllToAll final : public Schedule {
 public:
  AllToAll(std::uint32_t ranks, std::uint64_t elements) : ranks_(ranks), elements_(elements) {}

  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t steps(std::uint32_t) const override { return ranks_ == 1 ? 0 : 1; }

  void step(std::uint32_t rank, std::uint32_t, Step& step) const override {
    step.sends.clear();
    step.receives.clear();
    for (std::uint32_t distance = 1; distance < ranks_; ++distance) {
      step.sends.push_back({(rank + distance) % ranks_, 0, {0, elements_}});
      step.receives.push_back({(rank + ranks_ - distance) % ranks_, true, {0, elements_}});
    }
  }

 private:
  std::uint32_t ranks_;
  std::uint64_t elements_;
};

}  // namespace

std::unique_ptr<Schedule> sharded_server_schedule(CollectiveOperation operation,
                                                  std::uint32_t ranks, std::uint64_t elements) {
  return std::make_unique<ShardedServer>(operation, ranks, elements);
}

std::unique_ptr<Schedule> all_to_all_schedule(std::uint32_t ranks, std::uint64_t elements) {
  return std::make_unique<AllToAll>(ranks, elements);
}

}  // namespace syncline
