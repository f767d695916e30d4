#include "sim/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/network/conditions.h"
#include "sim/network/progressive_filling.h"
#include "sim/network/route_table.h"
#include "sim/network/sharing.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr double kSame = 1e-9;  // relative: times that count as equal when bottlenecks are compared

// A TransferId holds the slot in its low bits, so that finding the transfer needs no map.
constexpr int kSlotBits = 24;
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << kSlotBits;

// The kind of an event, in the low bits of its tag; above it the slot or the change.
enum Kind : std::uint64_t { COMPLETIONS, INSTANT_END, ARRIVED, CHANGED };
constexpr int kKindBits = 2;

std::uint64_t make_tag(Kind kind, std::uint64_t index = 0) { return index << kKindBits | kind; }

bool same(const Limit& a, const Limit& b) {
  bool on_channel = a.kind == Limit::Kind::LINK || a.kind == Limit::Kind::OUTAGE;
  return a.kind == b.kind && (!on_channel || a.channel == b.channel);
}

struct HeldLimit {
  Limit limit;
  Time held;
};

enum class Stage : std::uint8_t {
  FREE,
  WAITING,  // for a route
  LATENCY,
  FLOWING,
  ENDED
};  // ENDED: its sink is not told yet

struct Transfer {
  TransferId id = 0;
  Stage stage = Stage::FREE;
  InFlight in_flight = InFlight::STALL;
  bool busy = false;  // counts in its channels' busy time
  std::uint32_t streams = 1;
  TransferSink* sink = nullptr;  // null: cancelled
  std::uint64_t tag = 0;
  Bytes bytes;
  double cap = 0;
  PathId path = 0;
  FlowId flow = 0;
  EventHandle arrival;
  Time started;
  Time latency_since;
  Time flowing_since;
  // What limits it, since when, and what did before. Most transfers have one limit and so no list.
  Limit limit;
  Time limit_since;
  std::vector<HeldLimit> held;
  TransferReport report;
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

struct ChannelAccount {
  Bytes bytes;
  double delivered = 0;  // as bytes, without rounding down what was cut off
  std::uint32_t busy_transfers = 0;
  Time busy_since;
  Time busy;
};

}  // namespace

struct Network::State final : EventTarget {
  State(Engine& the_engine, const Topology& the_topology, std::unique_ptr<Sharing> the_sharing);
  ~State();

  void on_event(std::uint64_t tag) override;
  void on_completions();
  void on_instant_end();
  void on_arrival(std::uint32_t slot);
  void on_change(std::uint32_t index);

  std::uint32_t take_slot();
  Transfer* find(TransferId id);
  const Transfer* find(TransferId id) const { return const_cast<State*>(this)->find(id); }
  void end(Transfer& transfer, TransferEnd how, double delivered);
  void tell_soon(const Transfer& transfer);
  void cut_off(Transfer& transfer, TransferEnd how);
  void free_slot(Transfer& transfer);
  double delivered_so_far(const Transfer& transfer) const;

  void schedule_change(Time at, Change change);
  void apply_conditions(std::optional<InFlight> in_flight);
  void find_routes();
  void begin_latency(Transfer& transfer);
  void wait_for_route(Transfer& transfer);
  Limit missing_link(const Transfer& transfer) const;
  void set_busy(Transfer& transfer, bool busy);
  double flow_cap(const Transfer& transfer) const;

  Limit present_limit(const Transfer& transfer) const;
  void note_limit(Transfer& transfer);
  void hold(Transfer& transfer);
  Limit bottleneck(const Transfer& transfer) const;

  void ask_instant_end();
  void complete_at(Time at);
  ChannelUse use(ChannelId channel) const;

  Engine& engine;
  const Topology& topology;
  std::unique_ptr<Sharing> sharing;
  Conditions conditions;
  RouteTable routes;

  std::vector<Transfer> transfers;  // by slot
  std::vector<std::uint32_t> free_slots;
  std::uint64_t started = 0;
  std::size_t active = 0;
  std::size_t waiting = 0;  // for a route
  std::vector<std::uint32_t> slot_of_flow;
  std::vector<ChannelAccount> accounts;

  std::vector<Change> changes;
  std::vector<std::uint32_t> free_changes;

  EventHandle completion;            // the one event at the first end
  Time completion_at = Time::max();  // never: not scheduled
  bool instant_end_asked = false;
  bool limits_may_differ = false;  // beyond what the sharing reports
  std::vector<TransferId> due;     // ended in this instant, to be told in its completions
  std::vector<TransferId> cancelled;
  std::vector<TransferId> telling;
  std::vector<std::uint64_t> finished;
};

Network::State::State(Engine& the_engine, const Topology& the_topology,
                      std::unique_ptr<Sharing> the_sharing)
    : engine(the_engine),
      topology(the_topology),
      sharing(std::move(the_sharing)),
      conditions(the_topology),
      routes(the_topology, conditions),
      accounts(the_topology.channel_count()) {
  for (std::uint32_t id = 0; id < topology.channel_count(); ++id) {
    sharing->set_capacity(ChannelId{id}, conditions.capacity(ChannelId{id}));
  }
}

Network::State::~State() {
  engine.cancel_all();
  engine.cancel_instant_end(*this);
  engine.cancel(completion);
  for (const Transfer& transfer : transfers) engine.cancel(transfer.arrival);
  for (const Change& change : changes) engine.cancel(change.event);
}

void Network::State::on_event(std::uint64_t tag) {
  auto index = static_cast<std::uint32_t>(tag >> kKindBits);
  switch (static_cast<Kind>(tag & ((1 << kKindBits) - 1))) {
    case COMPLETIONS:
      return on_completions();
    case INSTANT_END:
      return on_instant_end();
    case ARRIVED:
      return on_arrival(index);
    case CHANGED:
      return on_change(index);
  }
}

// All ends of this instant leave their channels before the first sink hears of its own.
void Network::State::on_completions() {
  completion_at = Time::max();
  telling.swap(due);
  sharing->take_finished(engine.now(), finished);
  for (TransferId id : finished) {
    Transfer& transfer = *find(id);
    end(transfer, TransferEnd::DONE, static_cast<double>(transfer.bytes.count()));
    telling.push_back(id);
  }
  std::sort(telling.begin(), telling.end());
  ask_instant_end();
  for (TransferId id : telling) {
    Transfer& transfer = *find(id);
    TransferSink* sink = transfer.sink;
    TransferReport report = transfer.report;
    std::uint64_t tag = transfer.tag;
    free_slot(transfer);
    if (sink) sink->on_transfer_end(report, tag);
  }
  telling.clear();
}

void Network::State::on_instant_end() {
  instant_end_asked = false;
  for (TransferId id : cancelled) {
    Transfer* transfer = find(id);
    if (!transfer || transfer->stage == Stage::ENDED) continue;
    cut_off(*transfer, TransferEnd::CANCELLED);
    free_slot(*transfer);
  }
  cancelled.clear();
  sharing->solve(engine.now());
  for (FlowId flow : sharing->bottleneck_changes()) note_limit(transfers[slot_of_flow[flow]]);
  if (std::exchange(limits_may_differ, false)) {
    for (Transfer& transfer : transfers) {
      if (transfer.stage == Stage::FLOWING) note_limit(transfer);
    }
  }
  complete_at(due.empty() ? sharing->next_finish() : engine.now());
}

void Network::State::on_arrival(std::uint32_t slot) {
  Transfer& transfer = transfers[slot];
  const Path& path = routes[transfer.path];
  transfer.flowing_since = engine.now();
  transfer.limit_since = engine.now();
  if (transfer.bytes.count() == 0 && !path.blocked) {
    end(transfer, TransferEnd::DONE, 0);
    return tell_soon(transfer);
  }
  transfer.stage = Stage::FLOWING;
  transfer.flow = sharing->add(path.channels, static_cast<double>(transfer.bytes.count()),
                               transfer.streams, flow_cap(transfer), transfer.id);
  if (transfer.flow >= slot_of_flow.size()) slot_of_flow.resize(transfer.flow + 1);
  slot_of_flow[transfer.flow] = slot;
  set_busy(transfer, !path.blocked);
  ask_instant_end();
}

void Network::State::on_change(std::uint32_t index) {
  Change change = changes[index];
  free_changes.push_back(index);
  Conditions::Changed changed;
  switch (change.kind) {
    case Change::Kind::LATENCY:
      conditions.set_latency(change.link, change.direction, change.value);
      routes.forget();
      return;
    case Change::Kind::CAPACITY:
      changed = conditions.set_capacity(change.link, change.direction, change.value);
      break;
    case Change::Kind::LINK_STATE:
      routes.set_link_up(change.link, change.up);
      changed = conditions.set_link_up(change.link, change.up);
      break;
    case Change::Kind::NODE_STATE:
      routes.set_node_up(change.node, change.up);
      changed = conditions.set_node_up(change.node, change.up);
      break;
  }
  for (BundleId bundle : changed.bundles) {
    for (ChannelId channel : topology.bundle(bundle).channel) {
      sharing->set_capacity(channel, conditions.capacity(channel));
    }
  }
  ask_instant_end();
  if (changed.for_paths) apply_conditions(change.in_flight);
  if (change.up && waiting > 0) find_routes();
}

// Goes through all transfers: what a change means beyond another capacity is rare.
void Network::State::apply_conditions(std::optional<InFlight> in_flight) {
  routes.refresh();
  limits_may_differ = true;
  for (Transfer& transfer : transfers) {
    if (transfer.stage != Stage::LATENCY && transfer.stage != Stage::FLOWING) continue;
    const Path& path = routes[transfer.path];
    const InFlight policy =
        path.went_down ? in_flight.value_or(transfer.in_flight) : transfer.in_flight;
    if (path.down && policy == InFlight::FAIL) {
      cut_off(transfer, TransferEnd::FAILED);
      tell_soon(transfer);
    } else if (transfer.stage == Stage::FLOWING) {
      set_busy(transfer, !path.blocked);
      sharing->set_cap(transfer.flow, flow_cap(transfer));
    }
  }
}

// Something is up again: transfers without a route ask anew, in order of their start.
void Network::State::find_routes() {
  std::vector<TransferId> asking;
  for (const Transfer& transfer : transfers) {
    if (transfer.stage == Stage::WAITING) asking.push_back(transfer.id);
  }
  std::sort(asking.begin(), asking.end());
  for (const TransferId id : asking) {
    Transfer& transfer = *find(id);
    const Path& nominal = routes[transfer.path];
    const std::optional<PathId> path = routes.acquire(nominal.source, nominal.destination, true);
    if (!path) continue;
    hold(transfer);
    routes.release(transfer.path);
    transfer.path = *path;
    --waiting;
    begin_latency(transfer);
  }
}

// The first channel that is down on the way that it would take is what it waits for.
Limit Network::State::missing_link(const Transfer& transfer) const {
  const Path& path = routes[transfer.path];
  const auto down = std::find_if(path.channels.begin(), path.channels.end(),
                                 [&](ChannelId channel) { return conditions.down(channel); });
  // A node that is down takes its links with it, so there is one; to oneself there is no way.
  return {Limit::Kind::OUTAGE, down == path.channels.end() ? ChannelId{} : *down};
}

void Network::State::wait_for_route(Transfer& transfer) {
  transfer.stage = Stage::WAITING;
  transfer.limit = missing_link(transfer);
  transfer.limit_since = engine.now();
  ++waiting;
  if (transfer.in_flight == InFlight::STALL) return;
  cut_off(transfer, TransferEnd::FAILED);
  tell_soon(transfer);
}

void Network::State::begin_latency(Transfer& transfer) {
  transfer.stage = Stage::LATENCY;
  transfer.latency_since = engine.now();
  const auto slot = static_cast<std::uint64_t>(&transfer - transfers.data());
  transfer.arrival = engine.schedule(engine.now() + routes[transfer.path].latency, Phase::ARRIVAL,
                                     *this, make_tag(ARRIVED, slot));
}

std::uint32_t Network::State::take_slot() {
  if (free_slots.empty()) {
    SYNCLINE_CHECK(transfers.size() < kMostSlots, "more than 16 million transfers at once");
    free_slots.push_back(static_cast<std::uint32_t>(transfers.size()));
    transfers.emplace_back();
  }
  std::uint32_t slot = free_slots.back();
  free_slots.pop_back();
  return slot;
}

Transfer* Network::State::find(TransferId id) {
  std::uint64_t slot = id & (kMostSlots - 1);
  if (id == 0 || slot >= transfers.size()) return nullptr;
  return transfers[slot].id == id ? &transfers[slot] : nullptr;
}

// Leaves its channels and settles their accounts. Who ends a flow has taken it from the sharing.
void Network::State::end(Transfer& transfer, TransferEnd how, double delivered) {
  set_busy(transfer, false);
  // What rounding left just below a whole byte is that byte.
  double rounding = static_cast<double>(transfer.bytes.count()) * 1e-14;
  Bytes whole(std::min(transfer.bytes.count(),
                       static_cast<std::int64_t>(std::floor(delivered + rounding))));
  for (ChannelId channel : routes[transfer.path].channels) {
    accounts[channel.value].bytes += whole;
    accounts[channel.value].delivered += delivered;
  }
  if (transfer.stage == Stage::LATENCY) {
    transfer.flowing_since = engine.now();
  } else {
    hold(transfer);
  }
  if (transfer.stage == Stage::WAITING) {
    transfer.latency_since = transfer.flowing_since = engine.now();
    --waiting;
  }
  transfer.report = {.id = transfer.id,
                     .end = how,
                     .delivered = whole,
                     .started = transfer.started,
                     .ended = engine.now(),
                     .bottleneck = bottleneck(transfer)};
  routes.release(transfer.path);
  transfer.stage = Stage::ENDED;
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
  if (transfer.stage == Stage::LATENCY) {
    engine.cancel(transfer.arrival);
  } else if (transfer.stage == Stage::FLOWING) {
    sharing->remove(transfer.flow);
  }
  end(transfer, how, delivered);
}

void Network::State::free_slot(Transfer& transfer) {
  transfer.id = 0;
  transfer.stage = Stage::FREE;
  transfer.held.clear();
  free_slots.push_back(static_cast<std::uint32_t>(&transfer - transfers.data()));
}

double Network::State::delivered_so_far(const Transfer& transfer) const {
  if (transfer.stage != Stage::FLOWING) return 0;
  return static_cast<double>(transfer.bytes.count()) -
         sharing->remaining(transfer.flow, engine.now());
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
}

// Nothing crosses a channel while some other one of the route has no capacity.
void Network::State::set_busy(Transfer& transfer, bool busy) {
  if (transfer.busy == busy) return;
  transfer.busy = busy;
  for (ChannelId channel : routes[transfer.path].channels) {
    ChannelAccount& account = accounts[channel.value];
    if (busy) {
      if (account.busy_transfers++ == 0) account.busy_since = engine.now();
    } else if (--account.busy_transfers == 0) {
      account.busy += engine.now() - account.busy_since;
    }
  }
}

double Network::State::flow_cap(const Transfer& transfer) const {
  return std::min(transfer.cap, routes[transfer.path].member_cap);
}

Limit Network::State::present_limit(const Transfer& transfer) const {
  ChannelId channel;
  if (sharing->bottleneck(transfer.flow, channel)) {
    return {conditions.down(channel) ? Limit::Kind::OUTAGE : Limit::Kind::LINK, channel};
  }
  const Path& path = routes[transfer.path];
  // One member of a bundle is a link like any other.
  if (path.member_cap < transfer.cap) return {Limit::Kind::LINK, path.member_cap_channel};
  return {Limit::Kind::CAP, {}};
}

void Network::State::note_limit(Transfer& transfer) {
  Limit limit = present_limit(transfer);
  if (same(limit, transfer.limit)) return;
  hold(transfer);
  transfer.limit = limit;
  transfer.limit_since = engine.now();
}

// Adds the time for which the present limit has held.
void Network::State::hold(Transfer& transfer) {
  Time held = engine.now() - transfer.limit_since;
  if (held == Time()) return;
  transfer.limit_since = engine.now();
  for (HeldLimit& earlier : transfer.held) {
    if (!same(earlier.limit, transfer.limit)) continue;
    earlier.held += held;
    return;
  }
  transfer.held.push_back({transfer.limit, held});
}

Limit Network::State::bottleneck(const Transfer& transfer) const {
  const std::vector<ChannelId>& channels = routes[transfer.path].channels;
  auto place = [&](const Limit& limit) {
    if (limit.kind == Limit::Kind::LATENCY) return std::ptrdiff_t{-1};
    if (limit.kind == Limit::Kind::CAP) return std::ssize(channels);
    return std::find(channels.begin(), channels.end(), limit.channel) - channels.begin();
  };
  HeldLimit longest{{Limit::Kind::LATENCY, {}}, transfer.flowing_since - transfer.latency_since};
  for (const HeldLimit& other : transfer.held) {
    auto held = static_cast<double>(other.held.count_ns());
    auto longest_held = static_cast<double>(longest.held.count_ns());
    bool longer = held > longest_held * (1 + kSame);
    bool equal = !longer && held >= longest_held * (1 - kSame);
    if (longer || (equal && place(other.limit) < place(longest.limit))) longest = other;
  }
  return longest.limit;
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
  return {.bytes = account.bytes, .busy_s = busy.in_seconds(), .byte_s_load = account.delivered};
}

Network::Network(Engine& engine, const Topology& topology)
    : Network(engine, topology, std::make_unique<ProgressiveFilling>(topology.channel_count())) {}

Network::Network(Engine& engine, const Topology& topology, std::unique_ptr<Sharing> sharing)
    : state_(std::make_unique<State>(engine, topology, std::move(sharing))) {}

Network::~Network() = default;

Engine& Network::engine() { return state_->engine; }

const Topology& Network::topology() const { return state_->topology; }

TransferId Network::start(const TransferSpec& spec, TransferSink& sink, std::uint64_t tag) {
  SYNCLINE_CHECK(spec.bytes.count() >= 0, "a transfer's bytes are not negative");
  SYNCLINE_CHECK(spec.streams >= 1, "a transfer has at least one stream");
  SYNCLINE_CHECK(spec.cap.in_bytes_per_s() > 0, "a transfer's cap is above 0");
  State& state = *state_;
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
  transfer.cap = spec.cap.in_bytes_per_s();
  transfer.path = path;
  transfer.started = state.engine.now();
  transfer.latency_since = transfer.started;
  transfer.limit = {Limit::Kind::LATENCY, {}};
  ++state.active;
  if (!route) {
    state.wait_for_route(transfer);
    return transfer.id;
  }
  if (spec.source == spec.destination) {
    state.end(transfer, TransferEnd::DONE, static_cast<double>(spec.bytes.count()));
    state.tell_soon(transfer);
  } else {
    state.begin_latency(transfer);
  }
  return transfer.id;
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

ChannelUse Network::use(ChannelId channel) const {
  ChannelUse use = state_->use(channel);
  for (const Transfer& transfer : state_->transfers) {
    if (transfer.stage != Stage::FLOWING) continue;
    const std::vector<ChannelId>& channels = state_->routes[transfer.path].channels;
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
  for (const Transfer& transfer : state_->transfers) {
    if (transfer.stage != Stage::FLOWING) continue;
    double delivered = state_->delivered_so_far(transfer);
    for (ChannelId channel : state_->routes[transfer.path].channels) {
      uses[channel.value].byte_s_load += delivered;
    }
  }
  return uses;
}

BitRate Network::capacity(ChannelId channel) const {
  return BitRate::bytes_per_s(state_->conditions.capacity(channel));
}

double Network::rate(TransferId id) const {
  const Transfer* transfer = state_->find(id);
  if (!transfer || transfer->stage != Stage::FLOWING) return 0;
  return state_->sharing->rate(transfer->flow);
}

std::size_t Network::active() const { return state_->active; }

std::vector<std::string> Network::stuck(std::size_t limit) const {
  std::vector<const Transfer*> waiting;
  for (const Transfer& transfer : state_->transfers) {
    if (transfer.stage != Stage::WAITING &&
        (transfer.stage != Stage::FLOWING || state_->sharing->rate(transfer.flow) > 0)) {
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
