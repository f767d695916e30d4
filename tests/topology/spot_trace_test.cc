#include "topology/read/spot_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSkypilot = R"({"metadata": {"gap_seconds": 60}, "data": [0, 2, 1, 3]})";
constexpr const char* kBamboo = "0,add,a\n10,add,b\n20,remove,a\n30,add,a\n30,add,c\n30,remove,c\n";

Time seconds(std::int64_t count) { return Time::ns(count * 1'000'000'000); }

std::string error_of(const std::string& text) {
  try {
    parse_spot_trace(text, "spot");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string skypilot(const std::string& gap, const std::string& data) {
  return R"({"metadata": {"gap_seconds": )" + gap + R"(}, "data": [)" + data + "]}";
}

// The text of a public file; empty where SYNCLINE_DATA names no folder.
std::string public_text(const std::string& name) {
  const char* const folder = std::getenv("SYNCLINE_DATA");
  if (folder == nullptr) return "";
  std::ifstream file(std::string(folder) + "/compute/spot/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(SpotTrace, SkyPilotTakesTheLowestFirst) {
  const SpotTrace trace = parse_spot_trace(kSkypilot, "spot");
  EXPECT_EQ(trace.format, "SkyPilot");
  ASSERT_EQ(trace.nodes.size(), 3u);
  EXPECT_EQ(trace.nodes[0].intervals.size(), 1u);
  ASSERT_EQ(trace.nodes[1].intervals.size(), 2u);
  EXPECT_EQ(trace.nodes[1].intervals[0].up, seconds(60));
  EXPECT_EQ(trace.nodes[1].intervals[0].down, seconds(120));
  EXPECT_EQ(trace.nodes[1].intervals[1].down, Time::max());
  EXPECT_EQ(alive(trace, seconds(59)), 0u);
  EXPECT_EQ(alive(trace, seconds(60)), 2u);
  EXPECT_EQ(alive(trace, seconds(179)), 1u);
  EXPECT_EQ(alive(trace, seconds(1000)), 3u);
}

TEST(SpotTrace, BambooNamesItsNodes) {
  const SpotTrace trace = parse_spot_trace(kBamboo, "spot");
  EXPECT_EQ(trace.format, "Bamboo");
  ASSERT_EQ(trace.nodes.size(), 3u);
  EXPECT_EQ(trace.nodes[0].name, "a");
  EXPECT_EQ(trace.nodes[0].intervals.size(), 2u);
  EXPECT_TRUE(trace.nodes[2].intervals.empty()) << "gone at the instant it came";
  EXPECT_EQ(alive(trace, Time::ns(19'999'999)), 2u);
  EXPECT_EQ(alive(trace, Time::ns(20'000'000)), 1u);
}

TEST(SpotTrace, Errors) {
  EXPECT_THAT(error_of(" \n"), HasSubstr("it is empty"));
  EXPECT_THAT(error_of(std::string("0\0", 2)), HasSubstr("binary"));
  EXPECT_THAT(error_of("{}"), StartsWith("spot: \"gap_seconds\" is missing"));
  for (const char* gap : {"-1", "nan", "1e400", "0", "1e9", "\"\""})
    EXPECT_THAT(error_of(skypilot(gap, "1")), StartsWith("spot: gap_seconds: ")) << gap;
  for (const char* value : {"-1", "nan", "1.5", "1e400", "100001", ""})
    EXPECT_THAT(error_of(skypilot("60", "1, " + std::string(value))), StartsWith("spot: data[1]: "))
        << value;
  EXPECT_THAT(error_of("1,add\n"), StartsWith("spot:1: \"1,add\" is no row"));
  EXPECT_THAT(error_of("0,add,a\nx,add,b\n"), StartsWith("spot:2: \"x\" is no whole number"));
  EXPECT_THAT(error_of("-1,add,a\n"), StartsWith("spot:1: \"-1\""));
  EXPECT_THAT(error_of("5,add,a\n4,add,b\n"), StartsWith("spot:2: 4 ms after 5 ms"));
  EXPECT_THAT(error_of("5,add,a\n5,add,a\n"), HasSubstr("is added, but it is there"));
  EXPECT_THAT(error_of("5,remove,a\n"), HasSubstr("is removed, but it is not there"));
  EXPECT_THAT(error_of("5,drop,a\n"), HasSubstr("\"drop\" is neither"));
  for (const std::string_view whole : {kSkypilot, kBamboo}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string message = error_of(std::string(whole.substr(0, size)));
      EXPECT_TRUE(message == "no error" || message.starts_with("spot:")) << message;
    }
  }
}

TEST(SpotTrace, SkyPilotOf16Nodes) {
  const std::string text =
      public_text("skypilot_availability_16-node_aws-08-27-2023_us-west-2a_v100_1.json");
  if (text.empty()) GTEST_SKIP() << "SYNCLINE_DATA names no folder with the SkyPilot trace";
  const SpotTrace trace = parse_spot_trace(text, "spot");
  EXPECT_EQ(alive(trace, Time()), 0u);
  EXPECT_EQ(alive(trace, seconds(2099)), 0u);
  EXPECT_EQ(alive(trace, seconds(2100)), 5u);
  EXPECT_EQ(alive(trace, seconds(2400)), 16u);
  ASSERT_EQ(trace.nodes.size(), 16u);
  EXPECT_EQ(trace.nodes[8].intervals.at(0).up, seconds(2400));
  EXPECT_EQ(trace.nodes[8].intervals.at(0).down, seconds(4500));
}

TEST(SpotTrace, EveryPublicFileIsReadOrRefusedByName) {
  const char* const folder = std::getenv("SYNCLINE_DATA");
  if (folder == nullptr) GTEST_SKIP() << "SYNCLINE_DATA names no folder with compute/spot";
  int read = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(folder) + "/compute/spot")) {
    const std::string path = entry.path().string();
    try {
      read_spot_trace(path);
      ++read;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), StartsWith(path));
    }
  }
  EXPECT_EQ(read, 5);  // SkyPilot 3, Bamboo 2; the log of counts by date is another format
}

TEST(SpotTrace, BambooG4dn) {
  const std::string text = public_text("bamboo_g4dn-trace.csv");
  if (text.empty()) GTEST_SKIP() << "SYNCLINE_DATA names no folder with the Bamboo trace";
  const SpotTrace trace = parse_spot_trace(text, "spot");
  EXPECT_EQ(trace.nodes.size(), 79u) << "79 adds, and no name returns";
  EXPECT_EQ(trace.nodes[0].intervals.at(0).up, seconds(480));
  EXPECT_EQ(alive(trace, seconds(3600)), 12u);
  std::size_t most = 0;
  std::size_t removes = 0;
  Time last;
  for (const SpotTrace::Node& node : trace.nodes) {
    for (const SpotTrace::Interval& in : node.intervals) {
      most = std::max(most, alive(trace, in.up));
      removes += in.down != Time::max();
      last = std::max(last, in.up);
      if (in.down != Time::max()) last = std::max(last, in.down);
    }
  }
  EXPECT_EQ(most, 24u);
  EXPECT_EQ(removes, 74u);
  EXPECT_EQ(alive(trace, last), 5u);
}

}  // namespace
}  // namespace syncline
