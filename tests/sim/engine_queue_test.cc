#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/engine/engine.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

struct Nobody final : EventTarget {
  void on_event(std::uint64_t) override {}
};

std::vector<std::uint64_t> drain(EventQueue& queue) {
  std::vector<std::uint64_t> tags;
  while (!queue.empty()) tags.push_back(queue.pop().tag);
  return tags;
}

TEST(EventQueue, OrdersByTimeThenPhaseThenOrderThenSequence) {
  Nobody nobody;
  EventQueue queue;
  queue.push(Time::ns(5), Phase::TIMER, 0, nobody, 6);
  queue.push(Time::ns(5), Phase::ARRIVAL, 0, nobody, 9);
  queue.push(Time::ns(5), Phase::CHANGE, 1, nobody, 8);
  queue.push(Time::ns(5), Phase::CHANGE, 0, nobody, 7);
  queue.push(Time::ns(5), Phase::COMPLETION, 3, nobody, 4);
  queue.push(Time::ns(5), Phase::COMPLETION, 3, nobody, 5);
  queue.push(Time::ns(4), Phase::ARRIVAL, 9, nobody, 3);
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{3, 4, 5, 6, 7, 8, 9}));
}

TEST(EventQueue, CancelTakesEffectOnce) {
  Nobody nobody;
  EventQueue queue;
  EventHandle first = queue.push(Time::ns(1), Phase::TIMER, 0, nobody, 1);
  EventHandle second = queue.push(Time::ns(2), Phase::TIMER, 0, nobody, 2);
  EXPECT_TRUE(queue.cancel(first));
  EXPECT_FALSE(queue.cancel(first));
  EXPECT_EQ(drain(queue), std::vector<std::uint64_t>{2});
  EXPECT_FALSE(queue.cancel(second));
  EXPECT_FALSE(queue.cancel(EventHandle{}));
}

TEST(EventQueue, HandleOfAnEarlierUseOfASlotNamesNothing) {
  Nobody nobody;
  EventQueue queue;
  EventHandle old = queue.push(Time::ns(1), Phase::TIMER, 0, nobody, 1);
  queue.pop();
  EventHandle young = queue.push(Time::ns(1), Phase::TIMER, 0, nobody, 2);
  EXPECT_EQ(old.index, young.index);
  EXPECT_FALSE(queue.pending(old));
  EXPECT_FALSE(queue.cancel(old));
  EXPECT_TRUE(queue.pending(young));
}

// Against std::map with the same key.
TEST(EventQueue, RandomInsertsCancelsAndPopsAgreeWithAMap) {
  using Key = std::tuple<std::int64_t, int, std::uint64_t, std::uint64_t>;
  RandomStream random(3, "queue");
  Nobody nobody;
  EventQueue queue;
  std::map<Key, EventHandle> expected;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    double what = random.uniform();
    if (what < 0.5 || expected.empty()) {
      auto at = static_cast<std::int64_t>(random.next() % 50);
      auto phase = static_cast<int>(random.next() % 4);
      std::uint64_t order = random.next() % 3;
      expected[{at, phase, order, i}] =
          queue.push(Time::ns(at), static_cast<Phase>(phase), order, nobody, i);
    } else if (what < 0.75) {
      auto victim = std::next(
          expected.begin(),
          static_cast<std::ptrdiff_t>(random.next() % std::min<std::size_t>(expected.size(), 100)));
      ASSERT_TRUE(queue.cancel(victim->second));
      expected.erase(victim);
    } else {
      EventQueue::Event event = queue.pop();
      ASSERT_EQ(event.tag, std::get<3>(expected.begin()->first));
      ASSERT_EQ(event.at.count_ns(), std::get<0>(expected.begin()->first));
      expected.erase(expected.begin());
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
}

}  // namespace
}  // namespace syncline
