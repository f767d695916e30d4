// One worker of a run: its replica, where it stands, and where its time went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compute/program.h"
#include "sim/engine/task.h"
#include "sim/network/network.h"
#include "sim/setup.h"
#include "sim/strategy/recorder.h"

namespace syncline {

// What a worker has done and keeps. Between two averages this can still be lost.
struct WorkerProgress {
  std::uint64_t steps = 0;    // inner steps finished
  std::uint64_t batches = 0;  // of its stream, read by recorded steps
  Time computing;             // in these steps
};

struct Worker {
  enum class State : std::uint8_t {
    ACTIVE,     // computes or averages
    IDLE,       // a server's client that is not called
    RETURNING,  // waits for a peer to get the model from
    FETCHING,   // gets it; expected in the round that it gets it for
    DOWN,       // its machine is off
    ENDED       // the run is over for it
  };

  std::uint32_t index = 0;
  const WorkerSetup* setup = nullptr;
  Replica replica;  // empty: others stand for it
  State state = State::ACTIVE;
  ProcessId process;

  std::uint64_t round = 0;     // rounds begun; 0 where it takes its steps alone
  std::uint64_t position = 0;  // recorded steps of the schedule that its model has behind it
  WorkerProgress progress;
  WorkerProgress at_sync;  // when the present round began
  SharedValue
      start_state;  // of its replica when the present round began; kept where workers may fail

  // What compression dropped of the values that it sent, with error feedback; by
  // residual_of_round().
  std::map<std::uint64_t, SharedValue> residuals;
  std::map<std::uint64_t, SharedValue> residuals_at_sync;  // kept where rounds may be lost

  // Where it takes its steps alone: those that it may take now, how many of these go into the
  // program, updates sent, since when it takes them, and their training losses.
  std::uint64_t own_steps = 0;
  std::uint64_t own_recorded = 0;
  std::uint64_t own_updates = 0;
  Time own_begun;
  std::vector<std::pair<NumberIndex, std::uint32_t>> own_losses;

  std::uint64_t site_syncs = 0;     // averages inside its cluster so far
  std::uint64_t charged_syncs = 0;  // averages inside a cluster-wide worker, charged as time
  std::size_t site = 0;             // its group inside the cluster (two-stage), and its place there
  std::size_t site_member = 0;

  Time work_begun;  // the steps that it is computing now, or computed last
  // Of these: since then at this speed, with this much of their plain
  // duration done before.
  Time segment_begun;
  double segment_speed = 1;
  Time segment_done;
  std::uint64_t segment_steps = 0;  // 0: none

  // Averages inside · waiting for others · averages of all · machine off · getting the model.
  Time within, waiting, syncing, down, rejoining;
  Time down_since, returning_since;
  // Steps that were computed for nothing, and their time.
  std::uint64_t lost_steps = 0;
  Time lost;
  std::uint64_t rejoins = 0;
  // The transfer that brings it a model: 0 or from whom.
  TransferId fetch = 0;
  std::uint32_t fetch_from = 0;
  Bytes rejoin_bytes;
};

}  // namespace syncline
