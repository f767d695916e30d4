// A signal that processes wait for.
#pragma once

#include <coroutine>
#include <cstddef>

#include "sim/engine/engine.h"

namespace syncline {

// `co_await signal.wait()` waits for the next notify_all(). A signal has no memory: who comes later
// waits for the next one, so a process that waits for a condition asks before and after:
//   while (!ready) co_await signal.wait();
class Signal {
 public:
  explicit Signal(Engine& engine) : engine_(engine) {}
  // Who still waits is forgotten and never wakes (its process can be cancelled as always).
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Resumes the waiters in order of waiting, in the TIMER phase of this instant; never inside the
  // call.
  void notify_all();
  std::size_t waiting() const { return waiting_; }

  // Deregisters in its destructor, also between notify_all() and the wake.
  class Awaiter final : public EventTarget {
   public:
    explicit Awaiter(Signal& signal) : signal_(signal), engine_(signal.engine_) {}
    ~Awaiter();
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle);
    void await_resume() const noexcept {}

   private:
    friend class Signal;
    void on_event(std::uint64_t tag) override;

    Signal& signal_;  // may be gone when this is not listed
    Engine& engine_;
    std::coroutine_handle<> handle_;
    ProcessId process_;
    EventHandle wake_;
    bool listed_ = false;  // in the signal's list
    Awaiter* previous_ = nullptr;
    Awaiter* next_ = nullptr;
  };
  Awaiter wait() { return Awaiter(*this); }

 private:
  void unlink(Awaiter& waiter);

  Engine& engine_;
  Awaiter* first_ = nullptr;
  Awaiter* last_ = nullptr;
  std::size_t waiting_ = 0;
};

}  // namespace syncline
