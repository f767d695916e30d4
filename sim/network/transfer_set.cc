#include "sim/network/transfer_set.h"

namespace syncline {

TransferSet::TransferSet(Network& network) : network_(network), all_ended_(network.engine()) {}

TransferSet::~TransferSet() { cancel(); }

TransferId TransferSet::start(const TransferSpec& spec) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(0);
  }
  std::uint32_t slot = free_.back();
  TransferId id = network_.start(spec, *this, slot);
  free_.pop_back();
  slots_[slot] = id;
  ++pending_;
  return id;
}

void TransferSet::cancel() {
  if (pending_ == 0) return;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot] == 0) continue;
    network_.cancel(slots_[slot]);
    slots_[slot] = 0;
    free_.push_back(slot);
  }
  pending_ = 0;
  all_ended_.notify_all();
}

void TransferSet::on_transfer_end(const TransferReport& report, std::uint64_t tag) {
  auto slot = static_cast<std::uint32_t>(tag);
  slots_[slot] = 0;
  free_.push_back(slot);
  ++(report.end == TransferEnd::DONE ? done_ : failed_);
  delivered_ += report.delivered;
  last_ = report;
  last_.limits = {};
  if (--pending_ == 0) all_ended_.notify_all();
}

TransferAwaiter::~TransferAwaiter() {
  if (transfer_ != 0) network_.cancel(transfer_);
  network_.engine().cancel(wake_);
}

// Starts here and not in await_suspend: an exception is then thrown in a coroutine that runs.
bool TransferAwaiter::await_ready() {
  transfer_ = network_.start(spec_, *this);
  return false;
}

void TransferAwaiter::await_suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  process_ = network_.engine().current_process();
}

void TransferAwaiter::on_transfer_end(const TransferReport& report, std::uint64_t) {
  report_ = report;
  report_.limits = {};
  transfer_ = 0;
  wake_ = network_.engine().schedule(network_.engine().now(), Phase::TIMER, *this);
}

void TransferAwaiter::on_event(std::uint64_t) { network_.engine().resume(process_, handle_); }

}  // namespace syncline
