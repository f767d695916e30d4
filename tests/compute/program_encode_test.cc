#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "compute/program.h"

namespace syncline {
namespace {

TEST(ProgramEncode, IsAValueOfItsOwn) {
  Program program("header");
  Replica replica = program.init(1);
  const Value parameters = program.read(replica, Part::PARAMETERS);
  const Value sent = program.encode(parameters, {Codec::INT8});
  const Value again = program.encode(parameters, {Codec::INT8});
  const Value twice = program.encode(sent, {Codec::INT8});
  EXPECT_NE(program.value_key(sent.index()), program.value_key(parameters.index()));
  EXPECT_EQ(program.value_key(again.index()), program.value_key(sent.index()));
  EXPECT_NE(program.value_key(twice.index()), program.value_key(sent.index()));

  program.step(replica, 0, 0, 1, 0);
  const Value other = program.encode(program.read(replica, Part::PARAMETERS), {Codec::INT8});
  EXPECT_NE(program.value_key(other.index()), program.value_key(sent.index()));
}

// The keys of int8 must stay: losses in caches are known by them.
TEST(ProgramEncode, Int8HasTheKeyThatItAlwaysHad) {
  Program program("header");
  const Replica replica = program.init(1);
  const Value sent = program.encode(program.read(replica, Part::PARAMETERS), {Codec::INT8, 7}, 3);
  EXPECT_EQ(program.value_key(sent.index()).to_text(), "8d295a1561878bd2d631b342c3c9cf5f");
}

TEST(ProgramEncode, KeysTellWhatMattersApart) {
  Program program("header");
  const Replica replica = program.init(1);
  const Value value = program.read(replica, Part::PARAMETERS);
  const auto key = [&](const CodecSpec& codec, std::uint64_t seed = 0) {
    return program.value_key(program.encode(value, codec, seed).index());
  };
  std::set<Key> keys;
  for (const Codec codec : {Codec::INT8, Codec::BF16, Codec::FP16, Codec::FP4_E2M1, Codec::FP4_E3M0,
                            Codec::TOP_K, Codec::RANDOM_K, Codec::TOP_K_2BIT})
    keys.insert(key({codec}));
  keys.insert(key({Codec::TOP_K, 65}));
  keys.insert(key({Codec::RANDOM_K}, 1));
  EXPECT_EQ(keys.size(), 10u);
  EXPECT_EQ(key({Codec::BF16, 64}, 1), key({Codec::BF16, 65}, 2));
  EXPECT_EQ(key({Codec::TOP_K}, 1), key({Codec::TOP_K}, 2));
}

TEST(ProgramEncode, WithErrorFeedback) {
  Program program("header");
  const Replica replica = program.init(7);
  const Value value = program.read(replica, Part::PARAMETERS);
  const Value zero = program.outer_state();
  const auto [sent, dropped] = program.encode(value, {Codec::TOP_K, 64}, 0, zero, 0.95);
  const auto [next, rest] = program.encode(value, {Codec::TOP_K, 64}, 0, dropped, 0.95);
  const auto [other, others] = program.encode(value, {Codec::TOP_K, 64}, 0, zero, 1);
  const Value plain = program.encode(value, {Codec::TOP_K, 64});
  std::set<Key> keys;
  for (const Value* each : {&sent, &dropped, &next, &rest, &other, &others, &plain})
    keys.insert(program.value_key(each->index()));
  EXPECT_EQ(keys.size(), 7u);
  const Value random = program.encode(value, {Codec::RANDOM_K, 8}, 5);
  std::ostringstream text;
  program.write_text(text);
  EXPECT_NE(text.str().find("encode v0 top_k keep=64 + 0.95*v1 -> v2 v3\n"), std::string::npos);
  EXPECT_NE(text.str().find("encode v0 random_k keep=8 seed=5 -> v9\n"), std::string::npos);
}

TEST(ProgramEncode, ChangesWhatIsTrained) {
  const auto hash = [](bool encode) {
    Program program("header");
    const Replica replica = program.init(1);
    const Value plain = program.read(replica, Part::PARAMETERS);
    const Value sent = encode ? program.encode(plain, {Codec::INT8}) : Value();
    program.eval(encode ? sent : plain);
    return program.hash();
  };
  EXPECT_EQ(hash(true), hash(true));
  EXPECT_NE(hash(true), hash(false));
}

TEST(ProgramEncode, Text) {
  Program program("header");
  const Replica replica = program.init(7);
  const Value plain = program.read(replica, Part::PARAMETERS);
  { const Value sent = program.encode(plain, {Codec::INT8}); }
  std::ostringstream text;
  program.write_text(text);
  EXPECT_EQ(text.str(),
            "# header\n"
            "init r0 seed=7\n"
            "read r0 parameters -> v0\n"
            "encode v0 int8 -> v1\n"
            "free v1\n");
}

}  // namespace
}  // namespace syncline
