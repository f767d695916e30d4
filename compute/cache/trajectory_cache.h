// What was trained is kept: numbers in a journal by key, and the latest snapshot of state, so that
// equal programs are trained once and a run that was interrupted goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/program.h"

namespace syncline {

// One folder a header below `folder`: FOLDER/<32 hex digits>/{header,lock,journal,snapshot}. All
// writes survive a kill at any moment: a torn last record of the journal is cut off when it is
// opened next, a snapshot is written beside the old one and renamed; both carry checksums, and what
// does not match is dropped, never believed.
class TrajectoryCache {
 public:
  // Takes the folder's lock (between processes) and holds it until destruction. While another
  // process holds it, asks `interrupted` ten times a second and throws TrainingInterrupted
  // (compute/interrupted.h) if it says so. Evicts least recently used folders of other headers (not
  // locked ones) until all of FOLDER is at most `limit_bytes`. Throws std::runtime_error with the
  // path if the folder cannot be made or written.
  TrajectoryCache(const std::string& folder, const std::string& header, std::uint64_t limit_bytes,
                  const std::function<bool()>& interrupted = {});
  ~TrajectoryCache();
  TrajectoryCache(const TrajectoryCache&) = delete;
  TrajectoryCache& operator=(const TrajectoryCache&) = delete;

  std::optional<double> number(Key key) const;
  void record(Key key, double number);  // buffered; flush() makes it durable
  void flush();

  bool has_state(Key key) const;
  std::vector<std::byte> state(Key key) const;  // checked; the key must be there
  // The snapshot is replaced as a whole; flushes the journal first. A snapshot above half of the
  // limit is not written (returns false).
  using StateView = std::pair<Key, std::span<const std::byte>>;
  bool replace_states(std::span<const StateView> states);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace syncline
