// Waiting for transfers: for one, or for a set.
//
//   TransferReport report = co_await transfer(network, {.source = a, .destination = b, .bytes =
//   Bytes(1000)});
//
//   TransferSet sends(network);
//   for (NodeId peer : peers) sends.start({.source = me, .destination = peer, .bytes = chunk});
//   co_await sends.all();
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/signal.h"
#include "sim/network/network.h"

namespace syncline {

// Starts transfers and counts their ends; can be used again and again.
class TransferSet final : public TransferSink {
 public:
  explicit TransferSet(Network& network);
  ~TransferSet();  // cancels what has not ended
  TransferSet(const TransferSet&) = delete;
  TransferSet& operator=(const TransferSet&) = delete;

  // As Network::start.
  TransferId start(const TransferSpec& spec);
  void cancel();  // all that have not ended; they count no more

  std::size_t pending() const { return pending_; }
  // Since the set was made:
  std::size_t done() const { return done_; }
  std::size_t failed() const { return failed_; }
  Bytes delivered() const { return delivered_; }
  const TransferReport& last() const { return last_; }  // the report of the last one that ended

  // Waits until none is pending (failed ones have ended too: see failed()); at once if none is.
  // Wakes in the TIMER phase of the instant. cancel() leaves none pending, and so wakes who waits
  // here.
  class Awaiter {
   public:
    explicit Awaiter(TransferSet& set) : set_(set), wait_(set.all_ended_) {}
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    bool await_ready() const noexcept { return set_.pending_ == 0; }
    void await_suspend(std::coroutine_handle<> handle) { wait_.await_suspend(handle); }
    void await_resume() const noexcept {}

   private:
    TransferSet& set_;
    Signal::Awaiter wait_;
  };
  Awaiter all() { return Awaiter(*this); }

 private:
  void on_transfer_end(const TransferReport& report, std::uint64_t tag) override;

  Network& network_;
  Signal all_ended_;
  std::vector<TransferId> slots_;  // by tag; 0: free
  std::vector<std::uint32_t> free_;
  std::size_t pending_ = 0;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  Bytes delivered_;
  TransferReport last_;
};

// Starts when awaited; its destructor cancels. Throws what Network::start throws, from the
// co_await.
class TransferAwaiter final : public TransferSink, public EventTarget {
 public:
  TransferAwaiter(Network& network, const TransferSpec& spec) : network_(network), spec_(spec) {}
  ~TransferAwaiter();
  TransferAwaiter(const TransferAwaiter&) = delete;
  TransferAwaiter& operator=(const TransferAwaiter&) = delete;

  bool await_ready();
  void await_suspend(std::coroutine_handle<> handle);
  TransferReport await_resume() const { return report_; }

 private:
  void on_transfer_end(const TransferReport& report, std::uint64_t tag) override;
  void on_event(std::uint64_t tag) override;

  Network& network_;
  TransferSpec spec_;
  TransferId transfer_ = 0;  // 0: none under way
  EventHandle wake_;
  std::coroutine_handle<> handle_;
  ProcessId process_;
  TransferReport report_;
};

inline TransferAwaiter transfer(Network& network, const TransferSpec& spec) {
  return TransferAwaiter(network, spec);
}

}  // namespace syncline
