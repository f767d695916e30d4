#include "compute/torch/layout.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "compute/fragments.h"

namespace syncline {

Layout::Layout(const ModelConfig& model, std::int64_t vocabulary_size)
    : vocabulary(vocabulary_size),
      width(model.width),
      heads(model.heads),
      context(model.context),
      size(0) {
  const auto matrix = [this](std::int64_t rows, std::int64_t columns, double std) {
    const std::int64_t offset = size;
    size += rows * columns;
    return Matrix{offset, rows, columns, std};
  };
  const auto gain_at = [this] {
    const std::int64_t offset = size;
    size += width;
    return offset;
  };
  const double fan_in = 1 / std::sqrt(static_cast<double>(width));
  const double residual =
      1 / std::sqrt(2.0 * model.layers);  // keeps the sum of all layers' outputs at unit size
  embedding = matrix(vocabulary, width, 0.5);
  layers.resize(model.layers);
  for (Layer& layer : layers) {
    layer.qkv = matrix(width, 3 * width, fan_in);
    layer.out = matrix(width, width, fan_in * residual);
    layer.up = matrix(width, 4 * width, fan_in);
    layer.down = matrix(4 * width, width, fan_in / 2 * residual);
  }
  head = matrix(width, vocabulary, fan_in);
  matrices = size;
  for (Layer& layer : layers) {
    layer.attention_gain = gain_at();
    layer.mlp_gain = gain_at();
  }
  final_gain = gain_at();
}

at::Tensor Layout::view(const at::Tensor& rows, const Matrix& matrix) {
  return rows.as_strided({rows.size(0), matrix.rows, matrix.columns},
                         {rows.stride(0), matrix.columns, 1},
                         rows.storage_offset() + matrix.offset);
}

at::Tensor Layout::gain(const at::Tensor& rows, std::int64_t offset) const {
  return rows.narrow(1, offset, width);
}

std::vector<std::pair<std::int64_t, std::int64_t>> Layout::pieces(const Fragment& fragment) const {
  const std::vector<std::uint32_t> of = fragment_of_layers(
      static_cast<std::uint32_t>(layers.size()), fragment.count, fragment.pattern);
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
  const auto add = [&](std::int64_t offset, std::int64_t length) {
    const bool adjoins = !pieces.empty() && pieces.back().first + pieces.back().second == offset;
    if (adjoins) {
      pieces.back().second += length;
    } else {
      pieces.emplace_back(offset, length);
    }
  };
  const auto add_matrix = [&](const Matrix& matrix) {
    add(matrix.offset, matrix.rows * matrix.columns);
  };
  const bool first = of.front() == fragment.index;
  const bool last = of.back() == fragment.index;
  if (first) add_matrix(embedding);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (of[l] != fragment.index) continue;
    for (const Matrix* matrix : {&layers[l].qkv, &layers[l].out, &layers[l].up, &layers[l].down})
      add_matrix(*matrix);
  }
  if (last) add_matrix(head);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (of[l] != fragment.index) continue;
    add(layers[l].attention_gain, width);
    add(layers[l].mlp_gain, width);
  }
  if (last) add(final_gain, width);
  return pieces;
}

at::Tensor Layout::initial(std::uint64_t seed) const {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  at::Tensor row = at::ones({size}, at::kFloat);
  const auto draw = [&](const Matrix& matrix) {
    row.narrow(0, matrix.offset, matrix.rows * matrix.columns).normal_(0, matrix.std, generator);
  };
  draw(embedding);
  for (const Layer& layer : layers) {
    draw(layer.qkv);
    draw(layer.out);
    draw(layer.up);
    draw(layer.down);
  }
  draw(head);
  return row;
}

}  // namespace syncline
