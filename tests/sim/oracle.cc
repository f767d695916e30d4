#include "tests/sim/oracle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace syncline::oracle {

std::vector<double> max_min_rates(const std::vector<Flow>& flows,
                                  const std::vector<double>& capacity) {
  std::vector<double> rate(flows.size(), -1);
  std::vector<double> left = capacity;
  for (std::size_t open = flows.size(); open > 0;) {
    // The lowest level at which a resource is full or a flow at its cap.
    std::vector<double> weight(capacity.size(), 0);
    double level = kNever;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (rate[f] >= 0) continue;
      level = std::min(level, flows[f].cap / flows[f].weight);
      for (int r : flows[f].route) weight[r] += flows[f].weight;
    }
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      if (weight[r] > 0) level = std::min(level, left[r] / weight[r]);
    }
    std::vector<bool> full(capacity.size());
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      full[r] = weight[r] > 0 && left[r] / weight[r] <= level * (1 + 1e-12);
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (rate[f] >= 0) continue;
      bool stops = flows[f].cap / flows[f].weight <= level;
      for (int r : flows[f].route) stops = stops || full[r];
      if (!stops) continue;
      rate[f] = std::min(level * flows[f].weight, flows[f].cap);
      for (int r : flows[f].route) left[r] = std::max(0.0, left[r] - rate[f]);
      --open;
    }
  }
  return rate;
}

double Protocol::headers(double payload) const { return std::ceil(payload / mss) * header; }

std::int64_t next_point(const Trace& trace, std::int64_t after) {
  const std::int64_t begun =
      trace.period > 0 ? std::max<std::int64_t>(after, 0) / trace.period * trace.period : 0;
  for (const Trace::Point& point : trace.points) {
    if (begun + point.at > after) return begun + point.at;
  }
  return trace.period > 0 ? begun + trace.period + trace.points.front().at : -1;
}

namespace {

// The value that a trace gave last; -1: none yet.
double value_at(const Trace& trace, double Trace::Point::*what, std::int64_t now) {
  const std::int64_t place = trace.period > 0 ? now % trace.period : now;
  double before = -1;  // of this period
  double last = -1;    // of a whole one
  for (const Trace::Point& point : trace.points) {
    if (point.*what < 0) continue;
    if (point.at <= place) before = point.*what;
    last = point.*what;
  }
  const bool repeated = trace.period > 0 && now >= trace.period;
  return before >= 0 || !repeated ? before : last;
}

}  // namespace

World::World(const Traffic& traffic)
    : traffic_(traffic),
      links_(traffic.links),
      link_up_(traffic.links.size(), true),
      node_up_(static_cast<std::size_t>(traffic.nodes), true) {
  std::map<std::tuple<int, int, bool>, int> known;  // from, to, shared
  for (int l = 0; l < static_cast<int>(links_.size()); ++l) {
    for (int direction : {0, 1}) {
      int from = direction ? links_[l].b : links_[l].a;
      int to = direction ? links_[l].a : links_[l].b;
      if (links_[l].shared) {
        if (direction == 1) continue;
        if (from > to) std::swap(from, to);
      }
      auto [entry, is_new] =
          known.try_emplace({from, to, links_[l].shared}, static_cast<int>(resources_.size()));
      if (is_new) resources_.emplace_back();
      resources_[entry->second].links.push_back(l);
      resources_[entry->second].directions.push_back(direction);
    }
  }
}

void World::apply(const Change& change) {
  switch (change.kind) {
    case Change::CAPACITY:
      links_[change.target].capacity[change.direction] = change.value;
      if (links_[change.target].shared) {
        links_[change.target].capacity[1 - change.direction] = change.value;
      }
      break;
    case Change::LATENCY:
      links_[change.target].latency[change.direction] = change.value;
      break;
    case Change::LINK_STATE:
      link_up_[change.target] = change.up;
      break;
    case Change::NODE_STATE:
      node_up_[change.target] = change.up;
      break;
  }
}

void World::follow_traces(std::int64_t now) {
  for (const Trace& trace : traffic_.traces) {
    Link& link = links_[trace.link];
    const double capacity = value_at(trace, &Trace::Point::capacity, now);
    const double latency = value_at(trace, &Trace::Point::latency, now);
    for (int direction : {0, 1}) {
      if (capacity >= 0) link.capacity[direction] = capacity;
      if (latency >= 0) link.latency[direction] = latency;
    }
  }
}

double World::capacity(int resource) const {
  const Resource& r = resources_[resource];
  double sum = 0;
  for (std::size_t i = 0; i < r.links.size(); ++i) {
    if (up(r.links[i])) sum += links_[r.links[i]].capacity[r.directions[i]];
  }
  return sum;
}

double World::largest_member(int resource) const {
  const Resource& r = resources_[resource];
  double largest = 0;
  for (std::size_t i = 0; i < r.links.size(); ++i) {
    if (up(r.links[i])) largest = std::max(largest, links_[r.links[i]].capacity[r.directions[i]]);
  }
  return largest;
}

bool World::down(int resource) const {
  const std::vector<int>& links = resources_[resource].links;
  return std::none_of(links.begin(), links.end(), [this](int l) { return up(l); });
}

double World::cap_on(const std::vector<int>& route, double cap) const {
  for (int r : route) {
    if (bundled(r)) cap = std::min(cap, largest_member(r));
  }
  return cap;
}

// Bellman-Ford on (nominal latency, hops); then back from the destination over the lowest
// predecessors.
bool World::route(int source, int destination, std::vector<int>& resources, double& latency) const {
  resources.clear();
  latency = 0;
  if (!node_up_[source] || !node_up_[destination]) return false;
  struct Edge {
    int from, to, resource;
    double nominal, present;
  };
  std::vector<Edge> edges;
  for (int r = 0; r < static_cast<int>(resources_.size()); ++r) {
    if (down(r)) continue;
    for (int way = 0; way < (links_[resources_[r].links[0]].shared ? 2 : 1); ++way) {
      Edge edge{-1, -1, r, kNever, kNever};
      for (std::size_t i = 0; i < resources_[r].links.size(); ++i) {
        int l = resources_[r].links[i];
        // A shared resource holds each link once; its second way is the other direction of the
        // first link's.
        int direction = resources_[r].directions[i];
        bool flip =
            links_[l].shared && (way == 1) != (links_[l].a != links_[resources_[r].links[0]].a);
        if (flip) direction = 1 - direction;
        edge.from = direction ? links_[l].b : links_[l].a;
        edge.to = direction ? links_[l].a : links_[l].b;
        if (!up(l)) continue;
        edge.nominal = std::min(edge.nominal, traffic_.links[l].latency[direction]);
        edge.present = std::min(edge.present, links_[l].latency[direction]);
      }
      edges.push_back(edge);
    }
  }
  using Distance = std::pair<double, int>;
  std::vector<Distance> distance(node_up_.size(), {kNever, 0});
  distance[source] = {0, 0};
  for (bool better = true; better;) {
    better = false;
    for (const Edge& edge : edges) {
      Distance through{distance[edge.from].first + edge.nominal, distance[edge.from].second + 1};
      if (distance[edge.from].first == kNever || !(through < distance[edge.to])) continue;
      distance[edge.to] = through;
      better = true;
    }
  }
  if (distance[destination].first == kNever) return false;
  std::vector<const Edge*> path;
  for (int node = destination; node != source;) {
    const Edge* best = nullptr;
    for (const Edge& edge : edges) {
      if (edge.to != node || distance[edge.from].first == kNever) continue;
      Distance through{distance[edge.from].first + edge.nominal, distance[edge.from].second + 1};
      if (through == distance[node] && (!best || edge.from < best->from)) best = &edge;
    }
    path.push_back(best);
    node = best->from;
  }
  std::reverse(path.begin(), path.end());
  for (const Edge* edge : path) {
    resources.push_back(edge->resource);
    latency += edge->present;
  }
  return true;
}

namespace {

// Slow start of a transfer.
struct Slow {
  std::int64_t rtt = 0;
  int round = 0;
  std::int64_t next = -1;  // its end, or never
  double limit = kNever;   // payload bytes/s: the other limits
};

}  // namespace

std::vector<Outcome> simulate(const Traffic& traffic) {
  World world(traffic);
  std::vector<Outcome> outcomes(traffic.transfers.size());
  std::vector<double> remaining(traffic.transfers.size());
  std::vector<double> rates(traffic.transfers.size());
  std::vector<Slow> slow(traffic.transfers.size());
  const Protocol& protocol = traffic.protocol;
  std::vector<int> flowing;
  std::vector<int> in_latency;
  std::size_t next_start = 0;
  std::size_t next_change = 0;
  double now = 0;
  std::int64_t handled = -1;  // the last instant with something scheduled
  std::int64_t hope = 0;      // until when a trace that ends, or one that moves others, acts
  for (const Trace& trace : traffic.traces) {
    if (trace.period == 0) hope = std::max(hope, trace.points.back().at);
  }

  auto expansion = [&](int t) {
    const double payload = traffic.transfers[t].bytes;
    return payload == 0 ? 1 : 1 + protocol.headers(payload) / payload;
  };
  auto set_cap = [&](int t, std::int64_t since, double payload_rate) {
    outcomes[t].caps.push_back({since, payload_rate * expansion(t)});
  };
  auto slow_rate = [&](int t) {
    return 10 * protocol.mss * std::exp2(slow[t].round) * protocol.streams /
           (static_cast<double>(slow[t].rtt) / 1e9);
  };
  auto end = [&](int t, Outcome::Status status) {
    outcomes[t].status = status;
    outcomes[t].ended = now;
    outcomes[t].delivered = status == Outcome::DONE ? traffic.transfers[t].bytes
                            : std::count(flowing.begin(), flowing.end(), t)
                                ? traffic.transfers[t].bytes - remaining[t] / expansion(t)
                                : 0;
    std::erase(flowing, t);
    std::erase(in_latency, t);
  };
  auto complete = [&] {
    bool any = false;
    std::vector<int> before = flowing;
    for (int t : before) {
      if (rates[t] <= 0 || remaining[t] > rates[t] * 0.5e-9) continue;
      end(t, Outcome::DONE);
      any = true;
    }
    return any;
  };

  while (true) {
    // Rates for the present flows.
    std::vector<Flow> flows;
    std::vector<double> capacity;
    for (int r = 0; r < static_cast<int>(world.resources().size()); ++r) {
      capacity.push_back(world.capacity(r));
    }
    for (int t : flowing) {
      const Transfer& transfer = traffic.transfers[t];
      flows.push_back({outcomes[t].route, transfer.weight * protocol.streams,
                       world.cap_on(outcomes[t].route, outcomes[t].caps.back().rate)});
    }
    std::vector<double> found = max_min_rates(flows, capacity);
    for (std::size_t i = 0; i < flowing.size(); ++i) rates[flowing[i]] = found[i];
    if (complete()) continue;

    // The next event: a scheduled one, at a whole nanosecond, or the first completion.
    std::int64_t scheduled = std::numeric_limits<std::int64_t>::max();
    if (next_start < traffic.transfers.size()) {
      scheduled = std::min(scheduled, traffic.transfers[next_start].start);
    }
    if (next_change < traffic.changes.size()) {
      scheduled = std::min(scheduled, traffic.changes[next_change].at);
    }
    for (int t : in_latency) scheduled = std::min(scheduled, outcomes[t].arrival);
    for (std::size_t t = 0; t < next_start; ++t) {
      bool alive = outcomes[t].status == Outcome::NEVER;
      if (alive && traffic.transfers[t].cancel_at >= 0) {
        scheduled = std::min(scheduled, traffic.transfers[t].cancel_at);
      }
    }
    for (const int t : flowing) {
      if (slow[t].next >= 0) scheduled = std::min(scheduled, slow[t].next);
    }
    double next = kNever;
    for (int t : flowing) {
      if (rates[t] > 0) next = std::min(next, now + remaining[t] / rates[t]);
    }
    const bool only_traces =
        next == kNever && scheduled == std::numeric_limits<std::int64_t>::max();
    if (!only_traces) {
      hope = std::max(hope, handled);
    } else if (handled > hope + 2 * traffic.common_period) {
      break;
    }
    for (const Trace& trace : traffic.traces) {
      const std::int64_t point = next_point(trace, handled);
      if (point >= 0) scheduled = std::min(scheduled, point);
    }
    bool is_scheduled = scheduled != std::numeric_limits<std::int64_t>::max() &&
                        static_cast<double>(scheduled) / 1e9 <= next;
    if (is_scheduled) next = static_cast<double>(scheduled) / 1e9;
    if (next == kNever) break;
    for (int t : flowing) remaining[t] = std::max(0.0, remaining[t] - rates[t] * (next - now));
    now = next;
    complete();
    if (!is_scheduled) continue;
    handled = scheduled;

    // Starts, changes, arrivals, and at the end what was cancelled.
    while (next_start < traffic.transfers.size() &&
           traffic.transfers[next_start].start == scheduled) {
      int t = static_cast<int>(next_start++);
      const Transfer& transfer = traffic.transfers[t];
      double latency = 0;
      remaining[t] = transfer.bytes + protocol.headers(transfer.bytes);
      if (!world.route(transfer.source, transfer.destination, outcomes[t].route, latency)) {
        outcomes[t].status = Outcome::NO_ROUTE;
      } else if (transfer.source == transfer.destination) {
        end(t, Outcome::DONE);
      } else {
        const std::int64_t forward = std::llround(latency * 1e9);
        outcomes[t].arrival = scheduled + forward;
        in_latency.push_back(t);
        std::vector<int> way_back;
        const bool returns = world.route(transfer.destination, transfer.source, way_back, latency);
        slow[t].rtt = forward + (returns ? std::llround(latency * 1e9) : forward);
        slow[t].limit = transfer.cap;
        const double rtt_s = static_cast<double>(slow[t].rtt) / 1e9;
        if (rtt_s > 0) {
          const double mathis =
              protocol.loss > 0 ? protocol.mss * std::sqrt(1.5 / protocol.loss) : kNever;
          slow[t].limit =
              std::min(slow[t].limit, protocol.streams * std::min(protocol.window, mathis) / rtt_s);
        }
        set_cap(t, scheduled, slow[t].limit);
      }
    }
    while (next_change < traffic.changes.size() && traffic.changes[next_change].at == scheduled) {
      world.apply(traffic.changes[next_change++]);
      for (int t = 0; t < static_cast<int>(next_start); ++t) {
        if (outcomes[t].status != Outcome::NEVER || !traffic.transfers[t].fail) continue;
        const std::vector<int>& route = outcomes[t].route;
        if (std::any_of(route.begin(), route.end(), [&](int r) { return world.down(r); })) {
          end(t, Outcome::FAILED);
        }
      }
    }
    world.follow_traces(scheduled);
    for (const int t : flowing) {
      if (slow[t].next != scheduled) continue;
      ++slow[t].round;
      double narrowest = kNever;
      for (const int r : outcomes[t].route) narrowest = std::min(narrowest, world.capacity(r));
      const double rate = slow_rate(t);
      const bool over = rate >= slow[t].limit || rate * expansion(t) >= narrowest;
      slow[t].next = over ? -1 : scheduled + slow[t].rtt;
      set_cap(t, scheduled, over ? slow[t].limit : rate);
    }
    std::vector<int> waiting = in_latency;
    for (int t : waiting) {
      if (outcomes[t].arrival != scheduled) continue;
      std::erase(in_latency, t);
      flowing.push_back(t);
      if (!protocol.slow_start || slow[t].rtt == 0 || traffic.transfers[t].bytes == 0) continue;
      slow[t].next = scheduled + slow[t].rtt;
      set_cap(t, scheduled, std::min(slow[t].limit, slow_rate(t)));
    }
    for (int t = 0; t < static_cast<int>(next_start); ++t) {
      if (traffic.transfers[t].cancel_at != scheduled) continue;
      bool ended_now = outcomes[t].status == Outcome::FAILED && outcomes[t].ended == now;
      if (outcomes[t].status == Outcome::NEVER) end(t, Outcome::CANCELLED);
      if (ended_now) outcomes[t].status = Outcome::CANCELLED;  // not told
    }
  }
  return outcomes;
}

}  // namespace syncline::oracle
