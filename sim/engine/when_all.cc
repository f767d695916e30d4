#include "sim/engine/when_all.h"

#include <cstddef>
#include <utility>

#include "sim/engine/signal.h"

namespace syncline {
namespace {

struct Children {
  explicit Children(Engine& owner) : engine(owner), all_done(owner) {}
  ~Children() {
    for (const ProcessId process : processes) engine.cancel(process);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  Engine& engine;
  Signal all_done;
  std::vector<ProcessId> processes;
  std::size_t left = 0;
};

Task<> run_child(Task<> body, Children& children) {
  co_await body;
  if (--children.left == 0) children.all_done.notify_all();
}

}  // namespace

Task<> when_all(Engine& engine, std::string name, std::vector<Task<>> tasks) {
  Children children(engine);
  children.left = tasks.size();
  for (Task<>& task : tasks) {
    children.processes.push_back(engine.spawn(name, run_child(std::move(task), children)));
  }
  while (children.left > 0) co_await children.all_done.wait();
}

}  // namespace syncline
