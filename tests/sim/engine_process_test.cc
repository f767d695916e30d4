#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/signal.h"
#include "sim/engine/task.h"

namespace syncline {
namespace {

using testing::ElementsAre;

using Log = std::vector<std::string>;

// Says when the frame that holds it dies.
struct Mark {
  Mark(Log& the_log, std::string the_name) : log(the_log), name(std::move(the_name)) {}
  ~Mark() { log.push_back("~" + name); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  Log& log;
  std::string name;
};

Task<> sleeper(Engine& engine, Log& log, std::string name, Time duration) {
  Mark mark(log, name);
  co_await engine.sleep(duration);
  log.push_back(name);
}

Task<> waiter(Signal& signal, Log& log, std::string name) {
  Mark mark(log, name);
  co_await signal.wait();
  log.push_back(name);
}

Task<int> answer(Engine& engine, int value) {
  co_await engine.sleep(Time::ns(10));
  co_return value;
}

Task<int> at_once(int value) { co_return value; }

TEST(Process, SleepsInVirtualTime) {
  Log log;
  Engine engine;
  Time woke;
  auto body = [](Engine& e, Time& at) -> Task<> {
    co_await e.sleep(Time::ns(5));
    co_await e.sleep_until(Time::ns(30));
    co_await e.sleep(Time());
    at = e.now();
  };
  ProcessId process = engine.spawn("a", body(engine, woke));
  EXPECT_FALSE(engine.done(process));
  engine.run();
  EXPECT_EQ(woke, Time::ns(30));
  EXPECT_TRUE(engine.done(process));
  EXPECT_TRUE(engine.unfinished().empty());
}

TEST(Process, WakeInOrderOfScheduling) {
  Log log;
  Engine engine;
  engine.spawn("a", sleeper(engine, log, "a", Time::ns(7)));
  engine.spawn("b", sleeper(engine, log, "b", Time::ns(5)));
  engine.spawn("c", sleeper(engine, log, "c", Time::ns(7)));
  engine.run();
  EXPECT_THAT(log, ElementsAre("b", "~b", "a", "~a", "c", "~c"));
}

TEST(Process, NestedTasksReturnValues) {
  Engine engine;
  int sum = 0;
  auto body = [](Engine& e, int& total) -> Task<> {
    total += co_await answer(e, 1);
    total += co_await at_once(2);
    Task<int> kept = answer(e, 4);
    Task<int> moved = std::move(kept);
    total += co_await moved;
    if (co_await at_once(1) == 1 && co_await at_once(0) == 0) total += 8;
  };
  engine.spawn("sum", body(engine, sum));
  engine.run();
  EXPECT_EQ(sum, 15);
  EXPECT_EQ(engine.now(), Time::ns(20));
}

TEST(Process, MoveOnlyValuesComeOut) {
  Engine engine;
  int got = 0;
  auto make = [](Engine& e) -> Task<std::unique_ptr<int>> {
    co_await e.sleep(Time::ns(1));
    co_return std::make_unique<int>(7);
  };
  auto body = [](Task<std::unique_ptr<int>> made, int& value) -> Task<> {
    std::unique_ptr<int> result = co_await made;
    value = *result;
  };
  engine.spawn("a", body(make(engine), got));
  engine.run();
  EXPECT_EQ(got, 7);
}

// Two million tasks that never wait, then two million that do: neither needs stack.
TEST(Process, LoopsOverTasksNeedNoStack) {
  Engine engine;
  std::int64_t sum = 0;
  auto body = [](Engine& e, std::int64_t& total) -> Task<> {
    for (int i = 0; i < 2'000'000; ++i) total += co_await at_once(1);
    for (int i = 0; i < 500'000; ++i) total += co_await answer(e, 1);
  };
  engine.spawn("loop", body(engine, sum));
  engine.run();
  EXPECT_EQ(sum, 2'500'000);
}

TEST(Process, ExceptionsComeOutOfCoAwaitAndOfRun) {
  Log log;
  Engine engine;
  auto thrower = [](Engine& e, Log& l) -> Task<int> {
    Mark mark(l, "thrower");
    co_await e.sleep(Time::ns(1));
    throw std::runtime_error("boom");
  };
  auto body = [thrower](Engine& e, Log& l) -> Task<> {
    try {
      co_await thrower(e, l);
    } catch (const std::runtime_error& error) {
      l.push_back(error.what());
    }
    co_await thrower(e, l);
  };
  ProcessId process = engine.spawn("a", body(engine, log));
  engine.spawn("b", sleeper(engine, log, "b", Time::ns(9)));
  EXPECT_THROW(engine.run(), std::runtime_error);
  EXPECT_THAT(log, ElementsAre("~thrower", "boom", "~thrower"));
  EXPECT_TRUE(engine.done(process));
  EXPECT_THAT(engine.unfinished(), ElementsAre("b"));
  engine.run();  // the others can go on
  EXPECT_THAT(log, ElementsAre("~thrower", "boom", "~thrower", "b", "~b"));
}

TEST(Process, SignalWakesAllInOrderAndHasNoMemory) {
  Log log;  // outlives the frames
  Engine engine;
  Signal signal(engine);
  engine.spawn("a", waiter(signal, log, "a"));
  engine.spawn("b", waiter(signal, log, "b"));
  engine.run();
  EXPECT_TRUE(log.empty());
  EXPECT_THAT(engine.unfinished(), ElementsAre("a", "b"));
  EXPECT_EQ(signal.waiting(), 2u);
  signal.notify_all();
  EXPECT_TRUE(log.empty());  // never inside the call
  engine.spawn("c", waiter(signal, log, "c"));
  engine.run();
  EXPECT_THAT(log, ElementsAre("a", "~a", "b", "~b"));
  EXPECT_THAT(engine.unfinished(), ElementsAre("c"));
}

TEST(Process, CancelDestroysTheFramesInsideAndTheirAwaiters) {
  Log log;  // outlives the frames
  Engine engine;
  Signal signal(engine);
  auto outer = [](Engine& e, Signal& s, Log& l, bool on_timer) -> Task<> {
    Mark mark(l, "outer");
    if (on_timer) {
      co_await sleeper(e, l, "inner", Time::ns(100));
    } else {
      co_await waiter(s, l, "inner");
    }
    l.push_back("not reached");
  };
  ProcessId on_timer = engine.spawn("timer", outer(engine, signal, log, true));
  ProcessId on_signal = engine.spawn("signal", outer(engine, signal, log, false));
  engine.run_until(Time::ns(1));
  engine.cancel(on_timer);
  engine.cancel(on_signal);
  EXPECT_THAT(log, ElementsAre("~inner", "~outer", "~inner", "~outer"));
  EXPECT_EQ(signal.waiting(), 0u);
  EXPECT_TRUE(engine.done(on_timer));
  engine.cancel(on_timer);  // no effect
  signal.notify_all();
  engine.run();
  EXPECT_EQ(engine.now(), Time::ns(1));  // its timer is gone
  EXPECT_EQ(log.size(), 4u);
}

TEST(Process, CancelBeforeItsFirstStep) {
  Log log;
  Engine engine;
  ProcessId process = engine.spawn("a", sleeper(engine, log, "a", Time::ns(1)));
  engine.cancel(process);
  engine.run();
  EXPECT_TRUE(log.empty());
  EXPECT_TRUE(engine.done(process));
}

TEST(Process, CancelBetweenNotifyAndWake) {
  Log log;  // outlives the frames
  Engine engine;
  Signal signal(engine);
  ProcessId process = engine.spawn("a", waiter(signal, log, "a"));
  engine.spawn("b", waiter(signal, log, "b"));
  engine.run();
  signal.notify_all();
  engine.cancel(process);
  engine.run();
  EXPECT_THAT(log, ElementsAre("~a", "b", "~b"));
}

TEST(Process, OneProcessCancelsAnother) {
  Log log;
  Engine engine;
  ProcessId victim = engine.spawn("victim", sleeper(engine, log, "victim", Time::ns(50)));
  auto body = [](Engine& e, ProcessId other, Log& l) -> Task<> {
    co_await e.sleep(Time::ns(3));
    e.cancel(other);
    l.push_back("cancelled");
    co_await e.sleep(Time::ns(3));
  };
  engine.spawn("killer", body(engine, victim, log));
  engine.run();
  EXPECT_THAT(log, ElementsAre("~victim", "cancelled"));
  EXPECT_EQ(engine.now(), Time::ns(6));
}

// A frame whose locals cancel other processes when it dies.
TEST(Process, CancellingInsideADestructor) {
  Log log;
  Engine engine;
  struct CancelsOnExit {
    Engine& engine;
    ProcessId process;
    ~CancelsOnExit() { engine.cancel(process); }
  };
  auto parent = [](Engine& e, Log& l) -> Task<> {
    CancelsOnExit child{e, e.spawn("child", sleeper(e, l, "child", Time::ns(50)))};
    co_await e.sleep(Time::ns(100));
  };
  ProcessId process = engine.spawn("parent", parent(engine, log));
  engine.run_until(Time::ns(1));
  EXPECT_THAT(engine.unfinished(), ElementsAre("parent", "child"));
  engine.cancel(process);
  EXPECT_THAT(log, ElementsAre("~child"));
  EXPECT_TRUE(engine.unfinished().empty());
}

TEST(Process, TheEngineDestroysWhoIsLeft) {
  Log log;
  std::optional<Signal> signal;
  {
    Engine engine;
    signal.emplace(engine);
    engine.spawn("a", sleeper(engine, log, "a", Time::ns(1000)));
    engine.spawn("b", waiter(*signal, log, "b"));
    engine.run_until(Time::ns(1));
    EXPECT_TRUE(log.empty());
  }
  EXPECT_THAT(log, ElementsAre("~a", "~b"));
}

TEST(Process, ASignalMayDieBeforeItsWaiters) {
  Log log;
  Engine engine;
  auto signal = std::make_unique<Signal>(engine);
  engine.spawn("a", waiter(*signal, log, "a"));
  engine.run();
  signal.reset();
  EXPECT_THAT(engine.unfinished(), ElementsAre("a"));
  engine.cancel_all();
  EXPECT_THAT(log, ElementsAre("~a"));
}

TEST(Process, RecordsAreUsedAgainAndOldIdsStayDone) {
  Log log;
  Engine engine;
  ProcessId first = engine.spawn("a", sleeper(engine, log, "a", Time::ns(1)));
  engine.run();
  ProcessId second = engine.spawn("b", sleeper(engine, log, "b", Time::ns(1)));
  EXPECT_EQ(first.index, second.index);
  EXPECT_TRUE(engine.done(first));
  EXPECT_FALSE(engine.done(second));
  engine.cancel(first);
  EXPECT_FALSE(engine.done(second));
}

TEST(ProcessDeathTest, MisuseIsCaught) {
  Engine engine;
  auto twice = [](Engine& e) -> Task<> {
    Task<int> task = answer(e, 1);
    co_await task;
    co_await task;
  };
  EXPECT_DEATH(
      {
        engine.spawn("a", twice(engine));
        engine.run();
      },
      "awaited once");
  auto itself = [](Engine& e) -> Task<> {
    co_await e.sleep(Time::ns(1));
    e.cancel(e.current_process());
  };
  EXPECT_DEATH(
      {
        engine.spawn("a", itself(engine));
        engine.run();
      },
      "cancel itself");
}

}  // namespace
}  // namespace syncline
