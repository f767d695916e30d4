#include "sim/collective/ring.h"

#include <utility>

#include "topology/check.h"

namespace syncline {
RingPass::RingPass(RingKind kind, Network& network, Traffic& traffic, std::vector<NodeId> hosts,
                   Payload payload, std::function<void()> on_failure)
    : network_(network),
      traffic_(traffic),
      hosts_(std::move(hosts)),
      payload_(payload),
      on_failure_(std::move(on_failure)),
      steps_((kind == RingKind::ALL_REDUCE ? 2 : 1) * (hosts_.size() - 1)),
      first_part_(kind == RingKind::ALL_GATHER ? 1 : 0) {
  for (std::size_t i = 0; i < hosts_.size(); ++i) places_.emplace_back(network.engine());
}

RingPass::~RingPass() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].sending == 0) continue;
    traffic_.credit(hosts_[i], hosts_[next(i)], network_.delivered(places_[i].sending));
    network_.cancel(places_[i].sending);
  }
}

Task<> RingPass::join(std::size_t index) {
  Place& place = places_[index];
  SYNCLINE_CHECK(!place.joined, "a host joins a ring once");
  place.joined = true;
  start_next(index);
  while (!finished(place)) co_await place.finished.wait();
}

void RingPass::start_next(std::size_t index) {
  Place& place = places_[index];
  const std::uint64_t step = place.started;
  if (!place.joined || step == steps_ || place.sent < step || place.received < step) return;
  const std::uint64_t parts = hosts_.size();
  // 2 · parts keeps the difference positive: step < 2 · parts.
  const std::uint64_t part = (index + first_part_ + 2 * parts - step) % parts;
  ++place.started;
  place.sending = network_.start({.source = hosts_[index],
                                  .destination = hosts_[next(index)],
                                  .bytes = payload_.part(part, parts).bytes(),
                                  .wait_for_route = true},
                                 *this, index);
}

void RingPass::on_transfer_end(const TransferReport& report, std::uint64_t index) {
  Place& sender = places_[index];
  const std::size_t receiver_index = next(index);
  Place& receiver = places_[receiver_index];
  traffic_.credit(hosts_[index], hosts_[receiver_index], report.delivered);
  sender.sending = 0;
  if (report.end == TransferEnd::FAILED) return on_failure_();
  ++sender.sent;
  ++receiver.received;
  start_next(index);
  start_next(receiver_index);
  if (finished(sender)) sender.finished.notify_all();
  if (finished(receiver)) receiver.finished.notify_all();
}

RingAllReduce::RingAllReduce(Network& network, Traffic& traffic,
                             const std::vector<CollectiveMember>& members, Payload payload)
    : pass_(RingKind::ALL_REDUCE, network, traffic, first_hosts(members), payload,
            [this] { fail(); }) {}

}  // namespace syncline
