#include "sim/strategy/gossip_partners.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "topology/check.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

// All pairings are as likely as each other.
Partners random_pairs(std::size_t workers, std::uint64_t seed, std::uint64_t round) {
  RandomStream random(seed, "pairs of round " + std::to_string(round + 1));
  std::vector<std::uint32_t> order(workers);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t left = workers; left > 1; --left) {
    const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(left));
    std::swap(order[left - 1], order[other]);
  }
  Partners partners(workers);
  for (std::size_t i = 0; i + 1 < workers; i += 2) {
    partners[order[i]] = {order[i + 1]};
    partners[order[i + 1]] = {order[i]};
  }
  return partners;
}

}  // namespace

Partners gossip_partners(const Gossip& method, std::size_t workers, std::uint64_t seed,
                         std::uint64_t round) {
  if (method.partners == Gossip::Partners::RANDOM_PAIRS) return random_pairs(workers, seed, round);
  SYNCLINE_CHECK(method.neighbours.size() == workers, "each worker has its neighbours");
  return method.neighbours;
}

std::vector<Share> gossip_shares(const Partners& partners, std::uint32_t worker) {
  std::vector<Share> shares{{worker, 1}};
  double others = 0;
  for (const std::uint32_t partner : partners[worker]) {
    const std::size_t most = std::max(partners[worker].size(), partners[partner].size());
    shares.push_back({partner, 1 / (1 + static_cast<double>(most))});
    others += shares.back().weight;
  }
  shares.front().weight = 1 - others;
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.worker < b.worker; });
  return shares;
}

}  // namespace syncline
