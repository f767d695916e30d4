// Transfers over shared links. The meaning of everything here: reference in docs/network.md
// (network semantics).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/network/transport.h"
#include "topology/link_trace.h"
#include "topology/quantity.h"
#include "topology/topology.h"

namespace syncline {

// What a transfer does when a link or host of its route goes down.
enum class InFlight : std::uint8_t {
  STALL,  // keeps its place, goes on where it was; the latency is not paid again. In the latency
          // phase it is not touched.
  FAIL    // ends, also in the latency phase; what was delivered is known
};

struct TransferSpec {
  NodeId source, destination;
  Bytes bytes;
  std::uint32_t streams = 1;          // weight in the sharing, beside that of the transport
  BitRate cap = BitRate::infinite();  // of the whole transfer
  InFlight in_flight = InFlight::STALL;
  // Started while an outage leaves no route: false: start() throws; true: STALL waits for a route,
  // FAIL fails in this instant.
  bool wait_for_route = false;
};

enum class TransferEnd : std::uint8_t { DONE, FAILED, CANCELLED };

// What limited a transfer.
struct Limit {
  enum class Kind : std::uint8_t { LINK, CAP, LATENCY, OUTAGE };
  Kind kind = Kind::LATENCY;
  ChannelId channel;  // LINK and OUTAGE: where
};
struct HeldLimit {
  Limit limit;
  Time held;
};

using TransferId = std::uint64_t;  // rises in order of start, with gaps; 0: none

struct TransferReport {
  TransferId id = 0;
  TransferEnd end = TransferEnd::DONE;
  Bytes delivered;  // all, or floor of what had arrived
  Time started, ended;
  Limit bottleneck;  // what limited it longest
  // How long each limit held, in no stated order, each once; valid while the sink is told.
  std::span<const HeldLimit> limits;
};

// Who is told of a transfer's end. Called in the COMPLETION phase when every link of this instant's
// completions is released; never inside start() or cancel(). What it throws leaves Engine::run(),
// and the run is over.
class TransferSink {
 public:
  virtual void on_transfer_end(const TransferReport& report, std::uint64_t tag) = 0;

 protected:
  ~TransferSink() = default;
};

// What crossed a channel so far.
struct ChannelUse {
  Bytes bytes;             // credited at transfers' ends
  double busy_s = 0;       // time with at least one transfer flowing
  double byte_s_load = 0;  // integral of the load, bytes; equals bytes at the end, within rounding
  Bytes header_bytes;      // of the transport, beside the bytes above; credited at transfers' ends
  double limited_s = 0;    // that it limited transfers, by capacity or outage; summed at their ends
};

class Network {
 public:
  Network(Engine& engine, const Topology& topology, const Transport& transport = {});
  ~Network();  // ends every process of the engine first (Engine::cancel_all): they may hold
               // awaiters of its transfers
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Engine& engine();
  const Topology& topology() const;

  // Starts now: latency of the route (fixed at the start), then the bytes at their fair rate. To
  // oneself: ends in this instant. Throws InputError without a route (but see wait_for_route).
  // `sink` must outlive the transfer or cancel it.
  TransferId start(const TransferSpec& spec, TransferSink& sink, std::uint64_t tag = 0);
  // Takes effect at the end of the instant; its sink is not told. No effect on one that has ended.
  void cancel(TransferId transfer);

  // Changes, in the CHANGE phase of `at`, in order of these calls within one instant. Capacity acts
  // on transfers in flight; latency on later starts only. Throw InputError: a capacity that is
  // negative or NaN, a latency that is negative or not finite. A bundle's capacity is the sum of
  // its members that are up, one transfer capped at the largest member.
  void change_capacity(Time at, LinkId link, Direction direction, BitRate capacity);
  void change_latency(Time at, LinkId link, Direction direction, double latency_s);
  // Going down: transfers in flight follow their own policy, or `in_flight` where it is given.
  void change_link_state(Time at, LinkId link, bool up, std::optional<InFlight> in_flight = {});
  void change_node_state(Time at, NodeId node, bool up, std::optional<InFlight> in_flight = {});

  // The link changes as the trace says, both directions, in the CHANGE phase of each of its points;
  // the clock's 0 is the trace's. One trace a link. Traces keep no run alive: when nothing else
  // goes on, no trace that ends has a point left, and no transfer has moved for as long as it takes
  // all periods to fall together again (at most 1000 of the longest), they stop until something
  // else happens. One network an engine then: each takes the other's traces for something else.
  // Throws InputError: see check_trace().
  void follow(LinkId link, LinkTrace trace);

  // What a transfer alone would meet from one host to another, as things are now; none without a
  // route.
  struct Way {
    std::vector<ChannelId> channels;
    Time latency;
    BitRate rate;
    ChannelId narrowest;   // the first with that rate
    bool bundled = false;  // parallel links set a limit of their own
  };
  std::optional<Way> way(NodeId source, NodeId destination) const;
  // Accounts for transfers that were computed and not simulated, one after the other on a way that
  // nobody else used.
  void credit(const Way& way, Bytes bytes, Time flowing, Time in_latency);
  const Transport& transport() const;

  ChannelUse use(ChannelId channel) const;
  std::vector<ChannelUse> uses() const;  // of all channels, in one pass
  // Now; 0 while down. A trace's point of this very instant counts from its CHANGE phase on, and
  // where nothing moves from the next instant on.
  BitRate capacity(ChannelId channel) const;
  Bytes delivered(TransferId transfer) const;  // by now, whole bytes; 0 after the end
  // Bytes/s now, without headers; 0 in the latency phase and after the end.
  double rate(TransferId transfer) const;
  // Durations that ended transfers were limited so, in sum.
  double limited_by_latency_s() const;
  double limited_by_cap_s() const;
  std::size_t active() const;  // transfers not ended

  // One line a stuck transfer: "3.41 MB from zurich/0 to milan/0 waits for milan-core milan->core
  // (capacity 0)"; at most `limit`.
  std::vector<std::string> stuck(std::size_t limit = 5) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace syncline
