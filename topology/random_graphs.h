// Random graphs of hosts that look like the networks of the world. The values of a link are drawn
// as in generators.h.
#pragma once

#include <cstdint>

#include "topology/generators.h"

namespace syncline {

// Waxman (IEEE JSAC 6(9), 1988): hosts "node0" … at random places in a square; two at the distance
// d are joined with the probability beta * exp(-d / (alpha * L)), L the square's diagonal. What is
// then not joined to node0 is joined by the shortest link that does it, one after the other, so the
// graph is connected. A link's latency is what its spec draws and `side_s` times its length, as a
// share of the side. Throws InputError: count below 2 or above 20,000, alpha or beta not in (0, 1],
// side_s negative or not finite.
struct WaxmanSpec {
  std::uint32_t count = 0;
  double alpha = 0.15;  // larger: more of the long links
  double beta = 0.4;    // larger: more links
  double side_s = 0;    // one-way latency along the side of the square, seconds
  LinkSpec link = {};
};
void add_waxman(Topology& topology, const WaxmanSpec& spec, RandomStream& random);

// Barabasi and Albert (Science 286, 1999): hosts "node0" …; the first links+1 are all joined, each
// later one joins `links` different earlier ones, chosen by their degree. Links in all: m(m+1)/2 +
// (count - m - 1) m. Throws InputError: links below 1, count not above links, or above 10 million.
struct BarabasiAlbertSpec {
  std::uint32_t count = 0;
  std::uint32_t links = 2;  // m, of each new host
  LinkSpec link = {};
};
void add_barabasi_albert(Topology& topology, const BarabasiAlbertSpec& spec, RandomStream& random);

}  // namespace syncline
