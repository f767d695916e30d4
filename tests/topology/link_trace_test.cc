#include "topology/link_trace.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "topology/input_error.h"

namespace syncline {
namespace {

class LinkTraceFile : public testing::Test {
 protected:
  ~LinkTraceFile() override { std::filesystem::remove(path_); }
  LinkTrace read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_link_trace(path_);
  }
  std::string error(const std::string& text) const {
    try {
      read(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  const std::string path_ = testing::TempDir() + "trace_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
};

TEST_F(LinkTraceFile, Reads) {
  const LinkTrace trace = read(
      "# measured\nperiod_s,60\ntime_s,bandwidth,latency\n0,20 Mbit/s,30 ms\r\n1.5,,40 ms  # only "
      "latency\n\n2,0 bit/s,\n");
  ASSERT_EQ(trace.points.size(), 3U);
  EXPECT_EQ(trace.period, Time::seconds(60));
  EXPECT_EQ(trace.points[0].bandwidth, BitRate::bits_per_s(20e6));
  EXPECT_EQ(trace.points[0].latency_s, 0.03);
  EXPECT_EQ(trace.points[1].at, Time::seconds(1.5));
  EXPECT_FALSE(trace.points[1].bandwidth);
  EXPECT_EQ(trace.points[2].bandwidth, BitRate());
  EXPECT_FALSE(trace.points[2].latency_s);
}

TEST_F(LinkTraceFile, TakesBandwidthLogs) {
  const LinkTrace cellular = read("1\n2\n2\n");  // mahimahi
  EXPECT_EQ(cellular.period, Time::ns(2'000'000));
  ASSERT_EQ(cellular.points.size(), 2U);
  EXPECT_EQ(cellular.points[1].bandwidth, BitRate::bits_per_s(24e6));
  const LinkTrace bus = read("0.0 1\n2.0 3.5\n");
  ASSERT_EQ(bus.points.size(), 1U);
  EXPECT_EQ(bus.points[0].bandwidth, BitRate::bits_per_s(3.5e6));
  EXPECT_EQ(bus.period, Time::seconds(2));
  EXPECT_EQ(read(R"({"timestamps": [0, 1], "bandwidths": [1, 2]})").points.size(), 2U);
  EXPECT_THAT(error("0.0 1\n2.0 nan\n"), testing::HasSubstr(".csv:2: bandwidth: \"nan\""));
}

TEST_F(LinkTraceFile, HasLimits) {
  const std::string path = testing::TempDir() + "large_trace.csv";
  std::ofstream(path) << "time_s,bandwidth\n";
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);  // a hole: it takes no space
  try {
    read_link_trace(path);
    ADD_FAILURE() << "it was read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("has 1073741824 bytes; at most"));
  }
  std::filesystem::remove(path);
}

TEST_F(LinkTraceFile, SaysWhatIsWrong) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(error(""), HasSubstr("no points"));
  EXPECT_THAT(error("a,b\n"), AllOf(HasSubstr(".csv:1: "), HasSubstr("\"a\" is no column")));
  EXPECT_THAT(error("bandwidth,latency\n"), HasSubstr("no header"));
  EXPECT_THAT(error("time_s,time_s\n"), HasSubstr("twice"));
  EXPECT_THAT(error("time_s,bandwidth\n1\n"), AllOf(HasSubstr(":2: "), HasSubstr("1 fields")));
  EXPECT_THAT(error("time_s,bandwidth\n1,20\n"), HasSubstr("no unit"));
  EXPECT_THAT(error("time_s,bandwidth\n1,nan Mbit/s\n"), HasSubstr(":2: "));
  EXPECT_THAT(error("time_s,bandwidth\n-1,1 Mbit/s\n"), HasSubstr(":2: "));
  EXPECT_THAT(error("time_s,bandwidth\n1,1 Mbit/s\n1,2 Mbit/s\n"),
              AllOf(HasSubstr(":3: "), HasSubstr("does not rise")));
  EXPECT_THROW(read_link_trace("/does/not/exist.csv"), InputError);
  EXPECT_THROW(read_link_trace(testing::TempDir()), InputError);
}

}  // namespace
}  // namespace syncline
