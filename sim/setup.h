// What a simulation is asked to do: workers, strategy, stop. Plain values, checked before they come
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/program.h"
#include "sim/collective/all_reduce.h"
#include "sim/failure/event.h"
#include "sim/network/flows.h"
#include "sim/network/transport.h"
#include "topology/link_trace.h"
#include "topology/quantity.h"
#include "topology/topology.h"

namespace syncline {

struct WorkerSetup {
  std::string name;
  std::vector<NodeId> hosts;  // one; or all hosts of a cluster that is one worker
  std::string cluster;        // empty: none
  Time step;                  // virtual time of one inner step (the pace)
  double weight = 1;          // in averages, relative to the others who take part
};

// Gradients are averaged every step and applied by the inner optimizer.
struct DataParallel {};
// Parameters are averaged every H steps (Stich 2019: arXiv 1805.09767).
struct LocalSgd {
  bool optimizer = false;  // the inner optimizer's moments, too; its step count is never averaged
};
// Pseudo-gradients are averaged every H steps and applied by an outer optimizer (Douillard et al.
// 2023: arXiv 2311.08105).
struct Diloco {
  OuterRule outer;
};
// Pseudo-gradients of one fragment at a time, every local_steps / fragments steps, so that each
// fragment has its turn every local_steps; each average goes on while the next `overlap` steps are
// computed (Douillard et al. 2025: arXiv 2501.18512).
struct StreamingDiloco {
  OuterRule outer;
  std::uint32_t fragments = 1;  // at most local_steps
  Fragment::Pattern pattern = Fragment::Pattern::STRIDED;
  std::uint64_t overlap = 0;  // tau, inner steps; below local_steps
  double alpha = 0;           // share of the worker's own fragment in what it goes on from
  std::vector<std::uint64_t> elements;  // of the payload, by fragment
};
// Diloco whose average goes on during the whole next round, and is applied after it (Qi et al.
// 2025: arXiv 2506.21263).
struct DelayedDiloco {
  OuterRule outer;
};
// The same, but each worker applies its own part of the average at once (Kale et al. 2025: arXiv
// 2502.12996).
struct EagerDiloco {
  OuterRule outer;
};
// Each round a server sends the model to some workers, its clients, chosen at random. Each trains
// it for H steps from a fresh inner optimizer and sends back what has changed; the server averages
// that (McMahan et al. 2017: arXiv 1602.05629). More may be chosen than count: then the first ones
// that report do, and the others are discarded (Bonawitz et al. 2019: arXiv 1902.01046). The server
// is the collective's.
struct FedAvg {
  OuterRule outer{OuterRule::Kind::SGD, 1, 0};
  std::size_t clients = 1;  // that count
  std::size_t chosen = 1;   // at least as many
};
// No average of all: after H steps each worker mixes its model with those of few others. Worker i
// takes W_ij of its neighbour j, 1 / (1 + the larger one of their numbers of neighbours), and the
// rest of itself (Metropolis, Hastings); so each of a pair takes a half.
struct Gossip {
  enum class Partners : std::uint8_t {
    RANDOM_PAIRS,  // other ones each round; an odd worker out keeps its model
    GRAPH          // always the neighbours
  };
  Partners partners = Partners::RANDOM_PAIRS;
  std::vector<std::vector<std::uint32_t>> neighbours;  // GRAPH: by worker; symmetric, by number
  // Of NoLoCo (Kolehmainen et al. 2025: arXiv 2506.10911): worker i sends phi_i, the model that its
  // round began with, and Delta_i (both are the payload), what it was moved by since, and goes on
  // from phi_i + delta_i,
  //   delta_i <- momentum delta_i + lr sum_j W_ij Delta_j + pull (sum_j W_ij phi_j - phi_i)
  struct Momentum {
    double lr = 0.7;
    double momentum = 0.5;
    double pull = 0.7;  // gamma
  };
  // None: it sends its parameters, and goes on from sum_j W_ij theta_j (Lian et al. 2017: arXiv
  // 1705.09056).
  std::optional<Momentum> momentum;
};
// Diloco whose workers send the largest part of their pseudo-gradients alone, with error feedback
// and an outer SGD without momentum (Sarfi et al. 2025: arXiv 2508.15706). StrategySetup has no
// compression then.
struct SparseLoco {
  double lr = 1;                       // alpha, of the outer SGD
  CodecSpec codec{Codec::TOP_K_2BIT};  // or TOP_K
  double decay = 0.95;                 // beta
};
// No rounds of all: a worker sends what H steps have changed to a server, the collective's, as soon
// as it has taken them, and goes on from the server's model (Liu et al. 2024: arXiv 2401.09135).
struct AsyncLocalSgd {
  OuterRule outer;
  // N: with each N-th update g the server renews its momentum by the mean of the last N,
  //   m <- momentum m + mean,  theta <- theta - lr (g / N + (1 - c N + c) momentum m)
  // with the others theta <- theta - lr (g / N + c momentum m).
  std::uint64_t delay = 1;
  double activation = 0;  // c, 0 to 1 / N
  // A worker takes as many of the H steps as it can while the fastest one takes all, at least one.
  bool by_speed = true;
};
using Method = std::variant<DataParallel, LocalSgd, Diloco, StreamingDiloco, DelayedDiloco,
                            EagerDiloco, FedAvg, Gossip, SparseLoco, AsyncLocalSgd>;

// Two-stage synchronisation: inside each cluster every `local_steps`, between clusters every
// StrategySetup::local_steps (a multiple). Inside, local_steps 1 averages gradients, more averages
// parameters.
struct WithinCluster {
  std::uint64_t local_steps = 1;
  Collective collective;
};

// H of the rounds that begin at step `from` or later.
struct IntervalChange {
  std::uint64_t from = 0;
  std::uint64_t local_steps = 1;
};

// H of the next round from a value that the trainer is asked for: the clock waits.
struct AdaptiveInterval {
  enum class Rule : std::uint8_t {
    LOSS,       // H of the first round · sqrt(loss / loss of the first round's model), rounded up
                // (Wang, Joshi 2019: arXiv 1810.08313, equation 18)
    DIVERGENCE  // in proportion, at most to the half or the double, so that the replicas' mean
                // distance from their average is `target` times the norm of the parameters
  };
  Rule rule = Rule::LOSS;
  double target = 0;       // DIVERGENCE
  std::uint64_t most = 0;  // largest H
};

// With reweight: an average begins `grace` after so many workers are there, or when all are.
struct Quorum {
  std::size_t workers = 1;
  Time grace;
};

// Of what a worker sends.
struct Compression {
  CodecSpec codec;
  // Error feedback: what the codec drops is added to what the worker sends next, times this.
  std::optional<double> feedback;
};

struct StrategySetup {
  Method method;
  std::uint64_t local_steps = 1;             // H
  std::vector<IntervalChange> schedule;      // in order of `from`; before the first: local_steps
  std::optional<AdaptiveInterval> adaptive;  // from local_steps on
  // So many first steps are data parallel: rounds of one step, whose gradients are averaged.
  std::uint64_t gradient_steps = 0;
  Collective collective;
  std::optional<WithinCluster> within_cluster;
  // What a worker sends is encoded once, and the mean is over what is decoded; none: as it is. The
  // payload is that of the codec.
  std::optional<Compression> compression;
  // A worker that is down or cut off: false: the others wait for it; true: the average is over
  // those who are there.
  bool reweight = false;
  // With reweight, at most one of them. An average begins at the latest this long after its round.
  std::optional<Time> deadline;
  std::optional<Quorum> quorum;
};

// The first one reached ends the run; then steps since the last sync are synchronised once more. At
// least one is set.
struct StopRule {
  std::optional<std::uint64_t> steps;  // inner steps of each worker
  std::optional<std::uint64_t> rounds;
  std::optional<Time> time;
  std::optional<double> loss;  // of the global model on held-out tokens
};

struct TracedLink {
  LinkId link;
  LinkTrace trace;
};

struct SimulationSetup {
  std::vector<WorkerSetup> workers;
  StrategySetup strategy;
  Payload payload;        // of a sync: parameters or gradients, as they travel
  Payload plain_payload;  // the same without compression: of averages inside a cluster
  StopRule stop;
  // Inner steps; the global model is evaluated at the first sync at or after each multiple.
  std::uint64_t evaluate_every = 1;
  // Inner steps of each worker that go into the program; later ones take time only.
  std::uint64_t recorded_steps = 0;
  // Real ones, of the first workers, that stand for all; 0: every worker has its own.
  std::uint64_t replicas = 0;
  std::uint64_t seed = 1;  // of the replicas' initial parameters, and of random events
  std::vector<FailureEvent> events;
  Transport transport;
  std::vector<TracedLink> traces;
  std::vector<Flow> background;  // of others; stalls where something goes down, ends with the run
  Payload rejoin;  // what a worker that comes back gets from a peer: parameters and moments
};

}  // namespace syncline
