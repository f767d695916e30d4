#include <utility>

#include "sim/collective/schedule.h"

namespace syncline {
namespace {

class Hierarchical final : public Schedule {
 public:
  Hierarchical(std::uint32_t sites, std::uint32_t places, std::uint64_t elements)
      : sites_(sites),
        places_(places),
        scatter_(ring_schedule(CollectiveOperation::REDUCE_SCATTER, places, elements)),
        gather_(ring_schedule(CollectiveOperation::ALL_GATHER, places, elements)) {
    const Parts parts(elements, places);
    for (std::uint32_t place = 0; place < places; ++place) {
      shards_.push_back(parts[place]);
      between_.push_back(
          ring_schedule(CollectiveOperation::ALL_REDUCE, sites, shards_[place].elements));
    }
  }

  std::uint32_t ranks() const override { return sites_ * places_; }
  std::uint32_t steps(std::uint32_t) const override { return 2 * (places_ - 1) + 2 * (sites_ - 1); }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    const std::uint32_t site = rank / places_;
    const std::uint32_t place = rank % places_;
    const std::uint32_t inside = places_ - 1;
    const std::uint32_t outside = 2 * (sites_ - 1);
    if (index < inside) {
      scatter_->step(place, index, step);
      move(step, {.scale = 1, .shift = site * places_, .first_step = 0, .first_element = 0});
    } else if (index < inside + outside) {
      between_[place]->step(site, index - inside, step);
      move(step, {.scale = places_,
                  .shift = place,
                  .first_step = inside,
                  .first_element = shards_[place].first});
    } else {
      gather_->step(place, index - inside - outside, step);
      move(step, {.scale = 1,
                  .shift = site * places_,
                  .first_step = inside + outside,
                  .first_element = 0});
    }
  }

 private:
  // From a stage's ranks, steps and elements to those of the whole.
  struct Placement {
    std::uint32_t scale, shift;
    std::uint32_t first_step;
    std::uint64_t first_element;
  };
  static void move(Step& step, const Placement& to) {
    for (Step::Send& send : step.sends) {
      send.to = send.to * to.scale + to.shift;
      send.awaited += to.first_step;
      send.range.first += to.first_element;
    }
    for (Step::Receive& receive : step.receives) {
      receive.from = receive.from * to.scale + to.shift;
      receive.range.first += to.first_element;
    }
  }

  std::uint32_t sites_;
  std::uint32_t places_;
  std::unique_ptr<Schedule> scatter_, gather_;
  std::vector<Range> shards_;                       // by place
  std::vector<std::unique_ptr<Schedule>> between_;  // by place
};

}  // namespace

std::unique_ptr<Schedule> hierarchical_schedule(std::uint32_t sites, std::uint32_t places,
                                                std::uint64_t elements) {
  return std::make_unique<Hierarchical>(sites, places, elements);
}

}  // namespace syncline
