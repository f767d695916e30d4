// The command line of syncline.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "app/check.h"
#include "app/environment.h"
#include "app/run.h"
#include "app/sweep.h"
#include "app/topology_convert.h"
#include "app/topology_draw.h"
#include "app/topology_info.h"
#include "app/traffic.h"
#include "compute/interrupted.h"
#include "report/version.h"
#include "sim/engine/engine.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr int kDone = 0;
constexpr int kCouldNotFinish = 1;
constexpr int kBadInput = 2;
constexpr int kInterrupted = 130;

// One line a message, whatever was read: values with line breaks in them stand in messages too.
void complain(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  fmt::print(stderr, "syncline: {}\n", text);
}

int command_line(int argc, char** argv) {
  CLI::App app("syncline: what will this network do to this training run?", "syncline");
  app.set_version_flag("--version", std::string("syncline ") + kVersion);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 could not finish, 2 bad input, 130 interrupted (run again: it goes "
      "on).");

  RunOptions run_options;
  CLI::App& run_command =
      *app.add_subcommand("run", "Simulate a scenario, train its replicas, and write the results");
  add_scenario_options(run_command, run_options);
  add_output_options(run_command, run_options.out, "runs/NAME", "a run's");
  add_device_options(run_command, run_options.device, run_options.quiet);

  SweepOptions sweep_options;
  CLI::App& sweep_command = *app.add_subcommand(
      "sweep", "Run all combinations of some values, and say which setting to take");
  add_scenario_options(sweep_command, sweep_options);
  add_vary_options(sweep_command, sweep_options);
  add_output_options(sweep_command, sweep_options.out, "runs/NAME-sweep", "a sweep's");
  add_device_options(sweep_command, sweep_options.device, sweep_options.quiet);

  ScenarioOptions check_options;
  CLI::App& check_command = *app.add_subcommand(
      "check", "Check a scenario and say what it means; trains and writes nothing");
  add_scenario_options(check_command, check_options);

  TrafficOptions traffic_options;
  CLI::App& traffic_command = *app.add_subcommand(
      "traffic", "Carry plain transfers, or one collective, over a topology; nothing is trained");
  add_traffic_options(traffic_command, traffic_options);

  CLI::App& topology_command =
      *app.add_subcommand("topology", "Look at topology files: info, convert, draw");
  topology_command.require_subcommand(1);
  TopologyInfoOptions info_options;
  CLI::App& info_command = *topology_command.add_subcommand(
      "info", "Say what a topology file holds, and what it leaves open");
  add_topology_info_options(info_command, info_options);
  TopologyConvertOptions convert_options;
  CLI::App& convert_command = *topology_command.add_subcommand(
      "convert", "Write a topology in another format: .textproto, .graphml or .dot");
  add_topology_convert_options(convert_command, convert_options);
  TopologyDrawOptions draw_options;
  CLI::App& draw_command = *topology_command.add_subcommand(
      "draw", "Draw a topology as an SVG, a map where it has coordinates");
  add_topology_draw_options(draw_command, draw_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::string command;
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      command += at->get_name() + " ";
    }
    complain(fmt::format("{}; see syncline {}--help", error.what(), command));
    return kBadInput;
  }
  if (run_command.parsed()) return run(run_options);
  if (sweep_command.parsed()) return sweep(sweep_options);
  if (traffic_command.parsed()) return traffic(traffic_options);
  if (convert_command.parsed()) return topology_convert(convert_options);
  if (draw_command.parsed()) return topology_draw(draw_options);
  return info_command.parsed() ? topology_info(info_options) : check(check_options);
}

int guarded(int argc, char** argv) {
  try {
    return command_line(argc, argv);
  } catch (const InputError& error) {
    complain(error.what());
    return kBadInput;
  } catch (const TrainingInterrupted&) {
  } catch (const Interrupted&) {
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "syncline: out of memory\n");
    return kCouldNotFinish;
  } catch (const std::exception& error) {
    complain(error.what());
    return kCouldNotFinish;
  }
  fmt::print(stderr, "syncline: interrupted; run it again: it goes on where it was\n");
  return kInterrupted;
}

}  // namespace
}  // namespace syncline

int main(int argc, char** argv) {
  syncline::handle_signals();
  const int code = syncline::guarded(argc, argv);
  // What stdout could not take (a full disk, a closed pipe) is a failure too.
  if (std::fflush(stdout) == 0 || code != syncline::kDone) return code;
  // Whoever closed the pipe (head, a pager) knows.
  if (errno != EPIPE)
    syncline::complain(
        fmt::format("the answer cannot be written to stdout: {}", std::strerror(errno)));
  return syncline::kCouldNotFinish;
}
