// The plans of routes that files give. Private to topology/read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "topology/read/imported.h"
#include "topology/route_plan.h"

namespace syncline {

// A node as it stands in the topology: a host with rates of its own is joined to its place.
struct MadeNode {
  NodeId node, place;            // where links of the file end; the node itself without rates
  std::optional<LinkId> access;  // from the node to its place
};

// The file's ways, by the ids of the topology.
class Plan : public RoutePlan {
 public:
  Plan(const std::vector<MadeNode>& nodes, std::size_t nodes_in_all);
  std::optional<std::vector<Step>> find(NodeId source, NodeId destination) const override;

 protected:
  virtual std::vector<Step> between(std::uint32_t from, std::uint32_t to) const = 0;

 private:
  std::vector<MadeNode> made_;
  std::vector<std::uint32_t> index_;  // of the file's node, by NodeId
};

// Each way is one link, as it was measured.
class DirectPlan : public Plan {
 public:
  using Plan::Plan;
  void add(std::uint32_t a, std::uint32_t b, LinkId link);

 protected:
  std::vector<Step> between(std::uint32_t from, std::uint32_t to) const override;

 private:
  std::unordered_map<std::uint64_t, Step> direct_;  // by from << 32 | to
};

// The ways that the file gives.
class GivenPlan : public Plan {
 public:
  GivenPlan(const std::vector<MadeNode>& nodes, std::size_t nodes_in_all,
            std::shared_ptr<const ImportedRoutes> routes,
            std::vector<std::optional<LinkId>> link_of_record);

 protected:
  std::vector<Step> between(std::uint32_t from, std::uint32_t to) const override;

 private:
  std::shared_ptr<const ImportedRoutes> routes_;
  std::vector<std::optional<LinkId>> link_of_record_;
};

}  // namespace syncline
