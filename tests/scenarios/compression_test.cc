// Compression in a scenario: what is wrong with it, and the bytes that right ones cost.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <variant>

#include "scenarios/setup.h"
#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

Lines compression(const std::string& text, const std::string& method = "diloco {}") {
  return {{8, "strategy { " + method + " local_steps: 20 compression { " + text + " } }"}};
}

class CompressionError : public testing::TestWithParam<ErrorCase> {};
TEST_P(CompressionError, SaysWhereAndWhat) { expect_error(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, CompressionError,
    testing::Values(ErrorCase{"OfParameters",
                              compression("kind: BF16", "local_sgd {}"),
                              "base.textproto:8: strategy.compression.kind: ",
                              {"BF16 is for differences", "choose diloco {}"}},
                    ErrorCase{"KeepOfAll",
                              compression("kind: INT8 keep: 64"),
                              "base.textproto:8: strategy.compression.keep: ",
                              {"INT8 sends every number", "TOP_K"}},
                    ErrorCase{"KeepNothing",
                              compression("kind: TOP_K keep: 0"),
                              "base.textproto:8: strategy.compression.keep: ",
                              {"0 numbers", "1 to 4096"}},
                    ErrorCase{"KeepMoreThanThereAre",
                              compression("kind: RANDOM_K keep: 4097"),
                              "base.textproto:8: strategy.compression.keep: ",
                              {"4097 numbers of each block of 4096"}},
                    ErrorCase{"FeedbackOfNothing",
                              compression("error_feedback: true"),
                              "base.textproto:8: strategy.compression.error_feedback: ",
                              {"choose a kind"}},
                    ErrorCase{"DecayOfNothing",
                              compression("kind: TOP_K decay: 0.9"),
                              "base.textproto:8: strategy.compression.decay: ",
                              {"error_feedback: true"}},
                    ErrorCase{"NoDecay",
                              compression("kind: TOP_K error_feedback: true decay: 0"),
                              "base.textproto:8: strategy.compression.decay: ",
                              {"0; write a number above 0"}},
                    ErrorCase{"DecayThatGrows",
                              compression("kind: TOP_K error_feedback: true decay: 1.5"),
                              "base.textproto:8: strategy.compression.decay: ",
                              {"1.5", "at most 1"}},
                    ErrorCase{"UnknownKind",
                              compression("kind: FP5"),
                              "base.textproto:8:",
                              {"Compression.kind: \"FP5\" is none of NONE, BF16, INT8",
                               "Optimizer.kind: \"FP5\" is none of ADAMW"}}),
    name_of);

Lines sparse_loco(const std::string& text, const std::string& more = "") {
  return {{8, "strategy { sparse_loco { " + text + " } local_steps: 20 " + more + " }"}};
}

INSTANTIATE_TEST_SUITE_P(SparseLoco, CompressionError,
                         testing::Values(ErrorCase{"TwoCompressions",
                                                   sparse_loco("", "compression { kind: INT8 }"),
                                                   "base.textproto:8: strategy.compression.kind: ",
                                                   {"a compression of its own", "diloco {}"}},
                                         ErrorCase{
                                             "OuterLr",
                                             sparse_loco("outer_lr: 0"),
                                             "base.textproto:8: strategy.sparse_loco.outer_lr: ",
                                             {"above 0"}},
                                         ErrorCase{"Keep",
                                                   sparse_loco("keep: 5000"),
                                                   "base.textproto:8: strategy.sparse_loco.keep: ",
                                                   {"1 to 4096"}},
                                         ErrorCase{"Decay",
                                                   sparse_loco("decay: -1"),
                                                   "base.textproto:8: strategy.sparse_loco.decay: ",
                                                   {"-1"}}),
                         name_of);

TEST(SparseLoco, HasItsDefaultsAndItsBytes) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load(sparse_loco(""));
  const auto& method = std::get<SparseLoco>(scenario.strategy.method);
  EXPECT_EQ(method.lr, 1);
  EXPECT_EQ(method.codec.codec, Codec::TOP_K_2BIT);
  EXPECT_EQ(method.codec.keep, 64u);
  EXPECT_EQ(method.decay, 0.95);
  EXPECT_FALSE(scenario.strategy.compression);
  EXPECT_EQ(simulation_setup(scenario, 8192, std::nullopt).payload.bytes(), Bytes(2 * 120));
  const SimulationSetup plain =
      simulation_setup(base.load(sparse_loco("values: FP32 keep: 32")), 8192, std::nullopt);
  EXPECT_EQ(plain.payload.bytes(), Bytes(64 * 11 / 2));
}

TEST(Compression, HasItsDefaults) {
  const BaseScenario base;
  const auto read = [&](const std::string& text) {
    return base.load(compression(text)).strategy.compression;
  };
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("kind: INT8")->feedback);
  EXPECT_EQ(read("kind: INT8 error_feedback: true")->feedback, 1);
  EXPECT_EQ(read("kind: INT8 error_feedback: true decay: 0.5")->feedback, 0.5);
  EXPECT_EQ(read("kind: TOP_K")->codec.keep, 64u);
  EXPECT_EQ(read("kind: RANDOM_K keep: 4096")->codec.keep, 4096u);
}

// Bytes by kind, counted by hand: numbers, scales, places.
TEST(Compression, BytesOfAPayload) {
  const BaseScenario base;
  const auto bytes = [&](const std::string& text, std::uint64_t parameters) {
    const SimulationSetup setup =
        simulation_setup(base.load(compression(text)), parameters, std::nullopt);
    EXPECT_EQ(setup.plain_payload.bytes(), Bytes(static_cast<std::int64_t>(4 * parameters)));
    return setup.payload.bytes().count();
  };
  for (const std::uint64_t n : {1u, 2u, 31u, 33u, 257u, 4095u, 4096u, 4097u, 853'120u}) {
    const auto blocks = [&](double of) {
      return static_cast<std::int64_t>(std::ceil(static_cast<double>(n) / of));
    };
    const auto numbers = static_cast<std::int64_t>(n);
    EXPECT_EQ(bytes("kind: NONE", n), 4 * numbers);
    EXPECT_EQ(bytes("kind: BF16", n), 2 * numbers);
    EXPECT_EQ(bytes("kind: FP16", n), 2 * numbers);
    EXPECT_EQ(bytes("kind: INT8", n), numbers + 4 * blocks(256));
    EXPECT_EQ(bytes("kind: FP4_E2M1", n), blocks(2) + blocks(32));
    EXPECT_EQ(bytes("kind: FP4_E3M0", n), blocks(2) + blocks(32));
    // A 64th of the numbers of each block, rounded up; places of 12 bits.
    const std::int64_t kept = blocks(64);
    EXPECT_EQ(bytes("kind: TOP_K", n), 4 * kept + (12 * kept + 7) / 8);
    EXPECT_EQ(bytes("kind: RANDOM_K", n), 4 * kept);
    EXPECT_EQ(bytes("kind: TOP_K_2BIT", n), (14 * kept + 7) / 8 + 8 * blocks(4096));
    EXPECT_EQ(bytes("kind: TOP_K keep: 4096", n), (44 * numbers + 7) / 8);
  }
}

// Of a large model that is not trained, without training one.
TEST(Compression, BytesOfALargeModel) {
  const BaseScenario base;
  Lines lines = compression("kind: TOP_K_2BIT");
  lines[7] =
      "pace { fixed: \"2 s\" }\nproject { parameters: 7e9 bytes_per_parameter: 2 tokens_per_step: "
      "1e6 }";
  const SimulationSetup setup = simulation_setup(base.load(lines), 1000, std::nullopt);
  const std::int64_t blocks = 1'708'985;  // the last one of 1,536 numbers, of which 24 travel
  EXPECT_EQ(setup.payload.bytes().count(), (14 * ((blocks - 1) * 64 + 24) + 7) / 8 + 8 * blocks);
}

// Parts of a ring are compressed apart.
TEST(Compression, PartsRoundUpEach) {
  const Payload payload{.elements = 8192, .bytes_per_element = 5.5, .kept = 64, .of = 4096};
  EXPECT_EQ(payload.bytes(), Bytes(704));
  EXPECT_EQ(payload.part(0, 3).elements, 2730u);
  EXPECT_EQ(payload.part(0, 3).bytes(), Bytes(237));  // 43 numbers: 236.5
}

}  // namespace
}  // namespace syncline
