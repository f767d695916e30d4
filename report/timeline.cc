// timeline.json in the Chrome trace format: opens in Perfetto and in chrome://tracing.
#include "report/timeline.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace syncline {
namespace {

constexpr int kWorkers = 1;  // "process" of the workers' tracks
constexpr int kLinks = 2;    // and of the links' counters

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

double microseconds(Time time) { return static_cast<double>(time.count_ns()) / 1e3; }

const char* name_of(Activity activity) {
  static constexpr const char* kNames[] = {
      "compute", "sync within cluster", "wait for others", "sync", "down", "rejoin"};
  return kNames[static_cast<int>(activity)];
}

}  // namespace

std::string timeline_json(const RunFacts& facts) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  const auto process = [&](int id, const char* name) {
    fmt::format_to(std::back_inserter(text),
                   "{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {}, \"args\": "
                   "{{\"name\": \"{}\"}}}}",
                   id, name);
  };
  process(kWorkers, "workers");
  text += ",\n";
  process(kLinks, "links");
  for (std::size_t i = 0; i < facts.setup.workers.size(); ++i) {
    fmt::format_to(std::back_inserter(text),
                   ",\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": {}, \"tid\": {}, "
                   "\"args\": {{\"name\": {}}}}}",
                   kWorkers, i + 1, quoted(facts.setup.workers[i].name));
  }
  for (const Span& span : facts.outcome.timeline.spans()) {
    fmt::format_to(
        std::back_inserter(text),
        ",\n{{\"name\": \"{}\", \"ph\": \"X\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}}}",
        name_of(span.activity), kWorkers, span.worker + 1, microseconds(span.begin),
        microseconds(span.end - span.begin));
  }
  // A counter holds from its time stamp on, so a sample stands at the begin of its interval. Links
  // that carried nothing have none.
  const std::vector<LoadSampler::Sample>& samples = facts.outcome.loads;
  const std::size_t channels = samples.empty() ? 0 : samples.front().load.size();
  for (std::size_t channel = 0; channel < channels; ++channel) {
    if (facts.outcome.links[channel].use.bytes == Bytes()) continue;
    const std::string name = quoted(
        facts.scenario.topology.channel_name(ChannelId{static_cast<std::uint32_t>(channel)}));
    Time begin;
    float shown = -1;
    for (const LoadSampler::Sample& sample : samples) {
      if (sample.load[channel] != shown) {
        shown = sample.load[channel];
        fmt::format_to(std::back_inserter(text),
                       ",\n{{\"name\": {}, \"ph\": \"C\", \"pid\": {}, \"ts\": {}, \"args\": "
                       "{{\"Mbit/s\": {:.6g}}}}}",
                       name, kLinks, microseconds(begin), static_cast<double>(shown) * 8e-6);
      }
      begin = sample.end;
    }
    fmt::format_to(
        std::back_inserter(text),
        ",\n{{\"name\": {}, \"ph\": \"C\", \"pid\": {}, \"ts\": {}, \"args\": {{\"Mbit/s\": 0}}}}",
        name, kLinks, microseconds(begin));
  }
  text += "\n]";
  if (!facts.outcome.timeline.complete()) {
    fmt::format_to(std::back_inserter(text),
                   ",\n\"otherData\": {{\"truncated\": \"only the first {} spans are shown\"}}",
                   Timeline::kMostSpans);
  }
  return text + "}\n";
}

}  // namespace syncline
