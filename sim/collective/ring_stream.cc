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

bool ring_is_private(Network& network, const std::vector<NodeId>& hosts) {
  if (hosts.size() < 2 || !network.transport().plain()) return false;
  std::vector<bool> used(network.topology().channel_count());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::optional<Network::Way> way = network.way(hosts[i], hosts[(i + 1) % hosts.size()]);
    if (!way || way->bundled || way->rate == BitRate()) return false;
    for (const ChannelId channel : way->channels) {
      if (used[channel.value]) return false;
      used[channel.value] = true;
    }
  }
  return true;
}

StreamedRing::StreamedRing(Network& network, Traffic& traffic, std::vector<NodeId> hosts,
                           Payload payload)
    : network_(network),
      traffic_(traffic),
      hosts_(std::move(hosts)),
      payload_(payload),
      at_(hosts_.size()),
      computed_(network.engine()) {}

Task<> StreamedRing::join(std::size_t member) {
  Engine& engine = network_.engine();
  at_[member] = engine.now();
  if (++joined_ == hosts_.size()) {
    compute();
    computed_.notify_all();
  }
  while (joined_ < hosts_.size()) co_await computed_.wait();
  co_await engine.sleep_until(at_[member]);

  // Host i sends the parts i, i-1, …: each twice but i+1 and i+2.
  const std::size_t p = hosts_.size();
  const NodeId next = hosts_[(member + 1) % p];
  const Network::Way way = *network_.way(hosts_[member], next);
  Bytes bytes;
  Time flowing;
  for (std::size_t part = 0; part < p; ++part) {
    const int times =
        2 - static_cast<int>(part == (member + 1) % p) - static_cast<int>(part == (member + 2) % p);
    const Bytes size = payload_.part(part, p).bytes();
    bytes += Bytes(size.count() * times);
    flowing += flowing_time(way, size) * times;
  }
  network_.credit(way, bytes, flowing, way.latency * static_cast<std::int64_t>(2 * (p - 1)));
  traffic_.credit_part(hosts_[member], next, bytes);
}

void StreamedRing::compute() {
  const std::size_t p = hosts_.size();
  // Parts have two sizes. `larger[p + i - s]` is that of part i - s, for 0 <= s < p.
  const std::uint64_t least = payload_.elements / p;
  const Payload small{least, payload_.bytes_per_element, payload_.block, payload_.bytes_per_block};
  Payload large = small;
  ++large.elements;
  std::vector<std::int64_t> larger(2 * p);
  for (std::size_t part = 0; part < p; ++part)
    larger[part] = larger[part + p] = payload_.part(part, p).elements > least ? -1 : 0;
  std::vector<std::int64_t> short_send(p), more(p);
  for (std::size_t i = 0; i < p; ++i) {
    const Network::Way way = *network_.way(hosts_[i], hosts_[(i + 1) % p]);
    const Time base = way.latency + flowing_time(way, small.bytes());
    short_send[i] = base.count_ns();
    more[i] = (way.latency + flowing_time(way, large.bytes())).count_ns() - base.count_ns();
  }
  std::vector<std::int64_t> start(p), end(p);
  for (std::size_t i = 0; i < p; ++i) start[i] = at_[i].count_ns();
  for (std::size_t step = 0; step < 2 * (p - 1); ++step) {
    const std::int64_t* const size = &larger[p - step % p];
    for (std::size_t i = 0; i < p; ++i) end[i] = start[i] + short_send[i] + (more[i] & size[i]);
    start[0] = std::max(end[p - 1], end[0]);
    for (std::size_t i = 1; i < p; ++i) start[i] = std::max(end[i - 1], end[i]);
  }
  for (std::size_t i = 0; i < p; ++i) at_[i] = Time::ns(start[i]);
}

}  // namespace syncline
