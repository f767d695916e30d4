// A small right scenario whose lines a test changes, in a folder of its own.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/load.h"
#include "tests/compute/temporary_folder.h"
#include "topology/input_error.h"

namespace syncline {

using Lines =
    std::map<int, std::string>;  // by number, from 1 on; more than one line may stand in one
using Sets = std::vector<std::string>;

class BaseScenario {
 public:
  // What a test changes, by line.
  static Lines base() {
    return {{1, R"(name: "base")"},
            {2, R"(topology { clusters { names: ["milan", "paris"] hosts: 2)"},
            {3, R"(  wan { bandwidth: "1 Gbit/s" latency: "20 ms" } } })"},
            {4, "workers { per: CLUSTER }"},
            {5, "training { model { layers: 2 width: 32 heads: 2 context: 16 } batch: 2"},
            {6, "  data { markov {} } }"},
            {7, R"(pace { fixed: "50 ms" })"},
            {8, "strategy { diloco {} local_steps: 20 }"},
            {9, "stop { steps: 100 }"}};
  }

  static std::string text(const Lines& changes = {}) {
    Lines lines = base();
    for (const auto& [number, line] : changes) lines[number] = line;
    std::string text;
    for (const auto& [number, line] : lines) text += line + "\n";
    return text;
  }

  const std::string& folder() const { return folder_.path(); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }

  LoadOptions options(Sets sets = {}) const {
    LoadOptions options;
    options.sets = std::move(sets);
    options.cache_folder = folder_.path() + "/cache";
    return options;
  }
  CheckedScenario load(const Lines& changes = {}, Sets sets = {}) const {
    return load_scenario(write("base.textproto", text(changes)), options(std::move(sets)));
  }
  CheckedScenario load_text(const std::string& content) const {
    return load_scenario(write("other.textproto", content), options());
  }

  // The message that loading ends with, without the folder in front; empty if it is right.
  std::string error(const Lines& changes, Sets sets = {}) const {
    return error_of(write("base.textproto", text(changes)), std::move(sets));
  }
  std::string error_of(const std::string& file, Sets sets = {}) const {
    try {
      load_scenario(file, options(std::move(sets)));
      return {};
    } catch (const InputError& problem) {
      const std::string message = problem.what();
      const std::string prefix = folder_.path() + "/";
      return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace syncline
