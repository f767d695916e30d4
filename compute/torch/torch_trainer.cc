#include "compute/torch/torch_trainer.h"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "compute/cache/trajectory_cache.h"
#include "compute/interrupted.h"
#include "compute/torch/codec.h"
#include "compute/torch/device.h"
#include "compute/torch/header.h"
#include "compute/torch/model.h"
#include "compute/torch/optimizer.h"
#include "compute/torch/plan.h"
#include "compute/torch/runner.h"
#include "compute/torch/shard_sums.h"
#include "compute/torch/state.h"
#include "compute/torch/thread_pool.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using at::Tensor;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Batches run in pieces of about this much real time, so that progress and ctrl-C are prompt.
constexpr double kPieceSeconds = 0.2;
// The activations of one stacked pass get this part of a GPU's memory; on a CPU, so many bytes.
constexpr double kActivationShare = 0.4;
constexpr std::int64_t kActivationBytesOnCpu = std::int64_t{4} << 30;

at::ScalarType master_type(Precision precision) {
  return precision == Precision::FP64 ? at::kDouble : at::kFloat;
}
at::ScalarType model_type(Precision precision) {
  return precision == Precision::BF16 ? at::kBFloat16 : master_type(precision);
}

StoredValue parameters_value(Tensor tensor, std::uint32_t shard) {
  StoredValue value;
  value.parameters = std::move(tensor);
  value.shard = shard;
  return value;
}

// The device of some replicas, and all that works there. A CPU is one, each GPU is one.
struct Shard {
  Shard(const TrainingConfig& config, std::int64_t vocabulary, at::Device where)
      : device(where),
        values_are(at::TensorOptions(where).dtype(master_type(config.precision))),
        model(config.model, vocabulary, model_type(config.precision), where),
        optimizer(config.inner, model.layout()),
        slab(optimizer, model.layout().size, values_are) {}

  at::Device device;
  at::TensorOptions values_are;
  Model model;
  Optimizer optimizer;
  Slab slab;
  std::unique_ptr<ThreadPool> thread;  // of a runner that others run beside
  std::unique_ptr<Runner> runner;
};

const TrainingConfig& checked(const TrainingConfig& config) {
  const ModelConfig& model = config.model;
  if (model.heads == 0 || model.width % (2 * model.heads) != 0) {
    throw InputError("model: width " + std::to_string(model.width) +
                     " must be a multiple of twice the heads (" + std::to_string(model.heads) +
                     "), since rotary positions turn pairs");
  }
  if (config.batch == 0) throw InputError("batch: 0 sequences; write 1 or more");
  return config;
}

class TorchTrainer final : public Trainer {
 public:
  TorchTrainer(const TrainingConfig& config, const std::shared_ptr<const Dataset>& data,
               const TorchTrainerOptions& options)
      : config_(checked(config)),
        options_(options),
        chosen_(choose_device(options.device)),
        stacked_(chosen_.device.is_cuda() || options.execution == Execution::STACKED),
        pool_(stacked_              ? 1
              : options.threads > 0 ? options.threads
                                    : available_cores()) {
    if (chosen_.device.is_cuda() && options.execution == Execution::THREADS) {
      throw InputError("execution: threads are for the CPU; a GPU runs stacked");
    }
    const int count = shard_count();
    header_ = training_header(config_, *data,
                              chosen_.name +
                                  (chosen_.device.is_cpu() ? ", " + at::get_cpu_capability() : "") +
                                  (stacked_ ? ", stacked" : ", threads") +
                                  (count > 1 ? " on " + std::to_string(count) : ""));
    std::vector<at::Device> devices;
    for (int i = 0; i < count; ++i) {
      devices.push_back(chosen_.device.is_cuda()
                            ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(i))
                            : chosen_.device);
      add_shard(data, devices.back(), count > 1);
    }
    if (count > 1) {
      sums_ = std::make_unique<ShardSums>(devices);
      shard_threads_ = std::make_unique<ThreadPool>(count);
    }
  }

  std::string header() const override { return header_; }
  std::uint64_t parameter_count() const override {
    return static_cast<std::uint64_t>(layout().size);
  }
  std::string device_name() const override {
    if (chosen_.device.is_cuda())
      return (shards_.size() > 1 ? std::to_string(shards_.size()) + " x " : "") + chosen_.name;
    return "CPU (" + std::to_string(pool_.size()) + (pool_.size() == 1 ? " thread)" : " threads)");
  }

  Time measure_step() override;
  TrainingEffort run(const Program& program, const TrainingObserver& observer) override;
  double number(NumberIndex index) const override {
    return index < numbers_by_index_.size() ? numbers_by_index_[index] : kNaN;
  }

 private:
  // What one call of run() works on.
  struct Session {
    const Program& program;
    const TrainingObserver& observer;
    Plan plan;
    std::map<std::uint32_t, std::uint32_t> done = {};  // steps of a STEP's node
    std::map<Key, std::vector<std::byte>> stash =
        {};  // states in memory that are wanted after their replica has run on from an earlier one
    Clock::time_point start = Clock::now();
    Clock::time_point progress = {};
    Clock::time_point snapshot = Clock::now();
    double snapshot_s = 0;  // what the last one took
    double step_s = 0;      // one step of one replica, about
    TrainingEffort effort = {};
  };
  struct Made {
    std::optional<StoredValue> first, second;
  };

  int shard_count() const {
    if (chosen_.device.is_cpu()) return stacked_ ? std::max(1, options_.gpus) : 1;
    return options_.gpus > 0 ? std::min(options_.gpus, chosen_.count) : chosen_.count;
  }
  void add_shard(const std::shared_ptr<const Dataset>& data, at::Device device, bool beside_others);
  const Layout& layout() const { return shards_[0]->model.layout(); }
  std::uint32_t shard_of(std::uint32_t replica) const {
    return replica % static_cast<std::uint32_t>(shards_.size());
  }
  Slab& slab_of(std::uint32_t replica) { return shards_[shard_of(replica)]->slab; }
  Tensor fragment_of(const Tensor& row, const Fragment& fragment) const;
  void write_fragment(const Tensor& row, const Tensor& value, const Fragment& fragment) const;
  // The same value where that shard can use it.
  StoredValue on_shard(const StoredValue& value, std::uint32_t shard) const;
  StoredValue linear(std::span<const Operand> operands) const;
  StoredValue linear_over_shards(std::span<const Operand> operands) const;
  Made outer(std::span<const Operand> operands, const OuterRule& rule) const;
  Made encode(std::span<const Operand> operands, const Instruction& instruction) const;
  double measure(Measure what, std::span<const Operand> operands) const;
  void run_jobs(std::span<Job> jobs);

  void open_cache(const Program& program, const TrainingObserver& observer);
  std::optional<double> known_number(Key key) const;
  Plan make_plan(const Program& program);
  void forget_dead(const Plan& plan);
  void stash_states(Session& session);
  void report_known_numbers(const Program& program, const TrainingObserver& observer);

  void run_others(Session& session, const std::vector<std::uint32_t>& nodes);
  void prepare_replica(const PlanNode& node, const Instruction& instruction);
  Made execute(const Session& session, std::uint32_t node);
  void load_replica(const Session& session, const PlanNode& node, ReplicaState& state, Slab& slab);
  void run_gradients(Session& session, const std::vector<std::uint32_t>& nodes);
  void run_steps(Session& session, const std::vector<std::uint32_t>& nodes);
  void finish(Session& session, std::uint32_t node);
  void record(const Session& session, NumberIndex index, double number);
  void after_batches(Session& session);
  void save(Session& session);

  void put_value(const Program& program, ValueIndex index, StoredValue value) {
    values_[index] = {program.value_key(index), std::move(value)};
  }
  const StoredValue& value(ValueIndex index) const { return values_.at(index).second; }

  TrainingConfig config_;
  TorchTrainerOptions options_;
  ChosenDevice chosen_;
  bool stacked_;
  ThreadPool pool_;
  std::string header_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<ShardSums> sums_;            // where there are several
  std::unique_ptr<ThreadPool> shard_threads_;  // one a shard

  std::map<std::uint32_t, ReplicaState> replicas_;
  std::unordered_map<ValueIndex, std::pair<Key, StoredValue>> values_;
  std::unordered_map<Key, double, KeyHash> numbers_;
  std::vector<double> numbers_by_index_;
  std::optional<std::pair<std::uint64_t, Tensor>>
      initial_;  // the last seed's: all workers usually start from one
  std::size_t instructions_seen_ = 0;

  std::unique_ptr<TrajectoryCache> cache_;
  std::string cache_header_;
};

TrainingEffort TorchTrainer::run(const Program& program, const TrainingObserver& observer) {
  const c10::NoGradGuard no_grad;
  const Clock::time_point start = Clock::now();
  open_cache(program, observer);
  Session session{program, observer, make_plan(program)};
  session.start = start;
  forget_dead(session.plan);
  stash_states(session);
  report_known_numbers(program, observer);

  // All that is ready runs in list order; only when batches alone are left do all replicas that
  // have some run together. So who runs together depends on the program, never on time.
  Plan& plan = session.plan;
  while (!plan.finished()) {
    const std::vector<std::uint32_t> others = plan.take_ready_others();
    if (!others.empty()) {
      run_others(session, others);
      continue;
    }
    std::vector<std::uint32_t> steps, gradients;
    for (const std::uint32_t node : plan.ready_batches()) {
      (plan.instruction(node).op == Op::GRAD ? gradients : steps).push_back(node);
    }
    SYNCLINE_CHECK(!steps.empty() || !gradients.empty(), "a program has no cycles");
    if (!gradients.empty()) {
      run_gradients(session, gradients);
    } else {
      run_steps(session, steps);
    }
    after_batches(session);
  }
  if (observer.on_progress) observer.on_progress({session.effort.steps_executed, plan.steps()});
  if (cache_ && session.effort.steps_executed > 0) save(session);  // for a longer program
  if (cache_) cache_->flush();
  instructions_seen_ = program.instructions().size();
  session.effort.seconds = seconds_since(session.start);
  return session.effort;
}

void TorchTrainer::open_cache(const Program& program, const TrainingObserver& observer) {
  if (options_.cache_folder.empty() || (cache_ && cache_header_ == program.header())) return;
  cache_.reset();
  cache_ = std::make_unique<TrajectoryCache>(options_.cache_folder, program.header(),
                                             options_.cache_limit_bytes, observer.interrupted);
  cache_header_ = program.header();
}

std::optional<double> TorchTrainer::known_number(Key key) const {
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  return cache_ ? cache_->number(key) : std::nullopt;
}

Plan TorchTrainer::make_plan(const Program& program) {
  // What an earlier program left and this one does not know.
  std::erase_if(values_, [&](const auto& entry) {
    return entry.first >= program.value_count() ||
           program.value_key(entry.first) != entry.second.first;
  });
  std::erase_if(replicas_, [&](const auto& entry) {
    if (entry.first < program.replica_count()) return false;
    slab_of(entry.first).release(entry.second.slot);
    return true;
  });
  KnownStates known;
  known.number = [&](NumberIndex index) {
    return known_number(program.number_key(index)).has_value();
  };
  known.replica = [&](std::uint32_t replica, Key key) {
    const auto found = replicas_.find(replica);
    return (found != replicas_.end() && found->second.key == key) ||
           (cache_ && cache_->has_state(key));
  };
  known.value = [&](ValueIndex index) {
    return values_.contains(index) || (cache_ && cache_->has_state(program.value_key(index)));
  };
  // Where all is known, values are brought when a longer program needs them: it may never do.
  const bool unknown = std::any_of(
      program.instructions().begin(), program.instructions().end(), [&](const Instruction& each) {
        return (each.op == Op::EVAL || each.op == Op::MEASURE) && !known.number(each.number);
      });
  const bool grown = instructions_seen_ > 0 && program.instructions().size() > instructions_seen_;
  return Plan(program, known, grown && unknown);
}

// What an earlier call kept, and whose lifetime has ended since.
void TorchTrainer::forget_dead(const Plan& plan) {
  std::erase_if(values_, [&](const auto& entry) { return plan.value_dead(entry.first); });
  std::erase_if(replicas_, [&](const auto& entry) {
    if (!plan.replica_dead(entry.first)) return false;
    slab_of(entry.first).release(entry.second.slot);
    return true;
  });
}

void TorchTrainer::stash_states(Session& session) {
  std::set<std::uint32_t> changed;
  for (std::uint32_t n = 0; n < session.plan.nodes().size(); ++n) {
    const PlanNode& node = session.plan.nodes()[n];
    const Instruction& instruction = session.plan.instruction(n);
    if (instruction.replica == kNone) continue;
    const auto found = replicas_.find(instruction.replica);
    if (node.load && found != replicas_.end() && found->second.key == node.state &&
        changed.contains(instruction.replica)) {
      session.stash[node.state] =
          to_bytes(found->second, slab_of(found->first).row(found->second.slot));
    }
    changed.insert(instruction.replica);
  }
}

void TorchTrainer::report_known_numbers(const Program& program, const TrainingObserver& observer) {
  numbers_by_index_.assign(program.number_count(), kNaN);
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.number == kNone) continue;
    const std::optional<double> number = known_number(program.number_key(instruction.number));
    if (!number) continue;
    numbers_by_index_[instruction.number] = *number;
    if (instruction.op == Op::EVAL && observer.on_number)
      observer.on_number(instruction.number, *number);
  }
}

void TorchTrainer::run_others(Session& session, const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> light;
  for (const std::uint32_t n : nodes) {
    const Op op = session.plan.instruction(n).op;
    if (op != Op::EVAL && op != Op::MEASURE) light.push_back(n);
  }
  // They are independent of each other, else one would wait: each thread takes some. What touches
  // common tables is before and after.
  for (const std::uint32_t n : light)
    prepare_replica(session.plan.nodes()[n], session.plan.instruction(n));
  std::vector<Made> made(light.size());
  if (!light.empty()) {
    pool_.for_each(light.size(), [&](std::size_t i, int) { made[i] = execute(session, light[i]); });
  }
  for (std::size_t i = 0; i < light.size(); ++i) {
    const Instruction& instruction = session.plan.instruction(light[i]);
    if (made[i].first) put_value(session.program, instruction.result, std::move(*made[i].first));
    if (made[i].second) put_value(session.program, instruction.result2, std::move(*made[i].second));
  }
  for (const std::uint32_t n : nodes) {
    const Instruction& instruction = session.plan.instruction(n);
    if (instruction.op == Op::EVAL) {
      // The same parameters may be evaluated twice.
      const std::optional<double> known =
          known_number(session.program.number_key(instruction.number));
      const StoredValue& of = value(session.program.operands(instruction)[0].value);
      const double loss = known ? *known : shards_[of.shard]->runner->evaluate(of.parameters);
      record(session, instruction.number, loss);
      if (session.observer.on_number) session.observer.on_number(instruction.number, loss);
    }
    if (instruction.op == Op::MEASURE)
      record(session, instruction.number,
             measure(instruction.measure, session.program.operands(instruction)));
    finish(session, n);
  }
  after_batches(session);
}

// Whatever brings a replica into being gets its slot and, for INIT, the numbers that all replicas
// of a seed share.
void TorchTrainer::prepare_replica(const PlanNode& node, const Instruction& instruction) {
  if (instruction.replica == kNone) return;
  ReplicaState& state = replicas_[instruction.replica];
  if (state.slot < 0) state.slot = slab_of(instruction.replica).acquire();
  if (node.run && instruction.op == Op::INIT &&
      (!initial_ || initial_->first != instruction.position)) {
    initial_ = {instruction.position,
                layout().initial(instruction.position).to(shards_[0]->values_are)};
  }
}

void TorchTrainer::load_replica(const Session& session, const PlanNode& node, ReplicaState& state,
                                Slab& slab) {
  if (state.key == node.state) return;  // it is there
  const auto stashed = session.stash.find(node.state);
  const std::vector<std::byte> bytes =
      stashed != session.stash.end() ? stashed->second : cache_->state(node.state);
  if (!from_bytes(bytes, state, slab.row(state.slot)))
    throw std::runtime_error("a snapshot in " + options_.cache_folder + " is of another shape");
  state.key = node.state;
}

TorchTrainer::Made TorchTrainer::execute(const Session& session, std::uint32_t n) {
  const c10::NoGradGuard no_grad;
  const PlanNode& node = session.plan.nodes()[n];
  const Instruction& instruction = session.plan.instruction(n);
  const std::span<const Operand> operands = session.program.operands(instruction);
  Made made;
  if (node.load && instruction.replica != kNone && (instruction.result == kNone)) {
    load_replica(session, node, replicas_.at(instruction.replica), slab_of(instruction.replica));
  } else if (node.load) {
    const auto bring = [&](ValueIndex index, std::optional<StoredValue>& to) {
      if (index == kNone || values_.contains(index)) return;
      const Key key = session.program.value_key(index);
      if (!cache_ || !cache_->has_state(key)) return;  // the result that is not needed
      to = value_from_bytes(cache_->state(key), shards_[0]->values_are);
      if (!to)
        throw std::runtime_error("a snapshot in " + options_.cache_folder + " is of another shape");
    };
    bring(instruction.result, made.first);
    bring(instruction.result2, made.second);
  }
  if (!node.run) return made;

  switch (instruction.op) {
    case Op::INIT: {
      ReplicaState& state = replicas_.at(instruction.replica);
      const OptimizerRows row = slab_of(instruction.replica).row(state.slot);
      row.parameters.select(0, 0).copy_(
          initial_->first == instruction.position
              ? initial_->second
              : layout().initial(instruction.position).to(shards_[0]->values_are));
      for (const Tensor* moment : {&row.first, &row.second}) {
        if (moment->defined()) moment->zero_();
      }
      state = ReplicaState{
          .slot = state.slot, .count = 0, .key = instruction.key, .loss_sum = 0, .loss_from = {}};
      break;
    }
    case Op::APPLY: {
      ReplicaState& state = replicas_.at(instruction.replica);
      const std::uint32_t shard = shard_of(instruction.replica);
      const Tensor gradient =
          on_shard(value(operands[0].value), shard).parameters.clone().unsqueeze(0);
      shards_[shard]->optimizer.step(shards_[shard]->slab.row(state.slot), gradient,
                                     {&instruction.position, 1}, {&state.count, 1});
      ++state.count;
      state.key = instruction.key;
      break;
    }
    case Op::READ: {
      const ReplicaState& state = replicas_.at(instruction.replica);
      const OptimizerRows row = slab_of(instruction.replica).row(state.slot);
      const auto copy = [](const Tensor& tensor) {
        return tensor.defined() ? tensor.select(0, 0).clone() : Tensor();
      };
      StoredValue read;
      read.shard = shard_of(instruction.replica);
      if (instruction.part != Part::OPTIMIZER) {
        read.parameters = instruction.fragment.count > 1
                              ? fragment_of(row.parameters.select(0, 0), instruction.fragment)
                              : copy(row.parameters);
      }
      if (instruction.part != Part::PARAMETERS) {
        read.first = copy(row.first);
        read.second = copy(row.second);
        read.count = state.count;
      }
      made.first = std::move(read);
      break;
    }
    case Op::WRITE: {
      ReplicaState& state = replicas_.at(instruction.replica);
      const OptimizerRows row = slab_of(instruction.replica).row(state.slot);
      const StoredValue from = on_shard(value(operands[0].value), shard_of(instruction.replica));
      const auto copy = [](const Tensor& to, const Tensor& tensor) {
        if (!to.defined()) return;
        SYNCLINE_CHECK(tensor.defined(), "WRITE of a part that the value does not have");
        to.select(0, 0).copy_(tensor);
      };
      if (instruction.fragment.count > 1) {
        write_fragment(row.parameters.select(0, 0), from.parameters, instruction.fragment);
      } else if (instruction.part != Part::OPTIMIZER) {
        copy(row.parameters, from.parameters);
      }
      if (instruction.part != Part::PARAMETERS) {
        copy(row.first, from.first);
        copy(row.second, from.second);
        state.count = from.count;
      }
      state.key = instruction.key;
      break;
    }
    case Op::LINEAR:
      made.first = linear(operands);
      break;
    case Op::ENCODE:
      made = encode(operands, instruction);
      break;
    case Op::OUTER_STATE:
      made.first = parameters_value(at::zeros({1}, shards_[0]->values_are), 0);
      break;
    case Op::OUTER:
      made = outer(operands, session.program.rule(instruction));
      break;
    case Op::STEP:
      break;  // its first part was loaded; run_steps() has the rest
    case Op::GRAD:
    case Op::EVAL:
    case Op::MEASURE:
    case Op::FREE_VALUE:
    case Op::FREE_REPLICA:
      SYNCLINE_CHECK(false, "not executed here");
  }
  return made;
}

Tensor TorchTrainer::fragment_of(const Tensor& row, const Fragment& fragment) const {
  std::vector<Tensor> pieces;
  for (const auto& [offset, length] : layout().pieces(fragment))
    pieces.push_back(row.narrow(0, offset, length));
  return at::cat(pieces);
}

void TorchTrainer::write_fragment(const Tensor& row, const Tensor& value,
                                  const Fragment& fragment) const {
  std::int64_t from = 0;
  for (const auto& [offset, length] : layout().pieces(fragment)) {
    row.narrow(0, offset, length).copy_(value.narrow(0, from, length));
    from += length;
  }
  SYNCLINE_CHECK(from == value.numel(), "a fragment is written by a value of its size");
}

StoredValue TorchTrainer::on_shard(const StoredValue& value, std::uint32_t shard) const {
  if (value.shard == shard) return value;
  if (!value.copies.empty()) return value.copies[shard];
  const auto moved = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.to(shards_[shard]->device) : Tensor();
  };
  StoredValue there;
  there.parameters = moved(value.parameters);
  there.first = moved(value.first);
  there.second = moved(value.second);
  there.count = value.count;
  there.shard = shard;
  return there;
}

StoredValue TorchTrainer::linear(std::span<const Operand> operands) const {
  const StoredValue& first = value(operands[0].value);
  for (const Operand& operand : operands) {
    if (value(operand.value).shard != first.shard) return linear_over_shards(operands);
  }
  const auto sum = [&](Tensor StoredValue::*part) {
    Tensor total;
    for (const Operand& operand : operands) {
      const Tensor& term = value(operand.value).*part;
      if (!term.defined()) return Tensor();
      total = total.defined() ? total.add_(term, operand.weight) : term.mul(operand.weight);
    }
    return total;
  };
  StoredValue result;
  result.parameters = sum(&StoredValue::parameters);
  result.first = sum(&StoredValue::first);
  result.second = sum(&StoredValue::second);
  result.count = first.count;  // copied, never averaged
  result.shard = first.shard;
  return result;
}

// Each shard adds its own terms, in order; then the shards' sums are added.
StoredValue TorchTrainer::linear_over_shards(std::span<const Operand> operands) const {
  const StoredValue& first = value(operands[0].value);
  std::vector<StoredValue> results(shards_.size());
  for (const auto part : {&StoredValue::parameters, &StoredValue::first, &StoredValue::second}) {
    const bool everywhere = std::all_of(operands.begin(), operands.end(), [&](const Operand& term) {
      return (value(term.value).*part).defined();
    });
    if (!everywhere) continue;
    std::vector<Tensor> sums(shards_.size());
    for (const Operand& operand : operands) {
      const StoredValue& term = value(operand.value);
      Tensor& sum = sums[term.shard];
      sum = sum.defined() ? sum.add_(term.*part, operand.weight) : (term.*part).mul(operand.weight);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!sums[i].defined()) sums[i] = at::zeros({(first.*part).numel()}, shards_[i]->values_are);
    }
    sums_->all_reduce(sums);
    for (std::size_t i = 0; i < sums.size(); ++i) results[i].*part = sums[i];
  }
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    results[i].count = first.count;
    results[i].shard = i;
  }
  StoredValue result = results[first.shard];
  result.copies = std::move(results);
  return result;
}

TorchTrainer::Made TorchTrainer::encode(std::span<const Operand> operands,
                                        const Instruction& instruction) const {
  const StoredValue& from = value(operands[0].value);
  StoredValue sent, dropped;
  sent.count = dropped.count = from.count;
  sent.shard = dropped.shard = from.shard;
  std::optional<StoredValue> residual;
  if (operands.size() > 1) residual = on_shard(value(operands[1].value), from.shard);
  for (const auto part : {&StoredValue::parameters, &StoredValue::first, &StoredValue::second}) {
    Tensor x = from.*part;
    if (!x.defined()) continue;
    if (residual && (*residual.*part).defined()) x = x.add(*residual.*part, operands[1].weight);
    sent.*part = through_codec(x, instruction.codec, instruction.position);
    if (residual) dropped.*part = x.sub(sent.*part);
  }
  if (!residual) return {std::move(sent), std::nullopt};
  return {std::move(sent), std::move(dropped)};
}

double TorchTrainer::measure(Measure what, std::span<const Operand> operands) const {
  const StoredValue& first = value(operands[0].value);
  const Tensor a = first.parameters.to(at::kDouble);
  if (what == Measure::NORM) return a.norm().item<double>();
  const Tensor b = on_shard(value(operands[1].value), first.shard).parameters.to(at::kDouble);
  return what == Measure::DOT ? a.dot(b).item<double>() : a.sub(b).norm().item<double>();
}

// Where the gradient is on all shards, the step is taken on all, too: what replicas are given then
// lies where they are.
TorchTrainer::Made TorchTrainer::outer(std::span<const Operand> operands,
                                       const OuterRule& rule) const {
  const auto on = [&](std::uint32_t shard) {
    const Tensor theta = on_shard(value(operands[0].value), shard).parameters;
    const Tensor buffer = on_shard(value(operands[1].value), shard).parameters;
    const Tensor gradient = on_shard(value(operands[2].value), shard).parameters;
    if (rule.kind == OuterRule::Kind::SGD) {
      return std::pair(parameters_value(theta.add(gradient, -rule.lr), shard),
                       parameters_value(buffer, shard));
    }
    const Tensor moved = buffer.mul(rule.momentum).add(gradient);  // the zero state is one number
    return std::pair(
        parameters_value(theta.add(gradient.add(moved, rule.momentum), -rule.lr), shard),
        parameters_value(moved, shard));
  };
  const std::uint32_t home = value(operands[2].value).shard;
  if (value(operands[2].value).copies.empty()) {
    auto [next, state] = on(home);
    return {std::move(next), std::move(state)};
  }
  std::vector<StoredValue> first, second;
  for (std::uint32_t shard = 0; shard < shards_.size(); ++shard) {
    auto [next, state] = on(shard);
    first.push_back(std::move(next));
    second.push_back(std::move(state));
  }
  StoredValue next = first[home], state = second[home];
  next.copies = std::move(first);
  state.copies = std::move(second);
  return {std::move(next), std::move(state)};
}

void TorchTrainer::add_shard(const std::shared_ptr<const Dataset>& data, at::Device device,
                             bool beside_others) {
  Shard& shard =
      *shards_.emplace_back(std::make_unique<Shard>(config_, data->vocabulary(), device));
  if (beside_others) shard.thread = std::make_unique<ThreadPool>(1);
  const RunnerParts parts{&shard.model,
                          &shard.optimizer,
                          data,
                          config_.batch,
                          config_.eval_tokens,
                          master_type(config_.precision),
                          beside_others ? shard.thread.get() : &pool_};
  if (!stacked_) {
    shard.runner = make_threaded_runner(parts);
    return;
  }
  const auto share =
      static_cast<std::int64_t>(kActivationShare * static_cast<double>(chosen_.memory));
  shard.runner =
      make_stacked_runner(parts, device, device.is_cuda() ? share : kActivationBytesOnCpu);
}

void TorchTrainer::run_jobs(std::span<Job> jobs) {
  if (shards_.size() == 1) return shards_[0]->runner->run(jobs);
  std::vector<std::vector<Job>> of(shards_.size());
  for (const Job& job : jobs) of[job.shard].push_back(job);
  shard_threads_->for_each(of.size(), [&](std::size_t i, int) {
    if (!of[i].empty()) shards_[i]->runner->run(of[i]);
  });
  std::vector<std::size_t> next(shards_.size(), 0);
  for (Job& job : jobs) {
    const std::size_t shard = job.shard;
    job = of[shard][next[shard]++];
  }
}

void TorchTrainer::run_gradients(Session& session, const std::vector<std::uint32_t>& nodes) {
  std::vector<Job> jobs;
  for (const std::uint32_t n : nodes) {
    const Instruction& instruction = session.plan.instruction(n);
    Job& job = jobs.emplace_back();
    job.shard = shard_of(instruction.replica);
    job.row = slab_of(instruction.replica).row(replicas_.at(instruction.replica).slot);
    job.stream = instruction.stream;
    job.first_batch = instruction.first_batch;
    job.length = instruction.count;
    job.gradient = at::empty({1, layout().size}, shards_[job.shard]->values_are);
  }
  run_jobs(jobs);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Instruction& instruction = session.plan.instruction(nodes[i]);
    put_value(session.program, instruction.result,
              parameters_value(jobs[i].gradient.select(0, 0), jobs[i].shard));
    record(session, instruction.number, jobs[i].loss_sum / instruction.count);
    session.effort.steps_executed += instruction.count;
    finish(session, nodes[i]);
  }
}

void TorchTrainer::run_steps(Session& session, const std::vector<std::uint32_t>& nodes) {
  std::uint32_t length = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t n : nodes) {
    const PlanNode& node = session.plan.nodes()[n];
    const Instruction& instruction = session.plan.instruction(n);
    const auto [done, first_time] = session.done.try_emplace(n, node.done);
    if (first_time) {
      prepare_replica(node, instruction);
      ReplicaState& state = replicas_.at(instruction.replica);
      if (node.load) load_replica(session, node, state, slab_of(instruction.replica));
      if (node.done == 0) {
        state.loss_sum = 0;
        state.loss_from = node.before;
      }
    }
    length = std::min(length, instruction.count - done->second);
  }
  // A cut does not change who runs together.
  const double expected_s = session.step_s * static_cast<double>(nodes.size());
  length =
      expected_s > 0
          ? static_cast<std::uint32_t>(std::clamp<double>(kPieceSeconds / expected_s, 1, length))
          : 1;

  std::vector<Job> jobs;
  for (const std::uint32_t n : nodes) {
    const Instruction& instruction = session.plan.instruction(n);
    const ReplicaState& state = replicas_.at(instruction.replica);
    const std::uint32_t done = session.done.at(n);
    Job& job = jobs.emplace_back();
    job.shard = shard_of(instruction.replica);
    job.row = slab_of(instruction.replica).row(state.slot);
    job.count = state.count;
    job.stream = instruction.stream;
    job.first_batch = instruction.first_batch + done;
    job.position = instruction.position + done;
    job.length = length;
  }
  const Clock::time_point start = Clock::now();
  run_jobs(jobs);
  session.step_s = seconds_since(start) / (length * static_cast<double>(nodes.size()));

  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t n = nodes[i];
    const Instruction& instruction = session.plan.instruction(n);
    ReplicaState& state = replicas_.at(instruction.replica);
    std::uint32_t& done = session.done.at(n);
    for (std::uint32_t step = 0; step < length; ++step, ++done) {
      state.key = Program::step_key(state.key, instruction.stream, instruction.first_batch + done,
                                    instruction.position + done);
    }
    state.count = jobs[i].count;
    state.loss_sum += jobs[i].loss_sum;
    session.effort.steps_executed += length;
    if (done < instruction.count) continue;
    SYNCLINE_CHECK(state.key == instruction.key, "a STEP's key is that of its steps");
    // A state from a snapshot that another STEP's pieces led to has not this one's losses.
    if (state.loss_from == session.plan.nodes()[n].before)
      record(session, instruction.number, state.loss_sum / instruction.count);
    finish(session, n);
  }
}

void TorchTrainer::finish(Session& session, std::uint32_t node) {
  Plan& plan = session.plan;
  plan.finish(node);
  const Instruction& instruction = plan.instruction(node);
  const auto drop_value = [&](ValueIndex index) {
    if (index != kNone && plan.value_dead(index)) values_.erase(index);
  };
  for (const Operand& operand : session.program.operands(instruction)) drop_value(operand.value);
  drop_value(instruction.result);
  drop_value(instruction.result2);
  if (instruction.replica == kNone || !plan.replica_dead(instruction.replica)) return;
  if (const auto found = replicas_.find(instruction.replica); found != replicas_.end()) {
    slab_of(instruction.replica).release(found->second.slot);
    replicas_.erase(found);
  }
}

void TorchTrainer::record(const Session& session, NumberIndex index, double number) {
  const Key key = session.program.number_key(index);
  numbers_[key] = number;
  numbers_by_index_[index] = number;
  if (cache_) cache_->record(key, number);
}

void TorchTrainer::after_batches(Session& session) {
  session.effort.tokens_executed =
      session.effort.steps_executed * config_.batch * config_.model.context;
  const TrainingObserver& observer = session.observer;
  if (observer.interrupted && observer.interrupted()) {
    save(session);
    throw TrainingInterrupted();
  }
  if (observer.on_progress && seconds_since(session.progress) > kPieceSeconds) {
    session.progress = Clock::now();
    observer.on_progress({session.effort.steps_executed, session.plan.steps()});
  }
  // At most a tenth of the time goes into snapshots.
  const double wait = options_.snapshot_every_s > 0
                          ? std::max(options_.snapshot_every_s, 10 * session.snapshot_s)
                          : 0;
  if (cache_ && seconds_since(session.snapshot) >= wait && !session.plan.finished()) save(session);
}

void TorchTrainer::save(Session& session) {
  if (!cache_) return;
  const Clock::time_point start = Clock::now();
  std::map<Key, std::vector<std::byte>> states = session.stash;
  for (const auto& [index, state] : replicas_)
    states.try_emplace(state.key, to_bytes(state, slab_of(index).row(state.slot)));
  for (const auto& [index, entry] : values_)
    states.try_emplace(entry.first, to_bytes(entry.second));
  std::vector<TrajectoryCache::StateView> views(states.begin(), states.end());
  cache_->replace_states(views);
  cache_->flush();
  session.snapshot = Clock::now();
  session.snapshot_s = seconds_since(start);
}

Time TorchTrainer::measure_step() {
  const c10::NoGradGuard no_grad;
  const Shard& shard = *shards_[0];
  const auto moment = [&](bool there) {
    return there ? at::zeros({1, layout().size}, shard.values_are) : Tensor();
  };
  Job job;
  job.row.parameters = layout().initial(config_.seed).to(shard.values_are).unsqueeze(0);
  job.row.first = moment(shard.optimizer.has_first());
  job.row.second = moment(shard.optimizer.has_second());
  // On a GPU some steps at once, as STEP runs them: the copies before and after are a piece's, not
  // a step's.
  job.length = chosen_.device.is_cuda() ? 8 : 1;
  const auto run_once = [&] {
    shard.runner->run({&job, 1});
    job.first_batch += job.length;
    job.position += job.length;
  };
  const auto timed = [&]() -> double {
    if (chosen_.device.is_cuda()) {
      const c10::impl::VirtualGuardImpl guard(c10::kCUDA);
      c10::Event begin(c10::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
      c10::Event end(c10::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
      begin.record(guard.getStream(chosen_.device));
      run_once();
      end.record(guard.getStream(chosen_.device));
      end.synchronize();
      return begin.elapsedTime(end) * 1e-3 / job.length;
    }
    const Clock::time_point start = Clock::now();
    run_once();
    return seconds_since(start);
  };
  for (int i = 0; i < 3; ++i) run_once();
  std::vector<double> times;
  for (int i = 0; i < 10; ++i) times.push_back(timed());
  std::sort(times.begin(), times.end());
  return Time::seconds((times[4] + times[5]) / 2);
}

}  // namespace

std::unique_ptr<Trainer> make_torch_trainer(const TrainingConfig& config,
                                            const std::shared_ptr<const Dataset>& data,
                                            const TorchTrainerOptions& options) {
  return std::make_unique<TorchTrainer>(config, data, options);
}

}  // namespace syncline
