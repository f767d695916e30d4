// Task<T>: a coroutine that one other coroutine awaits.
//
//   Task<int> answer(Engine& engine) { co_await engine.sleep(Time::seconds(1)); co_return 42; }
//   Task<> ask(Engine& engine) { int a = co_await answer(engine); … }
//   engine.spawn("ask", ask(engine));
//
// Lazy: it runs when awaited. Move-only; it owns its frame: destroying a task that waits destroys
// its frame, and so the tasks and awaiters inside, which deregister themselves. That is how a
// process is cancelled. An exception comes out of co_await.
//
// A coroutine keeps its parameters, and nothing behind references or captures: take by value what
// may die sooner than the task, and never make a lambda with captures a coroutine unless the lambda
// outlives it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "topology/check.h"

namespace syncline {

// Names a process of an engine; one that is done is named by nothing else later.
struct ProcessId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: none
  friend bool operator==(ProcessId, ProcessId) = default;
};

template <class T = void>
class Task;

namespace detail {

class TaskPromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      const TaskPromiseBase& promise = handle.promise();
      if (promise.inside_await_ || !promise.continuation_) return std::noop_coroutine();
      return promise.continuation_;
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  void unhandled_exception() noexcept { exception_ = std::current_exception(); }
  void rethrow() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

  std::coroutine_handle<> continuation_;
  // Its awaiter's await_suspend is on the stack, and takes over when the task is done.
  bool inside_await_ = false;
  std::exception_ptr exception_;
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() { rethrow(); }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { reset(); }

  // For who drives it without awaiting it (the engine); empty if the task is.
  Handle handle() const { return handle_; }

  class Awaiter {
   public:
    explicit Awaiter(Handle handle) noexcept : handle_(handle) {}
    bool await_ready() const noexcept { return false; }
    // Runs the task up to its first wait here, below the awaiting coroutine, so that a loop over
    // tasks that never wait needs no stack (gcc makes a tail call of symmetric transfer only when
    // it optimises). Later it ends by symmetric transfer.
    bool await_suspend(std::coroutine_handle<> continuation) noexcept {
      detail::TaskPromiseBase& promise = handle_.promise();
      promise.continuation_ = continuation;
      promise.inside_await_ = true;
      handle_.resume();
      promise.inside_await_ = false;
      return !handle_.done();
    }
    T await_resume() { return handle_.promise().take(); }

   private:
    Handle handle_;
  };

  // Once. The task must live until it is done.
  Awaiter operator co_await() const {
    SYNCLINE_CHECK(handle_ && !handle_.promise().continuation_, "a task is awaited once");
    return Awaiter(handle_);
  }

 private:
  void reset() noexcept {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

  Handle handle_;
};

namespace detail {

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}

}  // namespace detail

}  // namespace syncline
