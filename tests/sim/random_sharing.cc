#include "tests/sim/random_sharing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "sim/network/sharing.h"
#include "tests/sim/progressive_filling.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct LiveFlow {
  std::vector<ChannelId> route;
  std::uint32_t weight;
  double cap;
  ProgressiveFilling::FlowId plain;
  Sharing::Limit limit = Sharing::kOwnCap;
  bool is_new = true;
};

class SharingComparison {
 public:
  explicit SharingComparison(std::uint64_t seed)
      : random_(seed, "sharing"),
        round_(seed % 3 == 0),
        style_(below(4)),
        capacity_(static_cast<std::size_t>(style_ == 0 ? 2 + 2 * below(20) : 1 + below(24))),
        sharing_(capacity_.size()),
        other_(capacity_.size()),
        plain_(capacity_.size()) {}

  void run() {
    for (std::uint32_t channel = 0; channel < capacity_.size(); ++channel) {
      set_capacity(channel, draw_capacity());
    }
    for (int steps = 10 + below(40); steps > 0; --steps) {
      Time target = now_;
      if (chance(0.8)) {
        target = now_ + (round_ ? Time::ns(std::int64_t{62'500'000} * below(16))
                                : Time::ns(static_cast<std::int64_t>(1e9 * random_.uniform())));
      }
      while (sharing_.next_finish() <= target) {
        now_ = std::max(now_, sharing_.next_finish());
        finish();
        solve();
        if (::testing::Test::HasFatalFailure()) return;
      }
      now_ = target;
      change();
      solve();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  RandomSharing found() const { return found_; }

 private:
  int below(int limit) { return static_cast<int>(random_.next() % static_cast<unsigned>(limit)); }
  bool chance(double probability) { return random_.uniform() < probability; }

  double draw_capacity() {
    if (chance(0.05)) return 0;
    if (chance(0.05)) return kInfinity;
    return 131072 * (round_ ? std::exp2(below(6)) : std::exp2(5 * random_.uniform()));
  }

  void set_capacity(std::uint32_t channel, double capacity) {
    capacity_[channel] = capacity;
    sharing_.set_capacity(ChannelId{channel}, capacity, now_);
    other_.set_capacity(ChannelId{channel}, capacity, now_);
    plain_.set_capacity(ChannelId{channel}, capacity);
  }

  // The other one knows the flows by other numbers, and hears of them in another order.
  static FlowId other_name(FlowId flow) { return flow ^ 21; }

  std::vector<ChannelId> draw_route() {
    auto channels = static_cast<int>(capacity_.size());
    std::vector<int> route;
    if (style_ == 0) {  // a star: from one half to the other
      route = {below(channels / 2), channels / 2 + below(channels / 2)};
    } else {
      for (int i = 1 + below(style_ == 1 ? 2 : 5); i > 0; --i) route.push_back(below(channels));
      if (style_ == 2) route.push_back(0);  // one channel that everybody crosses
    }
    std::vector<ChannelId> result;
    for (int channel : route) {
      ChannelId id{static_cast<std::uint32_t>(channel)};
      if (std::find(result.begin(), result.end(), id) == result.end()) result.push_back(id);
    }
    return result;
  }

  void finish() {
    sharing_.take_finished(now_, finished_);
    ASSERT_FALSE(finished_.empty());
    for (const Sharing::Finished& flow : finished_) {
      LiveFlow& live = flows_.at(flow.flow);
      ASSERT_EQ(flow.limit, live.limit);
      // Half a nanosecond for each of two roundings.
      double slack = 1.1e-9 * plain_.rate(live.plain) + 1e-9;
      if (!std::isinf(slack)) {
        ASSERT_LE(plain_.remaining(live.plain, now_), slack);
        ASSERT_LE(other_.remaining(other_name(flow.flow), now_), slack);
      }
      plain_.remove(live.plain);
      other_.remove(other_name(flow.flow), now_);
      flows_.erase(flow.flow);
      ++found_.flows_finished;
    }
  }

  void change() {
    std::vector<FlowId> added;
    int joins = chance(0.1) ? 64 + below(200) : below(6);
    if (joins >= 64) ++found_.fills;
    for (; joins > 0; --joins) {
      FlowId id = 0;
      while (flows_.contains(id)) ++id;
      LiveFlow flow{.route = draw_route(),
                    .weight = chance(0.3) ? 1 + static_cast<std::uint32_t>(below(4)) : 1,
                    .cap = chance(0.15) ? draw_capacity() : kInfinity,
                    .plain = 0};
      double bytes = chance(0.05) ? 0
                     : round_     ? 16384.0 * (1 + below(64))
                                  : std::floor(std::pow(10.0, 2 + 4 * random_.uniform()));
      flow.plain = plain_.add(flow.route, bytes, flow.weight, flow.cap);
      auto [placed, is_new] = flows_.emplace(id, std::move(flow));
      sharing_.add(id, placed->second.route, bytes, placed->second.weight, placed->second.cap);
      bytes_[id] = bytes;
      added.push_back(id);
    }
    std::reverse(added.begin(), added.end());
    for (FlowId id : added) {
      const LiveFlow& flow = flows_.at(id);
      other_.add(other_name(id), flow.route, bytes_[id], flow.weight, flow.cap);
    }
    for (int i = below(3); i > 0; --i) {
      if (chance(0.5))
        set_capacity(static_cast<std::uint32_t>(below(static_cast<int>(capacity_.size()))),
                     draw_capacity());
    }
    for (int i = below(3); i > 0 && !flows_.empty(); --i) {
      auto chosen = std::next(flows_.begin(), below(static_cast<int>(flows_.size())));
      LiveFlow& flow = chosen->second;
      if (chance(0.5)) {
        flow.cap = chance(0.5) ? kInfinity : draw_capacity();
        sharing_.set_cap(chosen->first, flow.cap, now_);
        other_.set_cap(other_name(chosen->first), flow.cap, now_);
        plain_.set_cap(flow.plain, flow.cap);
      } else {
        sharing_.remove(chosen->first, now_);
        other_.remove(other_name(chosen->first), now_);
        plain_.remove(flow.plain);
        flows_.erase(chosen);
      }
    }
  }

  void solve() {
    sharing_.solve(now_);
    other_.solve(now_);
    plain_.solve(now_);
    std::map<FlowId, Sharing::Limit> before;
    for (const Sharing::LimitChange& change : sharing_.limit_changes()) {
      before.emplace(change.flow, change.before);
    }
    sharing_.limit_changes().clear();
    other_.limit_changes().clear();
    std::vector<double> load(capacity_.size());
    std::vector<double> top(capacity_.size());
    for (auto& [id, flow] : flows_) {
      double rate = sharing_.rate(id);
      double expected = plain_.rate(flow.plain);
      ++found_.rates_checked;
      if (std::isinf(expected)) {
        ASSERT_EQ(rate, expected);
        ASSERT_EQ(other_.rate(other_name(id)), expected);
      } else {
        ASSERT_NEAR(rate, expected, 1e-9 * expected) << "flow " << id;
        ASSERT_NEAR(other_.rate(other_name(id)), expected, 1e-9 * expected) << "flow " << id;
      }
      Sharing::Limit limit = sharing_.limit(id);
      if (!flow.is_new && before.contains(id)) {
        ASSERT_EQ(before[id], flow.limit) << "flow " << id;
      } else if (!flow.is_new) {
        ASSERT_EQ(limit, flow.limit) << "flow " << id << " and nobody said so";
      }
      flow.limit = limit;
      flow.is_new = false;
      for (ChannelId channel : flow.route) {
        load[channel.value] += rate;
        top[channel.value] = std::max(top[channel.value], rate / flow.weight);
      }
    }
    check_certificate(load, top);
  }

  // What max-min fairness means (Bertsekas and Gallager, 6.5.2), by the limits that it names.
  void check_certificate(const std::vector<double>& load, const std::vector<double>& top) {
    for (std::size_t channel = 0; channel < capacity_.size(); ++channel) {
      ASSERT_LE(load[channel], capacity_[channel] * (1 + 1e-9)) << "channel " << channel;
    }
    for (const auto& [id, flow] : flows_) {
      double rate = sharing_.rate(id);
      ASSERT_LE(rate, flow.cap * (1 + 1e-9));
      if (flow.limit == Sharing::kOwnCap) {
        ASSERT_GE(rate, flow.cap * (1 - 1e-9)) << "flow " << id << " could have more";
        continue;
      }
      ASSERT_TRUE(std::find(flow.route.begin(), flow.route.end(), ChannelId{flow.limit}) !=
                  flow.route.end());
      ASSERT_GE(load[flow.limit], capacity_[flow.limit] * (1 - 1e-9)) << "flow " << id;
      ASSERT_GE(rate / flow.weight, top[flow.limit] * (1 - 1e-9)) << "flow " << id;
    }
  }

  RandomStream random_;
  bool round_;
  int style_;
  std::vector<double> capacity_;
  Sharing sharing_;
  Sharing other_;
  ProgressiveFilling plain_;
  Time now_;
  std::map<FlowId, LiveFlow> flows_;
  std::map<FlowId, double> bytes_;
  std::vector<Sharing::Finished> finished_;
  RandomSharing found_;
};

}  // namespace

RandomSharing compare_random_sharing(std::uint64_t first_seed, std::uint64_t last_seed) {
  RandomSharing found;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SharingComparison comparison(seed);
    comparison.run();
    if (::testing::Test::HasFatalFailure()) return found;
    found.rates_checked += comparison.found().rates_checked;
    found.flows_finished += comparison.found().flows_finished;
    found.fills += comparison.found().fills;
  }
  return found;
}

}  // namespace syncline
