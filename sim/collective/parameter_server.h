// A central parameter server (Li et al. 2014: "Scaling Distributed Machine Learning with the
// Parameter Server"), synchronous.
#pragma once

#include <deque>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/signal.h"

namespace syncline {

// Each member sends its whole payload to the server; when all have come, the server sends the sum,
// of the same size, to each at once.
class ParameterServer final : public AllReduce, public TransferSink {
 public:
  ParameterServer(Network& network, Traffic& traffic, NodeId server,
                  const std::vector<CollectiveMember>& members, Payload payload);
  ~ParameterServer() override;  // cancels what is under way
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  Task<> join(std::size_t member) override;

 private:
  struct Place {
    Place(Engine& engine, NodeId node) : host(node), finished(engine) {}
    NodeId host;
    TransferId transfer = 0;  // 0: nothing under way
    bool uploaded = false;
    bool done = false;
    Signal finished;
  };
  void on_transfer_end(const TransferReport& report, std::uint64_t member) override;

  Network& network_;
  Traffic& traffic_;
  NodeId server_;
  Bytes bytes_;
  std::deque<Place> places_;  // a deque: signals stay where they are
  std::size_t uploads_ = 0;
};

}  // namespace syncline
