// Makes a run's events happen, and knows what is down at this moment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/failure/event.h"

namespace syncline {

// Who is told when something changed. Called in the TIMER phase; the network itself follows in the
// CHANGE phase of the same instant.
class FailureListener {
 public:
  virtual void machine_down(std::uint32_t worker) = 0;
  virtual void machine_up(std::uint32_t worker) = 0;
  virtual void speed_changed(std::uint32_t worker) = 0;
  virtual void network_changed() = 0;

 protected:
  ~FailureListener() = default;
};

class Failures {
 public:
  // `events` and `listener` must outlive it. Nothing happens before start().
  Failures(Network& network, std::span<const FailureEvent> events, std::size_t workers,
           std::uint64_t seed, FailureListener& listener);

  // One process an event, in their order.
  void start();
  void stop();

  double speed(std::uint32_t worker) const { return speed_[worker]; }
  bool machine_is_up(std::uint32_t worker) const { return machines_down_[worker] == 0; }
  // Nodes with the same number have ways of links and nodes that are up to each other. It stays
  // until the listener hears of another network.
  std::uint32_t component(NodeId node) const;
  bool connected(NodeId a, NodeId b) const { return component(a) == component(b); }
  // No way leads there, also if one counts links and nodes on which transfers only stall.
  bool cut_off(NodeId a, NodeId b) const;

  // Something got on. Too many events without it end the run: it can make no progress.
  void note_progress() { events_without_progress_ = 0; }

 private:
  Task<> drive(const FailureEvent& event);
  void begin(const FailureEvent& event);
  void end(const FailureEvent& event);
  void change_links(const DownEffect& effect, bool down);
  void find_components() const;

  Network& network_;
  std::span<const FailureEvent> events_;
  std::uint64_t seed_;
  FailureListener& listener_;
  std::vector<ProcessId> processes_;
  std::vector<double> speed_;
  std::vector<std::uint32_t> machines_down_;  // by worker: events that keep it down
  // By link and node: events that keep it down, and of these those on which transfers fail.
  std::vector<std::uint32_t> links_down_, links_failing_;
  std::vector<std::uint32_t> nodes_down_, nodes_failing_;
  std::uint64_t events_without_progress_ = 0;
  // By node, found when asked for: equal numbers are connected.
  mutable bool components_known_ = false;
  mutable std::vector<std::uint32_t> component_, stalling_component_;
};

}  // namespace syncline
