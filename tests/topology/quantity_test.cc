#include "topology/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(std::string_view text, Dimension dimension) {
  try {
    parse_quantity(text, dimension);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct Right {
  const char* text;
  Dimension dimension;
  double value;
};

class ParsesExactly : public testing::TestWithParam<Right> {};

TEST_P(ParsesExactly, InBaseUnits) {
  EXPECT_EQ(parse_quantity(GetParam().text, GetParam().dimension), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Time, ParsesExactly,
    testing::Values(Right{"20 ms", Dimension::TIME, 0.02}, Right{"20ms", Dimension::TIME, 0.02},
                    Right{"  20\tms \n", Dimension::TIME, 0.02},
                    Right{"1 ns", Dimension::TIME, 1e-9}, Right{"3 us", Dimension::TIME, 3e-6},
                    Right{"3 \u00b5s", Dimension::TIME, 3e-6},
                    Right{"3 \u03bcs", Dimension::TIME, 3e-6},
                    Right{"0.3 ms", Dimension::TIME, 0.0003}, Right{"1e3 ms", Dimension::TIME, 1},
                    Right{"1.5e-3s", Dimension::TIME, 0.0015}, Right{"2 min", Dimension::TIME, 120},
                    Right{"2 h", Dimension::TIME, 7200}, Right{"1.5 d", Dimension::TIME, 129600},
                    Right{"0 s", Dimension::TIME, 0}));

INSTANTIATE_TEST_SUITE_P(
    BitRate, ParsesExactly,
    testing::Values(
        Right{"20Mbps", Dimension::BIT_RATE, 2.5e6}, Right{"20MBps", Dimension::BIT_RATE, 2e7},
        Right{"1Pbps", Dimension::BIT_RATE, 1.25e14},
        Right{"1 Gbit/s", Dimension::BIT_RATE, 1.25e8}, Right{"1 GB/s", Dimension::BIT_RATE, 1e9},
        Right{"8 Mb/s", Dimension::BIT_RATE, 1e6}, Right{"8 MB/s", Dimension::BIT_RATE, 8e6},
        Right{"8 kbit/s", Dimension::BIT_RATE, 1000}, Right{"8 Kbit/s", Dimension::BIT_RATE, 1000},
        Right{"1 Kibit/s", Dimension::BIT_RATE, 128}, Right{"1 KiB/s", Dimension::BIT_RATE, 1024},
        Right{"1 TiB/s", Dimension::BIT_RATE, 1099511627776.0},
        Right{"8 bit/s", Dimension::BIT_RATE, 1}, Right{"8 bps", Dimension::BIT_RATE, 1},
        Right{"0 bit/s", Dimension::BIT_RATE, 0}));

INSTANTIATE_TEST_SUITE_P(Bytes, ParsesExactly,
                         testing::Values(Right{"3.5 MiB", Dimension::BYTES, 3670016},
                                         Right{"100 B", Dimension::BYTES, 100},
                                         Right{"1 kB", Dimension::BYTES, 1000},
                                         Right{"1 KB", Dimension::BYTES, 1000},
                                         Right{"1 KiB", Dimension::BYTES, 1024},
                                         Right{"2 PB", Dimension::BYTES, 2e15}));

INSTANTIATE_TEST_SUITE_P(Number, ParsesExactly,
                         testing::Values(Right{"0.6", Dimension::NUMBER, 0.6},
                                         Right{" 12 ", Dimension::NUMBER, 12}));

TEST(ParseQuantity, MinusZeroIsZero) {
  EXPECT_FALSE(std::signbit(parse_quantity("-0 ms", Dimension::TIME)));
}

// The whole message: one sentence with what was read and a right form.
TEST(ParseQuantity, WantsAUnit) {
  EXPECT_EQ(error_of("20", Dimension::BIT_RATE),
            "\"20\" has no unit; write for example \"1 Gbit/s\"");
  EXPECT_EQ(error_of("0", Dimension::TIME), "\"0\" has no unit; write for example \"20 ms\"");
  EXPECT_EQ(error_of("1e6", Dimension::BYTES), "\"1e6\" has no unit; write for example \"3.5 MB\"");
}

TEST(ParseQuantity, SaysTheRateThatASizeIsShortOf) {
  EXPECT_EQ(error_of("20 Gbit", Dimension::BIT_RATE),
            "\"20 Gbit\" is not a bit rate; write \"20 Gbit/s\"");
  EXPECT_EQ(error_of("20GB", Dimension::BIT_RATE), "\"20GB\" is not a bit rate; write \"20 GB/s\"");
}

TEST(ParseQuantity, RefusesAUnitOfAnotherDimension) {
  EXPECT_EQ(error_of("20 ms", Dimension::BIT_RATE),
            "\"20 ms\" is a time, not a bit rate; write for example \"1 Gbit/s\"");
  EXPECT_EQ(error_of("1 Gbit/s", Dimension::TIME),
            "\"1 Gbit/s\" is a bit rate, not a time; write for example \"20 ms\"");
  EXPECT_EQ(error_of("1 MB/s", Dimension::BYTES),
            "\"1 MB/s\" is a bit rate, not a size in bytes; write for example \"3.5 MB\"");
  EXPECT_EQ(error_of("50%", Dimension::NUMBER),
            "\"50%\" has a unit, but a plain number is wanted; write for example \"0.5\"");
}

TEST(ParseQuantity, SaysHowAUnitIsSpelled) {
  EXPECT_EQ(error_of("20 mbit/s", Dimension::BIT_RATE),
            "\"20 mbit/s\" has the unknown unit \"mbit/s\" for a bit rate; write \"20 Mbit/s\"");
  EXPECT_EQ(error_of("20 mb/s", Dimension::BIT_RATE),
            "\"20 mb/s\" has the unknown unit \"mb/s\" for a bit rate; write \"20 Mb/s\" or "
            "\"20 MB/s\"");
  EXPECT_EQ(error_of("5 KBIT/S", Dimension::BIT_RATE),
            "\"5 KBIT/S\" has the unknown unit \"KBIT/S\" for a bit rate; write \"5 kbit/s\"");
  EXPECT_EQ(error_of("5 hours", Dimension::TIME),
            "\"5 hours\" has the unknown unit \"hours\" for a time; write for example \"20 ms\"");
}

TEST(ParseQuantity, RefusesWhatIsNegative) {
  EXPECT_EQ(error_of("-1 ms", Dimension::TIME),
            "\"-1 ms\" is negative, but a time is at least 0; write for example \"20 ms\"");
  EXPECT_THAT(error_of("-0.5", Dimension::NUMBER), HasSubstr("\"-0.5\" is negative"));
  EXPECT_THAT(error_of("-1e-300 Gbit/s", Dimension::BIT_RATE), HasSubstr("is negative"));
}

TEST(ParseQuantity, RefusesWhatIsNotAFiniteDecimal) {
  for (const char* text : {"inf s", "infinity s", "nan s", "-inf s"}) {
    EXPECT_THAT(error_of(text, Dimension::TIME), HasSubstr("is not finite; write for example"))
        << text;
  }
  for (const char* text : {"1e999 s", "1e-999 s", "1e308 d"}) {
    EXPECT_THAT(error_of(text, Dimension::TIME), HasSubstr("is out of range")) << text;
  }
  for (const char* text :
       {"", "   ", "ms", "+1 ms", "fast", "1,000 ms", "1.2.3 s", "1 2 s", "--1 s"}) {
    EXPECT_THAT(error_of(text, Dimension::TIME), HasSubstr("is not a time; write for example"))
        << text;
  }
  EXPECT_THAT(error_of("0x10 ms", Dimension::TIME), HasSubstr("unknown unit \"x10 ms\""));
}

TEST(ParseQuantity, TypedFormsAgree) {
  EXPECT_EQ(parse_time("20 ms"), Time::ns(20'000'000));
  EXPECT_EQ(parse_time("1e300 d"), Time::max());
  EXPECT_EQ(parse_bit_rate("1 Gbit/s"), BitRate::bits_per_s(1e9));
  EXPECT_EQ(parse_bytes("1.6 B"), Bytes(2));
  EXPECT_EQ(parse_bytes("0.4 B"), Bytes(0));
  EXPECT_THROW(parse_bytes("9300 PB"), InputError);
}

TEST(Time, ComesFromSecondsRoundedToNearest) {
  EXPECT_EQ(Time::seconds(1.5e-9).count_ns() % 2, 0);
  EXPECT_EQ(Time::seconds(1.4e-9), Time::ns(1));
  EXPECT_EQ(Time::seconds(-1.6e-9), Time::ns(-2));
  EXPECT_EQ(Time::seconds(1.9), Time::ns(1'900'000'000));
  EXPECT_EQ(Time::seconds(0.1), Time::ns(100'000'000));
}

TEST(Time, FromSecondsSaturates) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double s : {1e10, 1e300, 9223372036.8547758, infinity}) {
    EXPECT_EQ(Time::seconds(s), Time::max()) << s;
    EXPECT_EQ(Time::seconds(-s), Time::min()) << s;
  }
  EXPECT_LT(Time::seconds(9.2e9), Time::max());
}

TEST(TimeDeathTest, RefusesNaN) {
  EXPECT_DEATH(Time::seconds(std::nan("")), "quantity.cc:[0-9]+: check failed: .*not a number");
  EXPECT_DEATH(Time::ns(1) * -1, "check failed: factor >= 0");
}

TEST(Time, SaturatesBothWays) {
  const Time never = Time::max();
  const Time almost = Time::ns(std::numeric_limits<std::int64_t>::max() - 1);
  EXPECT_EQ(almost + Time::ns(1), never);
  EXPECT_EQ(almost + almost, never);
  EXPECT_EQ(Time::min() + Time::ns(-1), Time::min());
  EXPECT_EQ(Time::min() - Time::ns(1), Time::min());
  EXPECT_EQ(almost - Time::min(), never);
  EXPECT_EQ(Time::ns(3) - Time::ns(5), Time::ns(-2));
  EXPECT_EQ(Time::ns(3) + Time::ns(-5), Time::ns(-2));
  EXPECT_EQ(almost * 2, never);
  EXPECT_EQ(Time::ns(-2) * std::numeric_limits<std::int64_t>::max(), Time::min());
  EXPECT_EQ(Time::ns(7) * 6, Time::ns(42));
  Time t = almost;
  t += Time::ns(5);
  EXPECT_EQ(t, never);
}

TEST(Time, NeverAbsorbs) {
  const Time never = Time::max();
  EXPECT_EQ(never + Time::ns(-5), never);
  EXPECT_EQ(Time::ns(-5) + never, never);
  EXPECT_EQ(never - Time::ns(5), never);
  EXPECT_EQ(never - never, never);
  EXPECT_EQ(never * 1, never);
  EXPECT_EQ(never * 0, Time());
}

TEST(ToText, OfTimes) {
  EXPECT_EQ(to_text(Time()), "0 s");
  EXPECT_EQ(to_text(Time::ns(1)), "1 ns");
  EXPECT_EQ(to_text(Time::ns(999)), "999 ns");
  EXPECT_EQ(to_text(Time::ns(20'000'000)), "20 ms");
  EXPECT_EQ(to_text(Time::seconds(1.5)), "1.5 s");
  EXPECT_EQ(to_text(Time::seconds(-1.5)), "-1.5 s");
  EXPECT_EQ(to_text(Time::seconds(90)), "90 s");
  EXPECT_EQ(to_text(Time::seconds(120)), "2 min");
  EXPECT_EQ(to_text(Time::seconds(3600)), "1 h");
  EXPECT_EQ(to_text(Time::seconds(5400)), "1.5 h");
  EXPECT_EQ(to_text(Time::seconds(129600)), "1.5 d");
  EXPECT_EQ(to_text(Time::seconds(86400e4)), "10000 d");
  EXPECT_EQ(to_text(Time::max()), "never");
}

TEST(ToText, ChoosesTheUnitAfterRounding) {
  EXPECT_EQ(to_text(Time::ns(999'949'999)), "999.9 ms");
  EXPECT_EQ(to_text(Time::ns(999'960'000)), "1 s");
  EXPECT_EQ(to_text(Time::seconds(3599.99)), "1 h");
  EXPECT_EQ(to_text(Bytes(999'999)), "1 MB");
}

TEST(ToText, OfRatesAndBytes) {
  EXPECT_EQ(to_text(parse_bit_rate("1 Gbit/s")), "1 Gbit/s");
  EXPECT_EQ(to_text(parse_bit_rate("20MBps")), "160 Mbit/s");
  EXPECT_EQ(to_text(parse_bit_rate("1Pbps")), "1 Pbit/s");
  EXPECT_EQ(to_text(BitRate::bits_per_s(0)), "0 bit/s");
  EXPECT_EQ(to_text(BitRate::bits_per_s(0.25)), "0.25 bit/s");
  EXPECT_EQ(to_text(BitRate::bits_per_s(1e20)), "100000 Pbit/s");
  EXPECT_EQ(to_text(BitRate::infinite()), "no limit");
  EXPECT_EQ(to_text(Bytes(3'412'345)), "3.412 MB");
  EXPECT_EQ(to_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_text(Bytes(999)), "999 B");
  EXPECT_EQ(to_text(Bytes(-2500)), "-2.5 kB");
  EXPECT_EQ(to_text(Bytes(std::numeric_limits<std::int64_t>::max())), "9223 PB");
}

TEST(ToText, ReadsBackToFourDigits) {
  const double within = 0.5e-3 * (1 + 1e-9);  // half a unit of the fourth digit of 1.000
  for (double value = 1; value < 8e18; value *= 1.37) {
    const auto count = static_cast<std::int64_t>(value);
    const Time time = Time::ns(count);
    EXPECT_NEAR(parse_time(to_text(time)).in_seconds() / time.in_seconds(), 1, within);
    const Bytes bytes(count);
    EXPECT_NEAR(
        static_cast<double>(parse_bytes(to_text(bytes)).count()) / static_cast<double>(count), 1,
        within);
    const BitRate rate = BitRate::bytes_per_s(value * 1e-3);
    EXPECT_NEAR(parse_bit_rate(to_text(rate)).in_bytes_per_s() / rate.in_bytes_per_s(), 1, within);
  }
}

TEST(InputError, GetsItsPlaceInFront) {
  const InputError problem("\"1000\" has no unit");
  EXPECT_STREQ(problem.at("a.textproto:3: bandwidth").what(),
               "a.textproto:3: bandwidth: \"1000\" has no unit");
  EXPECT_STREQ(problem.at("").what(), problem.what());
}

}  // namespace
}  // namespace syncline
