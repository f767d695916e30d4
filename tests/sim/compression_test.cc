// What workers send when it is compressed, and what error feedback keeps for the next time.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "strategy_run.h"

namespace syncline {
namespace {

SimulationSetup compressed(const TestStar& star, const Method& method, const CodecSpec& codec,
                           std::optional<double> feedback) {
  SimulationSetup setup = base_setup(star.workers(kStep), method, 20, 60);
  setup.strategy.compression = Compression{codec, feedback};
  return setup;
}

std::vector<Instruction> encodings(const Program& program) {
  std::vector<Instruction> found;
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.op == Op::ENCODE) found.push_back(instruction);
  }
  return found;
}

TEST(Compression, ChangesTheBytesAndWhatIsAveraged) {
  const TestStar star(4, kBandwidth, kLatency);
  SimulationSetup setup = compressed(star, Diloco{}, {Codec::INT8}, {});
  setup.payload = {1'200'000, 1, 256, 4};
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(count(program, Op::ENCODE), 4 * 3);
  // Each chunk has 300,000 numbers in 1,172 blocks, the last one not full.
  EXPECT_EQ(outcome.sent.count(), 3 * 4 * 6 * (300'000 + 4 * 1'172));
}

// By worker a chain: what one encoding drops is the next one's residual; each begins with zero.
TEST(ErrorFeedback, GoesFromRoundToRound) {
  const TestStar star(3, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, compressed(star, Diloco{}, {Codec::BF16}, 0.9), &program);
  std::set<ValueIndex> zeros;
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.op == Op::OUTER_STATE) zeros.insert(instruction.result);
  }
  std::map<ValueIndex, int> length;  // of the chain that ends with this residual
  std::map<int, int> chains;         // how many have had this length
  for (const Instruction& each : encodings(program)) {
    ASSERT_EQ(each.operand_count, 2u);
    const Operand residual = program.operands(each)[1];
    EXPECT_EQ(residual.weight, 0.9);
    EXPECT_TRUE(zeros.contains(residual.value) || length.contains(residual.value));
    const int before = length.contains(residual.value) ? length.at(residual.value) : 0;
    length.erase(residual.value);  // nobody else takes it
    length[each.result2] = before + 1;
    ++chains[before + 1];
  }
  EXPECT_EQ(chains, (std::map<int, int>{{1, 3}, {2, 3}, {3, 3}}));
}

// Each fragment's residual has its shape.
TEST(ErrorFeedback, IsAFragmentsOwn) {
  const TestStar star(2, kBandwidth, kLatency);
  StreamingDiloco method;
  method.fragments = 2;
  method.overlap = 3;
  method.elements = {600'000, 600'000};
  Program program("header");
  simulate(star.topology, compressed(star, method, {Codec::BF16}, 1), &program);
  std::map<ValueIndex, std::uint32_t> fragment;  // of values that are read, and made of them
  std::size_t chained = 0;
  for (const Instruction& each : program.instructions()) {
    if (each.op == Op::READ && each.fragment.count == 2)
      fragment[each.result] = each.fragment.index;
    if (each.op == Op::LINEAR)
      fragment[each.result] = fragment[program.operands(each).back().value];
    if (each.op != Op::ENCODE) continue;
    const std::uint32_t own = fragment.at(program.operands(each)[0].value);
    const ValueIndex residual = program.operands(each)[1].value;
    if (fragment.contains(residual)) {
      EXPECT_EQ(fragment.at(residual), own);
      ++chained;
    }
    fragment[each.result2] = own;
  }
  EXPECT_EQ(encodings(program).size(), 2u * 7);  // 6 in 60 steps, and one at the stop
  EXPECT_EQ(chained, 2u * (7 - 2));
}

// A worker's machine is off in the second round: what it remembers is gone.
TEST(ErrorFeedback, IsLostWithTheMachine) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = compressed(star, Diloco{}, {Codec::BF16}, 1);
  setup.strategy.reweight = true;
  setup.rejoin = {1'200'000, 12};
  DownEffect down;
  down.workers = {1};
  down.nodes = {star.hosts[1]};
  down.in_flight = InFlight::FAIL;
  setup.events = {{"h1", Once{Time::seconds(2), Time::seconds(0.5)}, down}};
  Program program("header");
  simulate(star.topology, setup, &program);
  std::set<ValueIndex> kept;
  int fresh = 0;
  for (const Instruction& each : encodings(program)) {
    fresh += kept.contains(program.operands(each)[1].value) ? 0 : 1;
    kept.insert(each.result2);
  }
  EXPECT_EQ(encodings(program).size(), 3u + 2 + 3);
  EXPECT_EQ(fresh, 3 + 1);
}

// Slow in the second round and too late for its average: nobody has its value, so it goes on from
// what the first round left.
TEST(ErrorFeedback, GoesBackWhereNobodyGotTheValue) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = compressed(star, Diloco{}, {Codec::BF16}, 1);
  setup.strategy.reweight = true;
  setup.strategy.deadline = Time::seconds(1.2);
  setup.rejoin = {1'000, 12};
  setup.events = {{"h1", Once{Time::seconds(1.7), Time::seconds(0.4)}, SpeedEffect{{1}, 0.1}}};
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  ASSERT_GT(outcome.workers[1].lost_steps, 0u);
  // A residual that is used twice is the one that it went back to.
  std::map<ValueIndex, int> used;
  for (const Instruction& each : encodings(program)) ++used[program.operands(each)[1].value];
  int twice = 0;
  for (const auto& [value, times] : used) twice += times == 2 ? 1 : 0;
  EXPECT_EQ(twice, 1);
}

// Random numbers are of the same places for all workers of a round, and of others in the next.
TEST(RandomK, HasASeedARound) {
  const TestStar star(3, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, compressed(star, Diloco{}, {Codec::RANDOM_K, 64}, {}), &program);
  std::map<std::uint64_t, int> seeds;
  for (const Instruction& each : encodings(program)) ++seeds[each.position];
  EXPECT_EQ(seeds.size(), 3u);
  for (const auto& [seed, workers] : seeds) EXPECT_EQ(workers, 3);
}

}  // namespace
}  // namespace syncline
