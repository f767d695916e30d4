// What the transport protocol adds to the fluid model: limits on the rate of one stream, and bytes
// that are not payload. Off by default: then a link of 1 Gbit/s carries 1.25e8 bytes of payload in
// a second.
#pragma once

#include <cstdint>
#include <optional>

#include "topology/quantity.h"

namespace syncline {

// For every transfer between two hosts. RTT is the latency of the route forward plus that of the
// route back, as they are at its start (back as forward where there is no way back); without one
// nothing here limits a rate.
struct Transport {
  // Streams that carry a transfer: its weight in the sharing is multiplied by this, and so is every
  // limit below.
  std::uint32_t streams = 1;
  // TCP's largest window: at most window / RTT a stream (RFC 7323, section 1.1).
  std::optional<Bytes> window = std::nullopt;
  // Probability that a packet is lost, 0 for none: at most mss · sqrt(3/2) / (RTT · sqrt(loss)) a
  // stream (Mathis, Semke, Mahdavi, Ott 1997: "The macroscopic behavior of the TCP congestion
  // avoidance algorithm", equation 3, an acknowledgement for every packet).
  double loss = 0;
  // Payload of a packet, and what its headers add to it on the links. Ethernet with IPv4 and TCP
  // timestamps: 1448 and 90 bytes (preamble and gap included).
  Bytes mss = Bytes(1460);
  Bytes header = Bytes();
  // A stream begins with a window of 10 packets (RFC 6928) and doubles it every RTT, until the
  // limit is no longer its own: above the other limits here, or above the narrowest link.
  bool slow_start = false;

  bool limits_rate() const { return window || loss > 0 || slow_start; }
  bool plain() const { return streams == 1 && !limits_rate() && header == Bytes(); }

  // Headers of a transfer of so many bytes: those of its packets, the last one not full.
  Bytes header_bytes(Bytes payload) const;
  // Payload bytes/s of all streams of a transfer together; infinite without a limit. Slow start
  // apart.
  double largest_rate(Time rtt) const;
  // The same in round trip `round` (from 0 on) of slow start.
  double slow_start_rate(Time rtt, std::uint32_t round) const;
};

}  // namespace syncline
