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
    if (place.transfer == 0) continue;
    traffic_.credit(place.uploaded ? server_ : place.host, place.uploaded ? place.host : server_,
                    network_.delivered(place.transfer));
    network_.cancel(place.transfer);
  }
}

Task<> ParameterServer::join(std::size_t member) {
  Place& place = places_[member];
  place.transfer = network_.start(
      {.source = place.host, .destination = server_, .bytes = bytes_, .wait_for_route = true},
      *this, member);
  while (!place.done) co_await place.finished.wait();
}

void ParameterServer::on_transfer_end(const TransferReport& report, std::uint64_t member) {
  Place& place = places_[member];
  place.transfer = 0;
  traffic_.credit(place.uploaded ? server_ : place.host, place.uploaded ? place.host : server_,
                  report.delivered);
  if (report.end == TransferEnd::FAILED) return fail();
  if (place.uploaded) {
    place.done = true;
    place.finished.notify_all();
    return;
  }
  place.uploaded = true;
  if (++uploads_ < places_.size()) return;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i].transfer = network_.start({.source = server_,
                                          .destination = places_[i].host,
                                          .bytes = bytes_,
                                          .wait_for_route = true},
                                         *this, i);
  }
}

}  // namespace syncline
