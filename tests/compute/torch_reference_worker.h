// One worker written in the straight way: the reference model, torch::optim, and its own stream of
// batches. Training methods are checked against loops over these.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/compute/torch_fixture.h"
#include "tests/compute/torch_reference_model.h"

namespace syncline::testing {

using Tensors = std::vector<Tensor>;

class ReferenceWorker {
 public:
  // Fresh; `position` of the schedule, and batches of its stream that were read before.
  ReferenceWorker(const TrainingConfig& config, torch::Dtype type, std::uint32_t stream,
                  std::uint64_t position = 0, std::uint64_t batches = 0)
      : data_(data_of(config)),
        stream_(stream),
        model_(config, data_->vocabulary(), type),
        position_(position),
        batch_(batches) {
    const InnerOptimizer& inner = config.inner;
    if (inner.kind == InnerOptimizer::Kind::ADAMW) {
      make<torch::optim::AdamW, torch::optim::AdamWOptions>(
          torch::optim::AdamWOptions(inner.lr).betas({inner.beta1, inner.beta2}).eps(inner.epsilon),
          inner.weight_decay);
    } else {
      make<torch::optim::SGD, torch::optim::SGDOptions>(
          torch::optim::SGDOptions(inner.lr).momentum(inner.momentum), inner.weight_decay);
    }
  }

  // The gradient of the next batch, into the tensors' grad; returns the loss.
  double gradient() {
    const TrainingConfig& config = model_.c;
    std::vector<Token> tokens(config.batch * (config.model.context + 1));
    data_->batch(stream_, batch_, config.batch, tokens);
    optimizer_->zero_grad();
    const Tensor loss = model_.loss(to_tensor(tokens, config.model.context));
    loss.backward();
    return loss.item<double>();
  }
  // The optimizer's step along it. The schedule, written out: linear warm-up, then a cosine to a
  // tenth.
  void apply() {
    const InnerOptimizer& inner = model_.c.inner;
    if (inner.clip > 0) torch::nn::utils::clip_grad_norm_(leaves(), inner.clip);
    double lr = inner.lr;
    if (position_ < inner.warmup) {
      lr *= (static_cast<double>(position_) + 1) / static_cast<double>(inner.warmup);
    } else if (inner.decay == InnerOptimizer::Decay::COSINE) {
      const double part = static_cast<double>(position_ - inner.warmup) /
                          static_cast<double>(inner.horizon - inner.warmup);
      lr *= 0.1 + 0.9 * (1 + std::cos(M_PI * part)) / 2;
    }
    for (torch::optim::OptimizerParamGroup& group : optimizer_->param_groups())
      group.options().set_lr(lr);
    optimizer_->step();
    ++position_;
    ++batch_;
  }
  double step() {
    const double loss = gradient();
    apply();
    return loss;
  }
  void steps(std::uint64_t count) {
    for (std::uint64_t s = 0; s < count; ++s) step();
  }

  double held_out_loss() {
    const torch::NoGradGuard no_grad;
    const TrainingConfig& config = model_.c;
    return model_
        .loss(to_tensor(data_->validation_sequences(config.eval_tokens), config.model.context))
        .item<double>();
  }

  // All parameters, in the order of the layers. leaves() are its own, parameters() copies.
  Tensors leaves() const {
    Tensors all{model_.embedding};
    for (std::uint32_t l = 0; l < model_.layers.size(); ++l) add(all, layer(l));
    all.push_back(model_.final_gain);
    all.push_back(model_.head);
    return all;
  }
  // AdamW's, first and second of each leaf.
  Tensors moments() const {
    Tensors all;
    for (const Tensor& leaf : leaves()) {
      const auto& state = static_cast<const torch::optim::AdamWParamState&>(
          *optimizer_->state().at(leaf.unsafeGetTensorImpl()));
      add(all, {state.exp_avg(), state.exp_avg_sq()});
    }
    return all;
  }
  // The layers of a fragment; the embedding goes with the first, the head with the last.
  Tensors leaves_of_layers(const std::vector<std::uint32_t>& layers) const {
    Tensors some;
    for (const std::uint32_t l : layers) {
      if (l == 0) some.push_back(model_.embedding);
      add(some, layer(l));
      if (l + 1 == model_.layers.size()) add(some, {model_.final_gain, model_.head});
    }
    return some;
  }

 private:
  template <class Optimizer, class Options>
  void make(Options options, double weight_decay) {
    const auto group = [&](const Tensors& tensors, double decay) {
      return torch::optim::OptimizerParamGroup(
          tensors, std::make_unique<Options>(Options(options).weight_decay(decay)));
    };
    optimizer_ = std::make_unique<Optimizer>(
        std::vector<torch::optim::OptimizerParamGroup>{group(model_.matrices, weight_decay),
                                                       group(model_.gains, 0)},
        options);
  }
  Tensors layer(std::uint32_t l) const {
    const Reference::Layer& layer = model_.layers[l];
    return {layer.qkv, layer.out, layer.up, layer.down, layer.attention_gain, layer.mlp_gain};
  }
  static void add(Tensors& all, const Tensors& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  std::shared_ptr<const Dataset> data_;
  std::uint32_t stream_;
  Reference model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::uint64_t position_;
  std::uint64_t batch_;
};

// What loops over lists of tensors need; none of it is part of a graph.
inline Tensors copy(const Tensors& tensors) {
  Tensors copies;
  for (const Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}
inline Tensors zeros(const Tensors& tensors) {
  Tensors zero;
  for (const Tensor& tensor : tensors) zero.push_back(torch::zeros_like(tensor.detach()));
  return zero;
}
// a x + b y
inline Tensors sum(double a, const Tensors& x, double b, const Tensors& y) {
  Tensors result;
  for (std::size_t i = 0; i < x.size(); ++i)
    result.push_back(x[i].detach() * a + y[i].detach() * b);
  return result;
}
inline void load(const Tensors& leaves, const Tensors& values) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].copy_(values[i]);
}
// 1/K sum of the lists
inline Tensors mean(const std::vector<Tensors>& lists) {
  Tensors total = zeros(lists.front());
  for (const Tensors& list : lists)
    total = sum(1, total, 1 / static_cast<double>(lists.size()), list);
  return total;
}

// SGD with Nesterov momentum as PyTorch has it.
class ReferenceOuter {
 public:
  ReferenceOuter(const Tensors& theta, double lr, double momentum)
      : theta_(copy(theta)),
        optimizer_(theta_, torch::optim::SGDOptions(lr).momentum(momentum).nesterov(momentum > 0)) {
  }
  const Tensors& step(const Tensors& gradient) {
    for (std::size_t i = 0; i < theta_.size(); ++i) theta_[i].mutable_grad() = gradient[i].clone();
    optimizer_.step();
    return theta_;
  }
  const Tensors& theta() const { return theta_; }

 private:
  Tensors theta_;
  torch::optim::SGD optimizer_;
};

}  // namespace syncline::testing
