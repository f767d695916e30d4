// Plain transfers that start at given times: a network alone, or traffic beside a training run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/network.h"

namespace syncline {

struct Flow {
  Time start;
  NodeId source, destination;
  Bytes bytes;
};

// What a flow does when something on its way goes down, or it finds no way that is up.
enum class FlowPolicy : std::uint8_t {
  STALL,    // keeps its place and goes on where it was
  FAIL,     // ends
  RESTART,  // begins anew when there is a way again
  RESUME    // sends the rest when there is a way again; the latency is paid again
};

struct FlowOutcome {
  enum class Status : std::uint8_t { WAITING, DONE, FAILED };
  Status status = Status::WAITING;
  Time ended;
  Bytes delivered;
  Limit bottleneck;  // of the last attempt
};

// Why `flow` can never be carried: an end that only forwards, or no link leads from one end to the
// other. Empty: it can.
class FlowCheck {
 public:
  explicit FlowCheck(const Topology& topology);
  std::string problem(NodeId source, NodeId destination) const;

 private:
  const Topology& topology_;
  std::vector<std::uint32_t> component_;  // by node
};

// Starts every flow at its time, in the order given where times are equal.
class FlowRun final : public EventTarget, public TransferSink {
 public:
  // `network` must outlive it. Flows pass FlowCheck.
  FlowRun(Network& network, std::vector<Flow> flows, FlowPolicy policy = FlowPolicy::STALL);
  ~FlowRun() { stop(); }
  FlowRun(const FlowRun&) = delete;
  FlowRun& operator=(const FlowRun&) = delete;

  void begin();
  // Something comes up at `at` (not before now): flows that wait for a way look again.
  void look_again(Time at);
  // Nothing more starts, and what is under way is given up.
  void stop();

  const std::vector<Flow>& flows() const { return flows_; }
  std::vector<FlowOutcome> outcomes() const;  // by flow, as things are now

  std::size_t without_way() const { return without_way_.size(); }

  // Its part in what the network counts.
  double limited_by_latency_s() const { return limited_by_latency_s_; }
  double limited_by_cap_s() const { return limited_by_cap_s_; }
  double limited_by_channel_s(ChannelId channel) const { return limited_s_[channel.value]; }

 private:
  enum : std::uint64_t { START, LOOK };

  void on_event(std::uint64_t tag) override;
  void on_transfer_end(const TransferReport& report, std::uint64_t flow) override;
  void schedule_next();
  void start(std::uint32_t flow);

  Network& network_;
  std::vector<Flow> flows_;
  FlowPolicy policy_;
  std::vector<FlowOutcome> outcomes_;
  std::vector<TransferId> under_way_;  // by flow; 0: none
  std::vector<std::uint32_t> order_;   // flows by start
  std::size_t next_ = 0;               // in order_
  EventHandle next_start_;
  std::vector<EventHandle> looks_;
  std::vector<std::uint32_t> without_way_;
  double limited_by_latency_s_ = 0;
  double limited_by_cap_s_ = 0;
  std::vector<double> limited_s_;  // by channel
};

}  // namespace syncline
