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

// A link whose capacity and latency change in both directions; the points again with each period.
struct Trace {
  struct Point {
    std::int64_t at = 0;
    double capacity = -1;  // unchanged
    double latency = -1;   // unchanged
  };
  int link = 0;
  std::vector<Point> points = {};  // rising
  std::int64_t period = 0;         // none
};

// The first point of a trace after an instant; -1: none.
std::int64_t next_point(const Trace& trace, std::int64_t after);

// Of every transfer; see "What TCP adds" in docs/network.md.
struct Protocol {
  double streams = 1;
  double window = kNever;  // bytes
  double loss = 0;
  double mss = 1460;
  double header = 0;
  bool slow_start = false;

  double headers(double payload) const;
};

struct Traffic {
  int nodes = 0;
  std::vector<Link> links;
  std::vector<Transfer> transfers;  // in order of start
  std::vector<Change> changes;      // in order of time; not the capacity or latency of traced links
  std::vector<Trace> traces;        // at most one a link
  std::int64_t common_period = 0;   // of the traces
  Protocol protocol;
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
  struct Cap {
    std::int64_t since = 0;
    double rate = kNever;  // bytes/s with headers, of the transfer itself
  };
  std::vector<Cap> caps;  // as they follow each other
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
  // Traced links as they are at that instant.
  void follow_traces(std::int64_t now);
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
