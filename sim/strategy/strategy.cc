#include "sim/strategy/strategy.h"

#include <variant>

namespace syncline {
namespace {

struct Start {
  Fleet& fleet;
  void operator()(const DataParallel&) const { start_data_parallel(fleet); }
  void operator()(const LocalSgd& method) const { start_local_sgd(fleet, method); }
  void operator()(const Diloco& method) const { start_diloco(fleet, method.outer); }
  void operator()(const DelayedDiloco& method) const { start_delayed_diloco(fleet, method.outer); }
  void operator()(const EagerDiloco& method) const { start_eager_diloco(fleet, method.outer); }
  void operator()(const StreamingDiloco& method) const { start_streaming_diloco(fleet, method); }
  void operator()(const FedAvg& method) const { start_fed_avg(fleet, method); }
  void operator()(const SparseLoco& method) const { start_sparse_loco(fleet, method); }
  void operator()(const Gossip& method) const { start_gossip(fleet, method); }
  void operator()(const AsyncLocalSgd& method) const { start_async_local_sgd(fleet, method); }
};

}  // namespace

void start_workers(Fleet& fleet, const StrategySetup& strategy) {
  std::visit(Start{fleet}, strategy.method);
}

}  // namespace syncline
