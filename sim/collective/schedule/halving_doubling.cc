#include <bit>

#include "sim/collective/schedule.h"
#include "topology/check.h"

namespace syncline {
namespace {

// The largest power of two of the ranks, `active_` of them, halve and double; each of the others
// gives what it has to the rank after it first. The active ones begin together, when they are told
// that this is over: the sends of those who gave nothing would meet it on the way.
class HalvingDoubling final : public Schedule {
 public:
  HalvingDoubling(CollectiveOperation operation, std::uint32_t ranks, std::uint64_t elements)
      : ranks_(ranks),
        elements_(elements),
        active_(std::bit_floor(ranks)),
        parts_(elements, active_),
        pairs_(ranks - active_),
        levels_(static_cast<std::uint32_t>(std::bit_width(active_)) - 1),
        first_(operation == CollectiveOperation::ALL_GATHER ? levels_ : 0),
        exchanges_((operation == CollectiveOperation::ALL_REDUCE ? 2 : 1) * levels_) {
    SYNCLINE_CHECK(operation == CollectiveOperation::ALL_REDUCE || pairs_ == 0,
                   "half of a halving-doubling is for powers of two");
  }

  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t steps(std::uint32_t rank) const override {
    if (gives(rank)) return 2;
    return before(rank) + exchanges_ + (is_paired(rank) ? 1 : 0);
  }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    step.sends.clear();
    step.receives.clear();
    const Range all{0, elements_};
    if (gives(rank)) {
      if (index == 0) {
        step.sends.push_back({rank + 1, 0, all});
      } else {
        step.receives.push_back({rank + 1, false, all});
      }
      return;
    }
    if (is_paired(rank) && index == 0) {
      step.receives.push_back({rank - 1, true, all});
    } else if (index + 1 == before(rank)) {
      tell(rank, step);
    } else if (index - before(rank) < exchanges_) {
      exchange(rank, first_ + index - before(rank), step);
    } else {
      step.sends.push_back({rank - 1, 1, all});
    }
  }

 private:
  bool is_paired(std::uint32_t rank) const { return rank < 2 * pairs_; }
  bool gives(std::uint32_t rank) const { return is_paired(rank) && rank % 2 == 0; }
  std::uint32_t active_index(std::uint32_t rank) const {
    return is_paired(rank) ? rank / 2 : rank - pairs_;
  }
  std::uint32_t rank_of(std::uint32_t active_index) const {
    return active_index < pairs_ ? 2 * active_index + 1 : active_index + pairs_;
  }

  // Steps of an active rank before its exchanges.
  std::uint32_t before(std::uint32_t rank) const {
    return is_paired(rank) ? 2 : pairs_ > 0 ? 1 : 0;
  }

  // Nothing but that it is said: the active rank of each pair to the next pair's, and all together
  // to those without one.
  void tell(std::uint32_t rank, Step& step) const {
    const std::uint32_t own = active_index(rank);
    if (own >= pairs_) {
      step.receives.push_back({rank_of(own % pairs_), false, {}});
      return;
    }
    if (pairs_ > 1) {
      step.sends.push_back({rank_of((own + 1) % pairs_), 1, {}});
      step.receives.push_back({rank_of((own + pairs_ - 1) % pairs_), false, {}});
    }
    const std::uint32_t first = pairs_ + own;  // the first from pairs_ on that is `own` mod pairs_
    for (std::uint32_t other = first; other < active_; other += pairs_)
      step.sends.push_back({rank_of(other), 0, {}});
  }

  // The block of parts that `place` is in and that is `size` parts long.
  Range block(std::uint32_t place, std::uint32_t size) const {
    const std::uint32_t begin = place / size * size;
    return parts_.range(begin, begin + size);
  }

  void exchange(std::uint32_t rank, std::uint32_t round, Step& step) const {
    const bool halves = round < levels_;
    // What each has to itself after a halving and before a doubling, in parts.
    const std::uint32_t size = halves ? active_ >> (round + 1) : 1U << (round - levels_);
    const std::uint32_t own = active_index(rank);
    const std::uint32_t other = own ^ size;
    const std::uint32_t peer = rank_of(other);
    const std::uint32_t awaited = round - first_ + before(peer);
    step.sends.push_back({peer, awaited, block(halves ? other : own, size)});
    step.receives.push_back({peer, halves, block(halves ? own : other, size)});
  }

  std::uint32_t ranks_;
  std::uint64_t elements_;
  std::uint32_t active_;
  Parts parts_;
  std::uint32_t pairs_;  // of one that gives and one that is active
  std::uint32_t levels_;
  std::uint32_t first_;  // of all rounds of an all-reduce
  std::uint32_t exchanges_;
};

}  // namespace

std::unique_ptr<Schedule> halving_doubling_schedule(CollectiveOperation operation,
                                                    std::uint32_t ranks, std::uint64_t elements) {
  return std::make_unique<HalvingDoubling>(operation, ranks, elements);
}

}  // namespace syncline
