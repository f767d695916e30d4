#include <algorithm>
#include <bit>
#include <vector>

#include "sim/collective/schedule.h"

namespace syncline {
namespace {

class BinomialTree final : public Schedule {
 public:
  BinomialTree(std::uint32_t ranks, std::uint64_t elements) : elements_(elements), places_(ranks) {
    const auto levels = static_cast<std::uint32_t>(std::bit_width(ranks - 1));
    grow(0, ranks, levels);
  }

  std::uint32_t ranks() const override { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t steps(std::uint32_t rank) const override {
    const auto children = static_cast<std::uint32_t>(places_[rank].children.size());
    return 2 * children + (rank == 0 ? 0 : 2);
  }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    step.sends.clear();
    step.receives.clear();
    const Place& place = places_[rank];
    const auto children = static_cast<std::uint32_t>(place.children.size());
    const Range all{0, elements_};
    if (index < children) {
      step.receives.push_back({place.children[children - 1 - index], true, all});
      return;
    }
    if (rank != 0) {
      if (index == children) {
        step.sends.push_back({place.parent, place.turn, all});
        return;
      }
      if (index == children + 1) {
        step.receives.push_back({place.parent, false, all});
        return;
      }
    }
    const std::uint32_t child = place.children[index - children - (rank == 0 ? 0 : 2)];
    step.sends.push_back(
        {child, static_cast<std::uint32_t>(places_[child].children.size()) + 1, all});
  }

 private:
  struct Place {
    std::uint32_t parent = 0;
    std::uint32_t turn = 0;               // the parent's step that waits for it
    std::vector<std::uint32_t> children;  // the highest first
  };

  // `root` with the `count - 1` ranks after it, `levels` high: levels < count <= 2^levels. A child
  // of height h is there or not, and takes between h + 1 and 2^h ranks; the highest must be there.
  void grow(std::uint32_t root, std::uint32_t count, std::uint32_t levels) {
    std::uint32_t next = root + 1;
    std::uint32_t left = count - 1;
    for (std::uint32_t height = levels; height-- > 0;) {
      if (left < height + 1) continue;
      const std::uint32_t taken = std::min(left, 1U << height);
      places_[next].parent = root;
      places_[root].children.push_back(next);
      grow(next, taken, height);
      next += taken;
      left -= taken;
    }
    const auto children = static_cast<std::uint32_t>(places_[root].children.size());
    for (std::uint32_t i = 0; i < children; ++i)
      places_[places_[root].children[i]].turn = children - 1 - i;
  }

  std::uint64_t elements_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Schedule> binomial_tree_schedule(std::uint32_t ranks, std::uint64_t elements) {
  return std::make_unique<BinomialTree>(ranks, elements);
}

}  // namespace syncline
