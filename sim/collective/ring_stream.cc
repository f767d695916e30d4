#include "sim/collective/ring_stream.h"

#include <algorithm>
#include <utility>

#include "topology/check.h"

namespace syncline {
namespace {

Time flowing_time(const Network::Way& way, Bytes bytes) {
  return Time::seconds(static_cast<double>(bytes.count()) / way.rate.in_bytes_per_s());
}

}  // namespace

std::optional<std::vector<Network::Way>> private_ring(const Network& network,
                                                      const std::vector<NodeId>& hosts) {
  if (hosts.size() < 2 || !network.transport().plain()) return std::nullopt;
  std::vector<bool> used(network.topology().channel_count());
  std::vector<Network::Way> ways;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    std::optional<Network::Way> way = network.way(hosts[i], hosts[(i + 1) % hosts.size()]);
    if (!way || way->bundled || way->rate == BitRate()) return std::nullopt;
    for (const ChannelId channel : way->channels) {
      if (used[channel.value]) return std::nullopt;
      used[channel.value] = true;
    }
    ways.push_back(std::move(*way));
  }
  return ways;
}

StreamedRing::StreamedRing(Network& network, Traffic& traffic, std::vector<NodeId> hosts,
                           std::vector<Network::Way> ways, std::vector<std::uint32_t> places,
                           Payload payload)
    : network_(network),
      traffic_(traffic),
      hosts_(std::move(hosts)),
      ways_(std::move(ways)),
      places_(std::move(places)),
      payload_(payload),
      at_(hosts_.size()),
      computed_(network.engine()) {
  Payload part = payload;
  part.elements = payload.elements / hosts_.size();
  smaller_bytes_ = part.bytes();
  ++part.elements;
  larger_bytes_ = part.bytes();
}

bool StreamedRing::is_larger(std::size_t part) const {
  const std::size_t p = hosts_.size();
  return payload_.part(part, p).elements > payload_.elements / p;
}

Task<> StreamedRing::join(std::size_t member) {
  Engine& engine = network_.engine();
  const std::size_t place = places_[member];
  at_[place] = engine.now();
  if (++joined_ == hosts_.size()) {
    compute();
    computed_.notify_all();
  }
  while (joined_ < hosts_.size()) co_await computed_.wait();
  co_await engine.sleep_until(at_[place]);
  credit(place);
}

// Host i sends the parts i-1, i-2, …: each twice but i and i+1.
void StreamedRing::credit(std::size_t place) {
  const std::size_t p = hosts_.size();
  const Network::Way& way = ways_[place];
  const auto sends = static_cast<std::int64_t>(2 * (p - 1));
  std::int64_t larger = 2 * static_cast<std::int64_t>(payload_.elements % p);
  for (const std::size_t ahead : {0, 1}) larger -= is_larger((place + ahead) % p) ? 1 : 0;
  const std::int64_t smaller = sends - larger;
  const Bytes bytes(smaller * smaller_bytes_.count() + larger * larger_bytes_.count());
  const Time flowing =
      flowing_time(way, smaller_bytes_) * smaller + flowing_time(way, larger_bytes_) * larger;
  network_.credit(way, bytes, flowing, way.latency * sends);
  traffic_.credit(hosts_[place], hosts_[(place + 1) % p], bytes);
}

void StreamedRing::compute() {
  const std::size_t p = hosts_.size();
  // `larger[p + i - 1 - s]` is that of part i - 1 - s, for 0 <= s < p.
  std::vector<std::int64_t> larger(2 * p);
  for (std::size_t part = 0; part < p; ++part)
    larger[part] = larger[part + p] = is_larger(part) ? -1 : 0;
  std::vector<std::int64_t> short_send(p), more(p);
  for (std::size_t i = 0; i < p; ++i) {
    const Time least = flowing_time(ways_[i], smaller_bytes_);
    short_send[i] = (ways_[i].latency + least).count_ns();
    more[i] = (flowing_time(ways_[i], larger_bytes_) - least).count_ns();
  }
  std::vector<std::int64_t> start(p), end(p);
  for (std::size_t i = 0; i < p; ++i) start[i] = at_[i].count_ns();
  for (std::size_t step = 0; step < 2 * (p - 1); ++step) {
    const std::int64_t* const size = &larger[p - 1 - step % p];
    for (std::size_t i = 0; i < p; ++i) end[i] = start[i] + short_send[i] + (more[i] & size[i]);
    start[0] = std::max(end[p - 1], end[0]);
    for (std::size_t i = 1; i < p; ++i) start[i] = std::max(end[i - 1], end[i]);
  }
  for (std::size_t i = 0; i < p; ++i) at_[i] = Time::ns(start[i]);
}

}  // namespace syncline
