// Methods that send compressed pseudo-gradients, run by the simulation and the trainer, against
// plain loops with LibTorch's own sorting and rounding.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "tests/compute/torch_method_run.h"

namespace syncline::testing {
namespace {

using Encode = std::function<Tensor(const Tensor& x)>;  // and back, of all parameters in a row

// In the trainer's order: matrices, then gains.
std::vector<std::size_t> row_order(std::size_t leaves) {
  std::vector<std::size_t> order{0}, gains;
  for (std::size_t layer = 1; layer + 6 < leaves; layer += 6) {
    for (std::size_t i = 0; i < 4; ++i) order.push_back(layer + i);
    gains.insert(gains.end(), {layer + 4, layer + 5});
  }
  order.push_back(leaves - 1);
  order.insert(order.end(), gains.begin(), gains.end());
  order.push_back(leaves - 2);
  return order;
}
Tensor in_a_row(const Tensors& tensors) {
  Tensors flat;
  for (const std::size_t i : row_order(tensors.size()))
    flat.push_back(tensors[i].detach().flatten());
  return torch::cat(flat);
}
Tensors as_leaves(const Tensor& row, const Tensors& like) {
  Tensors tensors(like.size());
  std::int64_t at = 0;
  for (const std::size_t i : row_order(like.size())) {
    tensors[i] = row.slice(0, at, at + like[i].numel()).view(like[i].sizes());
    at += like[i].numel();
  }
  return tensors;
}

// Top-k of each 4096 numbers, with two levels and signs where wanted.
Tensor top_k(const Tensor& x, std::int64_t keep, bool two_bit) {
  const Tensor in = x.to(torch::kFloat);
  Tensor out = torch::zeros_like(in);
  for (std::int64_t begin = 0; begin < in.numel(); begin += 4096) {
    const Tensor block = in.slice(0, begin, begin + 4096);
    const Tensor places = std::get<1>(block.abs().topk((block.numel() * keep + 4095) / 4096));
    Tensor values = block.index_select(0, places);
    if (two_bit) {
      const Tensor size = values.abs(), lo = size.min(), hi = size.max();
      const Tensor level =
          torch::where(size - lo > (hi - lo) / 2, hi - (hi - lo) / 4, lo + (hi - lo) / 4);
      values = values.sign() * level;
    }
    out.slice(0, begin, begin + 4096).index_copy_(0, places, values);
  }
  return out.to(x.scalar_type());
}

// Sarfi et al. 2025: arXiv 2508.15706, algorithm 1; with an outer momentum, DiLoCo with error
// feedback.
std::vector<double> loop(const TrainingConfig& config, torch::Dtype type, const OuterRule& rule,
                         const Encode& encode, double decay) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  const Tensors shapes = copy(workers[0].leaves());
  ReferenceOuter outer(shapes, rule.lr, rule.momentum);
  std::vector<double> losses{workers[0].held_out_loss()};
  Tensors e(kWorkers, torch::zeros_like(in_a_row(shapes)));
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<Tensors> sent;
    for (std::size_t k = 0; k < kWorkers; ++k) {
      workers[k].steps(kInterval);
      const Tensor delta = in_a_row(outer.theta()) - in_a_row(workers[k].leaves());
      e[k] = decay * e[k] + delta;
      const Tensor decoded = encode(e[k]);
      e[k] = e[k] - decoded;
      sent.push_back(as_leaves(decoded, shapes));
    }
    outer.step(mean(sent));
    for (ReferenceWorker& worker : workers) load(worker.leaves(), outer.theta());
    losses.push_back(workers[0].held_out_loss());
  }
  return losses;
}

TEST(AgainstAPlainLoop, SparseLoco) {
  for (const bool two_bit : {true, false}) {
    SparseLoco method;
    method.codec = {two_bit ? Codec::TOP_K_2BIT : Codec::TOP_K, 256};
    const OuterRule rule{OuterRule::Kind::SGD, method.lr, 0};
    expect_method(method, kInterval, [&](const TrainingConfig& config, torch::Dtype type) {
      return loop(
          config, type, rule, [&](const Tensor& x) { return top_k(x, 256, two_bit); },
          method.decay);
    });
  }
}

TEST(AgainstAPlainLoop, DilocoInBf16WithErrorFeedback) {
  const OuterRule rule{OuterRule::Kind::NESTEROV, 0.7, 0.5};
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup = method_setup(star, Diloco{rule}, kInterval);
  setup.strategy.compression = Compression{{Codec::BF16}, 0.9};
  expect_setup(star, setup, [&](const TrainingConfig& config, torch::Dtype type) {
    const Encode encode = [](const Tensor& x) {
      return x.to(torch::kFloat).to(torch::kBFloat16).to(x.scalar_type());
    };
    return loop(config, type, rule, encode, 0.9);
  });
}

// All numbers, as they are: DiLoCo with an outer SGD, bit for bit in fp32.
TEST(Limits, SparseLocoThatSendsAllIsDiloco) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  const TrainingConfig config = method_config(false);
  SparseLoco sparse;
  sparse.lr = 0.8;
  sparse.codec = {Codec::TOP_K, 4096};
  const Diloco diloco{{OuterRule::Kind::SGD, 0.8, 0}};
  EXPECT_EQ(by_simulation(star.topology, method_setup(star, sparse, kInterval), config),
            by_simulation(star.topology, method_setup(star, diloco, kInterval), config));
}

}  // namespace
}  // namespace syncline::testing
