#include "sim/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

namespace syncline {
namespace {

using testing::ElementsAre;

// Writes down the tags of its events, and does what the test wants at each.
struct Recorder final : EventTarget {
  void on_event(std::uint64_t tag) override {
    tags.push_back(tag);
    if (then) then(tag);
  }
  std::vector<std::uint64_t> tags;
  std::function<void(std::uint64_t)> then;
};

// Case 15 of the network cases: schedule(+10) and then schedule(+5).
TEST(Engine, Case15EarlierFirstTiesInOrderOfScheduling) {
  Engine engine;
  Recorder recorder;
  engine.schedule(Time::ns(10), Phase::TIMER, recorder, 10);
  engine.schedule(Time::ns(5), Phase::TIMER, recorder, 5);
  engine.schedule(Time::ns(10), Phase::TIMER, recorder, 11);
  engine.run();
  EXPECT_THAT(recorder.tags, ElementsAre(5, 10, 11));
  EXPECT_EQ(engine.now(), Time::ns(10));
  EXPECT_EQ(engine.events_handled(), 3u);
}

TEST(Engine, PhasesOfOneInstant) {
  Engine engine;
  Recorder recorder;
  engine.schedule(Time::ns(1), Phase::ARRIVAL, recorder, 4);
  engine.schedule(Time::ns(1), Phase::CHANGE, recorder, 3);
  engine.schedule(Time::ns(1), Phase::TIMER, recorder, 2);
  engine.schedule(Time::ns(1), Phase::COMPLETION, recorder, 1, 7);
  engine.schedule(Time::ns(1), Phase::COMPLETION, recorder, 0, 6);
  engine.run();
  EXPECT_THAT(recorder.tags, ElementsAre(0, 1, 2, 3, 4));
}

TEST(Engine, AnEventOfAnEarlierPhaseForThisInstantComesNext) {
  Engine engine;
  Recorder recorder;
  recorder.then = [&](std::uint64_t tag) {
    if (tag == 1) engine.schedule(engine.now(), Phase::COMPLETION, recorder, 2);
  };
  engine.schedule(Time::ns(1), Phase::CHANGE, recorder, 1);
  engine.schedule(Time::ns(1), Phase::ARRIVAL, recorder, 3);
  engine.run();
  EXPECT_THAT(recorder.tags, ElementsAre(1, 2, 3));
}

TEST(Engine, InstantEndComesAfterAllEventsOfTheInstantAndBeforeTheClockMoves) {
  Engine engine;
  Recorder recorder;
  std::vector<Time> at;
  recorder.then = [&](std::uint64_t tag) {
    at.push_back(engine.now());
    if (tag == 1) {
      engine.at_instant_end(recorder, 100);
      engine.schedule(engine.now(), Phase::ARRIVAL, recorder, 2);
    }
    if (tag == 100) {
      engine.schedule(engine.now(), Phase::TIMER, recorder, 3);
      engine.at_instant_end(recorder, 101);
    }
  };
  engine.schedule(Time::ns(1), Phase::TIMER, recorder, 1);
  engine.schedule(Time::ns(2), Phase::TIMER, recorder, 4);
  engine.run();
  EXPECT_THAT(recorder.tags, ElementsAre(1, 2, 100, 3, 101, 4));
  EXPECT_EQ(at[4], Time::ns(1));
  EXPECT_EQ(at[5], Time::ns(2));
}

TEST(Engine, InstantEndCanBeForgotten) {
  Engine engine;
  Recorder kept;
  Recorder gone;
  engine.at_instant_end(gone, 1);
  engine.at_instant_end(kept, 2);
  engine.cancel_instant_end(gone);
  engine.run();
  EXPECT_TRUE(gone.tags.empty());
  EXPECT_THAT(kept.tags, ElementsAre(2));
}

TEST(Engine, CancelledEventsDoNotHappen) {
  Engine engine;
  Recorder recorder;
  EventHandle event = engine.schedule(Time::ns(1), Phase::TIMER, recorder, 1);
  engine.schedule(Time::ns(2), Phase::TIMER, recorder, 2);
  EXPECT_TRUE(engine.cancel(event));
  EXPECT_FALSE(engine.cancel(event));
  engine.run();
  EXPECT_THAT(recorder.tags, ElementsAre(2));
}

TEST(Engine, RunUntilStopsBeforeTheFirstLaterEvent) {
  Engine engine;
  Recorder recorder;
  engine.schedule(Time::ns(10), Phase::TIMER, recorder, 1);
  engine.schedule(Time::ns(11), Phase::TIMER, recorder, 2);
  engine.run_until(Time::ns(10));
  EXPECT_THAT(recorder.tags, ElementsAre(1));
  EXPECT_EQ(engine.now(), Time::ns(10));
  engine.run_until(Time::ns(10));
  EXPECT_THAT(recorder.tags, ElementsAre(1));
  engine.run_until(Time::ns(100));
  EXPECT_THAT(recorder.tags, ElementsAre(1, 2));
  EXPECT_EQ(engine.now(), Time::ns(100));
}

TEST(Engine, MoreThanTenMillionEventsInOneInstantIsAnError) {
  Engine engine;
  Recorder recorder;
  recorder.then = [&](std::uint64_t) {
    recorder.tags.clear();
    engine.schedule(engine.now(), Phase::TIMER, recorder);
  };
  engine.schedule(Time::ns(7), Phase::TIMER, recorder);
  EXPECT_THROW(engine.run(), std::logic_error);
  EXPECT_EQ(engine.events_handled(), 10'000'001u);
  EXPECT_EQ(engine.now(), Time::ns(7));
}

TEST(Engine, ManyEventsInDifferentInstantsAreNoError) {
  Engine engine;
  Recorder recorder;
  recorder.then = [&](std::uint64_t tag) {
    recorder.tags.clear();
    if (tag < 10'000'010) {
      engine.schedule(engine.now() + Time::ns(tag % 2), Phase::TIMER, recorder, tag + 1);
    }
  };
  engine.schedule(Time(), Phase::TIMER, recorder, 0);
  engine.run();
  EXPECT_GT(engine.events_handled(), 10'000'001u);
}

TEST(Engine, InterruptedIsAskedEvery4096Events) {
  Engine engine;
  Recorder recorder;
  for (int i = 0; i < 10'000; ++i) engine.schedule(Time::ns(i), Phase::TIMER, recorder);
  int asked = 0;
  EXPECT_THROW(engine.run([&] { return ++asked == 2; }), Interrupted);
  EXPECT_EQ(engine.events_handled(), 8192u);
  engine.run();
  EXPECT_EQ(engine.events_handled(), 10'000u);
}

TEST(EngineDeathTest, ThePastIsClosed) {
  Engine engine;
  Recorder recorder;
  engine.run_until(Time::ns(5));
  EXPECT_DEATH(engine.schedule(Time::ns(4), Phase::TIMER, recorder), "past");
}

}  // namespace
}  // namespace syncline
