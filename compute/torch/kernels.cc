#include "compute/torch/kernels.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <cstring>

#include "compute/torch/kernels_cpu.h"

namespace syncline::kernels {

bool use_fused_loops = true;

namespace {

bool fused(const at::Tensor& tensor) {
  return use_fused_loops && tensor.is_cpu() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble);
}

// What a replica's part of a slab or an activation starts at.
template <typename T>
T* part(const at::Tensor& tensor, std::int64_t replica) {
  return tensor.data_ptr<T>() + replica * tensor.stride(0);
}

at::Tensor replica_index(const at::Tensor& tokens) {
  return at::arange(tokens.size(0), tokens.options()).unsqueeze(1).expand_as(tokens);
}

}  // namespace

void embed(const at::Tensor& out, const at::Tensor& table, const at::Tensor& tokens) {
  if (!fused(out)) {
    out.copy_(at::index(table, {replica_index(tokens), tokens}));
    return;
  }
  const std::int64_t width = table.size(2);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "embed", [&] {
    for (std::int64_t k = 0; k < table.size(0); ++k) {
      const scalar_t* rows = part<scalar_t>(table, k);
      const std::int64_t* token = part<std::int64_t>(tokens, k);
      scalar_t* to = part<scalar_t>(out, k);
      for (std::int64_t m = 0; m < tokens.size(1); ++m)
        std::memcpy(to + m * width, rows + token[m] * width, sizeof(scalar_t) * width);
    }
  });
}

void embed_backward(const at::Tensor& d_table, const at::Tensor& d_out, const at::Tensor& tokens) {
  d_table.zero_();
  if (!fused(d_out)) {
    at::Tensor table = d_table;
    table.index_put_({replica_index(tokens), tokens}, d_out, /*accumulate=*/true);
    return;
  }
  const std::int64_t width = d_table.size(2);
  AT_DISPATCH_FLOATING_TYPES(d_out.scalar_type(), "embed_backward", [&] {
    for (std::int64_t k = 0; k < d_table.size(0); ++k) {
      scalar_t* rows = part<scalar_t>(d_table, k);
      const std::int64_t* token = part<std::int64_t>(tokens, k);
      const scalar_t* from = part<scalar_t>(d_out, k);
      for (std::int64_t m = 0; m < tokens.size(1); ++m)
        cpu::add_row(rows + token[m] * width, from + m * width, width);
    }
  });
}

void rms_norm(const at::Tensor& out, const at::Tensor& r, const at::Tensor& x,
              const at::Tensor& gain) {
  if (!fused(x)) {
    r.copy_((x.to(r.scalar_type()).square().mean(-1, /*keepdim=*/true) + kNormEpsilon).rsqrt());
    out.copy_(x * r * gain.unsqueeze(1));
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
    for (std::int64_t k = 0; k < x.size(0); ++k) {
      cpu::rms_norm(part<scalar_t>(out, k), part<scalar_t>(r, k), part<scalar_t>(x, k),
                    part<scalar_t>(gain, k), x.size(1), x.size(2),
                    static_cast<scalar_t>(kNormEpsilon));
    }
  });
}

void rms_norm_backward(const at::Tensor& d_x, const at::Tensor& d_gain, const at::Tensor& d_out,
                       const at::Tensor& x, const at::Tensor& r, const at::Tensor& gain) {
  if (!fused(x)) {
    const at::Tensor n = x * r;
    const at::Tensor d_n = d_out * gain.unsqueeze(1);
    d_gain.copy_((d_out * n).sum(1));
    d_x.add_(r * (d_n - n * (d_n * n).mean(-1, /*keepdim=*/true)));
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_backward", [&] {
    for (std::int64_t k = 0; k < x.size(0); ++k) {
      cpu::rms_norm_backward(part<scalar_t>(d_x, k), part<scalar_t>(d_gain, k),
                             part<scalar_t>(d_out, k), part<scalar_t>(x, k), part<scalar_t>(r, k),
                             part<scalar_t>(gain, k), x.size(1), x.size(2));
    }
  });
}

void rotate(const at::Tensor& qkv, const at::Tensor& cos, const at::Tensor& sin, int direction) {
  const std::int64_t heads = qkv.size(3);
  const std::int64_t depth = qkv.size(4);
  const std::int64_t context = cos.size(0);
  if (!fused(qkv)) {
    // [K, sequences, T, q and k, H, D]
    const at::Tensor qk = qkv.view({qkv.size(0), -1, context, 3, heads, depth}).narrow(3, 0, 2);
    const at::Tensor a = qk.narrow(-1, 0, depth / 2);
    const at::Tensor b = qk.narrow(-1, depth / 2, depth / 2);
    const at::Tensor c = cos.view({context, 1, 1, depth / 2});
    const at::Tensor s = (sin * direction).view({context, 1, 1, depth / 2});
    const at::Tensor turned_a = a * c - b * s;
    b.copy_(a * s + b * c);
    a.copy_(turned_a);
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(qkv.scalar_type(), "rotate", [&] {
    cpu::rotate(qkv.data_ptr<scalar_t>(), cos.data_ptr<scalar_t>(), sin.data_ptr<scalar_t>(),
                qkv.size(0) * qkv.size(1), context, heads, depth, static_cast<scalar_t>(direction));
  });
}

namespace {

at::Tensor negative_log_likelihood(const at::Tensor& log_p, const at::Tensor& targets) {
  if (!fused(log_p))
    return log_p.gather(-1, targets.unsqueeze(-1)).sum({1, 2}, false, at::kDouble).neg();
  const at::Tensor sums = at::zeros({log_p.size(0)}, log_p.options().dtype(at::kDouble));
  AT_DISPATCH_FLOATING_TYPES(log_p.scalar_type(), "negative_log_likelihood", [&] {
    for (std::int64_t k = 0; k < log_p.size(0); ++k) {
      double sum = 0;
      for (std::int64_t m = 0; m < log_p.size(1); ++m) {
        sum -= static_cast<double>(
            part<scalar_t>(log_p, k)[m * log_p.size(2) + part<std::int64_t>(targets, k)[m]]);
      }
      sums.data_ptr<double>()[k] = sum;
    }
  });
  return sums;
}

}  // namespace

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return negative_log_likelihood(at::_log_softmax(logits, -1, false), targets);
}

at::Tensor cross_entropy_and_gradient(const at::Tensor& logits, const at::Tensor& targets,
                                      double scale) {
  const at::Tensor log_p = at::_log_softmax(logits, -1, false);
  const at::Tensor sums = negative_log_likelihood(log_p, targets);
  at::Tensor gradient = logits;
  at::exp_out(gradient, log_p);
  if (!fused(logits)) {
    gradient.mul_(scale);
    gradient.scatter_add_(-1, targets.unsqueeze(-1),
                          at::full({1, 1, 1}, -scale, logits.options())
                              .expand({targets.size(0), targets.size(1), 1}));
    return sums;
  }
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
    const std::int64_t width = logits.size(2);
    for (std::int64_t k = 0; k < logits.size(0); ++k) {
      for (std::int64_t m = 0; m < logits.size(1); ++m) {
        cpu::softmax_gradient(part<scalar_t>(logits, k) + m * width, width,
                              part<std::int64_t>(targets, k)[m], static_cast<scalar_t>(scale));
      }
    }
  });
  return sums;
}

}  // namespace syncline::kernels
