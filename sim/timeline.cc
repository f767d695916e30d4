#include "sim/timeline.h"

#include <algorithm>

#include "sim/engine/engine.h"

namespace syncline {

LoadSampler::LoadSampler(Network& network, Time interval) : network_(network), interval_(interval) {
  process_ = network.engine().spawn("load sampler", sample());
}

LoadSampler::~LoadSampler() { stop(); }

void LoadSampler::stop() { network_.engine().cancel(process_); }

Task<> LoadSampler::sample() {
  Engine& engine = network_.engine();
  while (true) {
    co_await engine.sleep(interval_);
    // It must not keep a run alive in which nothing else can happen.
    if (engine.pending() == 0) co_return;
    const std::vector<ChannelUse> uses = network_.uses();
    const std::size_t channels = std::min(uses.size(), kMostChannels);
    bytes_before_.resize(channels);
    const double seconds = (engine.now() - before_).in_seconds();
    Sample& sample = samples_.emplace_back();
    sample.end = before_ = engine.now();
    for (std::size_t i = 0; i < channels; ++i) {
      sample.load.push_back(
          static_cast<float>(std::max(uses[i].byte_s_load - bytes_before_[i], 0.0) / seconds));
      bytes_before_[i] = uses[i].byte_s_load;
    }
    if (samples_.size() == kMostSamples) thin_out();
  }
}

// Two intervals become one with their mean.
void LoadSampler::thin_out() {
  for (std::size_t i = 0; i + 1 < samples_.size(); i += 2) {
    Sample& merged = samples_[i / 2];
    std::vector<float> load = samples_[i].load;
    for (std::size_t channel = 0; channel < load.size(); ++channel)
      load[channel] = (load[channel] + samples_[i + 1].load[channel]) / 2;
    merged.end = samples_[i + 1].end;
    merged.load = std::move(load);
  }
  samples_.resize(samples_.size() / 2);
  interval_ = interval_ * 2;
}

}  // namespace syncline
