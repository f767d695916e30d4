// Workers that die, are cut off, slow down and come back: times, counts, and who is in which
// average.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "sim/simulation.h"
#include "star.h"

namespace syncline {
namespace {

using testing::HasSubstr;

constexpr double kBandwidth = 1.25e7;
constexpr double kLatency = 0.010;
constexpr double kPayload = 4.8e6;
const Time kStep = Time::seconds(0.05);

SimulationSetup base_setup(const TestStar& star, Method method, std::uint64_t local_steps,
                           std::uint64_t steps) {
  SimulationSetup setup;
  setup.workers = star.workers(kStep);
  setup.strategy.method = method;
  setup.strategy.local_steps = local_steps;
  setup.payload = {1'200'000, 4};
  setup.rejoin = {1'200'000, 12};
  setup.stop.steps = steps;
  setup.recorded_steps = steps;
  setup.evaluate_every = local_steps;
  return setup;
}

double ring_s(double hosts) {
  return 2 * (hosts - 1) * (kPayload / hosts / kBandwidth + 2 * kLatency);
}
double rejoin_s() { return 3 * kPayload / kBandwidth + 2 * kLatency; }

// The machine of one worker is off for a while.
FailureEvent machine(const TestStar& star, std::uint32_t worker, double at, double lasting) {
  DownEffect down;
  down.workers = {worker};
  down.nodes = {star.hosts[worker]};
  down.in_flight = InFlight::FAIL;
  const Time end = lasting > 1e6 ? Time::max() : Time::seconds(lasting);
  return {star.topology.node(star.hosts[worker]).name, Once{Time::seconds(at), end}, down};
}

FailureEvent link(const TestStar& star, std::uint32_t worker, double at, double lasting,
                  InFlight in_flight) {
  DownEffect down;
  down.links = {star.links[worker]};
  down.in_flight = in_flight;
  const Time end = lasting > 1e6 ? Time::max() : Time::seconds(lasting);
  return {star.topology.link(star.links[worker]).name, Once{Time::seconds(at), end}, down};
}

std::vector<std::size_t> workers_in_rounds(const SimulationOutcome& outcome) {
  std::vector<std::size_t> workers;
  for (const RoundRecord& round : outcome.rounds) workers.push_back(round.workers);
  return workers;
}

std::string text_of(const Program& program) {
  std::ostringstream text;
  program.write_text(text);
  return text.str();
}

TEST(Wait, TheOthersWaitForADeadWorkerAndItsModel) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 60);
  // Round 1 ends after 1 s and a ring. The worker dies 0.4 s into round 2 (8 steps), for 2 s.
  const double round = 1 + ring_s(4);
  setup.events = {machine(star, 2, round + 0.42, 2)};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  // It comes back, gets the model, and does all 20 steps of round 2 again. The others are in their
  // ring already, and three of its chunks reach the worker's link at the same time as the model.
  const double fetch = rejoin_s() + 3 * kPayload / 4 / kBandwidth;
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), round + 0.42 + 2 + fetch + round + round, 1e-7);
  EXPECT_EQ(outcome.workers[2].lost_steps, 8u);
  EXPECT_EQ(outcome.workers[2].lost, kStep * 8);
  EXPECT_EQ(outcome.workers[2].down, Time::seconds(2));
  EXPECT_EQ(outcome.workers[2].rejoins, 1u);
  EXPECT_EQ(outcome.workers[2].rejoin_bytes, setup.rejoin.bytes());
  EXPECT_NEAR(outcome.workers[2].rejoining.in_seconds(), fetch, 1e-8);
  EXPECT_THAT(workers_in_rounds(outcome), testing::Each(4u));
  for (const WorkerOutcome& worker : outcome.workers) EXPECT_EQ(worker.steps, 60u);
}

TEST(Wait, AWorkerThatDiesInTheCollectiveComesBackAndTheRingBeginsAnew) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 20);
  setup.events = {machine(star, 1, 1 + ring_s(4) / 2, 3)};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 1 + ring_s(4) / 2 + 3 + rejoin_s() + 1 + ring_s(4),
              1e-7);
  EXPECT_EQ(outcome.workers[1].lost_steps, 20u);
  EXPECT_EQ(outcome.rounds[0].workers, 4u);
}

TEST(Wait, TheProgramIsThatOfARunWithoutFailures) {
  // Everyone is in every average, and lost batches are read again: the same training.
  const TestStar star(4, kBandwidth, kLatency);
  for (const Method& method : {Method{LocalSgd{}}, Method{Diloco{}}}) {
    SimulationSetup setup = base_setup(star, method, 20, 60);
    Program plain("header");
    simulate(star.topology, setup, &plain);
    setup.events = {link(star, 0, 1.2, 5, InFlight::FAIL),
                    link(star, 3, 3.0, 0.5, InFlight::STALL)};
    Program failing("header");
    simulate(star.topology, setup, &failing);
    EXPECT_EQ(plain.hash(), failing.hash());
  }
}

TEST(Reweight, TheAverageIsOverThoseWhoAreThere) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 100);
  setup.strategy.reweight = true;
  // Dead in rounds 2 and 3, back in the middle of round 3: it takes part from round 4 on.
  const double first = 1 + ring_s(4);
  const double without = 1 + ring_s(3);
  setup.events = {machine(star, 2, first + 0.3, without + 0.4)};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_THAT(workers_in_rounds(outcome), testing::ElementsAre(4, 3, 3, 4, 4));
  // In round 4 the others wait for its model to arrive and its 20 steps.
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 3 * first + 2 * without + rejoin_s(), 1e-7);
  EXPECT_EQ(outcome.workers[2].lost_steps, 6u);
  EXPECT_EQ(outcome.workers[2].steps, 60u);
  EXPECT_EQ(outcome.workers[0].steps, 100u);
}

TEST(Reweight, AWorkerThatDiesInTheCollectiveLeavesItToTheOthers) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, Diloco{}, 20, 40);
  setup.strategy.reweight = true;
  setup.events = {machine(star, 1, 1 + ring_s(4) / 2, 1e9)};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_THAT(workers_in_rounds(outcome), testing::ElementsAre(3, 3));
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 1 + ring_s(4) / 2 + ring_s(3) + 1 + ring_s(3),
              1e-7);
  EXPECT_EQ(outcome.workers[1].steps, 0u);
  EXPECT_EQ(outcome.workers[1].lost_steps, 20u);
  EXPECT_NEAR(outcome.workers[1].down.in_seconds(), 2 * ring_s(3) + 1, 1e-7);
}

TEST(Reweight, AWorkerThatIsCutOffIsMissingAndCatchesUp) {
  const TestStar star(4, kBandwidth, kLatency);
  for (const InFlight in_flight : {InFlight::STALL, InFlight::FAIL}) {
    SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 80);
    setup.strategy.reweight = true;
    setup.events = {link(star, 3, 0.5, 3.0, in_flight)};  // over when round 1 is, back in round 2
    const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
    EXPECT_THAT(workers_in_rounds(outcome), testing::ElementsAre(3, 3, 3, 4));
    EXPECT_EQ(outcome.workers[3].lost_steps, 20u);  // it computed on, for nothing
    EXPECT_EQ(outcome.workers[3].rejoins, 1u);
    EXPECT_EQ(outcome.workers[3].down, Time());
  }
}

TEST(Reweight, AStalledCollectiveGoesOnWhereItWas) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 20);
  setup.strategy.reweight = true;
  setup.events = {link(star, 1, 1 + ring_s(3) * 0.4, 2, InFlight::STALL)};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(outcome.rounds[0].workers, 3u);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 1 + ring_s(3) + 2, 0.1);
}

TEST(Deadline, LeavesStragglersOut) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 60);
  setup.strategy.reweight = true;
  setup.strategy.deadline = Time::seconds(1.5);
  setup.workers[0].step = Time::seconds(0.2);  // 4 s a round
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  for (const RoundRecord& round : outcome.rounds) EXPECT_EQ(round.workers, 3u);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 3 * (1.5 + ring_s(3)), 1e-7);
  EXPECT_EQ(outcome.workers[0].steps, 0u);
  EXPECT_GE(outcome.workers[0].lost_steps, 20u);
}

TEST(Quorum, BeginsAGraceAfterEnoughAreThere) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 60);
  setup.strategy.reweight = true;
  setup.strategy.quorum = Quorum{3, Time::seconds(0.3)};
  setup.workers[0].step = Time::seconds(0.2);  // 4 s a round
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_THAT(workers_in_rounds(outcome), testing::Each(3u));
  // In the third round the slow one has noticed that it missed the first: nobody waits for it.
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 2 * (1 + 0.3) + 1 + 3 * ring_s(3), 1e-7);
  EXPECT_GE(outcome.workers[0].lost_steps, 20u);
}

TEST(Quorum, WaitsNoLongerThanForAll) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 60);
  setup.strategy.reweight = true;
  setup.strategy.quorum = Quorum{2, Time::seconds(0.3)};
  setup.workers[0].step = Time::seconds(0.06);  // 1.2 s a round: within the grace
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_THAT(workers_in_rounds(outcome), testing::Each(4u));
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 3 * (1.2 + ring_s(4)), 1e-7);
}

TEST(Quorum, IsWaitedFor) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 20);
  setup.strategy.reweight = true;
  setup.strategy.quorum = Quorum{3, Time::seconds(0.1)};
  setup.workers[0].step = Time::seconds(0.2);
  setup.workers[1].step = Time::seconds(0.1);
  // Two are there after 1 s, the third after 2 s, and one never.
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_THAT(workers_in_rounds(outcome), testing::ElementsAre(3));
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 2.1 + ring_s(3), 1e-7);
  // With two machines off it never comes.
  setup.events = {machine(star, 2, 0.5, 1e9), machine(star, 3, 0.5, 1e9)};
  EXPECT_THROW(simulate(star.topology, setup, nullptr), NoProgress);
}

TEST(Quorum, OfAllIsTheMethodItself) {
  const TestStar star(4, kBandwidth, kLatency);
  for (const Method& method : {Method{Diloco{}}, Method{LocalSgd{}}, Method{DataParallel{}}}) {
    const std::uint64_t interval = std::holds_alternative<DataParallel>(method) ? 1 : 20;
    SimulationSetup setup = base_setup(star, method, interval, 60);
    setup.workers[2].step = Time::seconds(0.11);
    Program plain("header"), quorum("header");
    const SimulationOutcome expected = simulate(star.topology, setup, &plain);
    setup.strategy.reweight = true;
    setup.strategy.quorum = Quorum{4, Time::seconds(0.1)};
    const SimulationOutcome outcome = simulate(star.topology, setup, &quorum);
    EXPECT_EQ(quorum.hash(), plain.hash());
    EXPECT_EQ(outcome.sent, expected.sent);
  }
}

TEST(Speed, ChangesInTheMiddleOfSteps) {
  const TestStar star(2, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 20);
  // Half speed from 0.3 s to 0.7 s: 0.2 s of work in 0.4 s.
  setup.events = {{"h0", Once{Time::seconds(0.3), Time::seconds(0.4)}, SpeedEffect{{0}, 0.5}}};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 1.2 + ring_s(2), 1e-8);
  EXPECT_NEAR(outcome.workers[0].computing.in_seconds(), 1.2, 1e-8);
  EXPECT_NEAR(outcome.workers[1].computing.in_seconds(), 1.0, 1e-8);
}

TEST(Links, ChangeTheirBandwidthAndLatency) {
  const TestStar star(2, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 40);
  setup.events = {
      {"h0-switch", Once{Time::seconds(0.5), Time::max()},
       BandwidthEffect{star.links[0], BitRate::bytes_per_s(kBandwidth / 10)}},
      {"h1-switch", Once{Time::seconds(0.6), Time::seconds(2)}, LatencyEffect{star.links[1], 0.3}}};
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  const auto ring = [](double latency) { return 2 * (kPayload / 2 / (kBandwidth / 10) + latency); };
  // The second step of the first ring starts after the latency is back at its plain value.
  const double first = kPayload / 2 / (kBandwidth / 10);
  EXPECT_GT(1 + first + 0.31, 2.6);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 1 + first + 0.31 + first + 0.02 + 1 + ring(0.02),
              1e-7);
}

TEST(NoProgress, NamesWhoIsMissing) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 40);
  setup.events = {machine(star, 1, 0.5, 1e9)};
  try {
    simulate(star.topology, setup, nullptr);
    FAIL() << "it went on without h1";
  } catch (const NoProgress& error) {
    EXPECT_THAT(error.what(), HasSubstr("lacks h1 (down)"));
  }
}

TEST(NoProgress, IsSeenAlsoWhileOtherThingsGoUpAndDown) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star, LocalSgd{}, 20, 40);
  DownEffect flap;
  flap.links = {star.links[0]};
  setup.events = {machine(star, 1, 0.5, 1e9),
                  {"h0-switch", Churn{Distribution::constant(1), Distribution::constant(1)}, flap}};
  EXPECT_THROW(simulate(star.topology, setup, nullptr), NoProgress);
}

TEST(Everybody, MayDieAndComeBack) {
  const TestStar star(3, kBandwidth, kLatency);
  for (const bool reweight : {false, true}) {
    SCOPED_TRACE(reweight);
    for (const double at : {0.0, 0.4, 1.0, 1.0 + ring_s(3) / 2, 1.0 + ring_s(3), 2.2}) {
      SimulationSetup setup = base_setup(star, Diloco{}, 20, 60);
      setup.strategy.reweight = reweight;
      setup.events = {machine(star, 0, at, 5), machine(star, 1, at, 6), machine(star, 2, at, 7)};
      SCOPED_TRACE(at);
      Program program("header");
      const SimulationOutcome outcome = simulate(star.topology, setup, &program);
      EXPECT_EQ(outcome.rounds.size(), 3u);
      EXPECT_EQ(outcome.evaluations.back().steps, 60u);
    }
  }
}

// Random schedules on small scenarios: every run ends, what was computed is kept or lost and
// nothing else, bytes add up, and a repetition is the same to the byte.
struct RandomRun {
  SimulationSetup setup;
  TestStar star;
};

RandomRun random_run(std::uint64_t seed) {
  BenchmarkRandom random(seed);
  const auto pick = [&](std::size_t below) {
    return static_cast<std::size_t>(random.u01() * static_cast<double>(below));
  };
  const std::size_t hosts = 2 + pick(5);
  TestStar star(hosts, kBandwidth, kLatency, 0.3);
  const Method methods[] = {DataParallel{}, LocalSgd{}, Diloco{}};
  const std::size_t method = pick(3);
  SimulationSetup setup =
      base_setup(star, methods[method], method == 0 ? 1 : 1 + pick(20), method == 0 ? 12 : 60);
  setup.seed = seed;
  for (WorkerSetup& worker : setup.workers) worker.step = Time::seconds(0.02 + 0.1 * random.u01());
  setup.strategy.reweight = random.u01() < 0.6;
  if (setup.strategy.reweight && random.u01() < 0.4)
    setup.strategy.deadline = Time::seconds(0.2 + 3 * random.u01());
  if (random.u01() < 0.2) setup.stop.time = Time::seconds(1 + 10 * random.u01());
  if (random.u01() < 0.2) {
    setup.strategy.collective = {CollectiveAlgorithm::PARAMETER_SERVER, star.hosts.back()};
    setup.workers.pop_back();
  }
  const std::size_t events = 1 + pick(5);
  for (std::size_t i = 0; i < events; ++i) {
    const auto worker = static_cast<std::uint32_t>(pick(setup.workers.size()));
    const double at = 6 * random.u01();
    const double lasting = 0.1 + 4 * random.u01();
    const InFlight in_flight = random.u01() < 0.5 ? InFlight::STALL : InFlight::FAIL;
    FailureEvent event;
    switch (pick(5)) {
      case 0:
        event = machine(star, worker, at, lasting);
        break;
      case 1:
        event = link(star, worker, at, lasting, in_flight);
        break;
      case 2:
        event = {"speed", Once{Time::seconds(at), Time::seconds(lasting)},
                 SpeedEffect{{worker}, 0.1 + 2 * random.u01()}};
        break;
      case 3:
        event = {
            "bandwidth", Once{Time::seconds(at), Time::seconds(lasting)},
            BandwidthEffect{star.links[worker], BitRate::bytes_per_s(kBandwidth * random.u01())}};
        break;
      default:
        event = machine(star, worker, 0, 0);
        event.when = Churn{Distribution::parse("exponential(5 s)", Dimension::TIME),
                           Distribution::parse("exponential(1 s)", Dimension::TIME)};
    }
    setup.events.push_back(event);
  }
  return {std::move(setup), std::move(star)};
}

std::string trace(const SimulationOutcome& outcome) {
  std::ostringstream text;
  text << outcome.virtual_time.count_ns() << " " << outcome.sent.count() << "\n";
  for (const RoundRecord& round : outcome.rounds) {
    text << round.begun.count_ns() << " " << round.ended.count_ns() << " " << round.workers << " "
         << round.sent.count() << "\n";
  }
  for (const WorkerOutcome& worker : outcome.workers) {
    text << worker.steps << " " << worker.lost_steps << " " << worker.down.count_ns() << " "
         << worker.sent.count() << " " << worker.rejoin_bytes.count() << "\n";
  }
  return text.str();
}

TEST(RandomFailures, EndConserveAndRepeat) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomRun run = random_run(seed);
    Program program("header");
    const SimulationOutcome outcome = simulate(run.star.topology, run.setup, &program);
    Program again("header");
    const SimulationOutcome repeated = simulate(run.star.topology, run.setup, &again);
    EXPECT_EQ(trace(outcome), trace(repeated));
    EXPECT_EQ(text_of(program), text_of(again));

    Bytes sent, received;
    for (const WorkerOutcome& worker : outcome.workers) {
      sent += worker.sent;
      received += worker.received;
      EXPECT_LE(worker.steps, run.setup.stop.steps);
      // What a worker did is never longer than the run; the end of a straggler may lie behind it.
      EXPECT_LE(worker.computing + worker.down + worker.waiting + worker.syncing,
                outcome.virtual_time + Time::seconds(30));
    }
    const bool server =
        run.setup.strategy.collective.algorithm == CollectiveAlgorithm::PARAMETER_SERVER;
    if (!server) {
      EXPECT_EQ(sent, outcome.sent);
      EXPECT_EQ(sent, received);
    }
    // Every byte is on its sender's link and its receiver's.
    Bytes crossed;
    for (const LinkOutcome& link : outcome.links) crossed += link.use.bytes;
    EXPECT_EQ(crossed.count(), 2 * outcome.sent.count());
    for (const RoundRecord& round : outcome.rounds) {
      EXPECT_LE(round.workers, run.setup.workers.size());
      if (!run.setup.strategy.reweight) {
        EXPECT_EQ(round.workers, run.setup.workers.size());
      }
    }
    if (!run.setup.stop.time) {
      EXPECT_EQ(outcome.rounds.back().steps, *run.setup.stop.steps);
    }
  }
}

}  // namespace
}  // namespace syncline
