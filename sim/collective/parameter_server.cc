#include "sim/collective/parameter_server.h"

namespace syncline {

ParameterServer::ParameterServer(Network& network, Traffic& traffic, NodeId server,
                                 const std::vector<CollectiveMember>& members, Payload payload)
    : network_(network), traffic_(traffic), server_(server), bytes_(payload.bytes()) {
  for (const CollectiveMember& member : members)
    places_.emplace_back(network.engine(), member.hosts.front());
}

ParameterServer::~ParameterServer() {
  for (const Place& place : places_) {
    if (place.transfer != 0) network_.cancel(place.transfer);
  }
}

Task<> ParameterServer::join(std::size_t member) {
  Place& place = places_[member];
  place.transfer = network_.start({.source = place.host, .destination = server_, .bytes = bytes_},
                                  *this, member);
  while (!place.done) co_await place.finished.wait();
}

void ParameterServer::on_transfer_end(const TransferReport& report, std::uint64_t member) {
  Place& place = places_[member];
  place.transfer = 0;
  if (place.uploaded) {
    traffic_.credit(server_, place.host, report);
    place.done = true;
    place.finished.notify_all();
    return;
  }
  traffic_.credit(place.host, server_, report);
  place.uploaded = true;
  if (++uploads_ < places_.size()) return;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i].transfer = network_.start(
        {.source = server_, .destination = places_[i].host, .bytes = bytes_}, *this, i);
  }
}

}  // namespace syncline
