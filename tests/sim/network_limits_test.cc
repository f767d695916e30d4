// How long each limit held: of a transfer, and of a link over all transfers.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "sim/network/network.h"
#include "tests/sim/network_probe.h"

namespace syncline {
namespace {

// Keeps the limits of the last report.
class LimitProbe final : public TransferSink {
 public:
  void on_transfer_end(const TransferReport& report, std::uint64_t) override {
    sum_s = 0;
    for (const HeldLimit& limit : report.limits) {
      held_s[{limit.limit.kind, limit.limit.channel.value}] = limit.held.in_seconds();
      sum_s += limit.held.in_seconds();
    }
    duration_s = (report.ended - report.started).in_seconds();
  }
  std::map<std::pair<Limit::Kind, std::uint32_t>, double> held_s;
  double sum_s = 0;
  double duration_s = 0;
};

TEST(NetworkLimits, LatencyLinksAndOutageEachTheirTime) {
  LineNetwork net({{.capacity = 1e6, .latency_s = 0.5}, {.capacity = 2e6, .latency_s = 0.25}});
  LimitProbe probe;
  net.network.start(net.spec(0, 2, 4'000'000), probe);
  // From 1.75 s on the second link is the narrow one; at 2.75 s it is down for 2 s.
  net.network.change_capacity(Time::seconds(1.75), net.line.links[1], Direction::FORWARD,
                              BitRate::bytes_per_s(5e5));
  net.network.change_link_state(Time::seconds(2.75), net.line.links[1], false);
  net.network.change_link_state(Time::seconds(4.75), net.line.links[1], true);
  net.engine.run();
  const std::uint32_t first = net.line.channel(0).value;
  const std::uint32_t second = net.line.channel(1).value;
  EXPECT_NEAR((probe.held_s.at({Limit::Kind::LATENCY, ChannelId{}.value})), 0.75, 1e-9);
  EXPECT_NEAR((probe.held_s.at({Limit::Kind::LINK, first})), 1, 1e-9);
  EXPECT_NEAR((probe.held_s.at({Limit::Kind::OUTAGE, second})), 2, 1e-9);
  EXPECT_NEAR((probe.held_s.at({Limit::Kind::LINK, second})), 6, 1e-9);
  EXPECT_NEAR(probe.sum_s, probe.duration_s, 1e-9);
  EXPECT_NEAR(net.network.use(ChannelId{first}).limited_s, 1, 1e-9);
  EXPECT_NEAR(net.network.use(ChannelId{second}).limited_s, 8, 1e-9);
  EXPECT_NEAR(net.network.limited_by_latency_s(), 0.75, 1e-9);
}

TEST(NetworkLimits, OfALinkOverAllTransfers) {
  LineNetwork net({{.capacity = 1e6}});
  net.start(1, 0, 1, 1'000'000);
  net.start(2, 0, 1, 2'000'000);
  net.engine.run();  // 2 s and 3 s
  EXPECT_NEAR(net.network.use(net.line.channel(0)).limited_s, 5, 1e-9);
}

TEST(NetworkLimits, OfOneThatIsCancelledToo) {
  LineNetwork net({{.capacity = 1e6}});
  const TransferId id = net.network.start(net.spec(0, 1, 1'000'000), net.probe);
  net.engine.run_until(Time::seconds(0.25));
  net.network.cancel(id);
  net.engine.run();
  EXPECT_NEAR(net.network.use(net.line.channel(0)).limited_s, 0.25, 1e-9);
}

}  // namespace
}  // namespace syncline
