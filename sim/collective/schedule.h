// A collective as what each rank sends and receives, whatever carries it: simulated transfers
// (scheduled_all_reduce.h), or real wires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace syncline {

// Consecutive elements of the payload.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t elements = 0;
  bool operator==(const Range&) const = default;
};
// A payload in parts whose sizes differ by at most one element.
class Parts {
 public:
  Parts(std::uint64_t elements, std::uint32_t parts)
      : parts_(parts), whole_(elements / parts), rest_(elements % parts) {}
  Range operator[](std::uint32_t index) const { return range(index, index + 1); }
  // The parts from `index` to before `end`.
  Range range(std::uint32_t index, std::uint32_t end) const {
    const std::uint64_t first = boundary(index);
    return {first, boundary(end) - first};
  }

 private:
  // floor(elements · index / parts), with no product that passes 2^64.
  std::uint64_t boundary(std::uint64_t index) const {
    const std::uint64_t whole = whole_ * index;
    return rest_ == 0 ? whole : whole + rest_ * index / parts_;
  }

  std::uint32_t parts_;
  std::uint64_t whole_, rest_;
};

// A rank's sends and receives that go on at the same time. It takes its next step when all of these
// have ended.
struct Step {
  struct Send {
    std::uint32_t to;
    std::uint32_t awaited;  // the receiver's step that waits for it
    Range range;            // as it is when the step begins
  };
  struct Receive {
    std::uint32_t from;
    bool add;  // to what is there; else it takes its place
    Range range;
  };
  std::vector<Send> sends;
  std::vector<Receive> receives;
};

// What each rank has at the end, of the sum over what all brought, or for ALL_GATHER of what the
// owner of each part brought. Rank i of p owns part i.
enum class CollectiveOperation : std::uint8_t {
  ALL_REDUCE,      // all of it
  REDUCE_SCATTER,  // its part
  ALL_GATHER       // all of it
};

// Ranks are 0 to ranks() - 1; those from members() on help and bring nothing (a server).
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual std::uint32_t ranks() const = 0;
  virtual std::uint32_t members() const { return ranks(); }
  virtual std::uint32_t steps(std::uint32_t rank) const = 0;
  // `step`: overwritten; its memory is used again.
  virtual void step(std::uint32_t rank, std::uint32_t index, Step& step) const = 0;
};

// All-reduce and its halves. n bytes, p ranks, alpha s latency and beta s/byte between any two
// (full duplex); all ranks at once, on an idle network.

// Patarasu, Yuan 2009: "Bandwidth optimal all-reduce algorithms for clusters of workstations".
// Each half: p-1 steps of n/p to the next rank. (p-1)·(alpha + n/p·beta).
std::unique_ptr<Schedule> ring_schedule(CollectiveOperation operation, std::uint32_t ranks,
                                        std::uint64_t elements);
// Each half: p-1 steps, n/p in step s to the rank s ahead. As long as the ring on equal links.
std::unique_ptr<Schedule> pairwise_schedule(CollectiveOperation operation, std::uint32_t ranks,
                                            std::uint64_t elements);
// A parameter server on each rank for its part: each half is one step of n/p to every other rank.
// alpha + (p-1)·n/p·beta.
std::unique_ptr<Schedule> sharded_server_schedule(CollectiveOperation operation,
                                                  std::uint32_t ranks, std::uint64_t elements);
// Recursive halving, then doubling (Thakur, Rabenseifner, Gropp 2005: "Optimization of collective
// communication operations in MPICH"): log2(p) steps of n/2, n/4, ..., and back: each half
// log2(p)·alpha + (p-1)/p·n·beta. For p that is no power of two, of the first 2·(p - 2^k) ranks
// every even one gives its n to the next and gets the sum from it in the end, and the others are
// told when to begin: 3·alpha + 2·n·beta more; only ALL_REDUCE then.
std::unique_ptr<Schedule> halving_doubling_schedule(CollectiveOperation operation,
                                                    std::uint32_t ranks, std::uint64_t elements);

// All-reduce only.

// Reduce to rank 0, then broadcast, each along one tree of ceil(log2 p) levels; binomial where p is
// a power of two. Else it lacks branches such that every rank's children end their turns one after
// the other, so that no two sends to one rank meet: 2·ceil(log2 p)·(alpha + n·beta).
std::unique_ptr<Schedule> binomial_tree_schedule(std::uint32_t ranks, std::uint64_t elements);
// One step: all n to every other rank. alpha + (p-1)·n·beta.
std::unique_ptr<Schedule> all_to_all_schedule(std::uint32_t ranks, std::uint64_t elements);
// A central parameter server (Li et al. 2014: "Scaling Distributed Machine Learning with the
// Parameter Server"), synchronous; its rank is `members`. 2·(alpha + p·n·beta) through its port.
std::unique_ptr<Schedule> parameter_server_schedule(std::uint32_t members, std::uint64_t elements);
// With g hosts at each of S sites, rank = site · g + place: a ring reduce-scatter inside each site
// leaves one place 1/g of the site's sum; g rings between the sites, one a place, all-reduce these
// at the same time; a ring all-gather inside.
std::unique_ptr<Schedule> hierarchical_schedule(std::uint32_t sites, std::uint32_t places,
                                                std::uint64_t elements);

}  // namespace syncline
