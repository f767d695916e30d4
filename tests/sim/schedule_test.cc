// Schedules, carried out on numbers in memory: what each rank has in the end, whatever the order in
// which messages come; and over the simulated network, against the formulas.
#include "sim/collective/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "tests/sim/star.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

using Operation = CollectiveOperation;

struct Named {
  std::string name;
  std::function<std::unique_ptr<Schedule>(Operation, std::uint32_t, std::uint64_t)> make;
  bool halves;  // REDUCE_SCATTER and ALL_GATHER too
};

std::vector<Named> all_schedules() {
  const auto only = [](auto make) {
    return [make](Operation, std::uint32_t p, std::uint64_t n) { return make(p, n); };
  };
  return {{"ring", ring_schedule, true},
          {"pairwise", pairwise_schedule, true},
          {"sharded server", sharded_server_schedule, true},
          {"halving doubling", halving_doubling_schedule, true},
          {"tree", only(binomial_tree_schedule), false},
          {"all to all", only(all_to_all_schedule), false},
          {"server", only(parameter_server_schedule), false},
          {"hierarchical", only([](std::uint32_t p, std::uint64_t n) {
             const std::uint32_t places = p % 3 == 0 ? 3 : p % 2 == 0 ? 2 : 1;
             return hierarchical_schedule(p / places, places, n);
           }),
           false}};
}

// A carrier of its own: messages wait in mailboxes and arrive in random order. Sums are of whole
// numbers, so that they are exact.
class Memory {
 public:
  Memory(const Schedule& schedule, std::vector<std::vector<std::int64_t>> data, std::uint64_t seed)
      : schedule_(schedule),
        data_(std::move(data)),
        ranks_(schedule.ranks()),
        random_(seed, "schedule") {
    data_.resize(schedule.ranks(), std::vector<std::int64_t>(data_.front().size()));
  }

  std::vector<std::vector<std::int64_t>> run() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) begin(rank);
    while (!under_way_.empty()) {
      const std::size_t which = random_.next() % under_way_.size();
      Message message = std::move(under_way_[which]);
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(which));
      ranks_[message.to].inbox[message.step].push_back(std::move(message));
      take(static_cast<std::uint32_t>(ranks_.size()));
    }
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      EXPECT_EQ(ranks_[rank].index, schedule_.steps(rank)) << "rank " << rank << " is stuck";
    return data_;
  }

 private:
  struct Message {
    std::uint32_t from, to, step;
    Range range;
    std::vector<std::int64_t> numbers;
  };
  struct Rank {
    std::uint32_t index = 0;
    std::map<std::uint32_t, std::vector<Message>> inbox;  // by step
  };

  void begin(std::uint32_t rank) {
    if (ranks_[rank].index == schedule_.steps(rank)) return;
    Step step;
    schedule_.step(rank, ranks_[rank].index, step);
    for (const Step::Send& send : step.sends) {
      const auto first = data_[rank].begin() + static_cast<std::ptrdiff_t>(send.range.first);
      under_way_.push_back({rank,
                            send.to,
                            send.awaited,
                            send.range,
                            {first, first + static_cast<std::ptrdiff_t>(send.range.elements)}});
    }
  }

  // All ranks that have everything for their step go on.
  void take(std::uint32_t count) {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t rank = 0; rank < count; ++rank) {
        Rank& own = ranks_[rank];
        if (own.index == schedule_.steps(rank) || sends_left(rank)) continue;
        Step step;
        schedule_.step(rank, own.index, step);
        std::vector<Message>& inbox = own.inbox[own.index];
        if (inbox.size() < step.receives.size()) continue;
        ASSERT_EQ(inbox.size(), step.receives.size());
        for (const Step::Receive& receive : step.receives) {
          const auto message = std::find_if(inbox.begin(), inbox.end(), [&](const Message& m) {
            return m.from == receive.from && m.range == receive.range;
          });
          ASSERT_NE(message, inbox.end()) << "no send for what is received";
          for (std::uint64_t i = 0; i < receive.range.elements; ++i) {
            std::int64_t& number = data_[rank][receive.range.first + i];
            number = message->numbers[i] + (receive.add ? number : 0);
          }
        }
        ++own.index;
        more = true;
        begin(rank);
      }
    }
  }

  bool sends_left(std::uint32_t rank) const {
    return std::any_of(under_way_.begin(), under_way_.end(),
                       [rank](const Message& message) { return message.from == rank; });
  }

  const Schedule& schedule_;
  std::vector<std::vector<std::int64_t>> data_;
  std::vector<Rank> ranks_;
  std::vector<Message> under_way_;
  RandomStream random_;
};

TEST(Schedule, EveryRankHasWhatTheOperationSays) {
  for (const Named& kind : all_schedules()) {
    for (std::uint32_t p = 1; p <= 17; ++p) {
      for (const std::uint64_t elements : {0ULL, 1ULL, 5ULL, 37ULL, 16ULL * p}) {
        for (const Operation operation :
             {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER}) {
          if (operation != Operation::ALL_REDUCE && !kind.halves) continue;
          if (operation != Operation::ALL_REDUCE && kind.name == "halving doubling" &&
              !std::has_single_bit(p))
            continue;
          SCOPED_TRACE(kind.name + ", p = " + std::to_string(p) + ", " + std::to_string(elements));
          RandomStream random(p, kind.name);
          std::vector<std::vector<std::int64_t>> brought(p, std::vector<std::int64_t>(elements));
          std::vector<std::int64_t> sum(elements), gathered(elements);
          const Parts parts(elements, p);
          for (std::uint32_t rank = 0; rank < p; ++rank) {
            for (std::uint64_t i = 0; i < elements; ++i) {
              brought[rank][i] = static_cast<std::int64_t>(random.next() >> 30);
              sum[i] += brought[rank][i];
            }
            const Range own = parts[rank];
            for (std::uint64_t i = own.first; i < own.first + own.elements; ++i)
              gathered[i] = brought[rank][i];
          }
          const auto schedule = kind.make(operation, p, elements);
          ASSERT_EQ(schedule->members(), p);
          const auto found = Memory(*schedule, brought, p).run();
          const auto& expected = operation == Operation::ALL_GATHER ? gathered : sum;
          for (std::uint32_t rank = 0; rank < p; ++rank) {
            const Range all{0, elements};
            const Range range = operation == Operation::REDUCE_SCATTER ? parts[rank] : all;
            for (std::uint64_t i = range.first; i < range.first + range.elements; ++i)
              ASSERT_EQ(found[rank][i], expected[i]) << "rank " << rank << " element " << i;
          }
        }
      }
    }
  }
}

// Over a star of equal links, full duplex: `latencies` times the route's latency, `payloads` times
// the time that the payload takes on a link; each host sends and receives `bytes` times the payload
// at most (`total` times by all).
struct Formula {
  double latencies, payloads;
  double total;
};

Formula formula(CollectiveAlgorithm algorithm, std::uint32_t p) {
  const double levels = std::ceil(std::log2(p));
  const double part = (p - 1.0) / p;
  switch (algorithm) {
    case CollectiveAlgorithm::RING:
    case CollectiveAlgorithm::PAIRWISE:
      return {2 * (p - 1.0), 2 * part, 2 * (p - 1.0)};
    case CollectiveAlgorithm::SHARDED_PARAMETER_SERVER:
      return {2, 2 * part, 2 * (p - 1.0)};
    case CollectiveAlgorithm::TREE:
      return {2 * levels, 2 * levels, 2 * (p - 1.0)};
    case CollectiveAlgorithm::ALL_TO_ALL:
      return {1, p - 1.0, p * (p - 1.0)};
    case CollectiveAlgorithm::HALVING_DOUBLING: {
      const std::uint32_t active = std::bit_floor(p);
      const double extra = active == p ? 0 : 1;
      const double halves = 2 * (active - 1.0) / active;
      return {2 * std::floor(std::log2(p)) + 3 * extra, halves + 2 * extra,
              active * halves + 2.0 * (p - active)};
    }
    default:
      ADD_FAILURE();
      return {};
  }
}

TEST(Schedule, OverTheNetworkTakesTheFormulasTimeAndBytes) {
  constexpr double kBandwidth = 1.25e8;
  constexpr double kLatency = 0.005;
  for (const auto algorithm :
       {CollectiveAlgorithm::RING, CollectiveAlgorithm::PAIRWISE, CollectiveAlgorithm::TREE,
        CollectiveAlgorithm::ALL_TO_ALL, CollectiveAlgorithm::SHARDED_PARAMETER_SERVER,
        CollectiveAlgorithm::HALVING_DOUBLING}) {
    for (std::uint32_t p = 2; p <= 17; ++p) {
      SCOPED_TRACE("algorithm " + std::to_string(static_cast<int>(algorithm)) +
                   ", p = " + std::to_string(p));
      const TestStar star(p, kBandwidth, kLatency);
      const Payload payload{std::uint64_t{p} * 16 * 5000, 4};  // divides in all of them
      const IdleAllReduce found =
          idle_all_reduce({algorithm, {}}, star.topology, star.members(), payload);
      const auto [latencies, payloads, total] = formula(algorithm, p);
      const auto bytes = static_cast<double>(payload.bytes().count());
      const double expected = latencies * 2 * kLatency + payloads * bytes / kBandwidth;
      // Half a nanosecond a step.
      EXPECT_NEAR(static_cast<double>(found.duration.count_ns()), expected * 1e9,
                  0.5 * latencies + 1e-3);
      EXPECT_EQ(static_cast<double>(found.traffic.total().count()), std::round(total * bytes));
    }
  }
}

// By link and direction: what each host sends and receives, counted from the papers' words and not
// from the schedules.
TEST(Schedule, EveryLinkCarriesTheFormulasBytes) {
  for (std::uint32_t p = 2; p <= 17; ++p) {
    SCOPED_TRACE("p = " + std::to_string(p));
    const TestStar star(p, 1.25e8, 0.005);
    const std::uint64_t elements = std::uint64_t{p} * 16 * 5000;
    const std::int64_t n = static_cast<std::int64_t>(elements) * 4;
    const auto check = [&](CollectiveAlgorithm algorithm, auto sent, auto received) {
      const IdleAllReduce found =
          idle_all_reduce({algorithm, {}}, star.topology, star.members(), {elements, 4});
      for (std::uint32_t i = 0; i < p; ++i) {
        const Bundle& bundle = star.topology.bundle(star.topology.bundle_of(star.links[i]));
        const bool turned =
            star.topology.turned(star.links[i], Direction::FORWARD) != Direction::FORWARD;
        const auto up = bundle.channel[turned ? 1 : 0];
        const auto down = bundle.channel[turned ? 0 : 1];
        EXPECT_EQ(found.channels[up.value].bytes.count(), sent(i)) << "host " << i;
        EXPECT_EQ(found.channels[down.value].bytes.count(), received(i)) << "host " << i;
      }
    };
    const auto ring_bytes = [&](std::uint32_t) { return 2 * (n / p) * (p - 1); };
    check(CollectiveAlgorithm::RING, ring_bytes, ring_bytes);
    check(CollectiveAlgorithm::PAIRWISE, ring_bytes, ring_bytes);
    check(CollectiveAlgorithm::SHARDED_PARAMETER_SERVER, ring_bytes, ring_bytes);
    const auto all = [&](std::uint32_t) { return n * (p - 1); };
    check(CollectiveAlgorithm::ALL_TO_ALL, all, all);
    const std::uint32_t active = std::bit_floor(p);
    const auto halving = [&](std::uint32_t rank) -> std::int64_t {
      const bool paired = rank < 2 * (p - active);
      if (paired && rank % 2 == 0) return n;
      return 2 * (n / active) * (active - 1) + (paired ? n : 0);
    };
    check(CollectiveAlgorithm::HALVING_DOUBLING, halving, halving);
  }
}

}  // namespace
}  // namespace syncline
