#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "compute/torch/runner.h"

namespace syncline {
namespace {

using at::Tensor;

// Rows of one slab that follow each other are a view; others are copied together, and back after
// the last step.
class Stack {
 public:
  explicit Stack(const std::vector<Tensor>& rows) : rows_(rows), all_(view_of(rows)) {
    if (all_.defined() || !rows[0].defined()) return;
    all_ = at::cat(rows);
    copied_ = true;
  }
  const Tensor& all() const { return all_; }
  void write_back() const {
    if (!copied_) return;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].copy_(all_.narrow(0, static_cast<std::int64_t>(i), 1));
  }

 private:
  static Tensor view_of(const std::vector<Tensor>& rows) {
    if (!rows[0].defined()) return {};
    const std::int64_t size = rows[0].size(1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].is_alias_of(rows[0])) return {};
      if (rows[i].storage_offset() !=
          rows[0].storage_offset() + static_cast<std::int64_t>(i) * size)
        return {};
    }
    return rows[0].as_strided({static_cast<std::int64_t>(rows.size()), size}, {size, 1},
                              rows[0].storage_offset());
  }

  std::vector<Tensor> rows_;
  Tensor all_;
  bool copied_ = false;
};

class StackedRunner final : public Runner {
 public:
  StackedRunner(const RunnerParts& parts, at::Device device, std::int64_t bytes)
      : parts_(parts),
        device_(device),
        context_(parts.model->layout().context),
        tokens_at_once_(std::max<std::int64_t>(1, bytes / parts.model->bytes_per_token())),
        validation_(validation_tensor(parts).to(device)) {}

  void run(std::span<Job> jobs) override {
    parts_.pool->run([&](int thread) {
      if (thread != 0) return;
      const auto most = static_cast<std::size_t>(
          std::max<std::int64_t>(1, tokens_at_once_ / (parts_.batch * context_)));
      std::size_t begin = 0;
      while (begin < jobs.size()) {
        std::size_t end = begin + 1;
        while (end < jobs.size() && end - begin < most && jobs[end].length == jobs[begin].length)
          ++end;
        run_stack(jobs.subspan(begin, end - begin));
        begin = end;
      }
    });
  }

  double evaluate(const Tensor& parameters) override {
    double sum = 0;
    parts_.pool->run([&](int thread) {
      if (thread != 0) return;
      const Tensor row = parameters.unsqueeze(0).to(parts_.model->type());
      const std::int64_t rows =
          std::max<std::int64_t>(1, std::min<std::int64_t>(tokens_at_once_, 16384) / context_);
      Tensor total = at::zeros({1}, at::TensorOptions(device_).dtype(at::kDouble));
      for (std::int64_t begin = 0; begin < validation_.size(0); begin += rows) {
        const Tensor tokens =
            validation_.narrow(0, begin, std::min(rows, validation_.size(0) - begin)).unsqueeze(0);
        total.add_(parts_.model->loss(evaluation_, row, tokens));
      }
      sum = total.item<double>();
    });
    return sum / static_cast<double>(validation_.size(0) * context_);
  }

 private:
  void run_stack(std::span<Job> jobs) {
    const auto replicas = static_cast<std::int64_t>(jobs.size());
    std::vector<Tensor> parameter_rows, first_rows, second_rows;
    std::vector<std::uint64_t> positions;
    std::vector<std::int64_t> counts;
    for (const Job& job : jobs) {
      parameter_rows.push_back(job.row.parameters);
      first_rows.push_back(job.row.first);
      second_rows.push_back(job.row.second);
      positions.push_back(job.position);
      counts.push_back(job.count);
    }
    const bool steps = !jobs[0].gradient.defined();
    const Stack parameters(parameter_rows), first(first_rows), second(second_rows);
    const OptimizerRows rows{parameters.all(), first.all(), second.all()};
    const Tensor tokens = upload(jobs);
    const double scale = 1 / static_cast<double>(parts_.batch * context_);
    Tensor losses = at::zeros({replicas}, at::TensorOptions(device_).dtype(at::kDouble));
    Tensor mean_gradient;

    if (!gradients_.defined() || gradients_.size(0) != replicas)
      gradients_ = at::empty_like(rows.parameters);
    for (std::uint32_t b = 0; b < jobs[0].length; ++b) {
      const Tensor batch = tokens.select(0, b).to(at::kLong);
      if (parts_.model->type() == parts_.master) {
        losses.add_(
            parts_.model->loss_and_gradient(workspace_, rows.parameters, gradients_, batch, scale),
            scale);
      } else {
        const Tensor cast = rows.parameters.to(parts_.model->type());
        if (!cast_gradients_.defined() || cast_gradients_.size(0) != replicas)
          cast_gradients_ = at::empty_like(cast);
        losses.add_(
            parts_.model->loss_and_gradient(workspace_, cast, cast_gradients_, batch, scale),
            scale);
        gradients_.copy_(cast_gradients_);
      }
      if (steps) {
        parts_.optimizer->step(rows, gradients_, positions, counts);
        for (std::uint64_t& position : positions) ++position;
        for (std::int64_t& count : counts) ++count;
      } else if (b == 0) {
        mean_gradient = gradients_.clone();
      } else {
        mean_gradient.add_(gradients_);
      }
    }

    const Tensor host_losses = losses.cpu();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].loss_sum = host_losses.data_ptr<double>()[i];
      jobs[i].count = counts[i];
      if (!steps)
        jobs[i].gradient.copy_(mean_gradient.narrow(0, static_cast<std::int64_t>(i), 1)
                                   .div(static_cast<double>(jobs[i].length)));
    }
    if (steps) {
      for (const Stack* stack : {&parameters, &first, &second}) stack->write_back();
    }
  }

  // All batches of a call in one copy: int32 [length, K, B, T + 1]. From pinned memory the copy
  // needs no wait; LibTorch keeps that memory until it is done.
  Tensor upload(std::span<const Job> jobs) {
    const std::size_t batch_tokens = parts_.batch * static_cast<std::size_t>(context_ + 1);
    const Tensor host = at::empty(
        {jobs[0].length, static_cast<std::int64_t>(jobs.size()), parts_.batch, context_ + 1},
        at::TensorOptions().dtype(at::kInt).pinned_memory(device_.is_cuda()));
    std::int32_t* to = host.data_ptr<std::int32_t>();
    std::vector<Token> tokens(batch_tokens);
    for (std::uint32_t b = 0; b < jobs[0].length; ++b) {
      for (const Job& job : jobs) {
        parts_.data->batch(job.stream, job.first_batch + b, parts_.batch, tokens);
        to = std::copy(tokens.begin(), tokens.end(), to);
      }
    }
    return host.to(device_, /*non_blocking=*/true);
  }

  RunnerParts parts_;
  at::Device device_;
  std::int64_t context_;
  std::int64_t tokens_at_once_;
  Tensor validation_;
  Workspace workspace_, evaluation_;
  Tensor gradients_, cast_gradients_;
};

}  // namespace

std::unique_ptr<Runner> make_stacked_runner(const RunnerParts& parts, at::Device device,
                                            std::int64_t bytes) {
  return std::make_unique<StackedRunner>(parts, device, bytes);
}

}  // namespace syncline
