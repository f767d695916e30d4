#include "sim/collective/ring_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr double kSame = 1e-9;  // relative: shares that count as equal
constexpr std::size_t kMostTrials = 300'000;

using Order = std::vector<std::uint32_t>;  // places of `hosts`

// The ways between all pairs of hosts, found when first needed.
class Ways {
 public:
  Ways(const Network& network, const std::vector<NodeId>& hosts)
      : network_(network),
        hosts_(hosts),
        ways_(hosts.size() * hosts.size()),
        edges_on_(network.topology().channel_count()) {}

  const Network::Way& way(std::uint32_t from, std::uint32_t to) {
    std::optional<Network::Way>& way = ways_[from * hosts_.size() + to];
    if (!way) {
      way = network_.way(hosts_[from], hosts_[to]);
      if (!way) {
        const Topology& topology = network_.topology();
        throw InputError(fmt::format("a ring needs a route from {} to {}; there is none",
                                     topology.node(hosts_[from]).name,
                                     topology.node(hosts_[to]).name));
      }
    }
    return *way;
  }

  RingCost cost(const Order& order) {
    RingCost cost{BitRate::infinite(), Time(), Time()};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Network::Way& edge = next_way(order, i);
      cost.longest_latency = std::max(cost.longest_latency, edge.latency);
      cost.total_latency += edge.latency;
      for (const ChannelId channel : edge.channels) ++edges_on_[channel.value];
    }
    double least = BitRate::infinite().in_bytes_per_s();
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const ChannelId channel : next_way(order, i).channels) {
        const double rate = network_.capacity(channel).in_bytes_per_s();
        if (edges_on_[channel.value] > 0) least = std::min(least, rate / edges_on_[channel.value]);
        edges_on_[channel.value] = 0;
      }
    }
    cost.narrowest = BitRate::bytes_per_s(least);
    return cost;
  }

  // From the first one on always to the widest, then nearest, of those that are left.
  Order greedy() {
    Order order{0};
    Order left(hosts_.size() - 1);
    std::iota(left.begin(), left.end(), 1);
    while (!left.empty()) {
      const auto closer = [&](std::uint32_t a, std::uint32_t b) {
        const Network::Way& to_a = way(order.back(), a);
        const Network::Way& to_b = way(order.back(), b);
        if (to_a.rate != to_b.rate) return to_a.rate > to_b.rate;
        return to_a.latency < to_b.latency;
      };
      const auto next = std::min_element(left.begin(), left.end(), closer);
      order.push_back(*next);
      left.erase(next);
    }
    return order;
  }

 private:
  const Network::Way& next_way(const Order& order, std::size_t i) {
    return way(order[i], order[i + 1 == order.size() ? 0 : i + 1]);
  }

  const Network& network_;
  const std::vector<NodeId>& hosts_;
  std::vector<std::optional<Network::Way>> ways_;
  std::vector<std::uint32_t> edges_on_;  // by channel; 0 between calls
};

// The best so far, and how to try others.
class Search {
 public:
  Search(Ways& ways, Order first) : ways_(ways), best_(std::move(first)), cost_(ways.cost(best_)) {}

  bool try_order(const Order& order) {
    ++trials_;
    const RingCost cost = ways_.cost(order);
    if (!cost.better_than(cost_)) return false;
    best_ = order;
    cost_ = cost;
    return true;
  }

  // While it helps: a part of the ring the other way round, or somewhere else.
  void improve() {
    for (bool better = true; better && trials_ < kMostTrials;)
      better = turn_a_part() || move_a_part();
  }

  const Order& best() const { return best_; }

 private:
  bool turn_a_part() {
    const auto size = static_cast<std::ptrdiff_t>(best_.size());
    for (std::ptrdiff_t first = 1; first < size; ++first) {
      for (std::ptrdiff_t end = first + 2; end <= size; ++end) {
        Order order = best_;
        std::reverse(order.begin() + first, order.begin() + end);
        if (try_order(order)) return true;
        if (trials_ >= kMostTrials) return false;
      }
    }
    return false;
  }

  bool move_a_part() {
    const auto size = static_cast<std::ptrdiff_t>(best_.size());
    for (std::ptrdiff_t length = 1; length <= std::min<std::ptrdiff_t>(size - 2, 3); ++length) {
      for (std::ptrdiff_t first = 1; first + length <= size; ++first) {
        for (std::ptrdiff_t to = 1; to + length <= size; ++to) {
          if (to == first) continue;
          Order order = best_;
          const Order part(order.begin() + first, order.begin() + first + length);
          order.erase(order.begin() + first, order.begin() + first + length);
          order.insert(order.begin() + to, part.begin(), part.end());
          if (try_order(order)) return true;
          if (trials_ >= kMostTrials) return false;
        }
      }
    }
    return false;
  }

  Ways& ways_;
  Order best_;
  RingCost cost_;
  std::size_t trials_ = 0;
};

}  // namespace

bool RingCost::better_than(const RingCost& other) const {
  const double mine = narrowest.in_bytes_per_s();
  const double others = other.narrowest.in_bytes_per_s();
  if (mine != others && std::abs(mine - others) > kSame * std::min(mine, others))
    return mine > others;
  if (longest_latency != other.longest_latency) return longest_latency < other.longest_latency;
  return total_latency < other.total_latency;
}

RingCost ring_cost(const Network& network, const std::vector<NodeId>& hosts) {
  Order order(hosts.size());
  std::iota(order.begin(), order.end(), 0);
  return Ways(network, hosts).cost(order);
}

std::vector<NodeId> best_ring(const Network& network, const std::vector<NodeId>& hosts) {
  SYNCLINE_CHECK(!hosts.empty() && hosts.size() <= kMostOrdered, "so many hosts are ordered");
  Ways ways(network, hosts);
  Order order(hosts.size());
  std::iota(order.begin(), order.end(), 0);
  Search search(ways, order);
  if (hosts.size() <= kExhaustive) {
    while (std::next_permutation(order.begin() + 1, order.end())) search.try_order(order);
  } else {
    search.try_order(ways.greedy());
    search.improve();
  }
  std::vector<NodeId> ring;
  for (const std::uint32_t place : search.best()) ring.push_back(hosts[place]);
  return ring;
}

}  // namespace syncline
