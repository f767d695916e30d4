// A plain network simulator on a clock of doubles, against which the network is tested. It follows
// docs/network.md and shares no code with sim/: its own routing, its own filling, every rate found
// anew at every event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace syncline::oracle {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Link {
  int a = 0;
  int b = 0;
  double capacity[2] = {0, 0};  // bytes/s: a to b, b to a
  double latency[2] = {0, 0};   // s
  bool shared = false;
};

// Scheduled instants are whole nanoseconds.
struct Transfer {
  std::int64_t start = 0;
  int source = 0;
  int destination = 0;
  double bytes = 0;
  double weight = 1;
  double cap = kNever;
  bool fail = false;
  std::int64_t cancel_at = -1;  // never
};

struct Change {
  enum Kind { CAPACITY, LATENCY, LINK_STATE, NODE_STATE };
  std::int64_t at = 0;
  Kind kind = CAPACITY;
  int target = 0;  // link or node
  int direction = 0;
  double value = 0;
  bool up = true;
};

struct Traffic {
  int nodes = 0;
  std::vector<Link> links;
  std::vector<Transfer> transfers;  // in order of start
  std::vector<Change> changes;      // in order of time
};

// One direction of all parallel links between two nodes that are shared or not; both directions
// where shared.
struct Resource {
  std::vector<int> links;
  std::vector<int> directions;  // of each link
};

struct Outcome {
  enum Status { NEVER, NO_ROUTE, DONE, FAILED, CANCELLED };
  Status status = NEVER;
  double ended = kNever;      // s
  double delivered = 0;       // bytes, not rounded
  std::int64_t arrival = -1;  // when its bytes start to flow, ns; -1: not under way
  std::vector<int> route;     // resources
};

// A flow for max_min_rates(): its cap includes those of bundles.
struct Flow {
  std::vector<int> route;
  double weight = 1;
  double cap = kNever;
};

std::vector<double> max_min_rates(const std::vector<Flow>& flows,
                                  const std::vector<double>& capacity);

// What the network can do at one moment.
class World {
 public:
  explicit World(const Traffic& traffic);
  const std::vector<Resource>& resources() const { return resources_; }
  void apply(const Change& change);
  double capacity(int resource) const;
  bool down(int resource) const;
  double largest_member(int resource) const;
  bool bundled(int resource) const { return resources_[resource].links.size() > 1; }
  // False: there is none. The latency is of this moment.
  bool route(int source, int destination, std::vector<int>& resources, double& latency) const;
  // The cap of a transfer on a route, with what one member of each bundle gives.
  double cap_on(const std::vector<int>& route, double cap) const;

 private:
  bool up(int link) const {
    return link_up_[link] && node_up_[links_[link].a] && node_up_[links_[link].b];
  }

  const Traffic& traffic_;
  std::vector<Link> links_;  // as they are now
  std::vector<bool> link_up_;
  std::vector<bool> node_up_;
  std::vector<Resource> resources_;
};

std::vector<Outcome> simulate(const Traffic& traffic);

}  // namespace syncline::oracle
