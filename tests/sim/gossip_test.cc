// Gossip: who meets whom, shares, times and bytes in closed form, and the programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/baseline.h"
#include "sim/strategy/gossip_partners.h"
#include "strategy_run.h"

namespace syncline {
namespace {

using testing::Each;

constexpr double kOnce = kPayload / kBandwidth + 2 * kLatency;  // from one worker to another

Gossip over(std::size_t workers,
            const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  Gossip method;
  method.partners = Gossip::Partners::GRAPH;
  method.neighbours.resize(workers);
  for (const auto& [a, b] : edges) {
    method.neighbours[a].push_back(b);
    method.neighbours[b].push_back(a);
  }
  return method;
}
Gossip complete(std::size_t workers) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t a = 0; a < workers; ++a) {
    for (std::uint32_t b = a + 1; b < workers; ++b) edges.emplace_back(a, b);
  }
  return over(workers, edges);
}
Gossip ring_of_four() { return over(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}); }
Gossip no_loco() {
  Gossip method;
  method.momentum = Gossip::Momentum{};
  return method;
}

TEST(Partners, OfRandomPairsAreEachOthersAndAllAsOften) {
  for (const std::size_t workers : {2, 7, 8}) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> times;
    std::vector<int> alone(workers);
    constexpr int kRounds = 2000;
    for (int round = 0; round < kRounds; ++round) {
      const Partners partners = gossip_partners(Gossip{}, workers, 3, round);
      ASSERT_EQ(partners.size(), workers);
      std::size_t without = 0;
      for (std::uint32_t i = 0; i < workers; ++i) {
        if (partners[i].empty()) {
          ++without;
          ++alone[i];
          continue;
        }
        ASSERT_EQ(partners[i].size(), 1u);
        EXPECT_NE(partners[i][0], i);
        EXPECT_EQ(partners[partners[i][0]], (std::vector<std::uint32_t>{i}));
        if (i < partners[i][0]) ++times[{i, partners[i][0]}];
      }
      EXPECT_EQ(without, workers % 2);
    }
    const double pairs = static_cast<double>(workers * (workers - 1)) / 2;
    const double expected = kRounds * static_cast<double>(workers / 2) / pairs;
    EXPECT_EQ(times.size(), static_cast<std::size_t>(pairs));
    for (const auto& [pair, count] : times) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
  }
}

TEST(Shares, AreMetropolisHastings) {
  // A path: 0-1-2, and a leaf 3 at 1.
  const Partners partners = over(4, {{0, 1}, {1, 2}, {1, 3}}).neighbours;
  double total = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (const Share& share : gossip_shares(partners, i)) {
      sum += share.weight;
      if (share.worker != i) {
        EXPECT_DOUBLE_EQ(share.weight, 0.25);
      }
      total += share.worker == 1 ? share.weight : 0;
    }
    EXPECT_DOUBLE_EQ(sum, 1);
  }
  EXPECT_DOUBLE_EQ(total, 1);  // the mean stays
}

TEST(Gossip, InPairsTakesOneSendThereAndBackAtOnce) {
  const TestStar star(6, kBandwidth, kLatency);
  const SimulationOutcome outcome =
      simulate(star.topology, base_setup(star.workers(kStep), Gossip{}, 20, 100), nullptr);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 5 * (1 + kOnce), 1e-7);
  EXPECT_EQ(outcome.sent.count(), 5 * 6 * 4'800'000);
  EXPECT_EQ(outcome.rounds.size(), 5u);
  for (const RoundRecord& round : outcome.rounds) EXPECT_EQ(round.workers, 6u);
  for (const WorkerOutcome& worker : outcome.workers) {
    EXPECT_EQ(worker.steps, 100u);
    EXPECT_NEAR(worker.syncing.in_seconds(), 5 * kOnce, 1e-7);
    EXPECT_EQ(worker.waiting, Time());
  }
}

// The model as it is, and the pseudo-gradient as it is compressed.
TEST(Gossip, WithMomentumSendsItsModelAsWell) {
  const TestStar star(6, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), no_loco(), 20, 100);
  setup.payload.bytes_per_element = 1;
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 5 * (1 + kOnce + kPayload / 4 / kBandwidth), 1e-7);
  EXPECT_EQ(outcome.sent.count(), 5 * 6 * (4'800'000 + 1'200'000));
}

TEST(Gossip, OverAGraphTakesItsDegree) {
  const TestStar star(4, kBandwidth, kLatency);
  const SimulationOutcome outcome =
      simulate(star.topology, base_setup(star.workers(kStep), ring_of_four(), 20, 40), nullptr);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 2 * (1 + kOnce + kPayload / kBandwidth), 1e-7);
  EXPECT_EQ(outcome.sent.count(), 2 * 4 * 2 * 4'800'000);
}

TEST(Gossip, OfAnOddNumberLeavesOneAlone) {
  const TestStar star(5, kBandwidth, kLatency);
  const SimulationOutcome outcome =
      simulate(star.topology, base_setup(star.workers(kStep), Gossip{}, 20, 20), nullptr);
  EXPECT_EQ(outcome.sent.count(), 4 * 4'800'000);
}

TEST(Gossip, NobodyWaitsButForItsPartners) {
  // A slow worker at the end of a path: its neighbour waits, and the far end a round later.
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup =
      base_setup(star.workers(kStep), over(4, {{0, 1}, {1, 2}, {2, 3}}), 20, 40);
  setup.workers[3].step = Time::seconds(0.5);
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(outcome.workers[0].waiting, Time());
  EXPECT_GT(outcome.workers[1].waiting.in_seconds(), 6);
  EXPECT_NEAR(outcome.workers[2].waiting.in_seconds(), 18, 1);
}

TEST(Gossip, WritesItsAlgorithm) {
  const TestStar star(3, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, base_setup(star.workers(kStep), over(3, {{0, 1}, {1, 2}}), 5, 5),
           &program);
  std::string sums;
  std::istringstream lines(text_of(program));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("linear") || line.starts_with("write")) sums += line + "\n";
  }
  EXPECT_THAT(sums, testing::HasSubstr("0.333"));
  EXPECT_EQ(count(program, Op::LINEAR), 4);  // three mixes, and their mean
  EXPECT_EQ(count(program, Op::EVAL), 2);
}

TEST(Gossip, WithMomentumWritesItsAlgorithm) {
  const TestStar star(2, kBandwidth, kLatency);
  Program program("header");
  Gossip method = no_loco();
  method.momentum = Gossip::Momentum{0.75, 0.5, 0.25};
  simulate(star.topology, base_setup(star.workers(kStep), method, 5, 10), &program);
  std::string sums;
  std::istringstream lines(text_of(program));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("linear")) sums += line + "\n";
  }
  EXPECT_EQ(sums,
            "linear 1*v0 -1*v1 -> v2\n"
            "linear 1*v0 -1*v3 -> v4\n"
            "linear -0.375*v2 0.125*v0 -0.375*v4 0.125*v0 -0.25*v0 -> v5\n"
            "linear 1*v0 1*v5 -> v6\n"
            "linear -0.375*v2 0.125*v0 -0.375*v4 0.125*v0 -0.25*v0 -> v7\n"
            "linear 1*v0 1*v7 -> v8\n"
            "linear 0.5*v6 0.5*v8 -> v9\n"
            "linear 1*v6 -1*v10 -> v11\n"
            "linear 1*v8 -1*v12 -> v13\n"
            "linear 0.5*v5 -0.375*v11 0.125*v6 -0.375*v13 0.125*v8 -0.25*v6 -> v14\n"
            "linear 1*v6 1*v14 -> v15\n"
            "linear 0.5*v7 -0.375*v11 0.125*v6 -0.375*v13 0.125*v8 -0.25*v8 -> v16\n"
            "linear 1*v8 1*v16 -> v17\n"
            "linear 0.5*v15 0.5*v17 -> v18\n");
}

class AnyGossip : public ::testing::TestWithParam<Gossip> {};
INSTANTIATE_TEST_SUITE_P(All, AnyGossip,
                         ::testing::Values(Gossip{}, no_loco(),
                                           over(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}), complete(5)));

TEST_P(AnyGossip, WritesTheSameProgramOverAnyNetwork) {
  const std::vector<Key> hashes = programs_over_networks(GetParam(), 10, 45);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_P(AnyGossip, IsEvaluatedOnceAtItsBudget) {
  const TestStar star(5, kBandwidth, kLatency, 0.9);
  SimulationSetup setup = base_setup(star.workers(kStep), GetParam(), 20, 200);
  setup.workers[2].step = Time::seconds(0.2);
  setup.recorded_steps = 50;
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(outcome.rounds.size(), 10u);
  ASSERT_EQ(outcome.evaluations.size(), 4u);
  EXPECT_EQ(outcome.evaluations.back().steps, 50u);
  EXPECT_EQ(outcome.evaluations.back().round, 3u);
  std::uint64_t steps = 0;
  for (const Instruction& instruction : program.instructions())
    if (instruction.op == Op::STEP) steps += instruction.count;
  EXPECT_EQ(steps, 5 * 50u);
}

TEST_P(AnyGossip, EndsByTimeWithEverythingMixed) { expect_everything_by_the_end(GetParam(), 5); }

TEST_P(AnyGossip, OnAnIdealNetworkOnlyTheStepsCount) {
  const TestStar star(5, kBandwidth, kLatency);
  const SimulationSetup setup = base_setup(star.workers(kStep), GetParam(), 20, 90);
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(ideal_network_time(star.topology, setup, outcome), Time::seconds(4.5));
}

TEST_P(AnyGossip, StallsWithALinkAndGoesOn) {
  const TestStar star(5, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), GetParam(), 20, 60);
  DownEffect down;
  down.links = {star.links[0]};
  down.in_flight = InFlight::STALL;
  setup.events = {{"h0", Once{Time::seconds(1.1), Time::seconds(5)}, down}};
  Program program("header"), plain("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_GT(outcome.virtual_time.in_seconds(), 6.1);
  setup.events.clear();
  simulate(star.topology, setup, &plain);
  EXPECT_EQ(program.hash(), plain.hash());
}

TEST(IdleExchange, IsThatOfARun) {
  const TestStar star(4, kBandwidth, kLatency);
  const IdleAllReduce once =
      idle_exchange(star.topology, star.hosts, ring_of_four().neighbours, Bytes(4'800'000));
  EXPECT_NEAR(once.duration.in_seconds(), kOnce + kPayload / kBandwidth, 1e-8);
  EXPECT_EQ(once.traffic.total().count(), 8 * 4'800'000);
}

}  // namespace
}  // namespace syncline
