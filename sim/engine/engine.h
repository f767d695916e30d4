// The discrete-event engine: a clock, an event queue, and coroutine processes that live on virtual
// time.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/engine/task.h"
#include "topology/quantity.h"

namespace syncline {

// Something that receives events (htsim's one-method event source; no std::function an event).
class EventTarget {
 public:
  virtual void on_event(std::uint64_t tag) = 0;

 protected:
  ~EventTarget() = default;
};

// Thrown by run() when `interrupted` said so (ctrl-C). State is consistent, but the run is over.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

class Engine {
 public:
  Engine();
  ~Engine();  // destroys the frames of processes that are still alive
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Time now() const { return *now_; }

  // `at` not before now (checked). Within one instant and phase: by `order`, then in order of
  // scheduling.
  EventHandle schedule(Time at, Phase phase, EventTarget& target, std::uint64_t tag = 0,
                       std::uint64_t order = 0);
  // False if it has happened or was cancelled already.
  bool cancel(EventHandle event);

  // Calls target.on_event(tag) once after all events of this instant (what they schedule at this
  // same instant included) and before the clock moves; the network solves its rates here. What that
  // schedules for the same instant is then handled, and so on.
  void at_instant_end(EventTarget& target, std::uint64_t tag = 0);
  // Forgets what at_instant_end() was asked for this target.
  void cancel_instant_end(EventTarget& target);

  // Starts a process at the current instant (TIMER phase, so in order of spawning). `name` is for
  // messages. An exception that leaves a process leaves run().
  ProcessId spawn(std::string name, Task<> body);
  // Destroys its frame, and with it the frames and awaiters inside; timers and transfers it waits
  // for are cancelled by their awaiters' destructors. No effect on one that is done. Not from
  // inside the process itself.
  void cancel(ProcessId process);
  // All processes. Whoever owns something that processes refer to calls it before that dies;
  // ~Network does.
  void cancel_all();
  bool done(ProcessId process) const;

  // co_await engine.sleep(d): resumes in the TIMER phase of now + d, in order of scheduling.
  class SleepAwaiter;
  SleepAwaiter sleep(Time duration);
  SleepAwaiter sleep_until(Time at);

  // Until the queue is empty. Throws what a process threw; Interrupted; std::logic_error after more
  // than 10^7 events in one instant. `interrupted` is asked every 4,096 events.
  void run(const std::function<bool()>& interrupted = {});
  // Until the first event after `at` (the clock then stands at `at`).
  void run_until(Time at);

  // Names of processes that are not done, in order of spawning; after run(): those that can make no
  // progress.
  std::vector<std::string> unfinished() const;

  std::uint64_t events_handled() const;
  std::size_t pending() const;  // events in the queue

  // For awaiters: the process that is running (none outside of one), and how to wake one of its
  // coroutines from on_event().
  ProcessId current_process() const;
  void resume(ProcessId process, std::coroutine_handle<> handle);

 private:
  struct State;
  std::unique_ptr<State> state_;
  const Time* now_;  // in it; everybody asks for it
};

// Cancels its timer in its destructor.
class Engine::SleepAwaiter final : public EventTarget {
 public:
  SleepAwaiter(Engine& engine, Time at) : engine_(engine), at_(at) {}
  ~SleepAwaiter() { engine_.cancel(timer_); }
  SleepAwaiter(const SleepAwaiter&) = delete;
  SleepAwaiter& operator=(const SleepAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  void await_resume() const noexcept {}

 private:
  void on_event(std::uint64_t tag) override;

  Engine& engine_;
  Time at_;
  EventHandle timer_;
  ProcessId process_;
  std::coroutine_handle<> handle_;
};

inline Engine::SleepAwaiter Engine::sleep(Time duration) {
  return SleepAwaiter(*this, now() + duration);
}
inline Engine::SleepAwaiter Engine::sleep_until(Time at) { return SleepAwaiter(*this, at); }

class Signal;  // sim/engine/signal.h: processes wait for it until another one notifies

}  // namespace syncline
