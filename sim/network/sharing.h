// How concurrent flows share channels: weighted max-min fair rates, and when each flow will have
// delivered its bytes. docs/network.md, "How rates are found".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/engine/indexed_heap.h"
#include "sim/network/chunked_array.h"
#include "sim/network/crossings.h"
#include "sim/network/member_heap.h"
#include "sim/network/service_clock.h"
#include "topology/quantity.h"
#include "topology/topology.h"

namespace syncline {

using FlowId = std::uint32_t;  // small numbers that the caller gives out

// All changes of one instant come first, then one solve(). Rates hold until the next solve().
// `now` never goes back.
//
// Flows with the same bottleneck are one group, named by that link: one rate, one clock of service,
// one end event, whatever the number of its members. A change looks again only at the links whose
// load it can have made wrong, until there are none: then each flow is held by a full link on which
// none has a higher rate, and no link carries more than it can, which is what max-min fairness
// means. A flow alone on its route is in no group. A cap is a link of the flow's own.
class Sharing {
 public:
  // What holds a flow's rate: the first channel on its route that is full and on which no flow has
  // a higher rate per weight, or kOwnCap.
  using Limit = std::uint32_t;
  static constexpr Limit kOwnCap = 0xFFFFFFFF;

  struct Finished {
    FlowId flow;
    Limit limit;  // at the end
  };
  struct LimitChange {
    FlowId flow;
    Limit before;
  };

  // Every channel starts without limit.
  explicit Sharing(std::size_t channels);

  void set_capacity(ChannelId channel, double bytes_per_s, Time now);

  // `route`: at least one channel, each at most once; it must stay where it is until the flow is
  // removed or finished. bytes >= 0, weight > 0; cap in bytes/s may be infinite.
  void add(FlowId flow, std::span<const ChannelId> route, double bytes, std::uint32_t weight,
           double cap);
  void set_cap(FlowId flow, double cap, Time now);
  void remove(FlowId flow, Time now);

  void solve(Time now);
  // When the first flow ends at the present rates, rounded to the clock once; Time::max() if none
  // does.
  Time next_finish() const;
  // Removes flows within half a nanosecond of their ends, in no stated order: some thousands in one
  // call; all are taken when next_finish() is later.
  void take_finished(Time now, std::vector<Finished>& finished);

  double rate(FlowId flow) const;                 // bytes/s since the last solve()
  double remaining(FlowId flow, Time now) const;  // bytes
  Limit limit(FlowId flow) const;
  // The limits that have changed since this was cleared, but for flows that are new or gone; a flow
  // can be here more than once.
  std::vector<LimitChange>& limit_changes() { return limit_changes_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  enum class State : std::uint8_t {
    NONE,
    PENDING,    // added, not solved yet
    ALONE,      // nobody else is on its route
    UNLIMITED,  // no link has a limit: it ends at once
    MEMBER      // of a group
  };
  struct Membership {
    std::uint32_t group;
    std::uint32_t place;  // in its heap
  };
  // 24 bytes: there can be a million.
  struct Flow {
    const ChannelId* route = nullptr;
    union {
      double remaining = 0;  // PENDING: bytes
      Membership member;     // MEMBER
    };
    std::uint32_t weight = 1;
    std::uint16_t hops = 0;
    State state = State::NONE;
  };
  // What every flow needs of its links, kept close together; the rest is for groups.
  struct Link {
    double capacity = std::numeric_limits<double>::infinity();
    std::uint32_t users = 0;
    FlowId alone = kNone;  // the flow that is alone on its route, which this link is on
  };
  struct Group {
    double free = std::numeric_limits<double>::infinity();  // capacity that other groups leave,
                                                            // when the link was last looked at
    double weight = 0;                                      // of its members
    bool changed = false;                                   // its next end is to be found anew
    ServiceClock clock;
    MemberHeap members;
  };
  // A flow that is alone, kept at the first channel of its route.
  struct Alone {
    FlowId flow = kNone;
    Limit limit = kOwnCap;
    double remaining = 0;  // at `since`
    double rate = 0;
    Time since;
  };
  // The link that is a flow's own cap stands behind the channels of its route.
  using CappedRoute = std::vector<ChannelId>;

  std::span<const ChannelId> route(const Flow& flow) const { return {flow.route, flow.hops}; }
  bool crosses(const Flow& flow, std::uint32_t link) const;
  bool is_capped(const Flow& flow) const;
  Limit limit_of(std::uint32_t link) const { return link < channels_ ? link : kOwnCap; }
  void mark(std::uint32_t link, double level);
  void note_change(std::uint32_t link);

  // Flows come and go.
  void put_pending(FlowId flow, double remaining);
  void admit();
  bool may_be_alone(const Flow& flow) const;
  void start_alone(FlowId flow);
  void refresh_alone(Alone& alone);
  void find_alone_rate(Alone& alone);
  void end_alone(FlowId flow);
  double alone_remaining(const Alone& alone, Time now) const;
  void give_cap(Flow& flow, double cap);
  void set_link_capacity(std::uint32_t link, double bytes_per_s);
  void join(FlowId flow);
  void withdraw(FlowId flow);
  void leave_links(Flow& flow);

  // Groups.
  void attach(FlowId flow, std::uint32_t index, double amount);
  double detach(FlowId flow);
  double leave_group(FlowId flow);
  void mark_left(const Flow& flow);
  void regroup(FlowId flow, std::uint32_t group);
  void repair_all();
  void repair(std::uint32_t link);
  double pull(std::uint32_t link, double level, double foreign);
  void rest(std::uint32_t link, double foreign);
  void set_rate(std::uint32_t link, double rate);
  void notify(std::uint32_t group);
  void find_end(std::uint32_t link);

  // All groups anew (sharing_filling.cc).
  void fill(std::span<const FlowId> joins);

  std::size_t channels_;  // links above are caps
  std::vector<Link> links_;
  std::vector<Group> groups_;  // by the link that is their bottleneck
  std::vector<double> rates_;  // of groups, bytes/s per weight; apart, for they are read most
  Crossings crossings_;
  ChunkedArray<Flow> flows_;
  std::vector<Alone> alone_;
  std::vector<CappedRoute> capped_;
  std::vector<std::uint32_t> free_caps_;

  Time now_;
  std::vector<FlowId> pending_;
  std::vector<FlowId> unlimited_;
  std::vector<std::uint32_t> alone_changed_;
  std::size_t members_ = 0;    // flows in groups
  IndexedHeap<double> dirty_;  // links to look at, the lowest level first: it decides the others
  std::vector<std::uint32_t> changed_;
  IndexedHeap<Time> ends_;  // by link: of its group, or of the flow alone that starts there
  std::vector<LimitChange> limit_changes_;

  // Used inside a call only.
  struct Candidate {
    double rate;
    double weight;
    std::uint32_t group;
  };
  std::vector<Candidate> candidates_;
  std::vector<FlowId> moving_;
};

}  // namespace syncline
