// The fused loops for the CPU; what they compute stands in kernels.h. Plain pointers, one replica.
#pragma once

#include <cstdint>

namespace syncline::kernels::cpu {

// Compiled for several instruction sets, of which the best is taken when the program starts.
#define SYNCLINE_FOR_FLOAT_AND_DOUBLE(declare) declare(float) declare(double)

#define SYNCLINE_DECLARE(T)                                                                        \
  void rms_norm(T* out, T* r, const T* x, const T* gain, std::int64_t rows, std::int64_t width,    \
                T epsilon);                                                                        \
  void rms_norm_backward(T* d_x, T* d_gain, const T* d_out, const T* x, const T* r, const T* gain, \
                         std::int64_t rows, std::int64_t width);                                   \
  void rotate(T* qkv, const T* cos, const T* sin, std::int64_t rows, std::int64_t context,         \
              std::int64_t heads, std::int64_t depth, T direction);                                \
  void add_row(T* to, const T* from, std::int64_t width);                                          \
  void softmax_gradient(T* p, std::int64_t width, std::int64_t target, T scale);
SYNCLINE_FOR_FLOAT_AND_DOUBLE(SYNCLINE_DECLARE)
#undef SYNCLINE_DECLARE

}  // namespace syncline::kernels::cpu
