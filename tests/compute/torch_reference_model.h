// The model written in the straight way: autograd and plain operations, one replica.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/torch/kernels.h"
#include "compute/torch/layout.h"
#include "compute/training_config.h"

namespace syncline::testing {

using torch::Tensor;

struct Reference {
  Reference(const TrainingConfig& config, std::int64_t vocabulary, torch::Dtype type,
            std::uint64_t seed = 7)
      : c(config), layout(config.model, vocabulary), row(layout.initial(seed).to(type)) {
    const auto matrix = [&](const Layout::Matrix& m) {
      return add(row.narrow(0, m.offset, m.rows * m.columns).view({m.rows, m.columns}), matrices);
    };
    const auto gain = [&](std::int64_t offset) {
      return add(row.narrow(0, offset, layout.width), gains);
    };
    embedding = matrix(layout.embedding);
    for (const Layout::Layer& l : layout.layers) {
      layers.push_back({matrix(l.qkv), matrix(l.out), matrix(l.up), matrix(l.down),
                        gain(l.attention_gain), gain(l.mlp_gain)});
    }
    head = matrix(layout.head);
    final_gain = gain(layout.final_gain);
  }
  static Tensor add(const Tensor& view, std::vector<Tensor>& list) {
    list.push_back(view.clone().requires_grad_(true));
    return list.back();
  }

  static Tensor norm(const Tensor& x, const Tensor& gain) {
    return x / torch::sqrt(x.pow(2).mean(-1, true) + kernels::kNormEpsilon) * gain;
  }

  // [B, H, T, D]: every pair (i, i + D/2) as a complex number, times e^(i angle).
  Tensor turn(const Tensor& x) const {
    const std::int64_t half = x.size(3) / 2;
    const Tensor angle = torch::outer(torch::arange(x.size(2), torch::kDouble),
                                      torch::exp(torch::arange(half, torch::kDouble) *
                                                 (-std::log(10000.0) / static_cast<double>(half))));
    const Tensor turned =
        torch::complex(x.slice(3, 0, half), x.slice(3, half)) *
        torch::polar(torch::ones_like(angle), angle)
            .to(x.dtype() == torch::kDouble ? torch::kComplexDouble : torch::kComplexFloat);
    return torch::cat({torch::real(turned), torch::imag(turned)}, 3);
  }

  Tensor loss(const Tensor& tokens) const {
    const std::int64_t batch = tokens.size(0), length = tokens.size(1) - 1, width = layout.width,
                       heads = layout.heads;
    Tensor x = embedding.index({tokens.slice(1, 0, length)});
    const Tensor mask = torch::ones({length, length}, torch::kBool).triu(1);
    for (const Layer& l : layers) {
      const std::vector<Tensor> parts =
          torch::matmul(norm(x, l.attention_gain), l.qkv).split(width, 2);
      const auto by_head = [&](const Tensor& t) {
        return t.view({batch, length, heads, width / heads}).transpose(1, 2);
      };
      const Tensor q = turn(by_head(parts[0])), k = turn(by_head(parts[1])), v = by_head(parts[2]);
      Tensor scores =
          torch::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(width / heads));
      scores = scores.masked_fill(mask, -INFINITY);
      x = x +
          torch::matmul(
              torch::matmul(scores.softmax(-1), v).transpose(1, 2).reshape({batch, length, width}),
              l.out);
      x = x + torch::matmul(torch::gelu(torch::matmul(norm(x, l.mlp_gain), l.up)), l.down);
    }
    const Tensor logits = torch::matmul(norm(x, final_gain), head);
    return torch::nn::functional::cross_entropy(logits.reshape({-1, logits.size(2)}),
                                                tokens.slice(1, 1).reshape({-1}));
  }

  struct Layer {
    Tensor qkv, out, up, down, attention_gain, mlp_gain;
  };
  TrainingConfig c;
  Layout layout;
  Tensor row;
  std::vector<Tensor> matrices, gains;
  Tensor embedding, head, final_gain;
  std::vector<Layer> layers;
};

inline Tensor to_tensor(const std::vector<Token>& tokens, std::int64_t context) {
  Tensor all = torch::empty({static_cast<std::int64_t>(tokens.size())}, torch::kLong);
  std::copy(tokens.begin(), tokens.end(), all.data_ptr<std::int64_t>());
  return all.view({-1, context + 1});
}

}  // namespace syncline::testing
