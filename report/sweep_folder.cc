#include "report/sweep_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "compute/cache/files.h"
#include "compute/cache/folder_lock.h"
#include "report/json.h"
#include "report/output_folder.h"
#include "report/output_place.h"
#include "report/sweep.pb.h"
#include "report/version.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "syncline sweep";
constexpr const char* kStateFile = "sweep_state.json";
constexpr const char* kReports[] = {"sweep.csv", "sweep.json", "losses.csv"};

std::optional<std::string> read_text(const fs::path& path) {
  try {
    const auto data = read_whole(path.string());
    if (!data) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(data->data()), data->size());
  } catch (const std::runtime_error&) {  // a folder, or not ours to read
    return std::nullopt;
  }
}

std::optional<proto::SweepState> read_state_of(const fs::path& folder) {
  const std::optional<std::string> text = read_text(folder / kStateFile);
  proto::SweepState state;
  if (!text || !from_json(*text, state) || state.kind() != kKind) return std::nullopt;
  return state;
}

bool is_sweep_folder(const fs::path& folder) {
  if (read_state_of(folder)) return true;
  // What a sweep leaves that was killed in its first moment.
  std::error_code error;
  return std::all_of(fs::directory_iterator(folder, error), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) {
                       const std::string name = entry.path().filename().string();
                       return name == "lock" || name == std::string(kStateFile) + ".new";
                     });
}

// Of a folder below ours; a state file that somebody wrote must not lead out of it.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

void replace_text(const fs::path& path, const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text.data(), text.size()));
  replace_file(path.string(), {&bytes, 1});
}

}  // namespace

SweepFolder::SweepFolder(std::string path, std::string made_by) : made_by_(std::move(made_by)) {
  const OutputPlace place = check_output_place(std::move(path), "sweep's", is_sweep_folder);
  path_ = place.path;
  folder_ = place.folder;
  std::error_code error;
  if (!fs::is_directory(folder_, error)) return;
  lock();
  read_state();
}

SweepFolder::~SweepFolder() {
  if (lock_) ::unlink((fs::path(folder_) / "lock").c_str());
}

void SweepFolder::lock() {
  try {
    lock_ = try_lock_folder(folder_);
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("--out {}: cannot be written: {}", path_, error.what()));
  }
  if (!lock_)
    throw InputError(
        fmt::format("--out {}: another sweep is at work there; name another folder", path_));
}

void SweepFolder::read_state() {
  const std::optional<proto::SweepState> state = read_state_of(folder_);
  if (!state) return;
  for (const std::string& point : state->folders()) {
    if (is_plain_name(point)) points_.push_back(point);
  }
  same_maker_ = state->made_by() == made_by_;
  if (!same_maker_) return;
  for (const proto::MeasuredPace& pace : state->paces()) {
    if (pace.step_ns() >= 1 && pace.step_ns() < 1e18)
      paces_[pace.model()] = Time::seconds(pace.step_ns() * 1e-9);
  }
}

void SweepFolder::write_state() const {
  proto::SweepState state;
  state.set_kind(kKind);
  state.set_made_by(made_by_);
  for (const std::string& point : points_) state.add_folders(point);
  for (const auto& [model, step] : paces_) {
    proto::MeasuredPace& pace = *state.add_paces();
    pace.set_model(model);
    pace.set_step_ns(static_cast<double>(step.count_ns()));
  }
  replace_text(fs::path(folder_) / kStateFile, as_json(state));
}

std::optional<Time> SweepFolder::measured_step(const std::string& model) const {
  const auto found = paces_.find(model);
  return found == paces_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<StoredResults> SweepFolder::finished(const std::string& point,
                                                   const std::string& scenario_text,
                                                   const std::string& settings,
                                                   const std::string& device) const {
  const bool ours = std::find(points_.begin(), points_.end(), point) != points_.end();
  if (!same_maker_ || !ours) return std::nullopt;
  // A run's folder stands there whole or not at all.
  const fs::path folder = fs::path(folder_) / point;
  const std::optional<std::string> scenario = read_text(folder / "scenario.textproto");
  const std::optional<std::string> results = read_text(folder / "results.json");
  if (!scenario || *scenario != scenario_text || !results) return std::nullopt;
  std::optional<StoredResults> stored = read_results(*results);
  if (!stored || stored->version != kVersion || stored->settings != settings ||
      stored->trained_on != device)
    return std::nullopt;
  return stored;
}

void SweepFolder::begin(std::span<const std::string> points) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw InputError(fmt::format("--out {}: cannot be written: {}", path_, error.message()));
  if (!lock_) lock();
  const std::vector<std::string> earlier = std::exchange(points_, {points.begin(), points.end()});
  const std::set<std::string> wanted(points.begin(), points.end());
  for (const char* report : kReports) fs::remove(fs::path(folder_) / report, error);
  for (const std::string& point : earlier) {
    if (!wanted.contains(point)) remove_point(point);
  }
  // What was being written when an earlier sweep was killed; the lock says that nobody writes now.
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::size_t cut = name.rfind(".partial-");
    if (name.front() == '.' && cut != std::string::npos && wanted.contains(name.substr(1, cut - 1)))
      fs::remove_all(at->path(), error);
  }
  write_state();
  for (const std::string& point : points)
    outputs_.emplace(point, OutputFolder((fs::path(path_) / point).string()));
}

void SweepFolder::publish_point(const std::string& point,
                                const std::map<std::string, std::string>& files) {
  outputs_.at(point).publish(files);
}

void SweepFolder::remove_point(const std::string& point) {
  const fs::path folder = fs::path(folder_) / point;
  std::error_code error;
  if (has_files(folder, kRunFolder.marks)) fs::remove_all(folder, error);
}

void SweepFolder::publish_reports(const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) replace_text(fs::path(folder_) / name, text);
}

}  // namespace syncline
