#include "topology/read/bandwidth_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTwoColumns = "10 9\n11.5 4.0\n12.5 0\n14.5 2e0\n";

std::string error_of(const std::string& text) {
  try {
    parse_bandwidth_trace(text, "trace");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// The public file of this name; skips the test where it is not.
#define PUBLIC_FILE(variable, name)                                                       \
  const char* const data_folder = std::getenv("SYNCLINE_DATA");                           \
  if (data_folder == nullptr) GTEST_SKIP() << "SYNCLINE_DATA names no folder with " name; \
  const std::string variable = std::string(data_folder) + "/traces/" name

TEST(BandwidthTrace, OneLineOfMahimahiIs12Mbits) {
  const BandwidthTrace trace = parse_bandwidth_trace("1\n", "trace");
  EXPECT_EQ(trace.format, "mahimahi");
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].rate, BitRate::bits_per_s(12e6));
  EXPECT_EQ(trace.period, Time::ns(1'000'000));
}

TEST(BandwidthTrace, MahimahiCountsPacketsByMs) {
  const BandwidthTrace trace = parse_bandwidth_trace("0\n1\n3\n3\n3\n7\n", "trace");
  EXPECT_EQ(trace.period, Time::ns(7'000'000));
  const double packets[] = {0, 2, 2, 5, 5, 5, 5, 6};
  for (std::int64_t ms = 0; ms <= 7; ++ms)
    EXPECT_NEAR(bytes_until(trace, Time::ns(ms * 1'000'000)), 1500 * packets[ms], 1e-6) << ms;
  EXPECT_NEAR(bytes_until(trace, Time::ns(2'500'000)), 1500 * 3.5, 1e-6);
  EXPECT_NEAR(bytes_until(trace, Time::ns(15'000'000)), 1500 * 14, 1e-6) << "it repeats";
  for (std::size_t i = 1; i < trace.steps.size(); ++i)
    EXPECT_LT(trace.steps[i - 1].start, trace.steps[i].start);
}

TEST(BandwidthTrace, ARowOfTwoColumnsHoldsSinceTheRowBefore) {
  const BandwidthTrace trace = parse_bandwidth_trace(kTwoColumns, "trace");
  EXPECT_EQ(trace.format, "seconds and Mbit/s");
  EXPECT_EQ(trace.period, Time::seconds(4.5));
  ASSERT_EQ(trace.steps.size(), 3u);
  EXPECT_EQ(trace.steps[0].start, Time());
  EXPECT_EQ(trace.steps[0].rate, BitRate::bits_per_s(4e6));
  EXPECT_EQ(trace.steps[1].start, Time::seconds(1.5));
  EXPECT_EQ(trace.steps[1].rate, BitRate());
  EXPECT_EQ(trace.steps[2].start, Time::seconds(2.5));
  EXPECT_NEAR(bytes_until(trace, Time::seconds(3.5)), (1.5 * 4e6 + 1 * 2e6) / 8, 1e-6);
}

TEST(BandwidthTrace, Errors) {
  EXPECT_THAT(error_of(""), StartsWith("trace: it is empty"));
  EXPECT_THAT(error_of("\n \n"), HasSubstr("it is empty"));
  EXPECT_THAT(error_of(std::string("1\n\0\n", 4)), HasSubstr("binary"));
  EXPECT_THAT(error_of("1\n\n2\n"), StartsWith("trace:2: the line is empty"));
  EXPECT_THAT(error_of("5\n4\n"), StartsWith("trace:2: 4 ms after 5 ms"));
  EXPECT_THAT(error_of("0\n0\n"), StartsWith("trace:2: the last time stamp is 0"));
  EXPECT_THAT(error_of("1\n1.5\n"), StartsWith("trace:2: \"1.5\" is no whole number of ms"));
  EXPECT_THAT(error_of("-1\n"), StartsWith("trace:1: \"-1\""));
  EXPECT_THAT(error_of("1\n99999999999999999999\n"), StartsWith("trace:2: "));
  EXPECT_THAT(error_of("1\n2 3\n"), StartsWith("trace:2: \"2 3\""));
  EXPECT_THAT(error_of("0 1\n1 nan\n"), StartsWith("trace:2: bandwidth: \"nan\""));
  EXPECT_THAT(error_of("0 1\n1 1e400\n"), StartsWith("trace:2: bandwidth: \"1e400\""));
  EXPECT_THAT(error_of("0 1\n1 -1\n"), StartsWith("trace:2: bandwidth: \"-1\""));
  EXPECT_THAT(error_of("0 1\n1\n"), StartsWith("trace:2: bandwidth: \"\""));
  EXPECT_THAT(error_of("0 1\n1 2 3\n"), StartsWith("trace:2: bandwidth: \"2 3\""));
  EXPECT_THAT(error_of("0 1\ninf 1\n"), StartsWith("trace:2: time: \"inf\""));
  EXPECT_THAT(error_of("0 1\n0 1\n"), StartsWith("trace:2: 0 s after 0 s"));
  EXPECT_THAT(error_of("2 1\n1 1\n"), StartsWith("trace:2: 1 s after 2 s"));
  EXPECT_THAT(error_of("0 1\n"), StartsWith("trace:1: there is one row"));
  EXPECT_THAT(error_of("0 1\n1 0\n"), StartsWith("trace: its bandwidth is 0"));
  EXPECT_THAT(error_of("time,rate\n"), StartsWith("trace:1: \"time,rate\" begins no bandwidth"));
  EXPECT_THROW(read_bandwidth_trace(std::filesystem::temp_directory_path().string()), InputError);
  EXPECT_THROW(read_bandwidth_trace("/no/such/file"), InputError);
}

constexpr const char* kUcc =
    "Timestamp,Speed,DL_bitrate,UL_bitrate\n2019.12.31_23.59.58,1,100,7\n"
    "2019.12.31_23.59.59,1,200,8\n2019.12.31_23.59.59,1,-,9\n2020.01.01_00.00.02,1,0,10\n";
constexpr const char* kStarlink =
    "timestamp_start_dl,timestamp_end_dl,download,timestamp_start_ul,timestamp_end_ul,upload\n"
    "2024-02-28 23:59:59.000000001,2024-02-29 00:00:00.000000001,8,2024-02-28 23:59:59,2024-02-29 "
    "00:00:00,4\n"
    "2024-02-29 00:00:10.000000001,2024-02-29 00:00:11.000000001,0.0,2024-02-29 00:00:00,"
    "2024-02-29 00:00:01,0.0\n";
constexpr const char* kPantheon =
    R"({"timestamps": [0.5, 1.0, 2.0], "bandwidths": [8, 0, 16.0], "delays": [78.1]})";

TEST(BandwidthTrace, UccSharesASecondAndKnowsItsHoles) {
  const BandwidthTrace trace = parse_bandwidth_trace(kUcc, "trace");
  EXPECT_EQ(trace.format, "UCC 5G");
  ASSERT_EQ(trace.steps.size(), 3u);
  EXPECT_EQ(trace.steps[0].rate, BitRate::bits_per_s(100e3));
  EXPECT_EQ(trace.steps[1].start, Time::seconds(1));
  EXPECT_EQ(trace.steps[2].start, Time::seconds(4));
  EXPECT_EQ(trace.steps[2].rate, BitRate());
  EXPECT_EQ(trace.period, Time::seconds(5));
  ASSERT_EQ(trace.holes.size(), 1u);  // the "-" and the two seconds that are not there
  EXPECT_EQ(trace.holes[0].start, Time::seconds(1.5));
  EXPECT_EQ(trace.holes[0].end, Time::seconds(4));
  const BandwidthTrace up = parse_bandwidth_trace(kUcc, "trace", TraceDirection::UP);
  EXPECT_EQ(up.steps[2].start, Time::seconds(1.5));
  EXPECT_EQ(up.steps[2].rate, BitRate::bits_per_s(9e3));
}

TEST(BandwidthTrace, StarlinkToTheNanosecond) {
  const BandwidthTrace trace = parse_bandwidth_trace(kStarlink, "trace");
  EXPECT_EQ(trace.format, "Starlink");
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[1].start, Time::seconds(11));
  EXPECT_EQ(trace.period, Time::seconds(12));
  ASSERT_EQ(trace.holes.size(), 1u);
  EXPECT_EQ(trace.holes[0].start, Time::seconds(1));
  const BandwidthTrace up = parse_bandwidth_trace(kStarlink, "trace", TraceDirection::UP);
  EXPECT_TRUE(up.holes.empty());
  EXPECT_EQ(up.steps[1].rate, BitRate());  // an outage
}

TEST(BandwidthTrace, PantheonHoldsForward) {
  const BandwidthTrace trace = parse_bandwidth_trace(kPantheon, "trace");
  EXPECT_EQ(trace.format, "Pantheon");
  EXPECT_EQ(trace.period, Time::seconds(2.5));
  EXPECT_NEAR(bytes_until(trace, Time::seconds(2.5)), 0.5e6 + 2e6, 1e-6);
}

TEST(BandwidthTrace, LogErrors) {
  const std::string ucc = kUcc, starlink = kStarlink, pantheon = kPantheon;
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(error_of(with(ucc, ",200,", ",nan,")), StartsWith("trace:3:23: DL_bitrate: \"nan\""));
  EXPECT_THAT(error_of(with(ucc, ",200,", ",-1,")), HasSubstr("is negative"));
  EXPECT_THAT(error_of(with(ucc, ",200,", ",1e400,")), HasSubstr("DL_bitrate: \"1e400\""));
  EXPECT_THAT(error_of(with(ucc, "01.01", "13.01")), StartsWith("trace:5:1: Timestamp: "));
  EXPECT_THAT(error_of(with(ucc, "2020.01", "2018.01")), HasSubstr("must not decrease"));
  EXPECT_THAT(error_of(with(ucc, ",200,8", ",200")), StartsWith("trace:3: the row has 3 fields"));
  EXPECT_THAT(error_of("Timestamp,DL_bitrate\n"), HasSubstr("no rows"));
  EXPECT_THAT(error_of("Timestamp,DL_bitrate\n2019.12.31_23.59.58,-\n"), HasSubstr("missing"));
  EXPECT_THAT(error_of(with(starlink, "00:00:10.0", "00:61:10.0")), HasSubstr("is no time"));
  EXPECT_THAT(error_of(with(starlink, "00:00:11.0", "00:00:09.0")),
              HasSubstr("not after its start"));
  EXPECT_THAT(error_of(with(starlink, "download", "down")), HasSubstr("no column download"));
  EXPECT_THAT(error_of(with(pantheon, "1.0", "0.5")), StartsWith("trace: timestamps[1]: "));
  EXPECT_THAT(error_of(with(pantheon, "16.0", "-1")), StartsWith("trace: bandwidths[2]: -1"));
  EXPECT_THAT(error_of(with(pantheon, "16.0", "1e400")), StartsWith("trace: "));
  EXPECT_THAT(error_of(with(pantheon, ", 16.0", "")), HasSubstr("2 values for 3 timestamps"));
}

// Cut anywhere, it is read or refused by name.
TEST(BandwidthTrace, Truncated) {
  for (const std::string whole : {"0\n1\n3\n3\n3\n17\n", kTwoColumns, kUcc, kStarlink, kPantheon}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string message = error_of(whole.substr(0, size));
      EXPECT_TRUE(message == "no error" || message.starts_with("trace:")) << message;
    }
  }
}

TEST(BandwidthTrace, AttLteUplink) {
  PUBLIC_FILE(path, "mahimahi/ATT-LTE-driving-2016.up");
  const BandwidthTrace trace = read_bandwidth_trace(path);
  EXPECT_EQ(trace.period, Time::ns(120'002'000'000));
  EXPECT_NEAR(bytes_until(trace, trace.period), 19101 * 1500.0, 1e-3);
  EXPECT_NEAR(bytes_until(trace, trace.period) * 8 / 120.002, 1.91007e6, 10);
  EXPECT_LT(bytes_until(trace, Time::ns(1'777'000'000)), 1e6);
  EXPECT_GE(bytes_until(trace, Time::ns(1'778'000'000)), 1e6);
}

TEST(BandwidthTrace, VerizonEvdoHasAHole) {
  PUBLIC_FILE(path, "mahimahi/Verizon-EVDO-driving.down");
  const BandwidthTrace trace = read_bandwidth_trace(path);
  const double before = bytes_until(trace, Time::ns(759'253'000'000));
  EXPECT_NEAR(bytes_until(trace, Time::ns(770'819'000'000)), before, 1e-3);
  EXPECT_GE(bytes_until(trace, Time::ns(770'820'000'000)), before + 1499);
}

TEST(BandwidthTrace, NorwayBus) {
  PUBLIC_FILE(path, "norway3g/bus.ljansbakken-oslo-report.2010-09-28_1407CEST.log_0");
  const BandwidthTrace trace = read_bandwidth_trace(path);
  EXPECT_NEAR(bytes_until(trace, Time::seconds(1.01)) * 8, 1.3727e6, 50);
}

TEST(BandwidthTrace, Ucc5g) {
  PUBLIC_FILE(path, "ucc5g/B_2019.12.16_11.49.59.csv");
  const BandwidthTrace trace = read_bandwidth_trace(path);
  EXPECT_EQ(trace.steps.size(), 401u);
  EXPECT_EQ(trace.period, Time::seconds(394));
  BitRate most;
  int zeros = 0, shared = 0;
  for (const BandwidthTrace::Step& step : trace.steps) {
    most = std::max(most, step.rate);
    zeros += step.rate == BitRate();
    shared += step.start.count_ns() % 1'000'000'000 != 0;
  }
  EXPECT_EQ(most, BitRate::bits_per_s(22826e3));
  EXPECT_EQ(zeros, 4);
  EXPECT_EQ(shared, 59) << "rows that repeat a time stamp";
  EXPECT_EQ(trace.holes.size(), 48u) << "44 steps of 2 s and 4 of 3 s";
}

TEST(BandwidthTrace, Starlink) {
  PUBLIC_FILE(path, "starlink/autobahn_throughput_head600.csv");
  const BandwidthTrace down = read_bandwidth_trace(path);
  EXPECT_EQ(down.steps.size(), 600u);
  Time longest;
  for (std::size_t i = 1; i < down.steps.size(); ++i)
    longest = std::max(longest, down.steps[i].start - down.steps[i - 1].start);
  EXPECT_NEAR(longest.in_seconds(), 38.999, 5e-4);
  Time hole;
  for (const BandwidthTrace::Hole& each : down.holes) hole = std::max(hole, each.end - each.start);
  EXPECT_EQ(hole, Time::ns(37'999'010'048));
  EXPECT_EQ(down.holes.size(), 10u);
  const BandwidthTrace up = read_bandwidth_trace(path, TraceDirection::UP);
  EXPECT_EQ(std::count_if(up.steps.begin(), up.steps.end(),
                          [](const auto& step) { return step.rate == BitRate(); }),
            76);
}

TEST(BandwidthTrace, Pantheon) {
  PUBLIC_FILE(path, "pantheon/china_ppp0_to_aws_korea_bbr_run1.json");
  const BandwidthTrace trace = read_bandwidth_trace(path);
  EXPECT_EQ(trace.steps.size(), 61u);
  EXPECT_EQ(trace.period, Time::seconds(30.5));
}

TEST(BandwidthTrace, EveryPublicFileIsReadOrRefusedByName) {
  PUBLIC_FILE(folder, "");
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    try {
      read_bandwidth_trace(path);
      ++read;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), StartsWith(path));
    }
  }
  EXPECT_EQ(read, 12);  // mahimahi 4, Norway 2, FCC 1, Lumos5G 2, UCC, Starlink, Pantheon
}

}  // namespace
}  // namespace syncline
