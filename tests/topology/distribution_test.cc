#include "topology/distribution.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text, Dimension dimension) {
  try {
    Distribution::parse(text, dimension);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<double> draws(std::string_view text, Dimension dimension, int count) {
  RandomStream random(7, text);
  const Distribution distribution = Distribution::parse(text, dimension);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(distribution.draw(random));
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Results are promised to be the same everywhere: a change of these values is a change of every
// seeded scenario.
TEST(RandomStream, GoldenValues) {
  RandomStream random(1, "milan-core");
  EXPECT_EQ(random.next(), 16383407037282859272u);
  EXPECT_EQ(random.next(), 2186760172120960544u);
  EXPECT_DOUBLE_EQ(random.uniform(), 0.061215032501665489);
  EXPECT_DOUBLE_EQ(random.normal(), 0.39764087610614163);
  EXPECT_DOUBLE_EQ(
      Distribution::parse("lognormal(8 Mbit/s, 0.6)", Dimension::BIT_RATE).draw(random),
      928196.95400110085);
  EXPECT_DOUBLE_EQ(Distribution::parse("exponential(2 h)", Dimension::TIME).draw(random),
                   11600.241552198091);
  EXPECT_DOUBLE_EQ(Distribution::parse("uniform(10 ms, 60 ms)", Dimension::TIME).draw(random),
                   0.048933114679078564);
}

TEST(RandomStream, IsItsSeedAndName) {
  EXPECT_EQ(RandomStream(1, "a").next(), RandomStream(1, "a").next());
  EXPECT_NE(RandomStream(1, "a").next(), RandomStream(2, "a").next());
  EXPECT_NE(RandomStream(1, "a").next(), RandomStream(1, "b").next());
  EXPECT_NE(RandomStream(1, "").next(), RandomStream(0, "").next());
}

TEST(RandomStream, StreamsOfDifferentNamesAreUncorrelated) {
  double product = 0;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    RandomStream a(5, fmt::format("device{}", i));
    RandomStream b(5, fmt::format("device{}", i + 1));
    product += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  }
  EXPECT_NEAR(product / kCount * 12, 0, 0.03);  // a correlation; 4 standard deviations
}

TEST(RandomStream, UniformAndNormalHaveTheirMoments) {
  RandomStream random(3, "moments");
  constexpr int kCount = 100000;
  double uniform = 0, normal = 0, square = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    const double z = random.normal();
    normal += z;
    square += z * z;
  }
  EXPECT_NEAR(uniform / kCount, 0.5, 0.004);
  EXPECT_NEAR(normal / kCount, 0, 0.013);
  EXPECT_NEAR(square / kCount, 1, 0.018);
}

TEST(Distribution, OfAQuantityIsConstant) {
  const Distribution d = Distribution::parse(" 20 ms ", Dimension::TIME);
  RandomStream random(1, "x");
  EXPECT_TRUE(d.is_constant());
  EXPECT_EQ(d.draw(random), 0.02);
  EXPECT_EQ(d.median(), 0.02);
  EXPECT_EQ(random.next(), RandomStream(1, "x").next()) << "a constant takes no draw";
}

TEST(Distribution, Uniform) {
  const auto values = draws("uniform(10 ms, 60 ms)", Dimension::TIME, 50000);
  EXPECT_GE(*std::ranges::min_element(values), 0.010);
  EXPECT_LT(*std::ranges::max_element(values), 0.060);
  EXPECT_NEAR(mean_of(values), 0.035, 0.0003);
  EXPECT_DOUBLE_EQ(Distribution::parse("uniform(10 ms, 60 ms)", Dimension::TIME).median(), 0.035);
}

TEST(Distribution, Lognormal) {
  const auto values = draws("lognormal(8 Mbit/s, 0.6)", Dimension::BIT_RATE, 50000);
  EXPECT_NEAR(median_of(values) / 1e6, 1, 0.015);
  EXPECT_NEAR(mean_of(values) / 1e6, std::exp(0.6 * 0.6 / 2), 0.015);
  const Distribution d = Distribution::parse("lognormal(8 Mbit/s, 0.6)", Dimension::BIT_RATE);
  EXPECT_FALSE(d.is_constant());
  EXPECT_EQ(d.median(), 1e6);
}

TEST(Distribution, Exponential) {
  const auto values = draws("exponential(2 h)", Dimension::TIME, 50000);
  EXPECT_GE(*std::ranges::min_element(values), 0);
  EXPECT_NEAR(mean_of(values) / 7200, 1, 0.02);
  EXPECT_NEAR(median_of(values) / 7200, std::numbers::ln2, 0.02);
  EXPECT_DOUBLE_EQ(Distribution::parse("exponential(2 h)", Dimension::TIME).median(),
                   7200 * std::numbers::ln2);
}

TEST(Distribution, Degenerate) {
  EXPECT_THAT(draws("uniform(5 s, 5 s)", Dimension::TIME, 3), testing::Each(5.0));
  EXPECT_THAT(draws("lognormal(5 s, 0)", Dimension::TIME, 3), testing::Each(5.0));
  EXPECT_THAT(draws("lognormal(0 s, 1)", Dimension::TIME, 3), testing::Each(0.0));
  EXPECT_THAT(draws("exponential(0 s)", Dimension::TIME, 3), testing::Each(0.0));
  EXPECT_THAT(draws("uniform( 5s ,5s )", Dimension::TIME, 1), testing::Each(5.0));
}

TEST(Distribution, Errors) {
  EXPECT_EQ(error_of("20", Dimension::TIME), "\"20\" has no unit; write for example \"20 ms\"");
  EXPECT_EQ(error_of("normal(1 s, 2 s)", Dimension::TIME),
            "\"normal(1 s, 2 s)\" is no distribution; write a quantity, uniform(LOW, HIGH), "
            "lognormal(MEDIAN, SIGMA) or exponential(MEAN)");
  EXPECT_EQ(error_of("uniform(10 ms)", Dimension::TIME),
            "\"uniform(10 ms)\" has 1 values in brackets, not 2; write uniform(LOW, HIGH)");
  EXPECT_THAT(error_of("exponential(1 s, 2 s)", Dimension::TIME), HasSubstr("exponential(MEAN)"));
  EXPECT_THAT(error_of("exponential()", Dimension::TIME), HasSubstr("\"\" is not a time"));
  EXPECT_EQ(error_of("uniform(10 ms, 60)", Dimension::TIME),
            "\"uniform(10 ms, 60)\": \"60\" has no unit; write for example \"20 ms\"");
  EXPECT_EQ(error_of("uniform(60 ms, 10 ms)", Dimension::TIME),
            "\"uniform(60 ms, 10 ms)\" has a low end above its high end; write uniform(10 ms, "
            "60 ms)");
  EXPECT_THAT(error_of("lognormal(8 Mbit/s, -1)", Dimension::BIT_RATE),
              HasSubstr("\"-1\" is negative"));
  EXPECT_THAT(error_of("lognormal(8 Mbit/s, 1 s)", Dimension::BIT_RATE),
              HasSubstr("\"1 s\" has a unit, but a plain number is wanted"));
  EXPECT_THAT(error_of("uniform(1 s, 2 s", Dimension::TIME), HasSubstr("does not end with \")\""));
  EXPECT_THAT(error_of("uniform(", Dimension::TIME), HasSubstr("does not end with \")\""));
  EXPECT_THAT(error_of("uniform(1 s, 2 s) s", Dimension::TIME),
              HasSubstr("does not end with \")\""));
  EXPECT_THAT(error_of("", Dimension::TIME), HasSubstr("is not a time"));
}

}  // namespace
}  // namespace syncline
