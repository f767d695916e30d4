#include "app/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "compute/checksum.h"
#include "report/version.h"

namespace syncline {
namespace {

volatile std::sig_atomic_t signals = 0;

void on_signal(int) {
  if (signals != 0) ::_exit(130);
  signals = 1;
}

}  // namespace

std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string cache = variable("SYNCLINE_CACHE"); !cache.empty()) return cache;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/syncline";
  return variable("HOME") + "/.cache/syncline";
}

std::string build_identity() {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(program), {}};
  return fmt::format("{} {:016x}", kVersion,
                     checksum(std::as_bytes(std::span(bytes.data(), bytes.size())), 0));
}

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() { return signals != 0; }

}  // namespace syncline
