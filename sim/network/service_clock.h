// The virtual clock of a group of flows that share one bottleneck: how many bytes each of its
// members has received per weight (as in the virtual time of fair queueing: Demers, Keshav and
// Shenker 1989). A member that joins with r bytes per weight to go ends when the clock has gone on
// by r, whatever the rates are until then.
#pragma once

#include "topology/quantity.h"

namespace syncline {

class ServiceClock {
 public:
  double rate() const { return rate_; }  // bytes/s per weight

  // From `now` on.
  void set_rate(double rate, Time now) {
    advance(now);
    rate_ = rate;
  }

  // The reading at which a member ends that has `amount` bytes per weight to go.
  double key(double amount, Time now) {
    advance(now);
    return high_ + (low_ + amount);
  }
  // What a member with this key has to go; never negative.
  double to_go(double key, Time now) const {
    double amount = (key - high_) - (low_ + rate_ * seconds_until(now));
    return amount > 0 ? amount : 0;
  }
  // When it ends at this rate, rounded to the clock once; never, if nothing flows.
  Time end(double key) const {
    if (rate_ == 0) return Time::max();
    double amount = (key - high_) - low_;
    return amount > 0 ? since_ + Time::seconds(amount / rate_) : since_;
  }

  // The reading is worth more digits the smaller it is: who can moves it back to 0.
  bool far() const { return high_ > 0x1p40; }
  double high() const { return high_; }
  double low() const { return low_; }
  void rewind() { high_ = low_ = 0; }

 private:
  double seconds_until(Time now) const {
    return static_cast<double>(now.count_ns() - since_.count_ns()) / 1e9;
  }

  // The sum is kept in two doubles, so that many small steps gather no rounding.
  void advance(Time now) {
    if (now == since_) return;
    double step = low_ + rate_ * seconds_until(now);
    double sum = high_ + step;
    double taken = sum - high_;
    low_ = (high_ - (sum - taken)) + (step - taken);
    high_ = sum;
    since_ = now;
  }

  double high_ = 0;
  double low_ = 0;
  double rate_ = 0;
  Time since_;
};

}  // namespace syncline
