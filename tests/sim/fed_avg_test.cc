// Federated averaging: who is chosen, times and bytes in closed form, and clients that are late,
// die or are cut off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/baseline.h"
#include "strategy_run.h"

namespace syncline {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr double kDown = kPayload / kBandwidth;  // one model through a link, or back

// Clients on a star, whose last host is the server.
struct Federation {
  Federation(std::size_t clients, std::size_t chosen, std::size_t count, std::uint64_t rounds)
      : star(clients + 1, kBandwidth, kLatency) {
    std::vector<WorkerSetup> workers = star.workers(kStep);
    workers.pop_back();
    FedAvg method;
    method.clients = count;
    method.chosen = chosen;
    setup = base_setup(std::move(workers), method, 20, 20 * rounds);
    setup.strategy.collective = {CollectiveAlgorithm::PARAMETER_SERVER, star.hosts.back()};
    setup.strategy.reweight = true;
  }
  SimulationOutcome run(Program* program = nullptr) const {
    return simulate(star.topology, setup, program);
  }

  TestStar star;
  SimulationSetup setup;
};

// Down to so many at once, H steps, and up again.
double round_s(double clients) { return 2 * (clients * kDown + 2 * kLatency) + 20 * 0.05; }

std::vector<std::size_t> workers_in_rounds(const SimulationOutcome& outcome) {
  std::vector<std::size_t> workers;
  for (const RoundRecord& round : outcome.rounds) workers.push_back(round.workers);
  return workers;
}

// By round: whose steps the model has been made of. A replica is there for one part only.
std::vector<std::set<std::uint32_t>> streams_by_round(const Program& program) {
  std::vector<std::set<std::uint32_t>> rounds(1);
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.op == Op::STEP) rounds.back().insert(instruction.stream);
    if (instruction.op == Op::OUTER) rounds.emplace_back();
  }
  rounds.pop_back();
  return rounds;
}

TEST(FedAvg, TakesTheTimeAndTheBytesOfItsChosenClients) {
  const Federation federation(10, 3, 3, 7);
  const SimulationOutcome outcome = federation.run();
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 7 * round_s(3), 1e-6);
  EXPECT_EQ(outcome.sent.count(), 7 * 3 * 2 * 4'800'000);
  EXPECT_THAT(workers_in_rounds(outcome), Each(3u));
  for (const RoundRecord& round : outcome.rounds) EXPECT_EQ(round.sent.count(), 6 * 4'800'000);
  std::uint64_t steps = 0;
  for (const WorkerOutcome& worker : outcome.workers) {
    steps += worker.steps;
    const auto rounds = static_cast<double>(worker.steps) / 20;
    EXPECT_NEAR(worker.syncing.in_seconds(), rounds * (round_s(3) - 1), 1e-6);
    EXPECT_EQ(worker.sent, worker.received);
  }
  EXPECT_EQ(steps, 7 * 3 * 20u);
  EXPECT_EQ(outcome.rounds.back().steps, 140u);
}

TEST(FedAvg, ChoosesEachClientAsOften) {
  Federation federation(10, 3, 3, 400);
  Program program("header");
  federation.run(&program);
  std::vector<int> times(10);
  const auto rounds = streams_by_round(program);
  ASSERT_EQ(rounds.size(), 400u);
  for (const auto& streams : rounds) {
    EXPECT_EQ(streams.size(), 3u);
    for (const std::uint32_t stream : streams) ++times[stream];
  }
  // 120 each, with a standard deviation of 9.2.
  for (const int count : times) EXPECT_LT(std::abs(count - 120), 5 * 9.2);
}

TEST(FedAvg, ChoosesBySeedAlone) {
  Federation federation(10, 3, 3, 5);
  Program first("header"), again("header"), other("header");
  federation.run(&first);
  for (WorkerSetup& worker : federation.setup.workers) worker.step = worker.step * 3;
  federation.run(&again);
  EXPECT_EQ(first.hash(), again.hash());
  federation.setup.seed = 2;
  federation.run(&other);
  EXPECT_NE(streams_by_round(first), streams_by_round(other));
}

TEST(FedAvg, WritesItsAlgorithm) {
  Federation federation(2, 2, 2, 1);
  federation.setup.workers[1].weight = 3;
  Program program("header");
  federation.run(&program);
  std::string text;
  std::istringstream lines(text_of(program));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("free")) text += line + "\n";
  }
  EXPECT_EQ(text,
            "# header\n"
            "init r0 seed=1\n"
            "init r1 seed=1\n"
            "read r0 parameters -> v0\n"
            "eval v0 -> n0\n"
            "outer_state -> v1\n"
            "init r2 seed=1\n"
            "write r2 parameters v0\n"
            "init r3 seed=1\n"
            "write r3 parameters v0\n"
            "step r2 stream=0 batches=0+20 position=0 -> n1\n"
            "read r2 parameters -> v2\n"
            "linear 1*v0 -1*v2 -> v3\n"
            "step r3 stream=1 batches=0+20 position=0 -> n2\n"
            "read r3 parameters -> v4\n"
            "linear 1*v0 -1*v4 -> v5\n"
            "linear 0.25*v3 0.75*v5 -> v6\n"
            "outer v0 v1 v6 sgd lr=1 momentum=0 -> v7 v8\n"
            "eval v7 -> n3\n");
}

TEST(FedAvg, DiscardsWhoIsLateAndCountsItsBytes) {
  Federation federation(3, 3, 2, 4);
  federation.setup.workers[1].step = Time::seconds(0.1);
  const SimulationOutcome outcome = federation.run();
  EXPECT_THAT(workers_in_rounds(outcome), Each(2u));
  const WorkerOutcome& late = outcome.workers[1];
  EXPECT_EQ(late.steps, 0u);
  EXPECT_EQ(late.computing, Time());
  EXPECT_GT(late.lost_steps, 0u);
  EXPECT_EQ(late.lost.in_seconds(), 0.1 * static_cast<double>(late.lost_steps));
  // It goes on to its end, the server does not wait for it, and it is chosen again when it is done.
  EXPECT_NEAR(outcome.rounds[0].ended.in_seconds(), 3 * kDown + 2 * kDown + 4 * kLatency + 1, 1e-6);
  EXPECT_GT(late.sent, Bytes());
  EXPECT_EQ(outcome.sent, outcome.workers[0].sent + outcome.workers[0].received +
                              outcome.workers[1].sent + outcome.workers[1].received +
                              outcome.workers[2].sent + outcome.workers[2].received);
  for (const std::uint32_t k : {0, 2}) EXPECT_EQ(outcome.workers[k].steps, 80u);
}

TEST(FedAvg, OfMoreThanCountTakesExactlyThoseThatCount) {
  const Federation federation(6, 6, 4, 3);  // all report at the same time
  EXPECT_THAT(workers_in_rounds(federation.run()), Each(4u));
}

TEST(FedAvg, GoesOnAtItsDeadline) {
  Federation federation(4, 4, 4, 3);
  federation.setup.workers[2].step = Time::seconds(1000);
  federation.setup.strategy.deadline = Time::seconds(4);
  const SimulationOutcome outcome = federation.run();
  EXPECT_THAT(workers_in_rounds(outcome), Each(3u));
  EXPECT_EQ(outcome.rounds[0].ended, Time::seconds(4));
  // Who is still at work is not chosen: 3 clients report before the deadline.
  EXPECT_NEAR((outcome.rounds[1].ended - outcome.rounds[1].begun).in_seconds(), round_s(3), 1e-6);
  EXPECT_EQ(outcome.workers[2].steps, 0u);
}

TEST(FedAvg, ARoundInWhichNobodyReportsChangesNothing) {
  Federation federation(2, 2, 2, 2);
  for (WorkerSetup& worker : federation.setup.workers) worker.step = Time::seconds(0.3);
  federation.setup.strategy.deadline = Time::seconds(5);
  Program program("header");
  const SimulationOutcome outcome = federation.run(&program);
  EXPECT_THAT(workers_in_rounds(outcome), ElementsAre(0u, 0u));
  EXPECT_EQ(count(program, Op::OUTER), 0);
  EXPECT_EQ(outcome.evaluations.back().round, 2u);
}

TEST(FedAvg, AClientThatDiesIsMissedAndChosenAgain) {
  Federation federation(3, 3, 3, 4);
  DownEffect down;
  down.workers = {1};
  down.nodes = {federation.star.hosts[1]};
  down.in_flight = InFlight::FAIL;
  const double begin = 3 * kDown + 2 * kLatency;  // of its steps
  federation.setup.events = {{"h1", Once{Time::seconds(begin + 0.52), Time::seconds(2)}, down}};
  const SimulationOutcome outcome = federation.run();
  EXPECT_THAT(workers_in_rounds(outcome), ElementsAre(2u, 2u, 3u, 3u));
  EXPECT_EQ(outcome.workers[1].lost_steps, 10u);
  EXPECT_EQ(outcome.workers[1].down, Time::seconds(2));
  EXPECT_EQ(outcome.workers[1].rejoins, 0u);
  EXPECT_EQ(outcome.workers[1].steps, 40u);
}

TEST(FedAvg, ATransferThatFailsCostsThatClientItsRound) {
  Federation federation(3, 3, 3, 3);
  DownEffect down;
  down.links = {federation.star.links[0]};
  down.in_flight = InFlight::FAIL;
  // In the middle of its first download.
  federation.setup.events = {{"h0", Once{Time::seconds(0.5), Time::seconds(0.1)}, down}};
  const SimulationOutcome outcome = federation.run();
  EXPECT_THAT(workers_in_rounds(outcome), ElementsAre(2u, 3u, 3u));
  EXPECT_GT(outcome.workers[0].received, Bytes(2 * 4'800'000));
  EXPECT_LT(outcome.workers[0].received, Bytes(3 * 4'800'000));
}

TEST(FedAvg, WaitsForSomebodyToBeThere) {
  Federation federation(2, 1, 1, 2);
  DownEffect down;
  down.links = {federation.star.links[2]};  // the server's
  down.in_flight = InFlight::FAIL;
  federation.setup.events = {{"h2", Once{Time::seconds(0.1), Time::seconds(10)}, down}};
  const SimulationOutcome outcome = federation.run();
  EXPECT_THAT(workers_in_rounds(outcome), ElementsAre(0u, 1u));
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 10.1 + round_s(1), 1e-6);
}

TEST(FedAvg, EndsByTimeWithWhatThereIs) {
  Federation federation(3, 3, 3, 1);
  federation.setup.stop.steps.reset();
  federation.setup.recorded_steps = 1'000'000;
  for (const double stop : {0.04, 0.06, 1.5, 2.0, 5.0, 9.9}) {
    SCOPED_TRACE(stop);
    federation.setup.stop.time = Time::seconds(stop);
    Program program("header");
    const SimulationOutcome outcome = federation.run(&program);
    EXPECT_EQ(outcome.rounds.empty(), stop < 0.05);
    if (outcome.rounds.empty()) continue;
    EXPECT_EQ(outcome.evaluations.back().at, outcome.virtual_time);
    EXPECT_GE(outcome.virtual_time.in_seconds(), stop > 1.2 ? stop : 0);
  }
}

TEST(FedAvg, OnAnIdealNetworkOnlyTheStepsCount) {
  const Federation federation(5, 2, 2, 6);
  const SimulationOutcome outcome = federation.run();
  EXPECT_EQ(ideal_network_time(federation.star.topology, federation.setup, outcome),
            Time::seconds(6));
}

TEST(FedAvg, WithChurnEndsConservesAndRepeats) {
  Federation federation(12, 8, 6, 30);
  BenchmarkRandom random(7);
  for (WorkerSetup& worker : federation.setup.workers)
    worker.step = Time::seconds(0.03 + 0.05 * random.u01());
  federation.setup.strategy.deadline = Time::seconds(7);
  for (std::uint32_t k = 0; k < 12; ++k) {
    DownEffect down;
    down.workers = {k};
    down.nodes = {federation.star.hosts[k]};
    down.in_flight = InFlight::FAIL;
    federation.setup.events.push_back(
        {federation.star.topology.node(federation.star.hosts[k]).name,
         Churn{Distribution::parse("exponential(20 s)", Dimension::TIME),
               Distribution::parse("exponential(10 s)", Dimension::TIME)},
         down});
  }
  Program program("header"), again("header");
  const SimulationOutcome outcome = federation.run(&program);
  EXPECT_EQ(outcome.rounds.size(), 30u);
  std::uint64_t counted = 0;
  Bytes sent;
  for (const WorkerOutcome& worker : outcome.workers) {
    counted += worker.steps;
    sent += worker.sent + worker.received;
    EXPECT_LE(worker.computing + worker.lost + worker.down + worker.syncing,
              outcome.virtual_time + Time::ns(1));
  }
  std::size_t reports = 0;
  for (const RoundRecord& round : outcome.rounds) reports += round.workers;
  EXPECT_EQ(counted, 20 * reports);
  EXPECT_EQ(sent, outcome.sent);
  federation.run(&again);
  EXPECT_EQ(program.hash(), again.hash());
}

}  // namespace
}  // namespace syncline
