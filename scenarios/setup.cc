#include "scenarios/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/compression/fp4.h"
#include "compute/compression/half.h"
#include "compute/compression/int8.h"
#include "compute/compression/sparse.h"
#include "compute/fragments.h"
#include "compute/pace/flops.h"
#include "sim/strategy/round_plan.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

// Stands for "no end by steps": more than any run takes, and far from overflow when multiplied by a
// round's steps.
constexpr std::uint64_t kUnbounded = std::uint64_t{1} << 40;
constexpr std::uint64_t kDefaultEvaluations = 20;
constexpr std::uint64_t kUnboundedEvaluateEvery = 100;

std::uint64_t steps_for(double tokens, double tokens_per_step) {
  const double steps = std::ceil(tokens / tokens_per_step);
  return steps >= static_cast<double>(kUnbounded) ? kUnbounded : static_cast<std::uint64_t>(steps);
}

double tokens_per_worker_step(const CheckedScenario& scenario) {
  return static_cast<double>(scenario.training.batch) * scenario.training.model.context;
}

// Where the stop ends the run by its steps and rounds.
std::uint64_t stop_steps(const CheckedScenario& scenario) {
  const StopSetup& stop = scenario.stop;
  std::uint64_t steps = stop.steps.value_or(kUnbounded);
  if (stop.tokens)
    steps = std::min(steps, steps_for(*stop.tokens, tokens_per_step_of_a_round(scenario)));
  if (stop.rounds) steps = steps_of_rounds(scenario.strategy, *stop.rounds, steps);
  return steps;
}

// Of the workers, how many take part in a round.
double share_of_a_round(const CheckedScenario& scenario) {
  return static_cast<double>(workers_of_a_round(scenario.strategy, scenario.workers.size())) /
         static_cast<double>(scenario.workers.size());
}

Time base_step(const CheckedScenario& scenario, std::size_t worker, std::uint64_t parameters,
               std::optional<Time> measured_step) {
  const PaceSetup& pace = scenario.pace;
  switch (pace.source) {
    case PaceSetup::Source::FIXED:
      return pace.fixed;
    case PaceSetup::Source::MEASURED:
      SYNCLINE_CHECK(measured_step.has_value(), "a measured pace is measured first");
      return Time::seconds(measured_step->in_seconds() * pace.device_factor);
    case PaceSetup::Source::FLOPS: {
      const double model =
          scenario.projection ? scenario.projection->parameters : static_cast<double>(parameters);
      const double tokens =
          counted_tokens_per_step(scenario) / static_cast<double>(scenario.workers.size());
      return flops_step_time(model, tokens, pace.chips[worker], pace.peak_flops, pace.mfu);
    }
  }
  SYNCLINE_CHECK(false, "unknown source of the pace");
}

// A worker that comes back gets parameters and moments, each as large as a payload.
Payload rejoin_payload(const CheckedScenario& scenario, const Payload& parameters) {
  const InnerOptimizer& inner = scenario.training.inner;
  const double parts = inner.kind == InnerOptimizer::Kind::ADAMW ? 3 : inner.momentum != 0 ? 2 : 1;
  return {parameters.elements, parameters.bytes_per_element * parts};
}

// The sizes that the headers of compute/compression/ define, whatever the numbers are.
Payload compressed_payload(std::uint64_t elements, const CodecSpec& codec) {
  constexpr double kPlaceBytes = kSparsePlaceBits / 8.0;
  const auto sparse = [&](double bytes) {
    return Payload{
        .elements = elements, .bytes_per_element = bytes, .kept = codec.keep, .of = kSparseBlock};
  };
  switch (codec.codec) {
    case Codec::INT8:
      return {elements, 1, kInt8Block, kInt8ScaleBytes};
    case Codec::BF16:
    case Codec::FP16:
      return {elements, kHalfBytes};
    case Codec::FP4_E2M1:
    case Codec::FP4_E3M0:
      return {elements, 0.5, kFp4Block, kFp4ScaleBytes};
    case Codec::TOP_K:
      return sparse(4 + kPlaceBytes);
    case Codec::RANDOM_K:
      return sparse(4);
    case Codec::TOP_K_2BIT: {
      Payload payload = sparse(0.25 + kPlaceBytes);
      payload.block = kSparseBlock;
      payload.bytes_per_block = 4 * kTwoBitLevels;
      return payload;
    }
  }
  SYNCLINE_CHECK(false, "a codec that is not known");
}

// Elements of each fragment's payload: of the model that is trained as its layers have them, of a
// larger one all the same.
std::vector<std::uint64_t> fragment_elements(const CheckedScenario& scenario,
                                             const Payload& payload,
                                             const StreamingDiloco& streaming) {
  if (scenario.projection) {
    std::vector<std::uint64_t> elements;
    for (std::uint32_t p = 0; p < streaming.fragments; ++p)
      elements.push_back(payload.part(p, streaming.fragments).elements);
    return elements;
  }
  const ModelConfig& model = scenario.training.model;
  // What no layer has is the embedding's and the output layer's.
  const std::uint64_t ends = (payload.elements - parameter_count(model, 0)) / 2;
  return fragment_sizes(model, ends, streaming.fragments, streaming.pattern);
}

}  // namespace

double counted_tokens_per_step(const CheckedScenario& scenario) {
  if (scenario.projection && scenario.projection->tokens_per_step)
    return *scenario.projection->tokens_per_step;
  return tokens_per_worker_step(scenario) * static_cast<double>(scenario.workers.size());
}

double tokens_per_step_of_a_round(const CheckedScenario& scenario) {
  return counted_tokens_per_step(scenario) * share_of_a_round(scenario);
}

std::uint64_t planned_steps(const CheckedScenario& scenario) {
  std::uint64_t steps = stop_steps(scenario);
  if (scenario.training_tokens) {
    steps =
        std::min(steps, steps_for(*scenario.training_tokens, tokens_per_worker_step(scenario) *
                                                                 scenario.training.data.streams *
                                                                 share_of_a_round(scenario)));
  }
  return steps;
}

std::uint64_t trained_steps(const CheckedScenario& scenario) {
  return scenario.train ? planned_steps(scenario) : 0;
}

TrainingConfig training_config(const CheckedScenario& scenario) {
  TrainingConfig config = scenario.training;
  config.inner.horizon = std::max<std::uint64_t>(trained_steps(scenario), 1);
  return config;
}

SimulationSetup simulation_setup(const CheckedScenario& scenario, std::uint64_t parameters,
                                 std::optional<Time> measured_step) {
  SimulationSetup setup;
  setup.workers = scenario.workers;
  for (std::size_t i = 0; i < setup.workers.size(); ++i) {
    const Time base = base_step(scenario, i, parameters, measured_step);
    const double factor = scenario.pace.factor[i];
    Time& step = setup.workers[i].step;
    step = factor == 1 ? base : Time::seconds(base.in_seconds() * factor);
    if (step <= Time())
      throw InputError(
          fmt::format("pace: a step of {} rounds to 0 ns; the clock counts whole nanoseconds",
                      setup.workers[i].name));
  }
  setup.strategy = scenario.strategy;
  setup.payload =
      scenario.projection
          ? Payload{static_cast<std::uint64_t>(std::llround(scenario.projection->parameters)),
                    scenario.projection->bytes_per_parameter}
          : Payload{parameters, 4};
  setup.plain_payload = setup.payload;
  const auto* local_sgd = std::get_if<LocalSgd>(&scenario.strategy.method);
  if (local_sgd != nullptr && local_sgd->optimizer)
    setup.payload = rejoin_payload(scenario, setup.plain_payload);
  if (scenario.strategy.compression)
    setup.payload =
        compressed_payload(setup.payload.elements, scenario.strategy.compression->codec);
  if (const auto* sparse = std::get_if<SparseLoco>(&scenario.strategy.method))
    setup.payload = compressed_payload(setup.payload.elements, sparse->codec);
  if (auto* streaming = std::get_if<StreamingDiloco>(&setup.strategy.method))
    streaming->elements = fragment_elements(scenario, setup.payload, *streaming);
  setup.recorded_steps = trained_steps(scenario);
  setup.replicas = scenario.replicas;
  setup.seed = scenario.seed;
  setup.events = scenario.events;
  setup.transport = scenario.transport;
  setup.traces = scenario.traces;
  setup.background = scenario.background;
  setup.rejoin = rejoin_payload(scenario, setup.plain_payload);

  setup.stop.rounds = scenario.stop.rounds;
  setup.stop.time = scenario.stop.time;
  setup.stop.loss = scenario.stop.loss;
  const std::uint64_t steps = stop_steps(scenario);
  if (steps < kUnbounded && !scenario.stop.rounds) setup.stop.steps = steps;
  if (scenario.stop.rounds && (scenario.stop.steps || scenario.stop.tokens))
    setup.stop.steps = steps;
  // A loss that is not reached within the budget of training is not reached at all.
  if (setup.stop.loss)
    setup.stop.steps = std::min(setup.stop.steps.value_or(kUnbounded), setup.recorded_steps);

  const std::uint64_t length = setup.recorded_steps;
  setup.evaluate_every = scenario.evaluate_every.value_or(
      length >= kUnbounded
          ? kUnboundedEvaluateEvery
          : std::max<std::uint64_t>((length + kDefaultEvaluations - 1) / kDefaultEvaluations, 1));
  return setup;
}

}  // namespace syncline
