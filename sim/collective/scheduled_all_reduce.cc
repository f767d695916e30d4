#include "sim/collective/scheduled_all_reduce.h"

#include <utility>

#include "topology/check.h"

namespace syncline {

ScheduledAllReduce::ScheduledAllReduce(Network& network, Traffic& traffic,
                                       std::unique_ptr<const Schedule> schedule,
                                       std::vector<NodeId> hosts,
                                       std::vector<std::vector<std::uint32_t>> ranks,
                                       Payload payload)
    : network_(network),
      traffic_(traffic),
      schedule_(std::move(schedule)),
      hosts_(std::move(hosts)),
      ranks_(std::move(ranks)),
      payload_(payload),
      places_(hosts_.size()) {
  SYNCLINE_CHECK(hosts_.size() == schedule_->ranks(), "a host for each rank");
  for (std::uint32_t rank = 0; rank < hosts_.size(); ++rank) {
    places_[rank].steps = schedule_->steps(rank);
    finished_.emplace_back(network.engine());
  }
  for (std::uint32_t rank = schedule_->members(); rank < hosts_.size(); ++rank) begin(rank);
}

ScheduledAllReduce::~ScheduledAllReduce() {
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    const Place& place = places_[rank];
    for (std::size_t i = 0; i < place.transfers.size(); ++i) {
      if (place.transfers[i] == 0) continue;
      traffic_.credit(hosts_[rank], hosts_[place.step.sends[i].to],
                      network_.delivered(place.transfers[i]));
      network_.cancel(place.transfers[i]);
    }
  }
}

Task<> ScheduledAllReduce::join(std::size_t member) {
  for (const std::uint32_t rank : ranks_[member]) begin(rank);
  for (const std::uint32_t rank : ranks_[member]) {
    Place& place = places_[rank];
    while (place.index < place.steps) co_await finished_[rank].wait();
  }
}

void ScheduledAllReduce::begin(std::uint32_t rank) {
  Place& place = places_[rank];
  SYNCLINE_CHECK(!place.joined, "a member joins a collective once");
  place.joined = true;
  if (place.steps == 0) return;
  begin_step(rank);
  go_on(rank);
}

Bytes ScheduledAllReduce::bytes(const Range& range) {
  if (range.elements != last_elements_) {
    Payload part = payload_;
    part.elements = last_elements_ = range.elements;
    last_bytes_ = part.bytes();
  }
  return last_bytes_;
}

void ScheduledAllReduce::begin_step(std::uint32_t rank) {
  Place& place = places_[rank];
  schedule_->step(rank, place.index, place.step);
  place.sends_left = static_cast<std::uint32_t>(place.step.sends.size());
  place.receives_left = static_cast<std::uint32_t>(place.step.receives.size());
  if (!place.early.empty()) {
    place.receives_left -= place.early.front();
    place.early.erase(place.early.begin());
  }
  place.transfers.resize(place.sends_left);
  for (std::uint32_t i = 0; i < place.sends_left; ++i) {
    const Step::Send& send = place.step.sends[i];
    place.transfers[i] = network_.start({.source = hosts_[rank],
                                         .destination = hosts_[send.to],
                                         .bytes = bytes(send.range),
                                         .wait_for_route = true},
                                        *this, std::uint64_t{i} << 32 | rank);
  }
}

void ScheduledAllReduce::go_on(std::uint32_t rank) {
  Place& place = places_[rank];
  if (!place.joined || place.index == place.steps) return;
  while (place.sends_left == 0 && place.receives_left == 0) {
    if (++place.index == place.steps) return finished_[rank].notify_all();
    begin_step(rank);
  }
}

void ScheduledAllReduce::receive(Place& place, std::uint32_t step) {
  const std::uint32_t first = place.joined ? place.index + 1 : 0;  // that `early` has
  if (step < first) {
    --place.receives_left;
    return;
  }
  if (place.early.size() <= step - first) place.early.resize(step - first + 1);
  ++place.early[step - first];
}

void ScheduledAllReduce::on_transfer_end(const TransferReport& report, std::uint64_t tag) {
  const auto rank = static_cast<std::uint32_t>(tag);
  const auto index = static_cast<std::uint32_t>(tag >> 32);
  Place& sender = places_[rank];
  const auto [to, awaited, range] = sender.step.sends[index];
  traffic_.credit(hosts_[rank], hosts_[to], report.delivered);
  sender.transfers[index] = 0;
  if (report.end == TransferEnd::FAILED) return fail();
  --sender.sends_left;
  receive(places_[to], awaited);
  go_on(rank);
  go_on(to);
}

}  // namespace syncline
