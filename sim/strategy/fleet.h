// What the training methods stand on: the workers, their time, their averages, and the program that
// they write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/setup.h"
#include "sim/strategy/group.h"
#include "sim/strategy/recorder.h"

namespace syncline {

// One replica and where it stands.
struct Worker {
  std::uint32_t index = 0;
  const WorkerSetup* setup = nullptr;
  Replica replica;          // empty: others stand for it
  std::uint64_t round = 0;  // rounds begun
  // Inner steps finished; the next batch of its stream and the position of its schedule.
  std::uint64_t steps = 0;
  std::uint64_t recorded = 0;       // of these, in the program
  std::uint64_t site_syncs = 0;     // averages inside its cluster so far
  std::uint64_t charged_syncs = 0;  // averages inside a cluster-wide worker, charged as time
  std::size_t site = 0;             // its group inside the cluster (two-stage), and its place there
  std::size_t site_member = 0;
  // Steps · averages inside · waiting for others · averages between.
  Time computing, within, waiting, syncing;
};

struct Evaluation {
  std::uint64_t round = 0;  // 0: before the first
  std::uint64_t steps = 0;  // of each worker
  Time at;
  NumberIndex loss = kNone;
};

struct RoundRecord {
  std::uint64_t round = 0;  // from 1 on
  // Of each worker at its end, as planned (a stop by time may cut the last).
  std::uint64_t steps = 0;
  Time begun, all_joined, ended;
  Bytes sent;  // over the network while it lasted
  // Mean training losses, with the steps each stands for.
  std::vector<std::pair<NumberIndex, std::uint32_t>> losses;
};

// Asked for the value of a number while the simulation stands still (a stop by loss).
using NumberSource = std::function<double(NumberIndex)>;

class Fleet {
 public:
  Fleet(Network& network, const SimulationSetup& setup, Program* program, NumberSource numbers);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::vector<Worker>& workers() { return workers_; }
  Recorder& record() { return recorder_; }

  // The parameters that every worker starts from; evaluated once as round 0.
  SharedValue initial();

  // False when the run is over. The first worker that asks for a round decides it for all, so that
  // all take part in the same rounds.
  bool begin_round(Worker& worker);
  // The local phase of this round: H inner steps, with the averages inside the cluster where the
  // strategy is two-stage. Cut at the stop's step count or time.
  Task<> local_steps(Worker& worker);
  // One step's gradient instead (data parallel).
  Task<SharedValue> gradient(Worker& worker);
  // The mean over all workers of what each brings.
  Task<SharedValue> average(Worker& worker, SharedValue value);
  // True for the first worker that is back from this round's average: it makes the outer step on
  // behalf of all.
  bool first_back(const Worker& worker);
  // The round's new global model, from its first_back worker. Evaluated where the setup asks for
  // it.
  void publish(const Worker& worker, SharedValue global);
  void end_round(Worker& worker);

  // After the run: evaluates the last global model if its round was not.
  void finish();

  const std::vector<RoundRecord>& rounds() const { return rounds_; }
  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  Traffic& traffic() { return traffic_; }
  // A cluster-wide worker's average inside, on the idle fabric; empty where nothing is charged.
  const std::vector<IdleAllReduce>& charged() const { return charged_; }

 private:
  void set_up_groups();
  bool opens(std::uint64_t round) const;
  bool opens_block(const Worker& worker, std::uint64_t done);
  std::uint64_t planned_end(
      std::uint64_t round) const;  // steps of each worker at the end of a round (from 0 on)
  std::uint64_t round_steps(const Worker& worker) const;
  Task<> compute(Worker& worker, std::uint64_t steps);
  Time duration(const Worker& worker, std::uint64_t steps) const;
  std::uint64_t record_limit(const Worker& worker, std::uint64_t steps) const;
  void keep_loss(const Worker& worker, NumberIndex loss, std::uint64_t steps);
  void evaluate(std::uint64_t round, std::uint64_t steps, Time at);

  Network& network_;
  Engine& engine_;
  const SimulationSetup& setup_;
  Traffic traffic_;
  Recorder recorder_;
  NumberSource numbers_;
  std::vector<Worker> workers_;
  std::unique_ptr<Group> all_;
  std::vector<std::unique_ptr<Group>> sites_;
  std::vector<std::vector<bool>>
      blocks_open_;                     // by site and block: decided by the first member that asks
  std::vector<IdleAllReduce> charged_;  // by worker
  Time slowest_step_;
  std::vector<RoundRecord> rounds_;
  std::vector<std::uint32_t> back_;  // by round: workers back from its average
  std::vector<std::uint32_t> ended_;
  std::vector<Evaluation> evaluations_;
  SharedValue global_;  // of the latest round
  bool global_evaluated_ = false;
  bool over_ = false;
  Bytes sent_before_;  // traffic until the last round ended
};

}  // namespace syncline
