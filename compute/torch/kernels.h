// The passes over memory that LibTorch has not as one kernel for K replicas: embedding, RMS norm,
// rotary positions, cross-entropy.
//
// Each has a fused loop for the CPU in fp32 and fp64 (`kernels_cpu.cc`) and a twin from plain
// LibTorch operations for every device and type (`kernels.cc`), which the loop is checked against
// in tests. Shapes: K replicas, M = sequences · context tokens each, C = width. Activations are
// contiguous; parameters and gradients are rows [K, …] of a slab, contiguous within a replica.
#pragma once

#include <ATen/core/Tensor.h>

namespace syncline::kernels {

// Off for a test of the twins. Not to be changed while a pass runs.
extern bool use_fused_loops;

// out[k, m] = table[k, tokens[k, m]]; tokens int64 [K, M], table [K, V, C], out [K, M, C].
void embed(const at::Tensor& out, const at::Tensor& table, const at::Tensor& tokens);
// Its gradient: d_table is overwritten.
void embed_backward(const at::Tensor& d_table, const at::Tensor& d_out, const at::Tensor& tokens);

inline constexpr double kNormEpsilon = 1e-6;
// out = x · r · gain with r = 1 / sqrt(mean(x²) + epsilon) (Zhang, Sennrich 2019: arXiv
// 1910.07467). r [K, M, 1] is kept for the backward pass.
void rms_norm(const at::Tensor& out, const at::Tensor& r, const at::Tensor& x,
              const at::Tensor& gain);
// d_x += gradient through the norm; d_gain is overwritten.
void rms_norm_backward(const at::Tensor& d_x, const at::Tensor& d_gain, const at::Tensor& d_out,
                       const at::Tensor& x, const at::Tensor& r, const at::Tensor& gain);

// Turns the pairs (i, i + D/2) of every query and key head by its position's angle, in place (Su et
// al. 2021: arXiv 2104.09864). qkv [K, M, 3, H, D]; cos and sin [T, D/2]; M is a multiple of T.
// `direction` -1 turns back: the gradient.
void rotate(const at::Tensor& qkv, const at::Tensor& cos, const at::Tensor& sin, int direction);

// Sum over a replica's tokens of -log softmax(logits)[target], as double [K]. logits [K, M, V]
// (fp32 or fp64) become their gradient times `scale`.
at::Tensor cross_entropy_and_gradient(const at::Tensor& logits, const at::Tensor& targets,
                                      double scale);
// The same without the gradient.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace syncline::kernels
