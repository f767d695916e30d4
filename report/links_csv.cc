#include "report/links_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "report/csv.h"

namespace syncline {
namespace {

// Bytes/s of all members together.
double nominal_capacity(const Topology& topology, ChannelId channel) {
  const Direction along = topology.direction_of(channel);
  double capacity = 0;
  for (const LinkId id : topology.bundle(topology.bundle_of(channel)).members)
    capacity +=
        topology.link(id).capacity[static_cast<int>(topology.turned(id, along))].in_bytes_per_s();
  return capacity;
}

}  // namespace

double mean_load(const Topology& topology, const LinkOutcome& link, Time lasting) {
  const double capacity = nominal_capacity(topology, link.channel);
  const double seconds = lasting.in_seconds();
  if (!(capacity > 0) || !std::isfinite(capacity) || seconds <= 0) return 0;
  return static_cast<double>((link.use.bytes + link.use.header_bytes).count()) /
         (capacity * seconds);
}

std::string links_csv(const Topology& topology, std::span<const LinkOutcome> links, Time lasting) {
  std::string text =
      "link,from,to,bandwidth_bit_s,latency_s,bytes,header_bytes,busy_s,mean_load,limited_s\n";
  for (const LinkOutcome& link : links) {
    const Bundle& bundle = topology.bundle(topology.bundle_of(link.channel));
    const Link& member = topology.link(bundle.members.front());
    const Direction along = topology.direction_of(link.channel);
    const NodeId from = along == Direction::FORWARD ? bundle.a : bundle.b;
    const NodeId to = along == Direction::FORWARD ? bundle.b : bundle.a;
    const double capacity = nominal_capacity(topology, link.channel);
    const double latency =
        member.latency_s[static_cast<int>(topology.turned(bundle.members.front(), along))];
    fmt::format_to(
        std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{}\n",
        csv_field(bundle.members.size() == 1 ? member.name : topology.channel_name(link.channel)),
        csv_field(topology.node(from).name), csv_field(topology.node(to).name), capacity * 8,
        latency, link.use.bytes.count(), link.use.header_bytes.count(), link.use.busy_s,
        mean_load(topology, link, lasting), link.limited_s);
  }
  return text;
}

}  // namespace syncline
