// Files of transfers and of changes: what they say, and each way to get them wrong.
#include "scenarios/flow_files.h"

#include <gmock/gmock.h>

#include "tests/compute/temporary_folder.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class FlowFiles : public testing::Test {
 protected:
  FlowFiles() {
    a_ = topology_.add_node({"a", true, ""});
    b_ = topology_.add_node({"b", true, ""});
    topology_.add_node({"alone", true, ""});
    const NodeId s = topology_.add_node({"s", false, ""});
    const BitRate rate = BitRate::bits_per_s(8e6);
    topology_.add_link({"a-b", a_, b_, {rate, rate}, {0.001, 0.001}, false});
    topology_.add_link({"b-s", b_, s, {rate, rate}, {0.001, 0.001}, true});
  }

  std::vector<Flow> flows(const std::string& text) const {
    return read_flows(folder_.write("flows.csv", text), topology_, nullptr);
  }
  std::vector<LinkEvent> events(const std::string& text) const {
    return read_link_events(folder_.write("events.csv", text), topology_);
  }

  // The message, without the folder in front.
  template <class Read>
  std::string error(const Read& read) const {
    try {
      read();
    } catch (const InputError& problem) {
      const std::string message = problem.what();
      const std::string prefix = folder_.path() + "/";
      return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
    return "no error";
  }
  std::string flows_error(const std::string& text) const {
    return error([&] { flows(text); });
  }
  std::string row_error(const std::string& row) const {
    return flows_error("start_s,source,destination,bytes\n" + row + "\n");
  }
  std::string event_error(const std::string& row) const {
    return error([&] { events("time_s,link,direction,bandwidth,latency,state\n" + row + "\n"); });
  }

  TemporaryFolder folder_;
  Topology topology_;
  NodeId a_, b_;
};

TEST_F(FlowFiles, Flows) {
  const auto read =
      flows("bytes,start_s, source,destination\r\n1e6,0.5,a,\"b\"\r\n\r\n0,2,b,b\r\n");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].start, Time::seconds(0.5));
  EXPECT_EQ(read[0].source, a_);
  EXPECT_EQ(read[0].destination, b_);
  EXPECT_EQ(read[0].bytes, Bytes(1'000'000));
  EXPECT_EQ(read[1].bytes, Bytes(0));
}

TEST_F(FlowFiles, WrongHeaders) {
  EXPECT_THAT(flows_error(""), HasSubstr("flows.csv: the file is empty"));
  EXPECT_THAT(flows_error("start_s,source,bytes\n"),
              StartsWith("flows.csv:1: header: \"destination\" is missing; the header is "
                         "start_s,source,destination,bytes"));
  EXPECT_THAT(flows_error("start_s,source,destination,bytes,rate\n"),
              StartsWith("flows.csv:1: header: \"rate\" is no column"));
  EXPECT_THAT(flows_error("start_s,source,source,destination,bytes\n"),
              StartsWith("flows.csv:1: header: \"source\" is there twice"));
  EXPECT_THAT(flows_error("start_s,source,destination,bytes\n"), HasSubstr("holds no flows"));
}

TEST_F(FlowFiles, WrongRows) {
  EXPECT_THAT(row_error("0,a,b"), StartsWith("flows.csv:2: the row has 3 fields"));
  EXPECT_THAT(row_error("0,a,c,1"), StartsWith("flows.csv:2:5: destination: no node"));
  for (const char* const wrong : {"-1", "x", "nan", "inf", "1e400", "", "1e12", "1 s"})
    EXPECT_THAT(row_error(std::string(wrong) + ",a,b,1"), StartsWith("flows.csv:2:1: start_s: "));
  for (const char* const wrong : {"-1", "1.5", "1 MB", "nan", "", "1e17"})
    EXPECT_THAT(row_error(std::string("0,a,b,") + wrong), StartsWith("flows.csv:2:7: bytes: "));
  EXPECT_THAT(row_error("0,\"a,b,1"), StartsWith("flows.csv:2:3: the quote"));
  EXPECT_EQ(row_error("0,a,alone,1"), "flows.csv:2: no route from a to alone");
  EXPECT_THAT(row_error("0,a,s,1"), StartsWith("flows.csv:2: \"s\" is a switch"));
}

TEST_F(FlowFiles, Events) {
  const auto read = events(
      "time_s,link,direction,bandwidth,latency,state\n"
      "1,a-b,,2 MB/s,,\n2,a-b,backward,,3 ms,\n3,a-b,both,,,down\n");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].bandwidth, BitRate::bytes_per_s(2e6));
  EXPECT_EQ(read[0].directions.size(), 2U);
  EXPECT_FALSE(read[0].latency_s || read[0].up);
  EXPECT_EQ(read[1].directions, std::vector{Direction::BACKWARD});
  EXPECT_EQ(read[1].latency_s, 0.003);
  EXPECT_EQ(read[2].up, false);
  EXPECT_EQ(events("time_s,link,state\n0,a-b,up\n")[0].up, true);
}

TEST_F(FlowFiles, WrongEvents) {
  EXPECT_THAT(error([&] { events("time_s\n"); }),
              StartsWith("events.csv:1: header: \"link\" is missing"));
  EXPECT_THAT(event_error("0,a-c,,,,down"), StartsWith("events.csv:2:3: link: no link is called"));
  EXPECT_THAT(event_error("-1,a-b,,,,down"), StartsWith("events.csv:2:1: time_s: "));
  EXPECT_THAT(event_error("0,a-b,up,1 MB/s,,"),
              StartsWith("events.csv:2:7: direction: \"up\"; write forward, backward or both"));
  EXPECT_THAT(event_error("0,a-b,,20,,"), HasSubstr("bandwidth: \"20\" has no unit"));
  EXPECT_THAT(event_error("0,a-b,,-1 MB/s,,"), StartsWith("events.csv:2:8: bandwidth: "));
  EXPECT_THAT(event_error("0,a-b,,,-1 ms,"), StartsWith("events.csv:2:9: latency: "));
  EXPECT_THAT(event_error("0,a-b,,,,off"), HasSubstr("state: \"off\"; write up or down"));
  EXPECT_THAT(event_error("0,a-b,forward,,,down"), HasSubstr("goes up and down in both"));
  EXPECT_THAT(event_error("0,b-s,forward,1 MB/s,,"), HasSubstr("a shared link has one bandwidth"));
  EXPECT_THAT(event_error("0,a-b,,,,"), StartsWith("events.csv:2: changes nothing"));
}

}  // namespace
}  // namespace syncline
