#include "sim/network/conditions.h"

#include <algorithm>
#include <limits>

#include "topology/check.h"

namespace syncline {
namespace {

std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

}  // namespace

Conditions::Conditions(const Topology& topology)
    : topology_(topology),
      node_up_(topology.node_count(), true),
      channels_(topology.channel_count()) {
  for (std::uint32_t id = 0; id < topology.link_count(); ++id) {
    const Link& link = topology.link(LinkId{id});
    links_.push_back(
        {.capacity = {link.capacity[0].in_bytes_per_s(), link.capacity[1].in_bytes_per_s()},
         .latency_s = link.latency_s});
  }
  for (std::uint32_t id = 0; id < topology.bundle_count(); ++id) derive(BundleId{id});
}

Conditions::Changed Conditions::set_capacity(LinkId link, Direction direction, double bytes_per_s) {
  std::array<double, 2>& capacities = links_[link.value].capacity;
  capacities[index(direction)] = bytes_per_s;
  if (topology_.link(link).shared) capacities.fill(bytes_per_s);
  return derive_bundle_of(link);
}

Conditions::Changed Conditions::set_link_up(LinkId link, bool up) {
  links_[link.value].up = up;
  return derive_bundle_of(link);
}

Conditions::Changed Conditions::set_node_up(NodeId node, bool up) {
  node_up_[node.value] = up;
  Changed changed{.bundles = topology_.bundles_at(node)};
  for (BundleId bundle : changed.bundles) changed.for_paths |= derive(bundle);
  return changed;
}

void Conditions::set_latency(LinkId link, Direction direction, double latency_s) {
  links_[link.value].latency_s[index(direction)] = latency_s;
}

double Conditions::latency_s(BundleId id, Direction direction) const {
  double least = std::numeric_limits<double>::infinity();
  for (LinkId member : topology_.bundle(id).members) {
    const LinkState& link = links_[member.value];
    if (!link.up) continue;
    least = std::min(least, link.latency_s[index(topology_.turned(member, direction))]);
  }
  SYNCLINE_CHECK(least < std::numeric_limits<double>::infinity(), "a bundle that is down is asked");
  return least;
}

Conditions::Changed Conditions::derive_bundle_of(LinkId link) {
  changed_ = topology_.bundle_of(link);
  return {.bundles = {&changed_, 1}, .for_paths = derive(changed_)};
}

bool Conditions::derive(BundleId id) {
  const Bundle& bundle = topology_.bundle(id);
  bool for_paths = false;
  for (Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
    ChannelState channel{.down = true};
    if (node_up_[bundle.a.value] && node_up_[bundle.b.value]) {
      for (LinkId member : bundle.members) {
        const LinkState& link = links_[member.value];
        if (!link.up) continue;
        double capacity = link.capacity[index(topology_.turned(member, direction))];
        channel.capacity += capacity;
        channel.member_cap = std::max(channel.member_cap, capacity);
        channel.down = false;
      }
    }
    if (bundle.members.size() == 1) channel.member_cap = std::numeric_limits<double>::infinity();
    ChannelState& present = channels_[bundle.channel[index(direction)].value];
    for_paths |= channel.down != present.down || channel.member_cap != present.member_cap ||
                 (channel.capacity == 0) != (present.capacity == 0);
    present = channel;
  }
  return for_paths;
}

}  // namespace syncline
