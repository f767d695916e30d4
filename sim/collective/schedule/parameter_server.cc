#include "sim/collective/schedule.h"

namespace syncline {
namespace {

// A member sends in step 0 and receives in step 1; the server the other way round.
class ParameterServer final : public Schedule {
 public:
  ParameterServer(std::uint32_t members, std::uint64_t elements)
      : server_(members), elements_(elements) {}

  std::uint32_t ranks() const override { return server_ + 1; }
  std::uint32_t members() const override { return server_; }
  std::uint32_t steps(std::uint32_t) const override { return 2; }

  void step(std::uint32_t rank, std::uint32_t index, Step& step) const override {
    step.sends.clear();
    step.receives.clear();
    const Range all{0, elements_};
    if (rank != server_) {
      if (index == 0) {
        step.sends.push_back({server_, 0, all});
      } else {
        step.receives.push_back({server_, false, all});
      }
      return;
    }
    for (std::uint32_t member = 0; member < server_; ++member) {
      if (index == 0) {
        step.receives.push_back({member, true, all});
      } else {
        step.sends.push_back({member, 1, all});
      }
    }
  }

 private:
  std::uint32_t server_;
  std::uint64_t elements_;
};

}  // namespace

std::unique_ptr<Schedule> parameter_server_schedule(std::uint32_t members, std::uint64_t elements) {
  return std::make_unique<ParameterServer>(members, elements);
}

}  // namespace syncline
