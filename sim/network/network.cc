#include "sim/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "sim/network/arrival_queue.h"
#include "sim/network/chunked_array.h"
#include "sim/network/conditions.h"
#include "sim/network/limit_history.h"
#include "sim/network/route_table.h"
#include "sim/network/sharing.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-9;  // relative: times that count as equal when bottlenecks are compared

// A TransferId holds the slot in its low bits, so that finding the transfer needs no map.
constexpr int kSlotBits = 24;
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << kSlotBits;
constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

std::uint32_t slot_of(TransferId id) { return static_cast<std::uint32_t>(id & (kMostSlots - 1)); }

// The kind of an event, in the low bits of its tag; above it the latency class, the change, the
// trace or the transfer's slot.
enum Kind : std::uint64_t { COMPLETIONS, INSTANT_END, ARRIVALS, CHANGED, TRACED, FASTER };
constexpr int kKindBits = 3;

std::uint64_t make_tag(Kind kind, std::uint64_t index = 0) { return index << kKindBits | kind; }

enum class Stage : std::uint8_t {
  FREE,
  WAITING,  // for a route
  LATENCY,
  FLOWING,
  ENDED  // its sink is not told yet
};

// Kept small: a million of them at once is a usual burst. A flow has the number of its transfer's
// slot.
struct Transfer {
  TransferId id = 0;
  TransferSink* sink = nullptr;  // null: cancelled
  std::uint64_t tag = 0;
  Bytes bytes;  // when it has ended: delivered
  Time started;
  PathId path = 0;            // when it is free: the next free slot
  std::uint32_t streams = 1;  // when it has ended: the channel of `last`
  std::uint32_t extra = 0;    // 0: none
  Stage stage : 3 = Stage::FREE;
  InFlight in_flight : 1 = InFlight::STALL;
  bool busy : 1 = false;    // counts in its channels' busy time
  bool queued : 1 = false;  // in an arrival queue: the slot cannot be used again
  TransferEnd how : 2 = TransferEnd::DONE;
  // When it has ended:
  Stage ended_in : 3 = Stage::FREE;
  Limit::Kind last : 2 = Limit::Kind::LATENCY;  // what limited it last
};

// What few transfers have.
struct Extra {
  double cap = kInfinity;          // of payload
  Bytes headers;                   // of the transport, for all of its bytes
  double growing_cap = kInfinity;  // slow start: the cap of the present round trip
  std::uint32_t round = 0;
  Time rtt;
  EventHandle faster;  // the next round trip
  bool has_history = false;
  LimitHistory history;
  // Of one that has waited for a route:
  bool waited = false;
  Limit waited_for;
  Time departed;  // when it had one
};

struct Change {
  enum class Kind { CAPACITY, LATENCY, LINK_STATE, NODE_STATE };
  Kind kind;
  LinkId link = {};
  NodeId node = {};
  Direction direction = Direction::FORWARD;
  double value = 0;
  bool up = true;
  std::optional<InFlight> in_flight = {};  // LINK_STATE, NODE_STATE: instead of the transfers' own
  EventHandle event = {};
};

// A link that follows a trace.
struct Following {
  LinkId link;
  LinkTrace trace;
  std::size_t next = 0;  // point
  Time begun;            // the present period
  EventHandle event;

  bool over() const { return next == trace.points.size(); }
  Time next_at() const { return over() ? Time::max() : begun + trace.points[next].at; }
  void advance() {
    if (++next == trace.points.size() && trace.period) {
      next = 0;
      begun += *trace.period;
    }
  }
};

// After how long traces that repeat do so together.
class CommonPeriod {
 public:
  void add(Time period) {
    longest_ = std::max(longest_, period.count_ns());
    if (!exact_) return;
    const std::int64_t steps = period.count_ns() / std::gcd(common_, period.count_ns());
    exact_ = !__builtin_mul_overflow(common_, steps, &common_);
  }
  // Of traces that take very long to do so: kMost times the longest period.
  Time get() const {
    std::int64_t most = 0;
    if (__builtin_mul_overflow(longest_, kMost, &most)) return Time::max();
    return Time::ns(exact_ ? std::min(common_, most) : most);
  }

 private:
  static constexpr std::int64_t kMost = 1000;
  bool exact_ = true;
  std::int64_t common_ = 1;  // ns
  std::int64_t longest_ = 0;
};

// What rounding left just below a whole byte is that byte.
Bytes whole_bytes(const Transfer& transfer, double delivered) {
  const double rounding = static_cast<double>(transfer.bytes.count()) * 1e-14;
  return Bytes(std::min(transfer.bytes.count(),
                        static_cast<std::int64_t>(std::floor(delivered + rounding))));
}

// Half a cache line: every transfer looks at those of its route.
struct alignas(32) ChannelAccount {
  Bytes bytes;
  std::uint32_t busy_transfers = 0;
  Time busy_since;
  Time busy;

  void begin_busy(Time now) {
    if (busy_transfers++ == 0) busy_since = now;
  }
  void end_busy(Time now) {
    if (--busy_transfers == 0) busy += now - busy_since;
  }
};

// The transfers in flight on routes of one latency.
struct Arrivals {
  ArrivalQueue queue;
  EventHandle event;
};

}  // namespace

struct Network::State final : EventTarget {
  State(Engine& the_engine, const Topology& the_topology, const Transport& the_transport);
  ~State();

  void on_event(std::uint64_t tag) override;
  void on_completions();
  void on_instant_end();
  void on_arrivals(std::uint32_t latency_class);
  void on_arrival(std::uint32_t slot);
  void on_change(std::uint32_t index);
  void on_traced(std::uint32_t index);
  void on_faster(std::uint32_t slot);

  std::uint32_t take_slot();
  Transfer* find(TransferId id);
  const Transfer* find(TransferId id) const { return const_cast<State*>(this)->find(id); }
  void set_off(Transfer& transfer, std::uint32_t slot);
  void skip_cut_off(Arrivals& arrivals);
  void end(Transfer& transfer, TransferEnd how, double delivered, const Limit& limit);
  void tell_soon(const Transfer& transfer);
  void cut_off(Transfer& transfer, TransferEnd how);
  void tell(TransferId id);
  void free_slot(Transfer& transfer, std::uint32_t slot);
  void keep_for_reuse(Transfer& transfer, std::uint32_t slot);
  Extra& extra(Transfer& transfer);
  double cap(const Transfer& transfer) const;
  Bytes headers(const Transfer& transfer) const {
    return transfer.extra == 0 ? Bytes() : extras[transfer.extra].headers;
  }
  // Bytes on the links for each of payload.
  double expansion(const Transfer& transfer) const;
  double delivered_so_far(const Transfer& transfer) const;
  Time departed(const Transfer& transfer) const {
    bool waited = transfer.extra != 0 && extras[transfer.extra].waited;
    return waited ? extras[transfer.extra].departed : transfer.started;
  }
  Time flowing_since(const Transfer& transfer) const {
    return departed(transfer) + routes.latency(routes[transfer.path]);
  }
  std::span<const ChannelId> channels(const Transfer& transfer) const {
    return routes.channels(routes[transfer.path]);
  }

  void apply_transport(Transfer& transfer);
  void begin_slow_start(Transfer& transfer, std::uint32_t slot);

  void schedule_change(Time at, Change change);
  void apply(const Change& change);
  void apply_point(LinkId link, const std::optional<BitRate>& bandwidth,
                   const std::optional<double>& latency_s);
  void catch_up(Following& following);
  void wake_traces();
  bool hopeless() const;
  void stop_traces();
  void apply_conditions(std::optional<InFlight> in_flight);
  void find_routes();
  void wait_for_route(Transfer& transfer);
  Limit missing_link(const Transfer& transfer) const;
  void set_busy(Transfer& transfer, bool busy);
  double flow_cap(const Transfer& transfer) const;

  Limit limit_from(const Transfer& transfer, Sharing::Limit limit) const;
  Limit present_limit(const Transfer& transfer) const {
    return limit_from(transfer, sharing.limit(slot_of(transfer.id)));
  }
  void hold(Transfer& transfer, const Limit& limit);
  void hold_all();
  void find_limits(const Transfer& transfer);
  Limit bottleneck(const Transfer& transfer) const;
  Limit settle_limits(const Transfer& transfer);

  void ask_instant_end();
  void complete_at(Time at);
  ChannelUse use(ChannelId channel) const;

  Engine& engine;
  const Topology& topology;
  const Transport transport;
  const bool plain_transport;
  Sharing sharing;
  Conditions conditions;
  RouteTable routes;

  ChunkedArray<Transfer> transfers;  // by slot
  std::uint32_t first_free = kNoSlot;
  std::vector<Extra> extras;  // the first is nobody's
  std::vector<std::uint32_t> free_extras;
  std::uint64_t started = 0;
  std::size_t active = 0;
  std::size_t waiting = 0;  // for a route
  std::vector<ChannelAccount> accounts;
  std::vector<double> fractions;  // fractions of bytes that were delivered, but rounded down above
  std::vector<Bytes> header_bytes;  // by channel; empty: the transport has none
  std::vector<Arrivals> arrivals;   // by latency class
  std::vector<Time> limited;        // by channel: that it limited transfers
  Time limited_by_latency, limited_by_cap;

  std::vector<Change> changes;
  std::vector<std::uint32_t> free_changes;
  std::vector<Following> followings;
  std::size_t traces_waiting = 0;  // their events in the queue
  bool traces_stopped = false;     // without hope
  Time moved;                      // when something else than traces went on last
  CommonPeriod common_period;      // of the traces that repeat
  Time last_single_point;          // of those that do not

  EventHandle completion;            // the one event at the first end
  Time completion_at = Time::max();  // never: not scheduled
  bool instant_end_asked = false;
  std::vector<TransferId> due;  // ended in this instant, to be told in its completions
  std::vector<TransferId> cancelled;
  std::deque<TransferId> telling;  // a deque: all may end at once, and growing would copy
  std::vector<Sharing::Finished> finished;
  std::vector<HeldLimit> held;  // of the transfer that is told or ends
};

Network::State::State(Engine& the_engine, const Topology& the_topology,
                      const Transport& the_transport)
    : engine(the_engine),
      topology(the_topology),
      transport(the_transport),
      plain_transport(the_transport.plain()),
      sharing(the_topology.channel_count()),
      conditions(the_topology),
      routes(the_topology, conditions),
      extras(1),
      accounts(the_topology.channel_count()),
      fractions(the_topology.channel_count()),
      header_bytes(the_transport.header == Bytes() ? 0 : the_topology.channel_count()),
      limited(the_topology.channel_count()) {
  for (std::uint32_t id = 0; id < topology.channel_count(); ++id) {
    sharing.set_capacity(ChannelId{id}, conditions.capacity(ChannelId{id}), engine.now());
  }
}

Network::State::~State() {
  engine.cancel_all();
  engine.cancel_instant_end(*this);
  engine.cancel(completion);
  for (const Arrivals& queue : arrivals) engine.cancel(queue.event);
  for (const Change& change : changes) engine.cancel(change.event);
  for (const Following& following : followings) engine.cancel(following.event);
  for (const Extra& extra : extras) engine.cancel(extra.faster);
}

void Network::State::on_event(std::uint64_t tag) {
  const auto index = static_cast<std::uint32_t>(tag >> kKindBits);
  const auto kind = static_cast<Kind>(tag & ((1 << kKindBits) - 1));
  if (kind != TRACED && kind != INSTANT_END) moved = engine.now();
  switch (kind) {
    case COMPLETIONS:
      return on_completions();
    case INSTANT_END:
      return on_instant_end();
    case ARRIVALS:
      return on_arrivals(index);
    case CHANGED:
      return on_change(index);
    case TRACED:
      return on_traced(index);
    case FASTER:
      return on_faster(index);
  }
}

// All ends of this instant leave their channels before the first sink hears of its own.
void Network::State::on_completions() {
  completion_at = Time::max();
  telling.assign(due.begin(), due.end());
  due.clear();
  while (sharing.next_finish() <= engine.now()) {
    sharing.take_finished(engine.now(), finished);
    for (const Sharing::Finished& flow : finished) {
      Transfer& transfer = transfers[flow.flow];
      end(transfer, TransferEnd::DONE, static_cast<double>(transfer.bytes.count()),
          limit_from(transfer, flow.limit));
      telling.push_back(transfer.id);
    }
  }
  if (!std::is_sorted(telling.begin(), telling.end())) std::sort(telling.begin(), telling.end());
  ask_instant_end();
  for (TransferId id : telling) tell(id);
  telling.clear();
}

void Network::State::tell(TransferId id) {
  std::uint32_t slot = slot_of(id);
  Transfer& transfer = transfers[slot];
  TransferSink* sink = transfer.sink;
  std::uint64_t tag = transfer.tag;
  TransferReport report{.id = id,
                        .end = transfer.how,
                        .delivered = transfer.bytes,
                        .started = transfer.started,
                        .ended = engine.now(),
                        .bottleneck = settle_limits(transfer),
                        .limits = held};
  free_slot(transfer, slot);
  if (sink) sink->on_transfer_end(report, tag);
}

void Network::State::on_instant_end() {
  instant_end_asked = false;
  for (TransferId id : cancelled) {
    Transfer* transfer = find(id);
    if (!transfer || transfer->stage == Stage::ENDED) continue;
    cut_off(*transfer, TransferEnd::CANCELLED);
    settle_limits(*transfer);
    free_slot(*transfer, slot_of(id));
  }
  cancelled.clear();
  sharing.solve(engine.now());
  for (const Sharing::LimitChange& change : sharing.limit_changes()) {
    Transfer& transfer = transfers[change.flow];
    if (transfer.stage == Stage::FLOWING) hold(transfer, limit_from(transfer, change.before));
  }
  sharing.limit_changes().clear();
  complete_at(due.empty() ? sharing.next_finish() : engine.now());
}

void Network::State::on_arrivals(std::uint32_t latency_class) {
  Arrivals& here = arrivals[latency_class];
  Time latency = routes.latency(latency_class);
  while (!here.queue.empty()) {
    std::uint32_t slot = here.queue.front();
    Time at = departed(transfers[slot]) + latency;
    if (at > engine.now()) {
      here.event = engine.schedule(at, Phase::ARRIVAL, *this, make_tag(ARRIVALS, latency_class));
      break;
    }
    here.queue.pop();
    transfers[slot].queued = false;
    on_arrival(slot);
    skip_cut_off(here);
  }
  ask_instant_end();
}

// Brings one to the front of its queue that is still under way.
void Network::State::skip_cut_off(Arrivals& here) {
  while (!here.queue.empty()) {
    std::uint32_t slot = here.queue.front();
    Transfer& transfer = transfers[slot];
    if (transfer.stage == Stage::LATENCY) return;
    here.queue.pop();
    transfer.queued = false;
    if (transfer.stage == Stage::FREE) keep_for_reuse(transfer, slot);
  }
}

void Network::State::on_arrival(std::uint32_t slot) {
  Transfer& transfer = transfers[slot];
  const Path& path = routes[transfer.path];
  if (transfer.bytes.count() == 0 && !path.blocked) {
    end(transfer, TransferEnd::DONE, 0, {Limit::Kind::LATENCY, {}});
    return tell_soon(transfer);
  }
  if (transfer.extra != 0) extras[transfer.extra].history.until = engine.now();
  transfer.stage = Stage::FLOWING;
  if (transport.slow_start) begin_slow_start(transfer, slot);
  sharing.add(slot, routes.channels(path),
              static_cast<double>((transfer.bytes + headers(transfer)).count()), transfer.streams,
              flow_cap(transfer));
  set_busy(transfer, !path.blocked);
}

void Network::State::on_change(std::uint32_t index) {
  Change change = changes[index];
  free_changes.push_back(index);
  apply(change);
}

void Network::State::apply(const Change& change) {
  Conditions::Changed changed;
  switch (change.kind) {
    case Change::Kind::LATENCY:
      conditions.set_latency(change.link, change.direction, change.value);
      routes.forget();
      return;
    case Change::Kind::CAPACITY:
      if (topology.bundle(topology.bundle_of(change.link)).members.size() > 1) hold_all();
      changed = conditions.set_capacity(change.link, change.direction, change.value);
      break;
    case Change::Kind::LINK_STATE:
      hold_all();
      routes.set_link_up(change.link, change.up);
      changed = conditions.set_link_up(change.link, change.up);
      break;
    case Change::Kind::NODE_STATE:
      hold_all();
      routes.set_node_up(change.node, change.up);
      changed = conditions.set_node_up(change.node, change.up);
      break;
  }
  for (BundleId bundle : changed.bundles) {
    for (ChannelId channel : topology.bundle(bundle).channel) {
      sharing.set_capacity(channel, conditions.capacity(channel), engine.now());
    }
  }
  ask_instant_end();
  if (changed.for_paths) apply_conditions(change.in_flight);
  if (change.up && waiting > 0) find_routes();
}

// Goes through all transfers: what a change means beyond another capacity is rare.
void Network::State::apply_conditions(std::optional<InFlight> in_flight) {
  routes.refresh();
  for (std::uint32_t slot = 0; slot < transfers.size(); ++slot) {
    Transfer& transfer = transfers[slot];
    if (transfer.stage != Stage::LATENCY && transfer.stage != Stage::FLOWING) continue;
    const Path& path = routes[transfer.path];
    InFlight policy = transfer.in_flight;
    if (path.went_down && in_flight) policy = *in_flight;
    if (path.down && policy == InFlight::FAIL) {
      cut_off(transfer, TransferEnd::FAILED);
      tell_soon(transfer);
    } else if (transfer.stage == Stage::FLOWING) {
      set_busy(transfer, !path.blocked);
      sharing.set_cap(slot, flow_cap(transfer), engine.now());
    }
  }
}

// Something is up again: transfers without a route ask anew, in order of their start.
void Network::State::find_routes() {
  std::vector<TransferId> asking;
  for (std::size_t slot = 0; slot < transfers.size(); ++slot) {
    if (transfers[slot].stage == Stage::WAITING) asking.push_back(transfers[slot].id);
  }
  std::sort(asking.begin(), asking.end());
  for (const TransferId id : asking) {
    Transfer& transfer = *find(id);
    const Path& nominal = routes[transfer.path];
    const std::optional<PathId> path = routes.acquire(nominal.source, nominal.destination, true);
    if (!path) continue;
    Extra& own = extra(transfer);
    own.history.hold(own.waited_for, engine.now());
    own.departed = engine.now();
    routes.release(transfer.path);
    transfer.path = *path;
    --waiting;
    set_off(transfer, slot_of(id));
  }
}

// The first channel that is down on the way that it would take is what it waits for.
Limit Network::State::missing_link(const Transfer& transfer) const {
  std::span<const ChannelId> route = channels(transfer);
  const auto down = std::find_if(route.begin(), route.end(),
                                 [&](ChannelId channel) { return conditions.down(channel); });
  // A node that is down takes its links with it, so there is one; to oneself there is no way.
  return {Limit::Kind::OUTAGE, down == route.end() ? ChannelId{} : *down};
}

void Network::State::wait_for_route(Transfer& transfer) {
  transfer.stage = Stage::WAITING;
  Extra& own = extra(transfer);
  own.waited = own.has_history = true;
  own.waited_for = missing_link(transfer);
  own.history.until = own.departed = engine.now();
  ++waiting;
  if (transfer.in_flight == InFlight::STALL) return;
  cut_off(transfer, TransferEnd::FAILED);
  tell_soon(transfer);
}

std::uint32_t Network::State::take_slot() {
  std::uint32_t slot = first_free;
  if (slot != kNoSlot) {
    first_free = transfers[slot].path;
    return slot;
  }
  SYNCLINE_CHECK(transfers.size() < kMostSlots, "more than 16 million transfers at once");
  slot = static_cast<std::uint32_t>(transfers.size());
  transfers.grow(transfers.size() + 1);
  return slot;
}

Transfer* Network::State::find(TransferId id) {
  std::uint32_t slot = slot_of(id);
  if (id == 0 || slot >= transfers.size()) return nullptr;
  return transfers[slot].id == id ? &transfers[slot] : nullptr;
}

// Into its latency phase.
void Network::State::set_off(Transfer& transfer, std::uint32_t slot) {
  if (!plain_transport) apply_transport(transfer);
  transfer.stage = Stage::LATENCY;
  std::uint32_t latency_class = routes[transfer.path].latency_class;
  if (latency_class >= arrivals.size()) arrivals.resize(latency_class + 1);
  Arrivals& here = arrivals[latency_class];
  bool first = here.queue.empty();
  here.queue.push(slot);
  transfer.queued = true;
  if (!first) return;
  here.event = engine.schedule(engine.now() + routes.latency(latency_class), Phase::ARRIVAL, *this,
                               make_tag(ARRIVALS, latency_class));
}

// Leaves its channels and settles their accounts. Who ends a flow has taken it from the sharing.
// `limit`: what limited it last.
void Network::State::end(Transfer& transfer, TransferEnd how, double delivered,
                         const Limit& limit) {
  Bytes whole = transfer.bytes;
  Bytes headers_sent = headers(transfer);
  if (how != TransferEnd::DONE) {
    whole = whole_bytes(transfer, delivered);
    headers_sent = transport.header_bytes(whole);
    double fraction = delivered - static_cast<double>(whole.count());
    for (ChannelId channel : channels(transfer)) fractions[channel.value] += fraction;
  }
  for (ChannelId channel : channels(transfer)) {
    ChannelAccount& account = accounts[channel.value];
    account.bytes += whole;
    if (transfer.busy) account.end_busy(engine.now());
    if (!header_bytes.empty()) header_bytes[channel.value] += headers_sent;
  }
  transfer.busy = false;
  if (transfer.stage == Stage::WAITING) --waiting;
  transfer.ended_in = transfer.stage;
  transfer.stage = Stage::ENDED;
  transfer.how = how;
  transfer.bytes = whole;
  transfer.last = limit.kind;
  transfer.streams = limit.channel.value;
  --active;
}

// In the completions of this instant.
void Network::State::tell_soon(const Transfer& transfer) {
  due.push_back(transfer.id);
  complete_at(engine.now());
}

// Ends it where it stands.
void Network::State::cut_off(Transfer& transfer, TransferEnd how) {
  double delivered = delivered_so_far(transfer);
  if (transfer.stage == Stage::FLOWING) {
    Limit limit = present_limit(transfer);
    sharing.remove(slot_of(transfer.id), engine.now());
    return end(transfer, how, delivered, limit);
  }
  if (transfer.stage == Stage::WAITING) {
    return end(transfer, how, delivered, extras[transfer.extra].waited_for);
  }
  std::uint32_t latency_class = routes[transfer.path].latency_class;
  Arrivals& here = arrivals[latency_class];
  bool first = here.queue.front() == slot_of(transfer.id);
  end(transfer, how, delivered, {Limit::Kind::LATENCY, {}});
  if (!first) return;
  engine.cancel(here.event);
  skip_cut_off(here);
  if (here.queue.empty()) return;
  Time at = departed(transfers[here.queue.front()]) + routes.latency(latency_class);
  here.event = engine.schedule(at, Phase::ARRIVAL, *this, make_tag(ARRIVALS, latency_class));
}

void Network::State::free_slot(Transfer& transfer, std::uint32_t slot) {
  transfer.id = 0;
  transfer.stage = Stage::FREE;
  routes.release(transfer.path);
  if (transfer.extra != 0) {
    Extra& freed = extras[transfer.extra];
    engine.cancel(freed.faster);
    freed.cap = freed.growing_cap = kInfinity;
    freed.headers = Bytes();
    freed.has_history = freed.waited = false;
    freed.history.held.clear();
    free_extras.push_back(transfer.extra);
    transfer.extra = 0;
  }
  if (!transfer.queued) keep_for_reuse(transfer, slot);
}

void Network::State::keep_for_reuse(Transfer& transfer, std::uint32_t slot) {
  transfer.path = first_free;
  first_free = slot;
}

Extra& Network::State::extra(Transfer& transfer) {
  if (transfer.extra == 0) {
    if (free_extras.empty()) {
      free_extras.push_back(static_cast<std::uint32_t>(extras.size()));
      extras.emplace_back();
    }
    transfer.extra = free_extras.back();
    free_extras.pop_back();
  }
  return extras[transfer.extra];
}

double Network::State::cap(const Transfer& transfer) const {
  if (transfer.extra == 0) return kInfinity;
  const Extra& own = extras[transfer.extra];
  return std::min(own.cap, own.growing_cap) * expansion(transfer);
}

double Network::State::expansion(const Transfer& transfer) const {
  const Bytes more = headers(transfer);
  if (more == Bytes()) return 1;
  return static_cast<double>((transfer.bytes + more).count()) /
         static_cast<double>(transfer.bytes.count());
}

double Network::State::delivered_so_far(const Transfer& transfer) const {
  if (transfer.stage != Stage::FLOWING) return 0;
  const double left = sharing.remaining(slot_of(transfer.id), engine.now());
  return static_cast<double>(transfer.bytes.count()) - left / expansion(transfer);
}

// When it sets off: what the transport makes of it, by the latencies of this moment.
void Network::State::apply_transport(Transfer& transfer) {
  transfer.streams *= transport.streams;
  const Bytes more = transport.header_bytes(transfer.bytes);
  if (more != Bytes()) extra(transfer).headers = more;
  if (!transport.limits_rate()) return;
  const Path& path = routes[transfer.path];
  const NodeId source = path.source;
  const NodeId destination = path.destination;
  const Time forward = routes.latency(path);
  Time back = forward;
  if (const std::optional<PathId> way_back = routes.acquire(destination, source, true)) {
    back = routes.latency(routes[*way_back]);
    routes.release(*way_back);
  }
  Extra& own = extra(transfer);
  own.rtt = forward + back;
  own.cap = std::min(own.cap, transport.largest_rate(own.rtt));
}

void Network::State::begin_slow_start(Transfer& transfer, std::uint32_t slot) {
  Extra& own = extra(transfer);
  if (own.rtt == Time()) return;
  own.round = 0;
  own.growing_cap = transport.slow_start_rate(own.rtt, 0);
  own.faster =
      engine.schedule(engine.now() + own.rtt, Phase::CHANGE, *this, make_tag(FASTER, slot));
}

// Another round trip of slow start. It is over when its cap would not be the limit any more.
void Network::State::on_faster(std::uint32_t slot) {
  Transfer& transfer = transfers[slot];
  Extra& own = extras[transfer.extra];
  double narrowest = kInfinity;
  for (ChannelId channel : channels(transfer))
    narrowest = std::min(narrowest, conditions.capacity(channel));
  own.growing_cap = transport.slow_start_rate(own.rtt, ++own.round);
  if (own.growing_cap >= own.cap || own.growing_cap * expansion(transfer) >= narrowest) {
    own.growing_cap = kInfinity;
  } else {
    own.faster =
        engine.schedule(engine.now() + own.rtt, Phase::CHANGE, *this, make_tag(FASTER, slot));
  }
  sharing.set_cap(slot, flow_cap(transfer), engine.now());
  ask_instant_end();
}

void Network::State::apply_point(LinkId link, const std::optional<BitRate>& bandwidth,
                                 const std::optional<double>& latency_s) {
  for (Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
    if (bandwidth)
      apply({.kind = Change::Kind::CAPACITY,
             .link = link,
             .direction = direction,
             .value = bandwidth->in_bytes_per_s()});
    if (latency_s)
      apply({.kind = Change::Kind::LATENCY,
             .link = link,
             .direction = direction,
             .value = *latency_s});
  }
}

// One event a trace, and only while transfers are under way.
void Network::State::on_traced(std::uint32_t index) {
  Following& following = followings[index];
  --traces_waiting;
  following.event = {};
  const LinkTrace::Point& point = following.trace.points[following.next];
  following.advance();
  apply_point(following.link, point.bandwidth, point.latency_s);
  if (active == 0 || following.over()) return;
  if (engine.pending() > traces_waiting) {
    moved = engine.now();
    if (traces_stopped) return wake_traces();
  } else if (hopeless()) {
    return stop_traces();
  }
  following.event =
      engine.schedule(following.next_at(), Phase::CHANGE, *this, make_tag(TRACED, index));
  ++traces_waiting;
}

// Only traces are left. Nothing has moved since the last point that happens once, through all that
// the others can do together: none will ever bring capacity to those that wait.
bool Network::State::hopeless() const {
  const Time since = std::max(moved, last_single_point);
  return engine.now() - since > common_period.get();
}

// All at once: one that stands still would be wrong for those that go on.
void Network::State::stop_traces() {
  traces_stopped = true;
  for (const Following& following : followings) engine.cancel(following.event);
  traces_waiting = 0;
}

// The points before now, all at once: nothing was under way.
void Network::State::catch_up(Following& following) {
  if (following.next_at() >= engine.now()) return;
  if (following.trace.period) {
    // Of many periods the last two say it all.
    const std::int64_t period = following.trace.period->count_ns();
    const std::int64_t periods = (engine.now() - following.begun).count_ns() / period;
    if (periods > 2) following.begun += *following.trace.period * (periods - 2);
  }
  std::optional<BitRate> bandwidth;
  std::optional<double> latency_s;
  while (following.next_at() < engine.now()) {
    const LinkTrace::Point& point = following.trace.points[following.next];
    if (point.bandwidth) bandwidth = point.bandwidth;
    if (point.latency_s) latency_s = point.latency_s;
    following.advance();
  }
  apply_point(following.link, bandwidth, latency_s);
}

// The traced links are brought up to date, and go on.
void Network::State::wake_traces() {
  moved = engine.now();
  traces_stopped = false;
  for (std::size_t i = 0; i < followings.size(); ++i) {
    Following& following = followings[i];
    if (engine.cancel(following.event)) --traces_waiting;
    following.event = {};
    catch_up(following);
    if (following.over()) continue;
    following.event =
        engine.schedule(following.next_at(), Phase::CHANGE, *this, make_tag(TRACED, i));
    ++traces_waiting;
  }
}

void Network::State::schedule_change(Time at, Change change) {
  if (free_changes.empty()) {
    free_changes.push_back(static_cast<std::uint32_t>(changes.size()));
    changes.emplace_back();
  }
  std::uint32_t index = free_changes.back();
  free_changes.pop_back();
  change.event = engine.schedule(at, Phase::CHANGE, *this, make_tag(CHANGED, index));
  changes[index] = change;
  if (traces_stopped) wake_traces();
}

// Nothing crosses a channel while some other one of the route has no capacity.
void Network::State::set_busy(Transfer& transfer, bool busy) {
  if (transfer.busy == busy) return;
  transfer.busy = busy;
  for (ChannelId channel : channels(transfer)) {
    if (busy) {
      accounts[channel.value].begin_busy(engine.now());
    } else {
      accounts[channel.value].end_busy(engine.now());
    }
  }
}

double Network::State::flow_cap(const Transfer& transfer) const {
  const Path& path = routes[transfer.path];
  if (!path.bundled) return cap(transfer);
  return std::min(cap(transfer), routes.member_cap(path).bytes_per_s);
}

// What the sharing says, by the present conditions.
Limit Network::State::limit_from(const Transfer& transfer, Sharing::Limit limit) const {
  if (limit != Sharing::kOwnCap) {
    ChannelId channel{limit};
    return {conditions.down(channel) ? Limit::Kind::OUTAGE : Limit::Kind::LINK, channel};
  }
  const Path& path = routes[transfer.path];
  if (path.bundled) {
    // One member of a bundle is a link like any other.
    RouteTable::MemberCap member = routes.member_cap(path);
    if (member.bytes_per_s < cap(transfer)) return {Limit::Kind::LINK, member.channel};
  }
  return {Limit::Kind::CAP, {}};
}

// `limit` held until now.
void Network::State::hold(Transfer& transfer, const Limit& limit) {
  Extra& own = extra(transfer);
  if (!std::exchange(own.has_history, true)) own.history.until = flowing_since(transfer);
  own.history.hold(limit, engine.now());
}

// Before conditions change: from then on the same limits may have other names.
void Network::State::hold_all() {
  for (std::uint32_t slot = 0; slot < transfers.size(); ++slot) {
    Transfer& transfer = transfers[slot];
    if (transfer.stage == Stage::FLOWING) hold(transfer, present_limit(transfer));
  }
}

// How long each limit held, of a transfer that has ended now.
void Network::State::find_limits(const Transfer& transfer) {
  held.clear();
  const Limit latency{Limit::Kind::LATENCY, {}};
  const Limit last{transfer.last, ChannelId{transfer.streams}};
  const Time set_off = departed(transfer);
  Time since = engine.now();  // of the last limit
  if (transfer.ended_in == Stage::LATENCY) {
    add(held, {latency, engine.now() - set_off});
  } else if (transfer.ended_in == Stage::FLOWING) {
    since = flowing_since(transfer);
    add(held, {latency, since - set_off});
  }
  if (transfer.extra != 0 && extras[transfer.extra].has_history) {
    const LimitHistory& history = extras[transfer.extra].history;
    if (transfer.ended_in != Stage::LATENCY) since = history.until;
    for (const HeldLimit& earlier : history.held) add(held, earlier);
  }
  add(held, {last, engine.now() - since});
}

// What limited it longest, by find_limits().
Limit Network::State::bottleneck(const Transfer& transfer) const {
  const Limit latency{Limit::Kind::LATENCY, {}};
  if (held.empty()) return latency;
  Time longest;
  for (const HeldLimit& limit : held) longest = std::max(longest, limit.held);
  // Equal within rounding: the first on the route.
  const auto place = [&](const Limit& limit) {
    std::span<const ChannelId> route = channels(transfer);
    if (limit.kind == Limit::Kind::LATENCY) return std::ptrdiff_t{-1};
    if (limit.kind == Limit::Kind::CAP) return std::ssize(route);
    return std::find(route.begin(), route.end(), limit.channel) - route.begin();
  };
  const double least = static_cast<double>(longest.count_ns()) * (1 - kSame);
  const HeldLimit* first = nullptr;
  for (const HeldLimit& limit : held) {
    if (static_cast<double>(limit.held.count_ns()) < least) continue;
    if (!first || place(limit.limit) < place(first->limit)) first = &limit;
  }
  return first->limit;
}

// Credits them; the bottleneck.
Limit Network::State::settle_limits(const Transfer& transfer) {
  find_limits(transfer);
  for (const HeldLimit& limit : held) {
    switch (limit.limit.kind) {
      case Limit::Kind::LATENCY:
        limited_by_latency += limit.held;
        break;
      case Limit::Kind::CAP:
        limited_by_cap += limit.held;
        break;
      case Limit::Kind::LINK:
      case Limit::Kind::OUTAGE:
        limited[limit.limit.channel.value] += limit.held;
        break;
    }
  }
  return bottleneck(transfer);
}

void Network::State::ask_instant_end() {
  if (std::exchange(instant_end_asked, true)) return;
  engine.at_instant_end(*this, make_tag(INSTANT_END));
}

void Network::State::complete_at(Time at) {
  if (at == completion_at) return;
  engine.cancel(completion);
  completion_at = at;
  if (at == Time::max()) return;
  completion = engine.schedule(at, Phase::COMPLETION, *this, make_tag(COMPLETIONS));
}

ChannelUse Network::State::use(ChannelId channel) const {
  const ChannelAccount& account = accounts[channel.value];
  Time busy = account.busy;
  if (account.busy_transfers > 0) busy += engine.now() - account.busy_since;
  return {.bytes = account.bytes,
          .busy_s = busy.in_seconds(),
          .byte_s_load = static_cast<double>(account.bytes.count()) + fractions[channel.value],
          .header_bytes = header_bytes.empty() ? Bytes() : header_bytes[channel.value],
          .limited_s = limited[channel.value].in_seconds()};
}

Network::Network(Engine& engine, const Topology& topology, const Transport& transport)
    : state_(std::make_unique<State>(engine, topology, transport)) {}

Network::~Network() = default;

Engine& Network::engine() { return state_->engine; }

const Topology& Network::topology() const { return state_->topology; }

TransferId Network::start(const TransferSpec& spec, TransferSink& sink, std::uint64_t tag) {
  SYNCLINE_CHECK(spec.bytes.count() >= 0, "a transfer's bytes are not negative");
  SYNCLINE_CHECK(spec.streams >= 1, "a transfer has at least one stream");
  SYNCLINE_CHECK(spec.cap.in_bytes_per_s() > 0, "a transfer's cap is above 0");
  State& state = *state_;
  if ((state.active == 0 && !state.followings.empty()) || state.traces_stopped) state.wake_traces();
  const std::optional<PathId> route =
      state.routes.acquire(spec.source, spec.destination, spec.wait_for_route);
  const PathId path = route ? *route : state.routes.acquire_nominal(spec.source, spec.destination);
  std::uint32_t slot = state.take_slot();
  Transfer& transfer = state.transfers[slot];
  transfer.id = ++state.started << kSlotBits | slot;
  transfer.stage = Stage::LATENCY;
  transfer.in_flight = spec.in_flight;
  transfer.streams = spec.streams;
  transfer.sink = &sink;
  transfer.tag = tag;
  transfer.bytes = spec.bytes;
  transfer.path = path;
  transfer.started = state.engine.now();
  if (spec.cap != BitRate::infinite()) state.extra(transfer).cap = spec.cap.in_bytes_per_s();
  ++state.active;
  TransferId id = transfer.id;
  if (!route) {
    state.wait_for_route(transfer);
  } else if (spec.source == spec.destination) {
    state.end(transfer, TransferEnd::DONE, static_cast<double>(spec.bytes.count()),
              {Limit::Kind::LATENCY, {}});
    state.tell_soon(transfer);
  } else {
    state.set_off(transfer, slot);
  }
  return id;
}

void Network::cancel(TransferId id) {
  Transfer* transfer = state_->find(id);
  if (!transfer || !transfer->sink) return;
  transfer->sink = nullptr;
  if (transfer->stage == Stage::ENDED) return;
  state_->cancelled.push_back(id);
  state_->ask_instant_end();
}

void Network::change_capacity(Time at, LinkId link, Direction direction, BitRate capacity) {
  double value = capacity.in_bytes_per_s();
  if (!(value >= 0)) {
    throw InputError(fmt::format("link \"{}\": a bandwidth of {} bytes/s; it must be at least 0",
                                 state_->topology.link(link).name, value));
  }
  state_->schedule_change(
      at, {.kind = Change::Kind::CAPACITY, .link = link, .direction = direction, .value = value});
}

void Network::change_latency(Time at, LinkId link, Direction direction, double latency_s) {
  if (!(latency_s >= 0) || !std::isfinite(latency_s)) {
    throw InputError(fmt::format("link \"{}\": a latency of {} s; it must be finite and at least 0",
                                 state_->topology.link(link).name, latency_s));
  }
  state_->schedule_change(
      at,
      {.kind = Change::Kind::LATENCY, .link = link, .direction = direction, .value = latency_s});
}

void Network::change_link_state(Time at, LinkId link, bool up, std::optional<InFlight> in_flight) {
  state_->schedule_change(
      at, {.kind = Change::Kind::LINK_STATE, .link = link, .up = up, .in_flight = in_flight});
}

void Network::change_node_state(Time at, NodeId node, bool up, std::optional<InFlight> in_flight) {
  state_->schedule_change(
      at, {.kind = Change::Kind::NODE_STATE, .node = node, .up = up, .in_flight = in_flight});
}

void Network::follow(LinkId link, LinkTrace trace) {
  check_trace(trace, state_->topology.link(link).name);
  if (trace.period) {
    state_->common_period.add(*trace.period);
  } else {
    state_->last_single_point = std::max(state_->last_single_point, trace.points.back().at);
  }
  state_->followings.push_back(
      {.link = link, .trace = std::move(trace), .next = 0, .begun = {}, .event = {}});
  if (state_->active > 0) state_->wake_traces();
}

std::optional<Network::Way> Network::way(NodeId source, NodeId destination) const {
  RouteTable& routes = state_->routes;
  const std::optional<PathId> id = routes.acquire(source, destination, true);
  if (!id) return std::nullopt;
  const Path& path = routes[*id];
  const std::span<const ChannelId> channels = routes.channels(path);
  Way way{{channels.begin(), channels.end()},
          routes.latency(path),
          BitRate::infinite(),
          {},
          path.bundled};
  for (const ChannelId channel : channels) {
    if (capacity(channel) >= way.rate) continue;
    way.rate = capacity(channel);
    way.narrowest = channel;
  }
  routes.release(*id);
  return way;
}

void Network::credit(const Way& way, Bytes bytes, Time flowing, Time in_latency) {
  for (const ChannelId channel : way.channels) {
    state_->accounts[channel.value].bytes += bytes;
    state_->accounts[channel.value].busy += flowing;
  }
  if (way.rate != BitRate::infinite()) state_->limited[way.narrowest.value] += flowing;
  state_->limited_by_latency += in_latency;
}

const Transport& Network::transport() const { return state_->transport; }

ChannelUse Network::use(ChannelId channel) const {
  ChannelUse use = state_->use(channel);
  for (std::size_t slot = 0; slot < state_->transfers.size(); ++slot) {
    const Transfer& transfer = state_->transfers[slot];
    if (transfer.stage != Stage::FLOWING) continue;
    std::span<const ChannelId> channels = state_->channels(transfer);
    if (std::find(channels.begin(), channels.end(), channel) == channels.end()) continue;
    use.byte_s_load += state_->delivered_so_far(transfer);
  }
  return use;
}

std::vector<ChannelUse> Network::uses() const {
  std::vector<ChannelUse> uses;
  for (std::uint32_t id = 0; id < state_->accounts.size(); ++id) {
    uses.push_back(state_->use(ChannelId{id}));
  }
  for (std::size_t slot = 0; slot < state_->transfers.size(); ++slot) {
    const Transfer& transfer = state_->transfers[slot];
    if (transfer.stage != Stage::FLOWING) continue;
    double delivered = state_->delivered_so_far(transfer);
    for (ChannelId channel : state_->channels(transfer)) {
      uses[channel.value].byte_s_load += delivered;
    }
  }
  return uses;
}

BitRate Network::capacity(ChannelId channel) const {
  if (state_->active == 0 || state_->traces_stopped)
    for (Following& following : state_->followings) state_->catch_up(following);
  return BitRate::bytes_per_s(state_->conditions.capacity(channel));
}

Bytes Network::delivered(TransferId id) const {
  const Transfer* transfer = state_->find(id);
  if (!transfer || transfer->stage != Stage::FLOWING) return Bytes();
  return whole_bytes(*transfer, state_->delivered_so_far(*transfer));
}

double Network::rate(TransferId id) const {
  const Transfer* transfer = state_->find(id);
  if (!transfer || transfer->stage != Stage::FLOWING) return 0;
  return state_->sharing.rate(slot_of(id)) / state_->expansion(*transfer);
}

double Network::limited_by_latency_s() const { return state_->limited_by_latency.in_seconds(); }

double Network::limited_by_cap_s() const { return state_->limited_by_cap.in_seconds(); }

std::size_t Network::active() const { return state_->active; }

std::vector<std::string> Network::stuck(std::size_t limit) const {
  std::vector<const Transfer*> waiting;
  for (std::uint32_t slot = 0; slot < state_->transfers.size(); ++slot) {
    const Transfer& transfer = state_->transfers[slot];
    if (transfer.stage != Stage::WAITING &&
        (transfer.stage != Stage::FLOWING || state_->sharing.rate(slot) > 0)) {
      continue;
    }
    waiting.push_back(&transfer);
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Transfer* a, const Transfer* b) { return a->id < b->id; });
  if (waiting.size() > limit) waiting.resize(limit);
  std::vector<std::string> lines;
  for (const Transfer* transfer : waiting) {
    const Path& path = state_->routes[transfer->path];
    Limit what = transfer->stage == Stage::WAITING ? state_->missing_link(*transfer)
                                                   : state_->present_limit(*transfer);
    lines.push_back(fmt::format("{} from {} to {} waits for {} ({})", to_text(transfer->bytes),
                                state_->topology.node(path.source).name,
                                state_->topology.node(path.destination).name,
                                state_->topology.channel_name(what.channel),
                                what.kind == Limit::Kind::OUTAGE ? "down" : "capacity 0"));
  }
  return lines;
}

}  // namespace syncline
