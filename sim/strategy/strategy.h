// The training methods: one coroutine a worker, each in a file of its own that reads like its
// paper.
#pragma once

#include "sim/strategy/fleet.h"

namespace syncline {

// Starts the fleet with the strategy's method.
void start_workers(Fleet& fleet, const StrategySetup& strategy);

void start_data_parallel(Fleet& fleet);
// One of its rounds, after begin_round(): also of methods that begin with some.
Task<> data_parallel_round(Fleet& fleet, Worker& worker);
void start_local_sgd(Fleet& fleet, const LocalSgd& method);
void start_diloco(Fleet& fleet, const OuterRule& outer);
void start_delayed_diloco(Fleet& fleet, const OuterRule& outer);
void start_eager_diloco(Fleet& fleet, const OuterRule& outer);
void start_streaming_diloco(Fleet& fleet, const StreamingDiloco& method);
void start_fed_avg(Fleet& fleet, const FedAvg& method);
void start_sparse_loco(Fleet& fleet, const SparseLoco& method);
void start_gossip(Fleet& fleet, const Gossip& method);
void start_async_local_sgd(Fleet& fleet, const AsyncLocalSgd& method);

}  // namespace syncline
