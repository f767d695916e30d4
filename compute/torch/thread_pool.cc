#include "compute/torch/thread_pool.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace syncline {

ThreadPool::ThreadPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this, i] { loop(i); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::loop(int thread) {
  const c10::NoGradGuard no_grad;
  at::set_num_threads(1);                      // OpenMP's and MKL's count are a thread's own
  at::globalContext().setFlushDenormal(true);  // a thread's own, too; moments of bytes that never
                                               // occur decay into denormals, which are slow
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work_)(thread);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = error;
    if (--running_ == 0) finish_.notify_all();
  }
}

void ThreadPool::run(const std::function<void(int)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  running_ = size();
  ++round_;
  start_.notify_all();
  finish_.wait(lock, [&] { return running_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t, int)>& work) {
  std::atomic<std::size_t> next = 0;
  run([&](int thread) {
    for (std::size_t i = next++; i < count; i = next++) work(i, thread);
  });
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace syncline
