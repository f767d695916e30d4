#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "app/sweep.h"
#include "report/sweep_answer.h"

namespace syncline {
namespace {

// Broken between words, for a terminal.
std::string in_lines(std::string text) {
  constexpr std::size_t kWidth = 80;
  for (std::size_t begin = 0; begin + kWidth < text.size();) {
    const std::size_t space = text.rfind(' ', begin + kWidth);
    if (space == std::string::npos || space <= begin) break;
    text[space] = '\n';
    begin = space + 1;
  }
  return text;
}

}  // namespace

void add_vary_options(CLI::App& command, SweepOptions& options) {
  command
      .add_option(
          "--vary", options.vary,
          "Take each of these values for a field, for example strategy.local_steps=10,50 or "
          "topology=@a.textproto,@b.textproto; with several, all combinations (repeatable)")
      ->type_name("PATH=V1,V2")
      ->required()
      ->allow_extra_args(false);
  command
      .add_option("--target-loss", options.target_loss,
                  "Compare settings by the time to this loss (default: see below)")
      ->type_name("LOSS")
      ->check([](const std::string& text) {
        double loss = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), loss);
        const bool right = error == std::errc() && end == text.data() + text.size() && loss > 0 &&
                           std::isfinite(loss);
        return right ? std::string() : fmt::format("\"{}\"; write a number above 0", text);
      });
  command.footer(
      in_lines(std::string(kSweepRule)) +
      "\n\nRun again after an interruption, it goes on: finished points are kept. A point\n"
      "that fails is reported, the others finish, and the exit code is 1.");
}

}  // namespace syncline
