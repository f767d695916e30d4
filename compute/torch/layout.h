// Where the parameters of one replica lie in its row of N numbers: matrices first, then the gains
// of the norms.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "compute/program.h"
#include "compute/training_config.h"

namespace syncline {

struct Layout {
  struct Matrix {
    std::int64_t offset, rows, columns;
    double std;  // of its initial values
  };
  struct Layer {
    Matrix qkv, out, up, down;              // [C, 3C], [C, C], [C, 4C], [4C, C]
    std::int64_t attention_gain, mlp_gain;  // offsets of [C]
  };

  Layout(const ModelConfig& model, std::int64_t vocabulary);

  std::int64_t vocabulary, width, heads, context;
  Matrix embedding;  // [V, C]
  std::vector<Layer> layers;
  Matrix head;  // [C, V], not tied to the embedding
  std::int64_t final_gain;
  std::int64_t matrices;  // numbers in all matrices: those that weight decay acts on
  std::int64_t size;      // N

  // Matrices and vectors of K replicas as views of their rows [K, N].
  static at::Tensor view(const at::Tensor& rows, const Matrix& matrix);  // [K, rows, columns]
  at::Tensor gain(const at::Tensor& rows, std::int64_t offset) const;    // [K, C]

  // Where a fragment's parameters lie in the row: offsets and lengths, in order.
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces(const Fragment& fragment) const;

  // A pure function of the seed: drawn on the CPU in fp32, in the order of the row. Gains are 1.
  at::Tensor initial(std::uint64_t seed) const;
};

}  // namespace syncline
