// Virtual time of whole runs against closed forms, and the programs that they write.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include "sim/baseline.h"
#include "strategy_run.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

class Methods : public ::testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(All, Methods,
                         ::testing::Values(Method{DataParallel{}}, Method{LocalSgd{}},
                                           Method{Diloco{}}));

TEST_P(Methods, TakeTheStepsAndTheRings) {
  const TestStar star(4, kBandwidth, kLatency);
  const std::uint64_t interval = std::holds_alternative<DataParallel>(GetParam()) ? 1 : 20;
  const SimulationSetup setup = base_setup(star.workers(kStep), GetParam(), interval, 100);
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  const double rounds = 100.0 / static_cast<double>(interval);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 100 * 0.05 + rounds * ring_s(4),
              0.5e-9 * 6 * rounds + 1e-9);
  EXPECT_EQ(outcome.rounds.size(), static_cast<std::size_t>(rounds));
  EXPECT_EQ(outcome.sent.count(), static_cast<std::int64_t>(rounds) * 2 * 3 * 4'800'000);
  for (const WorkerOutcome& worker : outcome.workers) {
    EXPECT_EQ(worker.steps, 100u);
    EXPECT_EQ(worker.computing, kStep * 100);
    EXPECT_EQ(worker.waiting, Time());
    EXPECT_EQ(worker.computing + worker.syncing, outcome.virtual_time);
  }
}

TEST_P(Methods, WriteTheSameProgramOverAnyNetwork) {
  const std::uint64_t interval = std::holds_alternative<DataParallel>(GetParam()) ? 1 : 10;
  const std::vector<Key> hashes = programs_over_networks(GetParam(), interval, 40);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(Simulation, OtherIntervalsMethodsAndHeadersAreOtherPrograms) {
  const TestStar star(3, kBandwidth, kLatency);
  std::vector<Key> hashes;
  const auto add = [&](Method method, std::uint64_t interval, const std::string& header) {
    Program program(header);
    simulate(star.topology, base_setup(star.workers(kStep), method, interval, 40), &program);
    hashes.push_back(program.hash());
  };
  add(LocalSgd{}, 10, "header");
  add(LocalSgd{}, 20, "header");
  add(Diloco{}, 10, "header");
  add(Diloco{OuterRule{OuterRule::Kind::NESTEROV, 0.7, 0.5}}, 10, "header");
  add(DataParallel{}, 1, "header");
  add(LocalSgd{}, 1, "header");
  add(LocalSgd{}, 10, "another header");
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << i << " " << j;
  }
}

TEST(Simulation, DilocoWritesItsAlgorithm) {
  const TestStar star(2, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, base_setup(star.workers(kStep), Diloco{}, 5, 5), &program);
  EXPECT_EQ(text_of(program),
            "# header\n"
            "init r0 seed=1\n"
            "init r1 seed=1\n"
            "read r0 parameters -> v0\n"
            "eval v0 -> n0\n"
            "outer_state -> v1\n"
            "step r0 stream=0 batches=0+5 position=0 -> n1\n"
            "read r0 parameters -> v2\n"
            "linear 1*v0 -1*v2 -> v3\n"
            "free v2\n"
            "step r1 stream=1 batches=0+5 position=0 -> n2\n"
            "read r1 parameters -> v4\n"
            "linear 1*v0 -1*v4 -> v5\n"
            "free v4\n"
            "linear 0.5*v3 0.5*v5 -> v6\n"
            "free v3\n"
            "free v5\n"
            "outer v0 v1 v6 nesterov lr=0.7 momentum=0.9 -> v7 v8\n"
            "free v1\n"
            "free v0\n"
            "eval v7 -> n3\n"
            "write r0 parameters v7\n"
            "write r1 parameters v7\n"
            "free v6\n"
            "free r0\n"
            "free r1\n"
            "free v8\n"
            "free v7\n");
}

TEST(Simulation, SlowWorkersMakeTheOthersWait) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 20, 100);
  setup.workers[1].step = Time::seconds(0.08);
  setup.workers[3].step = Time::seconds(0.06);
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  // In each round the slowest joins last; the ring of the others has nothing to do without it but
  // the steps that its place allows, and these end before it comes: from then on all steps of the
  // ring follow each other.
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 5 * (20 * 0.08 + ring_s(4)), 40e-9);
  EXPECT_NEAR(outcome.workers[0].waiting.in_seconds(), 5 * 20 * 0.03, 40e-9);
  EXPECT_NEAR(outcome.workers[3].waiting.in_seconds(), 5 * 20 * 0.02, 40e-9);
  EXPECT_EQ(outcome.workers[1].waiting, Time());
}

TEST(Simulation, TwoSitesShareOneThinLink) {
  // Both workers of a ring of two send at the same time; on a shared link each has half of it.
  Topology topology;
  const NodeId a = topology.add_node({.name = "a", .host = true, .cluster = {}});
  const NodeId b = topology.add_node({.name = "b", .host = true, .cluster = {}});
  const BitRate rate = BitRate::bytes_per_s(kBandwidth);
  topology.add_link({.name = "a-b",
                     .a = a,
                     .b = b,
                     .capacity = {rate, rate},
                     .latency_s = {kLatency, kLatency},
                     .shared = true});
  const SimulationSetup setup =
      base_setup({{"a", {a}, "", kStep}, {"b", {b}, "", kStep}}, Diloco{}, 10, 50);
  const SimulationOutcome outcome = simulate(topology, setup, nullptr);
  const double ring = 2 * (kPayload / 2 / (kBandwidth / 2) + kLatency);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 50 * 0.05 + 5 * ring, 10e-9);
}

TEST(Simulation, TheLastRoundIsAsLongAsTheStopLeavesIt) {
  const TestStar star(3, kBandwidth, kLatency);
  Program program("header");
  const SimulationOutcome outcome =
      simulate(star.topology, base_setup(star.workers(kStep), Diloco{}, 20, 50), &program);
  EXPECT_EQ(outcome.rounds.size(), 3u);
  EXPECT_EQ(outcome.rounds.back().steps, 50u);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 50 * 0.05 + 3 * ring_s(3), 20e-9);
  EXPECT_EQ(outcome.evaluations.back().steps, 50u);
  EXPECT_EQ(outcome.evaluations.back().at, outcome.virtual_time);
}

TEST(Simulation, AStopByRoundsCountsRounds) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 20, 0);
  setup.stop.steps.reset();
  setup.stop.rounds = 7;
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(outcome.rounds.size(), 7u);
  EXPECT_EQ(outcome.workers[0].steps, 140u);
}

TEST(Simulation, AStopByTimeCountsFinishedStepsAndSyncsThemOnceMore) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 20, 0);
  setup.stop.steps.reset();
  setup.recorded_steps = 1'000'000;
  const double round = 20 * 0.05 + ring_s(3);
  // Two rounds, then 7.5 steps: 7 are finished.
  setup.stop.time = Time::seconds(2 * round + 7.5 * 0.05);
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(outcome.rounds.size(), 3u);
  for (const WorkerOutcome& worker : outcome.workers) EXPECT_EQ(worker.steps, 47u);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 2 * round + 7.5 * 0.05 + ring_s(3), 30e-9);
  EXPECT_EQ(outcome.evaluations.back().at, outcome.virtual_time);
  EXPECT_EQ(outcome.evaluations.back().steps, 47u);
}

TEST(Simulation, AStopByTimeCountsEachWorkersOwnSteps) {
  const TestStar star(2, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 20, 0);
  setup.workers[1].step = Time::seconds(0.2);
  setup.stop.steps.reset();
  setup.recorded_steps = 1'000'000;
  setup.stop.time = Time::seconds(0.75);
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(outcome.rounds.size(), 1u);
  EXPECT_EQ(outcome.workers[0].steps, 15u);
  EXPECT_EQ(outcome.workers[1].steps, 3u);
}

TEST(Simulation, AStopByTimeBeforeTheFirstStepTrainsNothing) {
  const TestStar star(2, kBandwidth, kLatency);
  for (const Method& method : {Method{DataParallel{}}, Method{LocalSgd{}}}) {
    SimulationSetup setup = base_setup(star.workers(kStep), method, 1, 0);
    setup.stop.steps.reset();
    setup.stop.time = Time::seconds(0.04);
    const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
    EXPECT_EQ(outcome.rounds.size(), 0u);
    EXPECT_EQ(outcome.virtual_time, Time());
  }
}

TEST(Simulation, DataParallelStepsCountForAllOrNone) {
  const TestStar star(2, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), DataParallel{}, 1, 0);
  setup.workers[1].step = Time::seconds(0.2);
  setup.stop.steps.reset();
  const double step = 0.2 + ring_s(2);
  setup.stop.time = Time::seconds(
      3 * step + 0.1);  // the fast worker could finish one more, the slow one could not
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(outcome.workers[0].steps, 3u);
  EXPECT_EQ(outcome.workers[1].steps, 3u);
}

TEST(Simulation, AStopByLossAsksForTheNumberAndEnds) {
  const TestStar star(2, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 10, 1000);
  setup.stop.loss = 2.0;
  Program program("header");
  SimulationHooks hooks;
  double loss = 3.5;
  hooks.numbers = [&](NumberIndex) {
    return loss -= 0.3;
  };  // 3.2, 2.9, 2.6, 2.3, 2.0 (or a rounding above), 1.7
  const SimulationOutcome outcome = simulate(star.topology, setup, &program, hooks);
  EXPECT_LE(loss, 2.0);
  EXPECT_GT(loss, 1.69);
  EXPECT_EQ(outcome.rounds.size(), outcome.evaluations.size() - 1);
  EXPECT_LT(outcome.rounds.size(), 7u);
}

TEST(Simulation, AfterTheBudgetOnlyTimeGoesOn) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), Diloco{}, 20, 200);
  setup.recorded_steps = 50;
  Program budgeted("header");
  const SimulationOutcome long_run = simulate(star.topology, setup, &budgeted);
  EXPECT_EQ(long_run.rounds.size(), 10u);
  EXPECT_EQ(long_run.evaluations.back().steps, 50u);

  // The same training as a run that stops there.
  Program alone("header");
  simulate(star.topology, base_setup(star.workers(kStep), Diloco{}, 20, 50), &alone);
  EXPECT_EQ(budgeted.hash(), alone.hash());
}

TEST(Simulation, RealReplicasStandForAll) {
  const TestStar star(6, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), Diloco{}, 10, 20);
  setup.replicas = 2;
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(count(program, Op::INIT), 2);
  EXPECT_EQ(count(program, Op::STEP), 4);
  EXPECT_EQ(outcome.sent.count(), 2 * 2 * 5 * 4'800'000);  // the network carries all six

  const TestStar two(2, kBandwidth, kLatency);
  Program alone("header");
  simulate(two.topology, base_setup(two.workers(kStep), Diloco{}, 10, 20), &alone);
  EXPECT_EQ(program.hash(), alone.hash());
}

TEST(TwoStage, AveragesInsideAndBetween) {
  const TestSites sites(2, 3, 1.25e9, 1e-5, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(sites.workers(kStep), LocalSgd{}, 20, 40);
  setup.strategy.within_cluster = WithinCluster{5, {}};
  Program program("header");
  const SimulationOutcome outcome = simulate(sites.topology, setup, &program);
  const double inside = 4 * (kPayload / 3 / 1.25e9 + 2e-5);
  const IdleAllReduce between = idle_all_reduce({}, sites.topology, sites.members, setup.payload);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(),
              40 * 0.05 + 8 * inside + 2 * between.duration.in_seconds(), 60e-9);
  EXPECT_EQ(count(program, Op::STEP), 6 * 8);
  EXPECT_EQ(count(program, Op::LINEAR), 2 * 8 + 2);
  EXPECT_NEAR(outcome.workers[0].within.in_seconds(), 8 * inside, 40e-9);
}

TEST(TwoStage, IntervalOneAveragesGradients) {
  const TestSites sites(2, 3, 1.25e9, 1e-5, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(sites.workers(kStep), Diloco{}, 4, 8);
  setup.strategy.within_cluster = WithinCluster{1, {}};
  Program program("header");
  simulate(sites.topology, setup, &program);
  EXPECT_EQ(count(program, Op::STEP), 0);
  EXPECT_EQ(count(program, Op::GRAD), 6 * 8);
  EXPECT_EQ(count(program, Op::APPLY), 6 * 8);
}

TEST(TwoStage, AStopByTimeEndsEveryClusterTogether) {
  const TestSites sites(3, 2, 1.25e9, 1e-5, kBandwidth, kLatency);
  for (const std::uint64_t interval : {1ull, 5ull}) {
    for (const double stop : {0.01, 0.3, 1.0, 1.04, 3.33, 7.0}) {
      SimulationSetup setup = base_setup(sites.workers(kStep), Diloco{}, 20, 0);
      setup.strategy.within_cluster = WithinCluster{interval, {}};
      for (std::size_t i = 0; i < setup.workers.size(); ++i)
        setup.workers[i].step = Time::seconds(0.05 + 0.01 * static_cast<double>(i));
      setup.stop.steps.reset();
      setup.stop.time = Time::seconds(stop);
      const SimulationOutcome outcome =
          simulate(sites.topology, setup, nullptr);  // throws NoProgress if someone waits for ever
      for (const WorkerOutcome& worker : outcome.workers)
        EXPECT_LE(worker.computing, *setup.stop.time + Time::seconds(0.2));
    }
  }
}

TEST(ClusterWideWorkers, AreChargedTheirFabric) {
  const TestSites sites(3, 4, 1.25e9, 1e-5, kBandwidth, kLatency);
  std::vector<WorkerSetup> workers(3);
  for (std::size_t i = 0; i < sites.members.size(); ++i) {
    workers[i / 4].name = workers[i / 4].cluster = sites.members[i].site;
    workers[i / 4].step = kStep;
    workers[i / 4].hosts.push_back(sites.members[i].hosts.front());
  }
  SimulationSetup setup = base_setup(workers, Diloco{}, 20, 40);
  setup.strategy.within_cluster = WithinCluster{1, {}};
  Program program("header");
  const SimulationOutcome outcome = simulate(sites.topology, setup, &program);
  const double inside = 6 * (kPayload / 4 / 1.25e9 + 2e-5);
  const double between = 4 * (kPayload / 3 / kBandwidth + 2 * kLatency + 2e-5);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 40 * (0.05 + inside) + 2 * between, 60e-9);
  // Inside: 3 clusters, 40 steps, 2(g-1) payloads in all; between: 2 rounds of 2(p-1) payloads.
  EXPECT_EQ(outcome.sent.count(), 3 * 40 * 2 * 3 * 4'800'000ll + 2 * 2 * 2 * 4'800'000ll);
  EXPECT_EQ(count(program, Op::INIT), 3);
}

TEST(Timeline, HasWhatEveryWorkerDidAndTheLoadOfTheLinks) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 20, 60);
  setup.workers[1].step = Time::seconds(0.06);
  const SimulationOutcome plain = simulate(star.topology, setup, nullptr);
  SimulationHooks hooks;
  hooks.timeline = true;
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr, hooks);
  EXPECT_EQ(outcome.virtual_time, plain.virtual_time);  // watching changes nothing

  std::vector<Time> covered(3);
  for (const Span& span : outcome.timeline.spans()) covered[span.worker] += span.end - span.begin;
  for (const Time time : covered) EXPECT_EQ(time, outcome.virtual_time);
  // The integral of the samples is what crossed the link until the last one.
  ASSERT_GT(outcome.loads.size(), 10u);
  for (std::size_t channel = 0; channel < outcome.links.size(); ++channel) {
    double bytes = 0;
    Time begin;
    for (const LoadSampler::Sample& sample : outcome.loads) {
      bytes += static_cast<double>(sample.load[channel]) * (sample.end - begin).in_seconds();
      begin = sample.end;
    }
    const auto all = static_cast<double>(outcome.links[channel].use.bytes.count());
    EXPECT_LE(bytes, all * 1.001);
    EXPECT_GE(bytes, all * 0.9);
  }
}

TEST(Timeline, ThinsOutTheSamplesOfALongRun) {
  const TestStar star(2, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 20, 20'000);
  SimulationHooks hooks;
  hooks.timeline = true;
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr, hooks);
  EXPECT_LE(outcome.loads.size(), LoadSampler::kMostSamples);
  EXPECT_GE(outcome.loads.size(), LoadSampler::kMostSamples / 2 - 1);
}

TEST(Baseline, OnAnIdealNetworkOnlyTheSlowestWorkerCounts) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), Diloco{}, 20, 100);
  setup.workers[2].step = Time::seconds(0.07);
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(ideal_network_time(star.topology, setup, outcome), Time::seconds(7));
}

TEST(Simulation, WorkersWithoutARouteAreNamed) {
  Topology topology;
  const NodeId a = topology.add_node({.name = "a", .host = true, .cluster = {}});
  const NodeId b = topology.add_node({.name = "b", .host = true, .cluster = {}});
  const SimulationSetup setup =
      base_setup({{"a", {a}, "", kStep}, {"b", {b}, "", kStep}}, LocalSgd{}, 1, 1);
  try {
    simulate(topology, setup, nullptr);
    FAIL() << "a route was found";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no route from a to b"), std::string::npos)
        << error.what();
  }
}

TEST(Simulation, NoCapacityIsNoProgressAndSaysWhoWaits) {
  TestStar star(3, kBandwidth, kLatency);
  star.topology.set_capacity(star.links[1], Direction::FORWARD, BitRate());
  try {
    simulate(star.topology, base_setup(star.workers(kStep), LocalSgd{}, 20, 40), nullptr);
    FAIL() << "it got through a link without capacity";
  } catch (const NoProgress& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("h0, h1, h2"), std::string::npos) << text;
    EXPECT_NE(text.find("h1-switch"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace syncline
