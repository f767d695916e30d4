#include "sim/engine/signal.h"

namespace syncline {

Signal::~Signal() {
  while (first_) unlink(*first_);
}

void Signal::notify_all() {
  while (first_) {
    Awaiter& waiter = *first_;
    unlink(waiter);
    waiter.wake_ = engine_.schedule(engine_.now(), Phase::TIMER, waiter);
  }
}

void Signal::unlink(Awaiter& waiter) {
  (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
  (waiter.next_ ? waiter.next_->previous_ : last_) = waiter.previous_;
  waiter.listed_ = false;
  --waiting_;
}

Signal::Awaiter::~Awaiter() {
  if (listed_) signal_.unlink(*this);
  engine_.cancel(wake_);
}

void Signal::Awaiter::await_suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  process_ = engine_.current_process();
  previous_ = signal_.last_;
  (previous_ ? previous_->next_ : signal_.first_) = this;
  signal_.last_ = this;
  listed_ = true;
  ++signal_.waiting_;
}

void Signal::Awaiter::on_event(std::uint64_t) { engine_.resume(process_, handle_); }

}  // namespace syncline
