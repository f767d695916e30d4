// What the training methods stand on: the workers, their time, their averages, and the program that
// they write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/signal.h"
#include "sim/failure/failures.h"
#include "sim/setup.h"
#include "sim/strategy/group.h"
#include "sim/strategy/interval_control.h"
#include "sim/strategy/recorder.h"
#include "sim/strategy/worker.h"
#include "sim/timeline.h"

namespace syncline {

struct Evaluation {
  std::uint64_t round = 0;  // 0: before the first
  std::uint64_t steps = 0;  // of each worker
  Time at;
  NumberIndex loss = kNone;
};

struct RoundRecord {
  std::uint64_t round = 0;  // from 1 on
  std::uint64_t steps = 0;  // of a worker that was in all rounds
  Time begun, all_joined, ended;
  std::size_t workers = 0;  // in the average
  Bytes sent;               // over the network from the end of the round before
  // Mean training losses, with the steps each stands for.
  std::vector<std::pair<NumberIndex, std::uint32_t>> losses;
};

class Fleet final : private Presence, private FailureListener {
 public:
  Fleet(Network& network, const SimulationSetup& setup, Program* program, NumberSource numbers);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  Engine& engine() { return engine_; }
  const SimulationSetup& setup() const { return setup_; }
  std::vector<Worker>& workers() { return workers_; }
  Recorder& record() { return recorder_; }

  // Real ones.
  std::size_t replicas() const { return setup_.replicas == 0 ? workers_.size() : setup_.replicas; }
  // The parameters that every worker starts from; evaluated once as round 0.
  SharedValue initial();
  // A replica with these parameters that no worker trains.
  Replica one_more_replica() { return recorder_.init(setup_.seed); }

  // A worker's life as the method has it: it ends when begin_round says so.
  using Body = std::function<Task<>(Worker&)>;
  // Starts every worker as a process of its name, and the events. A worker that comes back begins
  // its body anew, with the state of a peer.
  void start(Body body);

  // For the body, in this order:

  // False when the run is over. The first worker that asks for a round decides it for all, so that
  // all take part in the same rounds.
  bool begin_round(Worker& worker);
  // The local phase of this round: H inner steps, with the averages inside the cluster where the
  // strategy is two-stage. Cut at the stop's step count or time.
  Task<> local_steps(Worker& worker);
  // The present round has one step, whose gradient is averaged instead (data parallel).
  bool averages_gradients(const Worker& worker) const {
    return planned_begin(worker.round - 1) < setup_.strategy.gradient_steps;
  }
  Task<SharedValue> gradient(Worker& worker);
  // The mean over all workers that take part of what each brings. A worker that missed it leaves
  // its body here, by an exception that start() catches.
  Task<SharedValue> average(Worker& worker, SharedValue value);
  // True for the first worker that is back from this round's average: it makes the outer step on
  // behalf of all.
  bool first_back(const Worker& worker);
  // The round's new global model, from its first_back worker. Evaluated where the setup asks for
  // it.
  void publish(const Worker& worker, SharedValue global);
  void end_round(Worker& worker);

  // For averages that the method makes itself, of few workers each:

  // This worker's part in the present round's.
  void note_average(Worker& worker, const AverageTimes& times);
  Traffic& traffic() { return traffic_; }
  Network& network() { return network_; }

  // For averages that go on while their worker computes:

  // Steps that the worker has finished in its present round.
  std::uint64_t steps_in_round(const Worker& worker) const {
    return worker.progress.steps - worker.at_sync.steps;
  }
  // The step at which the present round ends, and up to which local_steps() goes.
  std::uint64_t round_end(const Worker& worker) const { return ends_[worker.round - 1]; }
  // The local phase up to step `until` of the plan; the rest is left to later calls.
  Task<> local_steps(Worker& worker, std::uint64_t until);
  // One worker's part in the average of a round. It is given up when this is destroyed.
  struct Sync {
    std::uint64_t round = 0;     // from 0 on
    std::uint64_t end = 0;       // round_end() of that round
    std::uint64_t position = 0;  // of the worker when it brought its value
    SharedValue value;           // as the others get it
    struct Result;
    std::unique_ptr<Result> result;
    Sync();
    Sync(Sync&&) noexcept;
    Sync& operator=(Sync&&) = delete;
    ~Sync();
  };
  // As average(), for this round; the worker goes on.
  Sync begin_average(Worker& worker, SharedValue value);
  // Waits for the mean.
  Task<SharedValue> finish_average(Worker& worker, const Sync& sync);
  bool first_back(const Sync& sync) const { return back_[sync.round] == 1; }
  void publish(const Sync& sync, SharedValue global);
  void end_round(const Sync& sync);

  // For methods that a server leads, at the collective's node. Workers are its clients: idle until
  // it calls them.

  // Starts the server as a process, and the events. When it ends, the run is over; clients that are
  // still at work are given up.
  void start_server(Task<> server);
  // The next round; false when the run is over.
  bool open_round();
  // Machines that are up, idle, and within reach of the server; by number.
  std::vector<Worker*> idle_clients();
  // Until one more client may be idle or within reach.
  Signal::Awaiter somebody_comes() { return changed_.wait(); }
  // The client takes part in the present round: a process with this body, which may end at any
  // time.
  void call(Worker& client, Task<> body);
  // The model on its way to the client, and what it sends on its way back; false where that failed.
  Task<bool> download(Worker& client);
  Task<bool> upload(Worker& client);
  // What the server gets of a value.
  SharedValue encoded(Worker& client, SharedValue value);
  // What the client has done in its round was for nothing.
  void lose_round(Worker& client);
  // The present round is over, with the global model made of what these clients sent.
  void close_round(const std::vector<const Worker*>& clients, SharedValue global);

  // For methods whose workers take their steps alone; download() and upload() are for them, too.
  // The stop's steps are those of all workers, shared out as they ask; each update is a round.

  Time fastest_step() const { return fastest_step_; }
  // At most so many steps for this worker; false when the run is over.
  bool begin_own_steps(Worker& worker, std::uint64_t most);
  // Takes them; the stop's time may cut them.
  Task<> own_steps(Worker& worker);
  // The server has the worker's update: it made this model of it.
  void publish_update(Worker& worker, Time sent, SharedValue global);

  // After the run: evaluates the last global model if its round was not, and closes the books.
  void finish();

  const std::vector<RoundRecord>& rounds() const { return rounds_; }
  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  // A cluster-wide worker's average inside, on the idle fabric; empty where nothing is charged.
  const std::vector<IdleAllReduce>& charged() const { return charged_; }
  const Timeline& timeline() const { return timeline_; }
  // Called once, when no worker has anything to do any more.
  void when_over(std::function<void()> handler) { when_over_ = std::move(handler); }
  // Workers that the earliest open average lacks, and why: "milan (down)"; for messages.
  std::vector<std::string> missing() const;

 private:
  struct MissedRound {};

  void set_up_groups();
  bool may_fail() const {
    return !setup_.events.empty() || setup_.strategy.deadline || setup_.strategy.quorum;
  }

  // Rounds (fleet.cc).
  bool opens(std::uint64_t round) const;
  std::uint64_t next_end(std::uint64_t round);
  bool plan_round(std::uint64_t round);
  bool opens_block(const Worker& worker, std::uint64_t block);
  // Steps of each worker; rounds from 0 on, the present one at most.
  std::uint64_t planned_begin(std::uint64_t round) const {
    return round == 0 ? 0 : ends_[round - 1];
  }
  bool closes(std::uint64_t round) const { return planned_begin(round) == ends_[round]; }
  bool is_recorded(std::uint64_t round) const;
  Task<> carry(std::uint32_t worker, Sync::Result* result, std::uint64_t round, SharedValue value);
  SharedValue take(Worker& worker, std::uint64_t round, const Group::Result& result, Time blocked);
  void note_steps(const Worker& worker, std::uint64_t round);
  void note_end(std::uint64_t round);
  void publish(std::uint64_t round, std::uint64_t position, SharedValue global);
  bool evaluates(std::uint64_t round) const;
  void evaluate(std::uint64_t round, std::uint64_t steps, Time at);

  // Clients of a server (fleet_clients.cc).
  Task<> serve(Task<> server);
  Task<> work_for_server(Worker& client, Task<> body);
  Task<bool> carry(Worker& client, NodeId source, NodeId destination, Bytes bytes);

  // Steps that workers take alone (fleet_own_steps.cc).
  std::uint64_t of_all(std::uint64_t steps) const { return steps * workers_.size(); }

  // Steps (fleet_steps.cc).
  Task<> compute(Worker& worker, std::uint64_t steps);
  Task<> sleep_until(Worker& worker, Time end);
  std::uint64_t syncs_within(const Worker& worker, std::uint64_t steps) const;
  Time duration(const Worker& worker, std::uint64_t steps) const;
  std::uint64_t finished(const Worker& worker, Time done, std::uint64_t most) const;
  Task<Time> work(Worker& worker, std::uint64_t steps, bool may_be_cut);
  Time segment_done(const Worker& worker) const;
  void credit_steps(Worker& worker, std::uint64_t steps, Time took);
  std::uint64_t record_limit(const Worker& worker, std::uint64_t steps) const;
  void keep_loss(Worker& worker, NumberIndex loss, std::uint64_t steps);

  // Failures (fleet_failures.cc).
  Task<> live(Worker& worker);
  Task<> come_back(Worker& worker);
  Task<> rejoin(Worker& worker);
  Worker* find_peer(const Worker& worker, std::uint64_t round);
  bool reaches_somebody(const Worker& worker) const;
  bool alone(const Worker& worker) const;
  bool connected(const Worker& a, const Worker& b) const {
    return part(a.index) && part(a.index) == part(b.index);
  }
  void give_up_fetch(Worker& worker);
  void worker_ended();
  bool coming(std::size_t member, std::uint64_t sequence) const override;
  std::optional<std::uint32_t> part(std::size_t member) const override;
  bool cut_off(std::size_t a, std::size_t b) const override;
  void machine_down(std::uint32_t worker) override;
  void machine_up(std::uint32_t worker) override;
  void speed_changed(std::uint32_t worker) override;
  void network_changed() override;

  Network& network_;
  Engine& engine_;
  const SimulationSetup& setup_;
  Traffic traffic_;
  Recorder recorder_;
  NumberSource numbers_;
  IntervalControl interval_;  // where H depends on what was trained
  Failures failures_;
  Body body_;
  std::vector<Worker> workers_;
  bool has_server_ = false;
  // Of steps that workers take alone, and of those that are recorded: given out, and in updates.
  struct Shared {
    std::uint64_t given = 0;
    std::uint64_t applied = 0;
  };
  Shared own_, own_recorded_;
  std::uint64_t updates_under_way_ = 0;
  std::size_t known_active_ = 0;  // was active when worker_ended() looked
  Timeline timeline_;
  std::function<void()> when_over_;
  std::vector<std::unique_ptr<Signal>> speed_changes_;  // by worker
  Signal changed_;  // a round began, somebody came or went, the network is another one
  std::unique_ptr<Group> all_;
  std::vector<std::unique_ptr<Group>> sites_;
  // By site and block: decided by the first member that asks.
  std::vector<std::vector<bool>> blocks_open_;
  std::vector<IdleAllReduce> charged_;  // by worker
  Time slowest_step_, fastest_step_ = Time::max();
  std::vector<RoundRecord> rounds_;
  std::vector<std::uint64_t> ends_;            // by round: the step at which it ends
  std::optional<std::uint64_t> closing_left_;  // rounds without steps to come; set at the stop
  bool budget_evaluated_ = false;              // the model at the end of the recorded steps
  std::vector<std::uint32_t> back_;            // by round: workers back from its average
  std::vector<Bytes> sent_until_;              // by round: traffic in all when it ended
  std::vector<Evaluation> evaluations_;
  SharedValue global_;  // of the latest round
  bool global_evaluated_ = false;
  bool over_ = false;
  // The state after the latest average, for a worker that comes back and finds nobody.
  SharedValue checkpoint_;
};

}  // namespace syncline
