// Speed tests of Ookla as a CSV with downlink_Mbps, uplink_Mbps, latency_ms and the server's place:
// a device a row, with rates of its own, half a ping away from its server.
#include <fmt/format.h>

#include <map>

#include "topology/read/readers.h"

namespace syncline {

ImportedTopology read_speed_tests(const TextSource& source) {
  ImportedTopology topology{.file = source.name(), .format = "Ookla speed tests"};
  CsvCursor rows(source);
  const auto required = [&](const char* name) {
    const auto column = rows.column({name});
    if (!column) throw source.error({1, 0}, "header", fmt::format("there is no column {}", name));
    return *column;
  };
  const std::size_t down = required("downlink_Mbps"), up = required("uplink_Mbps");
  const std::size_t ping = required("latency_ms");
  const auto city = rows.column({"Server_city"}), state = rows.column({"Server_state"});
  std::map<std::string, std::uint32_t> servers;
  while (rows.next()) {
    std::string place = city ? std::string(rows.field(*city).text) : "server";
    if (state) place += fmt::format(", {}", rows.field(*state).text);
    const auto [server, is_new] =
        servers.try_emplace(place, static_cast<std::uint32_t>(topology.nodes.size()));
    if (is_new) {
      ImportedNode& node = topology.nodes.emplace_back();
      node.id = node.label = place;
      node.line = rows.line();
    }
    ImportedNode& device = topology.nodes.emplace_back();
    device.id = device.label = fmt::format("test{}", topology.links.size());
    device.line = rows.line();
    const auto rate = [&](std::size_t column) {
      return BitRate::bits_per_s(
          1e6 * to_number(source, rows.field(column), rows.header()[column], Sign::NOT_NEGATIVE));
    };
    device.down = rate(down);
    device.up = rate(up);
    ImportedLink link;
    link.a = static_cast<std::uint32_t>(topology.nodes.size() - 1);
    link.b = server->second;
    link.bandwidth = BitRate::infinite();  // the rates are those of the device
    link.latency_s =
        to_number(source, rows.field(ping), "latency_ms", Sign::NOT_NEGATIVE) / 2 * 1e-3;
    link.line = rows.line();
    topology.links.push_back(std::move(link));
  }
  if (topology.links.empty()) throw source.error({}, "", "there are no rows under the header");
  topology.assumed.push_back("latency_ms is a round trip; one way takes half of it");
  return topology;
}

}  // namespace syncline
