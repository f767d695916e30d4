// A scenario that is wrong, and what the message must say: where, the field, and what would be
// right.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/scenarios/base_scenario.h"

namespace syncline {

struct ErrorCase {
  std::string name;
  Lines lines;            // changed in the base scenario
  std::string beginning;  // of the message: "base.textproto:LINE: FIELD: "
  std::vector<std::string> parts;
  friend void PrintTo(const ErrorCase& wrong, std::ostream* out) { *out << wrong.name; }
};

inline std::string name_of(const testing::TestParamInfo<ErrorCase>& info) {
  return info.param.name;
}

inline void expect_error(const ErrorCase& wrong) {
  const BaseScenario base;
  const std::string message = base.error(wrong.lines);
  EXPECT_THAT(message, testing::StartsWith(wrong.beginning));
  for (const std::string& part : wrong.parts) EXPECT_THAT(message, testing::HasSubstr(part));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

// Another link from the clusters to the core, on line 3.
inline Lines wan(const std::string& link) { return {{3, "  wan { " + link + " } } }"}}; }
// More of the topology, on line 4 of the file.
inline Lines more_topology(const std::string& topology) {
  return {{3, "  wan { bandwidth: \"1 Gbit/s\" } }\n" + topology + "\n}"}};
}

}  // namespace syncline
