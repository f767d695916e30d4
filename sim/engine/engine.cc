#include "sim/engine/engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "topology/check.h"

namespace syncline {
namespace {

constexpr std::uint64_t kMostEventsInOneInstant = 10'000'000;
constexpr std::uint64_t kEventsBetweenAsking = 4096;

struct Process final : EventTarget {
  Process(Engine& process_engine, std::uint32_t index) : engine(process_engine), id{index, 1} {}

  void on_event(std::uint64_t) override { engine.resume(id, body.handle()); }

  Engine& engine;
  ProcessId id;  // its generation rises when the process is done
  std::uint64_t serial = 0;
  std::string name;
  Task<> body;  // empty: the record is free
  EventHandle start;
};

struct InstantEnd {
  EventTarget* target;
  std::uint64_t tag;
};

}  // namespace

struct Engine::State {
  // Records are kept and used again; a deque-like vector of pointers, because events point at them.
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<std::uint32_t> free_processes;
  std::uint64_t spawned = 0;
  ProcessId current;

  EventQueue queue;
  Time now;
  std::vector<InstantEnd> instant_ends;
  std::uint64_t handled = 0;
  std::uint64_t handled_in_instant = 0;

  Process* find(ProcessId id) {
    if (id.generation == 0 || id.index >= processes.size()) return nullptr;
    Process& process = *processes[id.index];
    return process.id == id && process.body.handle() ? &process : nullptr;
  }

  // Alive ones, in order of spawning.
  std::vector<Process*> alive() const {
    std::vector<Process*> found;
    for (const auto& process : processes) {
      if (process->body.handle()) found.push_back(process.get());
    }
    std::sort(found.begin(), found.end(),
              [](const Process* a, const Process* b) { return a->serial < b->serial; });
    return found;
  }

  // The record is free before the frame dies: destructors in the frame may ask for this process or
  // end others.
  Task<> release(Process& process) {
    queue.cancel(process.start);
    Task<> body = std::move(process.body);
    if (++process.id.generation == 0) process.id.generation = 1;
    process.name.clear();
    free_processes.push_back(process.id.index);
    return body;
  }

  void count_event() {
    ++handled;
    if (++handled_in_instant > kMostEventsInOneInstant) {
      throw std::logic_error("more than 10^7 events at " + to_text(now) +
                             ": something goes round without virtual time going on");
    }
  }

  // Handles the next event, or the end of the instant, up to `limit`. False if there is none.
  bool step(Time limit) {
    bool event_first = !queue.empty() && queue.next_time() <= limit &&
                       (instant_ends.empty() || queue.next_time() == now);
    if (event_first) {
      EventQueue::Event event = queue.pop();
      if (event.at != now) {
        now = event.at;
        handled_in_instant = 0;
      }
      count_event();
      event.target->on_event(event.tag);
      return true;
    }
    if (instant_ends.empty()) return false;
    InstantEnd end = instant_ends.front();
    instant_ends.erase(instant_ends.begin());
    count_event();
    end.target->on_event(end.tag);
    return true;
  }
};

Engine::Engine() : state_(std::make_unique<State>()), now_(&state_->now) {}

Engine::~Engine() { cancel_all(); }

EventHandle Engine::schedule(Time at, Phase phase, EventTarget& target, std::uint64_t tag,
                             std::uint64_t order) {
  SYNCLINE_CHECK(at >= state_->now, "an event cannot be in the past");
  return state_->queue.push(at, phase, order, target, tag);
}

bool Engine::cancel(EventHandle event) { return state_->queue.cancel(event); }

void Engine::at_instant_end(EventTarget& target, std::uint64_t tag) {
  state_->instant_ends.push_back({&target, tag});
}

void Engine::cancel_instant_end(EventTarget& target) {
  std::erase_if(state_->instant_ends, [&](const InstantEnd& end) { return end.target == &target; });
}

ProcessId Engine::spawn(std::string name, Task<> body) {
  SYNCLINE_CHECK(body.handle(), "a process needs a body");
  State& state = *state_;
  if (state.free_processes.empty()) {
    state.free_processes.push_back(static_cast<std::uint32_t>(state.processes.size()));
    state.processes.push_back(
        std::make_unique<Process>(*this, static_cast<std::uint32_t>(state.processes.size())));
  }
  Process& process = *state.processes[state.free_processes.back()];
  state.free_processes.pop_back();
  process.serial = state.spawned++;
  process.name = std::move(name);
  process.body = std::move(body);
  process.start = schedule(state.now, Phase::TIMER, process);
  return process.id;
}

void Engine::cancel(ProcessId id) {
  Process* process = state_->find(id);
  if (!process) return;
  SYNCLINE_CHECK(!(id == state_->current), "a process cannot cancel itself");
  Task<> body = state_->release(*process);
}

void Engine::cancel_all() {
  SYNCLINE_CHECK(state_->current == ProcessId{}, "a process cannot cancel itself");
  std::vector<ProcessId> ids;
  for (const Process* process : state_->alive()) ids.push_back(process->id);
  for (ProcessId id : ids) cancel(id);
}

bool Engine::done(ProcessId id) const { return state_->find(id) == nullptr; }

ProcessId Engine::current_process() const { return state_->current; }

void Engine::resume(ProcessId id, std::coroutine_handle<> handle) {
  State& state = *state_;
  SYNCLINE_CHECK(state.current == ProcessId{}, "a process is resumed inside another one");
  state.current = id;
  handle.resume();
  state.current = {};
  Process* process = state.find(id);
  if (!process || !process->body.handle().done()) return;
  Task<> body = state.release(*process);
  body.handle().promise().take();  // throws what left the process
}

void Engine::run(const std::function<bool()>& interrupted) {
  std::uint64_t ask_at = state_->handled + kEventsBetweenAsking;
  while (state_->step(Time::max())) {
    if (state_->handled < ask_at) continue;
    ask_at = state_->handled + kEventsBetweenAsking;
    if (interrupted && interrupted()) throw Interrupted();
  }
}

void Engine::run_until(Time at) {
  SYNCLINE_CHECK(at >= state_->now, "the clock cannot go back");
  while (state_->step(at)) {
  }
  if (state_->now == at) return;
  state_->now = at;
  state_->handled_in_instant = 0;
}

std::vector<std::string> Engine::unfinished() const {
  std::vector<std::string> names;
  for (const Process* process : state_->alive()) names.push_back(process->name);
  return names;
}

std::uint64_t Engine::events_handled() const { return state_->handled; }

std::size_t Engine::pending() const { return state_->queue.size(); }

void Engine::SleepAwaiter::await_suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  process_ = engine_.current_process();
  timer_ = engine_.schedule(at_, Phase::TIMER, *this);
}

void Engine::SleepAwaiter::on_event(std::uint64_t) { engine_.resume(process_, handle_); }

}  // namespace syncline
