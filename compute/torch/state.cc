#include "compute/torch/state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace syncline {

using at::Tensor;

Slab::Slab(const Optimizer& optimizer, std::int64_t size, at::TensorOptions options) {
  const auto empty = [&] { return at::zeros({0, size}, options); };
  slabs_.parameters = empty();
  if (optimizer.has_first()) slabs_.first = empty();
  if (optimizer.has_second()) slabs_.second = empty();
}

std::int64_t Slab::acquire() {
  const auto free = std::find(used_.begin(), used_.end(), false);
  const auto slot = free - used_.begin();
  if (free != used_.end()) {
    *free = true;
    return slot;
  }
  used_.push_back(true);
  if (slot == slabs_.parameters.size(0)) {
    const std::int64_t slots = std::max<std::int64_t>(4, 2 * slot);
    for (Tensor* slab : {&slabs_.parameters, &slabs_.first, &slabs_.second}) {
      if (!slab->defined()) continue;
      const Tensor grown = at::zeros({slots, slab->size(1)}, slab->options());
      grown.narrow(0, 0, slot).copy_(*slab);
      *slab = grown;
    }
  }
  return slot;
}

OptimizerRows Slab::row(std::int64_t slot) const {
  const auto part = [&](const Tensor& slab) {
    return slab.defined() ? slab.narrow(0, slot, 1) : Tensor();
  };
  return {part(slabs_.parameters), part(slabs_.first), part(slabs_.second)};
}

namespace {

// Fixed head, then the tensors that are there, one after the other.
struct Head {
  std::uint32_t tensors = 0;  // bit 0 parameters, 1 first, 2 second
  std::uint32_t element_size = 0;
  std::int64_t size = 0;
  std::int64_t count = 0;
  double loss_sum = 0;
  Key loss_from;
};

std::vector<std::byte> pack(Head head, const Tensor& parameters, const Tensor& first,
                            const Tensor& second) {
  const Tensor* tensors[] = {&parameters, &first, &second};
  std::size_t bytes = sizeof head;
  for (int i = 0; i < 3; ++i) {
    if (!tensors[i]->defined()) continue;
    head.tensors |= 1u << i;
    head.size = tensors[i]->numel();
    head.element_size = static_cast<std::uint32_t>(tensors[i]->element_size());
    bytes += tensors[i]->nbytes();
  }
  std::vector<std::byte> out(bytes);
  std::memcpy(out.data(), &head, sizeof head);
  std::byte* to = out.data() + sizeof head;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    const Tensor host = tensor->cpu().contiguous();
    std::memcpy(to, host.data_ptr(), host.nbytes());
    to += host.nbytes();
  }
  return out;
}

std::optional<Head> head_of(std::span<const std::byte> bytes, std::size_t element_size) {
  Head head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto tensors = static_cast<std::size_t>(__builtin_popcount(head.tensors));
  if (head.element_size != element_size || head.size < 0 ||
      bytes.size() != sizeof head + tensors * static_cast<std::size_t>(head.size) * element_size) {
    return std::nullopt;
  }
  return head;
}

// The tensor that starts at `from`, which moves past it.
Tensor take(const std::byte*& from, std::int64_t size, at::TensorOptions options) {
  const Tensor host = at::empty({size}, options.device(at::kCPU));
  std::memcpy(host.data_ptr(), from, host.nbytes());
  from += host.nbytes();
  return host.to(options.device());
}

}  // namespace

std::vector<std::byte> to_bytes(const ReplicaState& state, const OptimizerRows& row) {
  Head head;
  head.count = state.count;
  head.loss_sum = state.loss_sum;
  head.loss_from = state.loss_from;
  return pack(head, row.parameters, row.first, row.second);
}

std::vector<std::byte> to_bytes(const StoredValue& value) {
  Head head;
  head.count = value.count;
  return pack(head, value.parameters, value.first, value.second);
}

bool from_bytes(std::span<const std::byte> bytes, ReplicaState& state, const OptimizerRows& row) {
  const std::optional<Head> head = head_of(bytes, row.parameters.element_size());
  const std::uint32_t wanted =
      1u | (row.first.defined() ? 2u : 0u) | (row.second.defined() ? 4u : 0u);
  if (!head || head->tensors != wanted || head->size != row.parameters.size(1)) return false;
  const std::byte* from = bytes.data() + sizeof(Head);
  for (const Tensor* tensor : {&row.parameters, &row.first, &row.second}) {
    if (tensor->defined()) tensor->select(0, 0).copy_(take(from, head->size, tensor->options()));
  }
  state.count = head->count;
  state.loss_sum = head->loss_sum;
  state.loss_from = head->loss_from;
  return true;
}

std::optional<StoredValue> value_from_bytes(std::span<const std::byte> bytes,
                                            at::TensorOptions options) {
  const std::optional<Head> head = head_of(bytes, options.dtype().itemsize());
  if (!head) return std::nullopt;
  StoredValue value;
  value.count = head->count;
  const std::byte* from = bytes.data() + sizeof(Head);
  if (head->tensors & 1u) value.parameters = take(from, head->size, options);
  if (head->tensors & 2u) value.first = take(from, head->size, options);
  if (head->tensors & 4u) value.second = take(from, head->size, options);
  return value;
}

}  // namespace syncline
