// What every worker did when, and how busy the links were: for the timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/network.h"
#include "topology/quantity.h"

namespace syncline {

enum class Activity : std::uint8_t {
  COMPUTE,  // inner steps, with the averages inside a cluster-wide worker
  WITHIN,   // average inside the cluster
  WAIT,     // for others to join an average
  SYNC,     // average of all
  DOWN,     // machine off
  REJOIN    // until a peer's model is there
};

struct Span {
  std::uint32_t worker = 0;
  Activity activity = Activity::COMPUTE;
  Time begin, end;
};

// Bounded: the first kMostSpans spans.
class Timeline {
 public:
  static constexpr std::size_t kMostSpans = 200'000;

  void add(std::uint32_t worker, Activity activity, Time begin, Time end) {
    if (end <= begin) return;
    if (spans_.size() < kMostSpans) {
      spans_.push_back({worker, activity, begin, end});
    } else {
      complete_ = false;
    }
  }
  const std::vector<Span>& spans() const { return spans_; }
  bool complete() const { return complete_; }

 private:
  std::vector<Span> spans_;
  bool complete_ = true;
};

// Mean load of channels between samples. The interval doubles when there are too many samples, so
// that any run has between kMostSamples / 2 and kMostSamples of them.
class LoadSampler {
 public:
  static constexpr std::size_t kMostSamples = 2'000;
  static constexpr std::size_t kMostChannels = 256;  // the first ones of the topology

  // `interval`: of the first samples, above 0.
  LoadSampler(Network& network, Time interval);
  ~LoadSampler();
  LoadSampler(const LoadSampler&) = delete;
  LoadSampler& operator=(const LoadSampler&) = delete;

  void stop();

  struct Sample {
    Time end;                 // of the interval
    std::vector<float> load;  // bytes/s, by channel
  };
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  Task<> sample();
  void thin_out();

  Network& network_;
  Time interval_;
  ProcessId process_;
  std::vector<double> bytes_before_;  // by channel, when the last sample was taken
  Time before_;
  std::vector<Sample> samples_;
};

}  // namespace syncline
