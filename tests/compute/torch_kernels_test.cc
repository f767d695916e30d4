// The CPU's fused loops against their twins from plain operations.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "compute/torch/kernels.h"

namespace syncline::kernels {
namespace {

using at::Tensor;

// What `work` returns with and without the fused loops.
void expect_twins(const std::function<std::vector<Tensor>(at::TensorOptions)>& work) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    at::manual_seed(3);
    use_fused_loops = true;
    const std::vector<Tensor> fused = work(at::TensorOptions().dtype(type));
    at::manual_seed(3);
    use_fused_loops = false;
    const std::vector<Tensor> plain = work(at::TensorOptions().dtype(type));
    use_fused_loops = true;
    ASSERT_EQ(fused.size(), plain.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const double tolerance = type == at::kDouble ? 1e-12 : 1e-5;
      EXPECT_LT((fused[i] - plain[i]).abs().max().item<double>(), tolerance) << "result " << i;
      EXPECT_GT(fused[i].abs().max().item<double>(), 0.01) << "result " << i;
    }
  }
}

// Parameters lie in a slab: replicas are not packed.
Tensor slab_part(at::IntArrayRef shape, at::TensorOptions options) {
  const std::int64_t size = c10::multiply_integers(shape.slice(1));
  return at::randn({shape[0], size + 5}, options).narrow(1, 2, size).unflatten(1, shape.slice(1));
}

TEST(Kernels, Embedding) {
  expect_twins([](at::TensorOptions options) {
    const Tensor table = slab_part({3, 7, 20}, options), gradient = slab_part({3, 7, 20}, options);
    const Tensor tokens = at::randint(7, {3, 24}, at::kLong), out = at::empty({3, 24, 20}, options);
    embed(out, table, tokens);
    embed_backward(gradient, at::randn({3, 24, 20}, options), tokens);
    return std::vector<Tensor>{out, gradient};
  });
}

TEST(Kernels, RmsNorm) {
  expect_twins([](at::TensorOptions options) {
    const Tensor x = at::randn({3, 10, 36}, options), gain = slab_part({3, 36}, options),
                 r = at::empty({3, 10, 1}, options);
    const Tensor out = at::empty_like(x), d_x = at::randn_like(x),
                 d_gain = slab_part({3, 36}, options);
    rms_norm(out, r, x, gain);
    rms_norm_backward(d_x, d_gain, at::randn_like(x), x, r, gain);
    return std::vector<Tensor>{out, r, d_x, d_gain};
  });
}

TEST(Kernels, Rotation) {
  expect_twins([](at::TensorOptions options) {
    const Tensor qkv = at::randn({2, 12, 3, 2, 10}, options), angle = at::randn({6, 5}, options);
    const Tensor turned = qkv.clone();
    rotate(turned, angle.cos(), angle.sin(), 1);
    const Tensor back = turned.clone();
    rotate(back, angle.cos(), angle.sin(), -1);
    EXPECT_LT((back - qkv).abs().max().item<double>(), 1e-5);
    EXPECT_TRUE(at::equal(turned.select(2, 2), qkv.select(2, 2))) << "values are not turned";
    return std::vector<Tensor>{turned, back};
  });
}

TEST(Kernels, CrossEntropy) {
  expect_twins([](at::TensorOptions options) {
    const Tensor logits = at::randn({3, 12, 9}, options),
                 targets = at::randint(9, {3, 12}, at::kLong);
    const Tensor copy = logits.clone();
    const Tensor sums = cross_entropy_and_gradient(logits, targets, 0.5);
    return std::vector<Tensor>{sums / 12, logits, cross_entropy(copy, targets) / 12};
  });
}

}  // namespace
}  // namespace syncline::kernels
