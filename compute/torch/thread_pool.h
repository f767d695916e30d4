// A fixed set of threads, each with one intra-op thread of LibTorch, that share the work of one
// call.
//
// Work is taken when a thread is free, never dealt out beforehand: another process on one core
// slows that core's share and no more. (A pass of two OpenMP threads that wait for each other fell
// from 85,800 to 860 tokens/s in that case.)
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace syncline {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  // Runs work(thread) once in every thread and waits. The first exception is thrown again here.
  void run(const std::function<void(int thread)>& work);
  // Runs work(index, thread) for every index below `count`, lowest first.
  void for_each(std::size_t count, const std::function<void(std::size_t index, int thread)>& work);

 private:
  void loop(int thread);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, finish_;
  const std::function<void(int)>* work_ = nullptr;
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
};

// Cores that this process may use.
int available_cores();

}  // namespace syncline
