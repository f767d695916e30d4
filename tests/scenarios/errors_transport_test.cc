// Scenarios whose transport or traces are wrong, and what right ones become.
#include <filesystem>
#include <fstream>

#include "scenarios/setup.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

class TransportError : public testing::TestWithParam<ErrorCase> {};
TEST_P(TransportError, SaysWhereAndWhat) { expect_error(GetParam()); }

ErrorCase transport(const std::string& name, const std::string& fields, const std::string& field,
                    std::vector<std::string> parts) {
  return {name, more_topology("}\ntransport { " + fields),
          "base.textproto:5: transport." + field + ": ", std::move(parts)};
}

INSTANTIATE_TEST_SUITE_P(
    Cases, TransportError,
    testing::Values(transport("NoStreams", "streams: 0", "streams", {"0", "1 to 1024"}),
                    transport("WindowWithoutUnit", "window: \"65536\"", "window", {"no unit"}),
                    transport("NoWindow", "window: \"0 B\"", "window", {"1 B to 1 TiB"}),
                    transport("CertainLoss", "loss: 1", "loss", {"below 1"}),
                    transport("NegativeLoss", "loss: -0.1", "loss", {"at least 0"}),
                    transport("NoMss", "mss: \"0 B\"", "mss", {"1 B"}),
                    transport("HeaderInSeconds", "header: \"1 s\"", "header", {"1 s"})),
    name_of);

TEST(Transport, IsReadWithItsDefaults) {
  const BaseScenario base;
  const CheckedScenario scenario =
      base.load(more_topology("}\ntransport { window: \"4 MB\" loss: 1e-5 slow_start: true"));
  const Transport& transport = simulation_setup(scenario, 1000, std::nullopt).transport;
  EXPECT_EQ(transport.window, Bytes(4'000'000));
  EXPECT_EQ(transport.loss, 1e-5);
  EXPECT_TRUE(transport.slow_start);
  EXPECT_EQ(transport.mss, Bytes(1460));
  EXPECT_EQ(transport.header, Bytes());
  EXPECT_EQ(transport.streams, 1U);
  EXPECT_THAT(scenario.written, testing::HasSubstr("mss: \"1460 B\""));
}

TEST(Trace, OfALinkOfTheBase) {
  const BaseScenario base;
  base.write("bus.csv", "time_s,bandwidth\n0,20 Mbit/s\n5,1 Mbit/s\n");
  const CheckedScenario scenario =
      base.load(more_topology("links { name: \"milan-core\" trace: \"bus.csv\" }"));
  ASSERT_EQ(scenario.traces.size(), 1U);
  EXPECT_EQ(scenario.topology.link(scenario.traces[0].link).name, "milan-core");
  EXPECT_EQ(scenario.traces[0].trace.points.size(), 2U);
  EXPECT_EQ(simulation_setup(scenario, 1000, std::nullopt).traces.size(), 1U);
}

TEST(Trace, ErrorsNameTheFieldAndTheFile) {
  const BaseScenario base;
  EXPECT_THAT(base.error(more_topology("links { name: \"milan-core\" trace: \"no.csv\" }")),
              testing::AllOf(testing::HasSubstr("topology.links[0].trace"),
                             testing::HasSubstr("no.csv: there is no such file")));
  base.write("bad.csv", "time_s,bandwidth\n0,20\n");
  EXPECT_THAT(base.error(more_topology("links { name: \"milan-core\" trace: \"bad.csv\" }")),
              testing::HasSubstr("bad.csv:2: "));
  EXPECT_THAT(base.error(wan("bandwidth: \"1 Gbit/s\" trace: \"bad.csv\"")),
              testing::HasSubstr("name the link in topology.links"));
}

// The base scenario's ring is over two clusters: each way has its links.
TEST(Fidelity, StreamsWhereThatIsExact) {
  const BaseScenario base;
  const auto load = [&](const std::string& more, const std::string& strategy) {
    return base.load({{8, "strategy { " + strategy +
                              " local_steps: 20 collective { fidelity: STREAM } }\n" + more}});
  };
  EXPECT_EQ(load("", "diloco {}").strategy.collective.fidelity, Fidelity::STREAM);
  const CheckedScenario changing =
      load("events { target: \"milan-core\" once { at: \"1 s\" } bandwidth: \"1 Mbit/s\" }",
           "diloco {}");
  EXPECT_EQ(changing.strategy.collective.fidelity, Fidelity::CHUNK);
  EXPECT_THAT(changing.assumptions, testing::Contains(testing::HasSubstr("there are events")));
  const CheckedScenario limited = load("transport { window: \"1 MB\" }", "diloco {}");
  EXPECT_THAT(limited.assumptions, testing::Contains(testing::HasSubstr("the transport")));
  EXPECT_EQ(load("", "delayed_diloco {}").strategy.collective.fidelity, Fidelity::CHUNK);
}

}  // namespace
}  // namespace syncline
