#include "compute/torch/kernels_cpu.h"

#include <cmath>

namespace syncline::kernels::cpu {
namespace {

#define SYNCLINE_INLINE inline __attribute__((always_inline))

template <typename T>
SYNCLINE_INLINE void rms_norm_loop(T* out, T* r, const T* x, const T* gain, std::int64_t rows,
                                   std::int64_t width, T epsilon) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, out += width) {
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t c = 0; c < width; ++c) squares += x[c] * x[c];
    const T scale = 1 / std::sqrt(squares / static_cast<T>(width) + epsilon);
    r[row] = scale;
#pragma omp simd
    for (std::int64_t c = 0; c < width; ++c) out[c] = x[c] * scale * gain[c];
  }
}

// With n = x · r and d_n = d_out · gain: d_x += r · (d_n - n · mean(d_n · n)).
template <typename T>
SYNCLINE_INLINE void rms_norm_backward_loop(T* d_x, T* d_gain, const T* d_out, const T* x,
                                            const T* r, const T* gain, std::int64_t rows,
                                            std::int64_t width) {
  for (std::int64_t c = 0; c < width; ++c) d_gain[c] = 0;
  for (std::int64_t row = 0; row < rows; ++row, x += width, d_x += width, d_out += width) {
    const T scale = r[row];
    T dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t c = 0; c < width; ++c) {
      const T d_times_n = d_out[c] * x[c] * scale;
      d_gain[c] += d_times_n;
      dot += d_times_n * gain[c];
    }
    const T mean = dot / static_cast<T>(width);
#pragma omp simd
    for (std::int64_t c = 0; c < width; ++c)
      d_x[c] += scale * (d_out[c] * gain[c] - x[c] * scale * mean);
  }
}

template <typename T>
SYNCLINE_INLINE void rotate_loop(T* qkv, const T* cos, const T* sin, std::int64_t rows,
                                 std::int64_t context, std::int64_t heads, std::int64_t depth,
                                 T direction) {
  const std::int64_t half = depth / 2;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* row_cos = cos + (row % context) * half;
    const T* row_sin = sin + (row % context) * half;
    T* head = qkv + row * 3 * heads * depth;
    for (std::int64_t h = 0; h < 2 * heads; ++h, head += depth) {
#pragma omp simd
      for (std::int64_t i = 0; i < half; ++i) {
        const T a = head[i];
        const T b = head[i + half];
        const T s = row_sin[i] * direction;
        head[i] = a * row_cos[i] - b * s;
        head[i + half] = a * s + b * row_cos[i];
      }
    }
  }
}

template <typename T>
SYNCLINE_INLINE void add_row_loop(T* to, const T* from, std::int64_t width) {
#pragma omp simd
  for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
}

// The buffer holds exp(log_p) already.
template <typename T>
SYNCLINE_INLINE void softmax_gradient_loop(T* p, std::int64_t width, std::int64_t target, T scale) {
#pragma omp simd
  for (std::int64_t c = 0; c < width; ++c) p[c] *= scale;
  p[target] -= scale;
}

}  // namespace

#define SYNCLINE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

#define SYNCLINE_DEFINE(T)                                                                        \
  SYNCLINE_CLONES void rms_norm(T* out, T* r, const T* x, const T* gain, std::int64_t rows,       \
                                std::int64_t width, T epsilon) {                                  \
    rms_norm_loop<T>(out, r, x, gain, rows, width, epsilon);                                      \
  }                                                                                               \
  SYNCLINE_CLONES void rms_norm_backward(T* d_x, T* d_gain, const T* d_out, const T* x,           \
                                         const T* r, const T* gain, std::int64_t rows,            \
                                         std::int64_t width) {                                    \
    rms_norm_backward_loop<T>(d_x, d_gain, d_out, x, r, gain, rows, width);                       \
  }                                                                                               \
  SYNCLINE_CLONES void rotate(T* qkv, const T* cos, const T* sin, std::int64_t rows,              \
                              std::int64_t context, std::int64_t heads, std::int64_t depth,       \
                              T direction) {                                                      \
    rotate_loop<T>(qkv, cos, sin, rows, context, heads, depth, direction);                        \
  }                                                                                               \
  SYNCLINE_CLONES void add_row(T* to, const T* from, std::int64_t width) {                        \
    add_row_loop<T>(to, from, width);                                                             \
  }                                                                                               \
  SYNCLINE_CLONES void softmax_gradient(T* p, std::int64_t width, std::int64_t target, T scale) { \
    softmax_gradient_loop<T>(p, width, target, scale);                                            \
  }
SYNCLINE_FOR_FLOAT_AND_DOUBLE(SYNCLINE_DEFINE)

}  // namespace syncline::kernels::cpu
