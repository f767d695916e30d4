// The folder of a sweep: a run's folder for each point, and what going on after an interruption
// needs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/file_descriptor.h"
#include "report/output_folder.h"
#include "report/sweep_facts.h"
#include "topology/quantity.h"

namespace syncline {

class SweepFolder {
 public:
  // Checks, before the work starts, that `path` is not there, empty, or a sweep's folder. Changes
  // nothing. `made_by`: version and build; what another one left is not gone on with. Throws
  // InputError: any other folder, or one in which another sweep is at work.
  SweepFolder(std::string path, std::string made_by);
  ~SweepFolder();
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

  const std::string& path() const { return path_; }

  // The paces that were measured for the same sweep before, by model and device.
  std::optional<Time> measured_step(const std::string& model) const;
  void remember_step(const std::string& model, Time step) { paces_[model] = step; }

  // The results of the point, if its folder holds the whole run of just this scenario with these
  // settings of the trainer, on this device.
  std::optional<StoredResults> finished(const std::string& point, const std::string& scenario_text,
                                        const std::string& settings,
                                        const std::string& device) const;

  // Makes it this sweep's: removes the points of an earlier one that are not among `points`, and
  // the reports. Throws InputError where it cannot be written or a point's place is taken.
  void begin(std::span<const std::string> points);
  // Both after begin(). Throw std::runtime_error.
  void publish_point(const std::string& point, const std::map<std::string, std::string>& files);
  void remove_point(const std::string& point);
  void publish_reports(const std::map<std::string, std::string>& files);

 private:
  void read_state();
  void write_state() const;
  void lock();

  std::string path_;    // as it was named
  std::string folder_;  // the place itself
  std::string made_by_;
  bool same_maker_ = false;
  std::map<std::string, Time> paces_;
  std::vector<std::string> points_;  // folders that are a sweep's
  std::map<std::string, OutputFolder> outputs_;
  FileDescriptor lock_;
};

}  // namespace syncline
