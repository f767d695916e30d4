#include "sim/strategy/strategy.h"

#include <variant>

namespace syncline {
namespace {

struct Spawn {
  Engine& engine;
  Fleet& fleet;
  void operator()(const DataParallel&) const { spawn_data_parallel(engine, fleet); }
  void operator()(const LocalSgd&) const { spawn_local_sgd(engine, fleet); }
  void operator()(const Diloco& method) const { spawn_diloco(engine, fleet, method.outer); }
};

}  // namespace

void spawn_workers(Engine& engine, Fleet& fleet, const StrategySetup& strategy) {
  std::visit(Spawn{engine, fleet}, strategy.method);
}

}  // namespace syncline
