#include <fmt/format.h>

#include "scenarios/readers.h"

namespace syncline {

void read_transport(Document& document, CheckedScenario& scenario) {
  if (!document.scenario().has_transport()) return;
  proto::Transport& written = *document.scenario().mutable_transport();
  Transport& transport = scenario.transport;
  constexpr std::uint32_t kMostStreams = 1024;
  if (!written.has_streams()) written.set_streams(1);
  transport.streams = written.streams();
  if (transport.streams < 1 || transport.streams > kMostStreams)
    throw document.error("transport.streams",
                         fmt::format("{}; write 1 to {}", transport.streams, kMostStreams));
  const auto bytes = [&](const std::string& path, const std::string& text, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    const Bytes value = document.at(path, [&] { return parse_bytes(text); });
    if (value.count() < least || value.count() > kMost)
      throw document.error(path, fmt::format("\"{}\"; write {} B to 1 TiB", text, least));
    return value;
  };
  if (written.has_window()) transport.window = bytes("transport.window", written.window(), 1);
  if (!written.has_loss()) written.set_loss(0);
  transport.loss = written.loss();
  if (!(transport.loss >= 0) || transport.loss >= 1)
    throw document.error("transport.loss",
                         fmt::format("{}; a probability: at least 0 and below 1", transport.loss));
  if (!written.has_mss()) written.set_mss("1460 B");
  transport.mss = bytes("transport.mss", written.mss(), 1);
  if (!written.has_header()) written.set_header("0 B");
  transport.header = bytes("transport.header", written.header(), 0);
  if (!written.has_slow_start()) written.set_slow_start(false);
  transport.slow_start = written.slow_start();
}

}  // namespace syncline
