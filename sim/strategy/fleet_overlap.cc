// Averages that go on while their workers compute.
#include <utility>

#include "sim/strategy/fleet.h"
#include "topology/check.h"

namespace syncline {

struct Fleet::Sync::Result {
  explicit Result(Engine& its_engine) : engine(its_engine), done(its_engine) {}
  ~Result() { engine.cancel(carrier); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  Engine& engine;
  Signal done;
  ProcessId carrier;
  std::optional<Group::Result> group;
};

Fleet::Sync::Sync() = default;
Fleet::Sync::Sync(Sync&&) noexcept = default;
Fleet::Sync::~Sync() = default;

Fleet::Sync Fleet::begin_average(Worker& worker, SharedValue value) {
  Sync sync;
  sync.round = worker.round - 1;
  sync.end = round_end(worker);
  sync.position = worker.position;
  sync.value = encoded(worker, std::move(value));
  sync.result = std::make_unique<Sync::Result>(engine_);
  note_steps(worker, sync.round);
  sync.result->carrier =
      engine_.spawn(worker.setup->name + " (average)",
                    carry(worker.index, sync.result.get(), sync.round, sync.value));
  return sync;
}

Task<> Fleet::carry(std::uint32_t worker, Sync::Result* result, std::uint64_t round,
                    SharedValue value) {
  result->group = co_await all_->average(worker, round, std::move(value));
  result->done.notify_all();
}

Task<SharedValue> Fleet::finish_average(Worker& worker, const Sync& sync) {
  const Time blocked = engine_.now();
  while (!sync.result->group) co_await sync.result->done.wait();
  SYNCLINE_CHECK(!sync.result->group->missed, "who computes on is waited for");
  co_return take(worker, sync.round, *sync.result->group, blocked);
}

void Fleet::publish(const Sync& sync, SharedValue global) {
  publish(sync.round, sync.position, std::move(global));
}

void Fleet::end_round(const Sync& sync) { note_end(sync.round); }

}  // namespace syncline
