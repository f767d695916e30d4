// How generators make their links. Private to topology/.
#pragma once

#include <cstdint>

#include "topology/generators.h"

namespace syncline {

// Adds the links of one generated topology, named "A-B". A link's values come from a stream of its
// own, keyed by its name: one more host or cluster does not change the draws of the others.
class LinkMaker {
 public:
  LinkMaker(Topology& topology, RandomStream& random) : topology_(topology), seed_(random.next()) {}

  // extra_latency_s: added to the drawn latency, for links whose length is known. Throws InputError
  // as Topology::add_link does.
  void add(NodeId a, NodeId b, const LinkSpec& spec, double extra_latency_s = 0);

 private:
  Topology& topology_;
  std::uint64_t seed_;
};

// Throws InputError that begins with `which`: shared and asymmetric.
void check_link_spec(const LinkSpec& spec, const char* which);

// Throws InputError "WHICH.FIELD: ...": the value is not in [least, most].
void check_count(const char* field, std::uint64_t value, std::uint64_t least, std::uint64_t most);

// The most nodes that a generator makes.
constexpr std::uint64_t kMostGenerated = 10'000'000;

}  // namespace syncline
