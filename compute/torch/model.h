// GPT-style decoder for K replicas in one pass: forward and backward, written out.
//
// embedding, L × { x += attention(norm(x)); x += mlp(norm(x)) }, norm, head. Pre-norm (RMS, gain
// only), rotary positions, causal attention, GELU, no biases, untied head. Every product is batched
// over K; tensors that are used again live in a Workspace, so that a pass allocates little.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "compute/torch/layout.h"

namespace syncline {

// The activations of one pass over K replicas and M tokens each; used again by the next pass of the
// same shape. One a thread.
struct Workspace {
  struct Layer {
    at::Tensor x_attention, r_attention, a;  // input of the first half, its norm's factor, its norm
    at::Tensor qkv;                          // after rotation [K, M, 3C]
    at::Tensor q, k, v,
        attended;  // [K·sequences, H, T, D]; leaves and result of attention's own autograd graph
    at::Tensor x_mlp, r_mlp, b;
    at::Tensor hidden, activated;  // [K, M, 4C] before and after GELU
  };
  std::int64_t replicas = 0, tokens = 0;
  std::vector<Layer> layers;
  at::Tensor x, r, normed, logits;  // input of the last norm …
  at::Tensor d_x, d_width, d_qkv, d_hidden, d_activated;
};

class Model {
 public:
  // `type`: of activations, and of the parameters and gradients that passes are given.
  Model(const ModelConfig& config, std::int64_t vocabulary, at::ScalarType type, at::Device device);

  const Layout& layout() const { return layout_; }
  at::ScalarType type() const { return type_; }
  at::TensorOptions options() const { return at::TensorOptions(device_).dtype(type_); }

  // tokens: int64 [K, sequences, T + 1] on the device. Returns each replica's sum of losses over
  // its tokens, nats, double [K]; `gradients` [K, N] is overwritten by the gradient of scale · that
  // sum.
  at::Tensor loss_and_gradient(Workspace& workspace, const at::Tensor& parameters,
                               const at::Tensor& gradients, const at::Tensor& tokens,
                               double scale) const;
  at::Tensor loss(Workspace& workspace, const at::Tensor& parameters,
                  const at::Tensor& tokens) const;

  // Bytes of a Workspace a replica and token, about.
  std::int64_t bytes_per_token() const;

 private:
  void prepare(Workspace& workspace, std::int64_t replicas, std::int64_t tokens) const;
  void forward(Workspace& w, const at::Tensor& parameters, const at::Tensor& inputs,
               bool for_gradient) const;
  void backward(Workspace& w, const at::Tensor& parameters, const at::Tensor& gradients,
                const at::Tensor& inputs) const;
  void attention(Workspace::Layer& layer, bool for_gradient) const;
  void attention_backward(Workspace::Layer& layer, const at::Tensor& d_attended,
                          const at::Tensor& d_qkv) const;

  Layout layout_;
  at::ScalarType type_;
  at::Device device_;
  at::Tensor cos_, sin_;  // [T, D/2]
};

}  // namespace syncline
