#include <gtest/gtest.h>

#include <sstream>

#include "compute/program.h"

namespace syncline {
namespace {

TEST(ProgramEncode, IsAValueOfItsOwn) {
  Program program("header");
  Replica replica = program.init(1);
  const Value parameters = program.read(replica, Part::PARAMETERS);
  const Value sent = program.encode(parameters, Codec::INT8);
  const Value again = program.encode(parameters, Codec::INT8);
  const Value twice = program.encode(sent, Codec::INT8);
  EXPECT_NE(program.value_key(sent.index()), program.value_key(parameters.index()));
  EXPECT_EQ(program.value_key(again.index()), program.value_key(sent.index()));
  EXPECT_NE(program.value_key(twice.index()), program.value_key(sent.index()));

  program.step(replica, 0, 0, 1, 0);
  const Value other = program.encode(program.read(replica, Part::PARAMETERS), Codec::INT8);
  EXPECT_NE(program.value_key(other.index()), program.value_key(sent.index()));
}

TEST(ProgramEncode, ChangesWhatIsTrained) {
  const auto hash = [](bool encode) {
    Program program("header");
    const Replica replica = program.init(1);
    const Value plain = program.read(replica, Part::PARAMETERS);
    const Value sent = encode ? program.encode(plain, Codec::INT8) : Value();
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
  { const Value sent = program.encode(plain, Codec::INT8); }
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
