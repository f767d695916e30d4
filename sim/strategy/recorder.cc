#include "sim/strategy/recorder.h"

#include <utility>

namespace syncline {
namespace {

SharedValue share(Value value) { return std::make_shared<const Value>(std::move(value)); }

}  // namespace

Replica Recorder::init(std::uint64_t seed) { return on_ ? program_->init(seed) : Replica(); }

NumberIndex Recorder::step(Replica& replica, std::uint32_t stream, std::uint64_t first_batch,
                           std::uint32_t count, std::uint64_t position) {
  return on_ && replica && count > 0 ? program_->step(replica, stream, first_batch, count, position)
                                     : kNone;
}

Recorder::Gradient Recorder::grad(const Replica& replica, std::uint32_t stream,
                                  std::uint64_t batch) {
  if (!on_ || !replica) return {};
  auto [value, loss] = program_->grad(replica, stream, batch, 1);
  return {share(std::move(value)), loss};
}

void Recorder::apply(Replica& replica, const SharedValue& gradient, std::uint64_t position) {
  if (on_ && replica && gradient) program_->apply(replica, *gradient, position);
}

SharedValue Recorder::read_parameters(const Replica& replica, Fragment fragment) {
  return on_ && replica ? share(program_->read(replica, Part::PARAMETERS, fragment)) : nullptr;
}

void Recorder::write_parameters(Replica& replica, const SharedValue& value, Fragment fragment) {
  if (on_ && replica && value) program_->write(replica, Part::PARAMETERS, *value, fragment);
}

SharedValue Recorder::read_all(const Replica& replica) {
  return on_ && replica ? share(program_->read(replica, Part::ALL)) : nullptr;
}

void Recorder::write_all(Replica& replica, const SharedValue& value) {
  if (on_ && replica && value) program_->write(replica, Part::ALL, *value);
}

SharedValue Recorder::sum(std::span<const Term> terms) {
  std::vector<Operand> operands;
  for (const Term& term : terms) {
    if (!on_ || !term.value) return nullptr;
    operands.push_back({term.value->index(), term.weight});
  }
  return share(program_->linear(operands));
}

SharedValue Recorder::difference(const SharedValue& a, const SharedValue& b) {
  return sum({{a, 1}, {b, -1}});
}

SharedValue Recorder::encode(const SharedValue& value, const CodecSpec& codec, std::uint64_t seed) {
  return on_ && value ? share(program_->encode(*value, codec, seed)) : nullptr;
}

SharedValue Recorder::encode(const SharedValue& value, const CodecSpec& codec, std::uint64_t seed,
                             SharedValue& residual, double decay) {
  if (!on_ || !value) return nullptr;
  if (!residual) residual = outer_state();
  auto [sent, dropped] = program_->encode(*value, codec, seed, *residual, decay);
  residual = share(std::move(dropped));
  return share(std::move(sent));
}

SharedValue Recorder::mean(std::span<const SharedValue> values, std::span<const double> weights) {
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) total += weights[i];
  }
  if (!on_ || total == 0) return nullptr;
  std::vector<Operand> terms;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) terms.push_back({values[i]->index(), weights[i] / total});
  }
  return share(program_->linear(terms));
}

SharedValue Recorder::outer_state() { return on_ ? share(program_->outer_state()) : nullptr; }

void Recorder::outer(SharedValue& theta, SharedValue& state, const SharedValue& gradient,
                     const OuterRule& rule) {
  if (!on_ || !theta || !state || !gradient) return;
  auto [next, next_state] = program_->outer(*theta, *state, *gradient, rule);
  theta = share(std::move(next));
  state = share(std::move(next_state));
}

NumberIndex Recorder::eval(const SharedValue& parameters) {
  return on_ && parameters ? program_->eval(*parameters) : kNone;
}

NumberIndex Recorder::measure(Measure what, const SharedValue& a, const SharedValue& b) {
  if (!on_ || !a || (!b && what != Measure::NORM)) return kNone;
  return what == Measure::NORM ? program_->measure(what, *a) : program_->measure(what, *a, *b);
}

}  // namespace syncline
