#include "topology/link_maker.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "topology/input_error.h"

namespace syncline {

void LinkMaker::add(NodeId a, NodeId b, const LinkSpec& spec, double extra_latency_s) {
  Link link;
  link.name = fmt::format("{}-{}", topology_.node(a).name, topology_.node(b).name);
  link.a = a;
  link.b = b;
  link.shared = spec.shared;
  RandomStream own(seed_, link.name);
  const double there = spec.bandwidth.draw(own);
  const double back = spec.asymmetric ? spec.bandwidth_back.draw(own) : there;
  link.capacity = {BitRate::bytes_per_s(there), BitRate::bytes_per_s(back)};
  link.latency_s.fill(spec.latency.draw(own) + extra_latency_s);
  topology_.add_link(std::move(link));
}

void check_link_spec(const LinkSpec& spec, const char* which) {
  if (spec.shared && spec.asymmetric) {
    throw InputError(fmt::format(
        "{}: it is shared by both directions, so it cannot have a bandwidth back of its own",
        which));
  }
}

void check_count(const char* field, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value < least || value > most)
    throw InputError(fmt::format("{}: {}; write {} to {}", field, value, least, most));
}

}  // namespace syncline
