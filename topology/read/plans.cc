#include "topology/read/plans.h"

#include <utility>

#include "topology/check.h"

namespace syncline {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

std::uint64_t key_of(std::uint32_t from, std::uint32_t to) {
  return std::uint64_t{from} << 32 | to;
}

}  // namespace

Plan::Plan(const std::vector<MadeNode>& nodes, std::size_t nodes_in_all)
    : made_(nodes), index_(nodes_in_all, kNone) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    index_[nodes[i].node.value] = static_cast<std::uint32_t>(i);
}

std::optional<std::vector<RoutePlan::Step>> Plan::find(NodeId source, NodeId destination) const {
  if (source.value >= index_.size() || destination.value >= index_.size()) return std::nullopt;
  const std::uint32_t from = index_[source.value], to = index_[destination.value];
  if (from == kNone || to == kNone) return std::nullopt;
  std::vector<Step> steps = between(from, to);
  if (steps.empty()) return steps;
  if (made_[from].access) steps.insert(steps.begin(), {*made_[from].access, Direction::FORWARD});
  if (made_[to].access) steps.push_back({*made_[to].access, Direction::BACKWARD});
  return steps;
}

void DirectPlan::add(std::uint32_t a, std::uint32_t b, LinkId link) {
  direct_.try_emplace(key_of(a, b), Step{link, Direction::FORWARD});
  direct_.try_emplace(key_of(b, a), Step{link, Direction::BACKWARD});
}

std::vector<RoutePlan::Step> DirectPlan::between(std::uint32_t from, std::uint32_t to) const {
  const auto found = direct_.find(key_of(from, to));
  if (found == direct_.end()) return {};
  return {found->second};
}

GivenPlan::GivenPlan(const std::vector<MadeNode>& nodes, std::size_t nodes_in_all,
                     std::shared_ptr<const ImportedRoutes> routes,
                     std::vector<std::optional<LinkId>> link_of_record)
    : Plan(nodes, nodes_in_all),
      routes_(std::move(routes)),
      link_of_record_(std::move(link_of_record)) {}

std::vector<RoutePlan::Step> GivenPlan::between(std::uint32_t from, std::uint32_t to) const {
  std::vector<Step> steps;
  for (const ImportedRoutes::Step& step : routes_->find(from, to)) {
    const std::optional<LinkId> link = link_of_record_[step.link];
    SYNCLINE_CHECK(link, "a link of a route joins two nodes");
    steps.push_back({*link, step.forward ? Direction::FORWARD : Direction::BACKWARD});
  }
  return steps;
}

}  // namespace syncline
