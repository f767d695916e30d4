#include "compute/torch/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <mutex>

#include "compute/torch/kernels.h"
#include "topology/check.h"

namespace syncline {

using at::Tensor;

namespace {

// On a GPU, LibTorch's attention sums its gradients in any order unless it is told not to. Only
// there: elsewhere the same switch makes slow what is in order already. The switch is the
// process's; it stays on while the thread of any GPU is here.
class Repeatable {
 public:
  explicit Repeatable(at::Device device) : used_(device.is_cuda()) {
    if (!used_) return;
    const std::lock_guard lock(mutex);
    if (inside++ == 0) at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  }
  ~Repeatable() {
    if (!used_) return;
    const std::lock_guard lock(mutex);
    if (--inside == 0) at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
  }
  Repeatable(const Repeatable&) = delete;
  Repeatable& operator=(const Repeatable&) = delete;

 private:
  inline static std::mutex mutex;
  inline static int inside = 0;
  bool used_;
};

}  // namespace

Model::Model(const ModelConfig& config, std::int64_t vocabulary, at::ScalarType type,
             at::Device device)
    : layout_(config, vocabulary), type_(type), device_(device) {
  // The angle of pair i at position t: t / 10000^(i / (D/2)).
  const std::int64_t half = layout_.width / layout_.heads / 2;
  const Tensor frequency =
      at::pow(10000.0, at::arange(half, at::kDouble) / -static_cast<double>(half));
  const Tensor angle = at::outer(at::arange(layout_.context, at::kDouble), frequency);
  cos_ = angle.cos().to(options());
  sin_ = angle.sin().to(options());
}

std::int64_t Model::bytes_per_token() const {
  const std::int64_t layers = static_cast<std::int64_t>(layout_.layers.size());
  return (layers * 20 + 16) * layout_.width * static_cast<std::int64_t>(at::elementSize(type_)) +
         layout_.vocabulary * 12;
}

void Model::prepare(Workspace& w, std::int64_t replicas, std::int64_t tokens) const {
  if (w.replicas == replicas && w.tokens == tokens) return;
  w = Workspace{};
  w.replicas = replicas;
  w.tokens = tokens;
  const auto buffer = [&](std::int64_t width) {
    return at::empty({replicas, tokens, width}, options());
  };
  const auto factor = [&] {
    return at::empty({replicas, tokens, 1},
                     options().dtype(type_ == at::kDouble ? at::kDouble : at::kFloat));
  };
  const std::int64_t width = layout_.width;
  w.layers.resize(layout_.layers.size());
  for (Workspace::Layer& layer : w.layers) {
    layer.x_attention = buffer(width);
    layer.r_attention = factor();
    layer.a = buffer(width);
    layer.qkv = buffer(3 * width);
    layer.x_mlp = buffer(width);
    layer.r_mlp = factor();
    layer.b = buffer(width);
    layer.hidden = buffer(4 * width);
    layer.activated = buffer(4 * width);
  }
  w.x = buffer(width);
  w.r = factor();
  w.normed = buffer(width);
  w.logits = buffer(layout_.vocabulary);
  w.d_x = buffer(width);
  w.d_width = buffer(width);
  w.d_qkv = buffer(3 * width);
  w.d_hidden = buffer(4 * width);
  w.d_activated = buffer(4 * width);
}

Tensor Model::loss_and_gradient(Workspace& w, const Tensor& parameters, const Tensor& gradients,
                                const Tensor& tokens, double scale) const {
  const c10::NoGradGuard no_grad;
  const std::int64_t replicas = tokens.size(0);
  const Tensor inputs = tokens.narrow(2, 0, layout_.context).reshape({replicas, -1});
  const Tensor targets = tokens.narrow(2, 1, layout_.context).reshape({replicas, -1});
  forward(w, parameters, inputs, true);
  Tensor sums;
  if (type_ == at::kBFloat16) {
    const Tensor logits = w.logits.to(at::kFloat);  // a loss in bf16 has two digits
    sums = kernels::cross_entropy_and_gradient(logits, targets, scale);
    w.logits.copy_(logits);
  } else {
    sums = kernels::cross_entropy_and_gradient(w.logits, targets, scale);
  }
  backward(w, parameters, gradients, inputs);
  return sums;
}

Tensor Model::loss(Workspace& w, const Tensor& parameters, const Tensor& tokens) const {
  const c10::NoGradGuard no_grad;
  const std::int64_t replicas = tokens.size(0);
  const Tensor inputs = tokens.narrow(2, 0, layout_.context).reshape({replicas, -1});
  const Tensor targets = tokens.narrow(2, 1, layout_.context).reshape({replicas, -1});
  forward(w, parameters, inputs, false);
  return kernels::cross_entropy(type_ == at::kBFloat16 ? w.logits.to(at::kFloat) : w.logits,
                                targets);
}

void Model::forward(Workspace& w, const Tensor& parameters, const Tensor& inputs,
                    bool for_gradient) const {
  prepare(w, inputs.size(0), inputs.size(1));
  const std::size_t layers = w.layers.size();
  kernels::embed(w.layers.empty() ? w.x : w.layers[0].x_attention,
                 Layout::view(parameters, layout_.embedding), inputs);
  for (std::size_t i = 0; i < layers; ++i) {
    const Layout::Layer& weights = layout_.layers[i];
    Workspace::Layer& l = w.layers[i];
    Tensor& x_next = i + 1 < layers ? w.layers[i + 1].x_attention : w.x;

    kernels::rms_norm(l.a, l.r_attention, l.x_attention,
                      layout_.gain(parameters, weights.attention_gain));
    at::bmm_out(l.qkv, l.a, Layout::view(parameters, weights.qkv));
    attention(l, for_gradient);
    at::baddbmm_out(l.x_mlp, l.x_attention, l.attended.transpose(1, 2).reshape_as(l.x_mlp),
                    Layout::view(parameters, weights.out));

    kernels::rms_norm(l.b, l.r_mlp, l.x_mlp, layout_.gain(parameters, weights.mlp_gain));
    at::bmm_out(l.hidden, l.b, Layout::view(parameters, weights.up));
    at::gelu_out(l.activated, l.hidden);
    at::baddbmm_out(x_next, l.x_mlp, l.activated, Layout::view(parameters, weights.down));
  }
  kernels::rms_norm(w.normed, w.r, w.x, layout_.gain(parameters, layout_.final_gain));
  at::bmm_out(w.logits, w.normed, Layout::view(parameters, layout_.head));
}

// From the gradient of the logits, which w.logits holds. y = x W gives d_W = xᵀ d_y and d_x = d_y
// Wᵀ; w.d_x is the gradient of the residual stream.
void Model::backward(Workspace& w, const Tensor& parameters, const Tensor& gradients,
                     const Tensor& inputs) const {
  const auto through = [&](const Tensor& d_in, const Tensor& d_out, const Tensor& in,
                           const Layout::Matrix& matrix) {
    Tensor d_weights = Layout::view(gradients, matrix);
    Tensor d = d_in;
    at::bmm_out(d_weights, in.transpose(1, 2), d_out);
    at::bmm_out(d, d_out, Layout::view(parameters, matrix).transpose(1, 2));
  };
  const auto through_norm = [&](const Tensor& x, const Tensor& r, std::int64_t gain) {
    kernels::rms_norm_backward(w.d_x, layout_.gain(gradients, gain), w.d_width, x, r,
                               layout_.gain(parameters, gain));
  };

  through(w.d_width, w.logits, w.normed, layout_.head);
  w.d_x.zero_();
  through_norm(w.x, w.r, layout_.final_gain);
  for (std::size_t i = w.layers.size(); i-- > 0;) {
    const Layout::Layer& weights = layout_.layers[i];
    Workspace::Layer& l = w.layers[i];

    through(w.d_activated, w.d_x, l.activated, weights.down);
    at::gelu_backward_out(w.d_hidden, w.d_activated, l.hidden);
    through(w.d_width, w.d_hidden, l.b, weights.up);
    through_norm(l.x_mlp, l.r_mlp, weights.mlp_gain);

    through(w.d_width, w.d_x, l.attended.transpose(1, 2).reshape_as(w.d_x), weights.out);
    attention_backward(l, w.d_width, w.d_qkv);
    through(w.d_width, w.d_qkv, l.a, weights.qkv);
    through_norm(l.x_attention, l.r_attention, weights.attention_gain);
  }
  kernels::embed_backward(Layout::view(gradients, layout_.embedding), w.d_x, inputs);
}

// LibTorch chooses the kernel for the device and type (flash, memory-efficient, plain), so this one
// operation keeps its own small autograd graph.
void Model::attention(Workspace::Layer& l, bool for_gradient) const {
  const std::int64_t heads = layout_.heads;
  const std::int64_t depth = layout_.width / heads;
  kernels::rotate(l.qkv.view({l.qkv.size(0), -1, 3, heads, depth}), cos_, sin_, +1);
  const Tensor parts = l.qkv.view({-1, layout_.context, 3, heads, depth});
  const c10::AutoGradMode grad_mode(for_gradient);
  const auto leaf = [&](std::int64_t index) {
    return parts.select(2, index).transpose(1, 2).detach().set_requires_grad(for_gradient);
  };
  l.q = leaf(0);
  l.k = leaf(1);
  l.v = leaf(2);
  l.attended = at::scaled_dot_product_attention(l.q, l.k, l.v, {}, 0.0, /*is_causal=*/true);
}

void Model::attention_backward(Workspace::Layer& l, const Tensor& d_attended,
                               const Tensor& d_qkv) const {
  const std::int64_t heads = layout_.heads;
  const std::int64_t depth = layout_.width / heads;
  const Tensor d = d_attended.view({-1, layout_.context, heads, depth}).transpose(1, 2);
  std::vector<Tensor> gradients;
  {
    const Repeatable repeatable(device_);
    gradients = torch::autograd::grad({l.attended}, {l.q, l.k, l.v}, {d});
  }
  const Tensor parts = d_qkv.view({-1, layout_.context, 3, heads, depth});
  for (std::int64_t i = 0; i < 3; ++i)
    parts.select(2, i).copy_(gradients[static_cast<std::size_t>(i)].transpose(1, 2));
  kernels::rotate(d_qkv.view({d_qkv.size(0), -1, 3, heads, depth}), cos_, sin_, -1);
}

}  // namespace syncline
