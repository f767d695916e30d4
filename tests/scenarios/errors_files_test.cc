// Files that are no scenarios at all.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/scenarios/base_scenario.h"

namespace syncline {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ScenarioFile, NotThere) {
  const BaseScenario base;
  EXPECT_EQ(base.error_of(base.folder() + "/nowhere.textproto"),
            "nowhere.textproto: there is no such file");
}

TEST(ScenarioFile, AFolder) {
  const BaseScenario base;
  EXPECT_THAT(base.error_of(base.folder()), testing::HasSubstr("this is no file"));
}

TEST(ScenarioFile, ADevice) {
  const BaseScenario base;
  EXPECT_THAT(base.error_of("/dev/zero"), testing::StartsWith("/dev/zero: this is no file"));
}

TEST(ScenarioFile, Empty) {
  const BaseScenario base;
  EXPECT_THAT(base.error_of(base.write("empty.textproto", "")),
              testing::StartsWith("empty.textproto: topology: is missing"));
}

TEST(ScenarioFile, Binary) {
  const BaseScenario base;
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 37 % 256);
  const std::string message = base.error_of(base.write("binary.textproto", bytes));
  EXPECT_THAT(message, testing::StartsWith("binary.textproto:1:"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(ScenarioFile, TooLarge) {
  const BaseScenario base;
  const std::string file = base.write("large.textproto", "");
  std::filesystem::resize_file(file, (64u << 20) + 1);  // holes: takes no room
  EXPECT_EQ(base.error_of(file), "large.textproto: larger than 64 MiB; this is no scenario");
}

// The recursion of the parser must not follow the file.
TEST(ScenarioFile, DeeplyNested) {
  const BaseScenario base;
  EXPECT_THAT(base.error_of(base.write("deep.textproto", repeated("topology {", 100'000))),
              testing::StartsWith("deep.textproto:1:20: Topology has no field \"topology\""));
  EXPECT_THAT(base.error_of(base.write("deep.textproto", repeated("unknown {", 100'000))),
              testing::StartsWith("deep.textproto:1:9: Scenario has no field \"unknown\""));
  EXPECT_THAT(base.error_of(base.write("deep.textproto", repeated("[a.b] {", 100'000))),
              testing::StartsWith("deep.textproto:1:"));
  EXPECT_THAT(
      base.error_of(base.write("deep.textproto", "workers { at: " + repeated("[", 100'000))),
      testing::StartsWith("deep.textproto:1:"));
}

TEST(ScenarioFile, IsNamedAfterItsFile) {
  const BaseScenario base;
  EXPECT_EQ(load_scenario(base.write("two_sites.textproto", BaseScenario::text({{1, ""}})),
                          base.options())
                .name,
            "two_sites");
  EXPECT_THAT(base.error_of(base.write("two sites.textproto", BaseScenario::text({{1, ""}}))),
              testing::StartsWith("two sites.textproto: name: \"two sites\" cannot name a folder"));
}

// Windows' line ends, comments, and a file without a last line end.
TEST(ScenarioFile, OtherWaysToWriteIt) {
  const BaseScenario base;
  std::string text = "# A comment\r\n" + BaseScenario::text();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  while (text.back() == '\n' || text.back() == '\r') text.pop_back();
  EXPECT_EQ(base.load_text(text).written, base.load().written);
}

}  // namespace
}  // namespace syncline
