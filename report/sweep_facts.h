// All that is known of a sweep when it ends; what its reports are made from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// One --vary.
struct SweepDimension {
  std::string path;   // of the field, as it was written
  std::string label;  // its end, short and different from the others'
  std::vector<std::string> values;
};

// What the answer needs of a run, as its results.json has it: a run of this sweep and one that was
// there before are read the same way.
struct StoredResults {
  struct LossPoint {
    double round = 0;
    double steps = 0;
    double time_s = 0;           // virtual
    std::optional<double> loss;  // nothing: not a number
  };
  std::string version;
  std::string status;      // "done" or "diverged"
  std::string trained_on;  // device, and
  std::string settings;    // all that decides the numbers; both empty: nothing was trained
  double virtual_time_s = 0;
  double ideal_network_time_s = 0;
  double compute_utilisation = 0;
  std::optional<double> final_loss;
  std::optional<double> proxy_loss;
  double tokens = 0;
  double bytes_sent = 0;
  double syncs = 0;
  std::string program_hash;
  std::vector<LossPoint> losses;
};

// Nothing where the text is no results.json.
std::optional<StoredResults> read_results(const std::string& results_json);

struct SweepPoint {
  std::vector<std::size_t> values;       // by dimension: which of its values
  std::string folder;                    // below the sweep's; empty: it came to nothing
  std::string message;                   // why it failed or diverged
  std::optional<StoredResults> results;  // nothing: failed

  // "done", "diverged", "failed"
  std::string status() const { return results ? results->status : "failed"; }
};

struct SweepFacts {
  std::string scenario;  // name
  std::vector<SweepDimension> dimensions;
  std::vector<SweepPoint> points;     // in order; the last dimension changes fastest
  std::optional<double> target_loss;  // asked for; nothing: the rule of sweep_answer.h
};

}  // namespace syncline
