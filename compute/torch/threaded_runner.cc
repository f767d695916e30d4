#include <ATen/ATen.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

#include "compute/torch/runner.h"

namespace syncline {
namespace {

using at::Tensor;

// A batch is cut into slices of at least this many tokens, whose gradients are summed in order. How
// many depends on the batch alone, so that the numbers depend neither on the number of threads nor
// on how many replicas are ready; and two threads are busy with one replica, too.
constexpr std::int64_t kTokensPerSlice = 256;
constexpr std::int64_t kMaxSlices = 8;

// One replica's batch under way.
struct Flight {
  Job* job = nullptr;
  std::uint32_t done = 0;       // batches
  std::int64_t next_slice = 0;  // not yet taken by a thread
  std::int64_t finished_slices = 0;
  int threads = 0;                // at work on it
  std::vector<Tensor> gradients;  // of the slices, [1, N]
  std::vector<double> losses;
};

class ThreadedRunner final : public Runner {
 public:
  explicit ThreadedRunner(const RunnerParts& parts)
      : parts_(parts),
        size_(parts.model->layout().size),
        context_(parts.model->layout().context),
        slices_(std::clamp(parts.batch * context_ / kTokensPerSlice, std::int64_t{1},
                           std::min<std::int64_t>(parts.batch, kMaxSlices))),
        validation_(validation_tensor(parts)),
        desks_(static_cast<std::size_t>(parts.pool->size())) {}

  void run(std::span<Job> jobs) override {
    flights_.clear();
    for (Job& job : jobs) {
      job.loss_sum = 0;
      if (job.length > 0) flights_.emplace_back().job = &job;
    }
    unfinished_ = flights_.size();
    failed_ = false;
    parts_.pool->run([this](int thread) { work(desks_[static_cast<std::size_t>(thread)]); });
  }

  double evaluate(const Tensor& parameters) override {
    const std::int64_t rows = std::max<std::int64_t>(1, 2 * kTokensPerSlice / context_);
    const std::int64_t sequences = validation_.size(0);
    std::vector<double> sums(static_cast<std::size_t>((sequences + rows - 1) / rows));
    parts_.pool->for_each(sums.size(), [&](std::size_t chunk, int thread) {
      Desk& desk = desks_[static_cast<std::size_t>(thread)];
      const std::int64_t begin = static_cast<std::int64_t>(chunk) * rows;
      const Tensor tokens =
          validation_.narrow(0, begin, std::min(rows, sequences - begin)).unsqueeze(0);
      const Tensor row = parameters.unsqueeze(0).to(parts_.model->type());
      sums[chunk] = parts_.model->loss(desk.workspaces[tokens.size(1)], row, tokens).item<double>();
    });
    double sum = 0;
    for (const double chunk : sums) sum += chunk;
    return sum / static_cast<double>(sequences * context_);
  }

 private:
  // What a thread works with.
  struct Desk {
    std::map<std::int64_t, Workspace> workspaces;  // by sequences
    std::vector<Token> tokens;
    Tensor parameters, gradients;  // bf16 copies
    Flight* last = nullptr;
  };

  void work(Desk& desk) {
    desk.last = nullptr;
    std::unique_lock lock(mutex_);
    while (unfinished_ > 0 && !failed_) {
      Flight* flight = choose(desk);
      if (flight == nullptr) {
        changed_.wait(lock);
        continue;
      }
      desk.last = flight;
      const std::int64_t slice = flight->next_slice++;
      ++flight->threads;
      if (flight->gradients.empty()) lend_buffers(*flight);
      lock.unlock();
      try {
        run_slice(desk, *flight, slice);
        lock.lock();
        if (++flight->finished_slices == slices_) {
          lock.unlock();
          finish_batch(*flight);
          lock.lock();
          next_batch(*flight);
        }
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        failed_ = true;
        changed_.notify_all();
        throw;
      }
      --flight->threads;
    }
  }

  // The replica this thread had last, whose parameters its cache holds; else the one with the
  // fewest threads, so that another's help is the last resort.
  Flight* choose(const Desk& desk) {
    const auto open = [this](const Flight& flight) {
      return flight.done < flight.job->length && flight.next_slice < slices_;
    };
    if (desk.last != nullptr && open(*desk.last)) return desk.last;
    Flight* best = nullptr;
    for (Flight& flight : flights_) {
      if (open(flight) && (best == nullptr || flight.threads < best->threads)) best = &flight;
    }
    return best;
  }

  void lend_buffers(Flight& flight) {
    flight.losses.assign(static_cast<std::size_t>(slices_), 0);
    while (static_cast<std::int64_t>(flight.gradients.size()) < slices_) {
      if (buffers_.empty())
        buffers_.push_back(at::empty({1, size_}, at::TensorOptions().dtype(parts_.master)));
      flight.gradients.push_back(std::move(buffers_.back()));
      buffers_.pop_back();
    }
  }

  void run_slice(Desk& desk, Flight& flight, std::int64_t slice) {
    const Job& job = *flight.job;
    desk.tokens.resize(parts_.batch * static_cast<std::size_t>(context_ + 1));
    parts_.data->batch(job.stream, job.first_batch + flight.done, parts_.batch, desk.tokens);
    const std::int64_t begin = slice * parts_.batch / slices_;
    const std::int64_t rows = (slice + 1) * parts_.batch / slices_ - begin;
    const Tensor tokens = at::empty({1, rows, context_ + 1}, at::kLong);
    std::copy_n(desk.tokens.begin() + begin * (context_ + 1), tokens.numel(),
                tokens.data_ptr<std::int64_t>());

    const double scale = 1 / static_cast<double>(parts_.batch * context_);
    const Tensor& gradients = flight.gradients[static_cast<std::size_t>(slice)];
    Workspace& workspace = desk.workspaces[rows];
    Tensor sum;
    if (parts_.model->type() == parts_.master) {
      sum =
          parts_.model->loss_and_gradient(workspace, job.row.parameters, gradients, tokens, scale);
    } else {
      desk.parameters = job.row.parameters.to(parts_.model->type());
      if (!desk.gradients.defined()) desk.gradients = at::empty_like(desk.parameters);
      sum = parts_.model->loss_and_gradient(workspace, desk.parameters, desk.gradients, tokens,
                                            scale);
      gradients.copy_(desk.gradients);
    }
    flight.losses[static_cast<std::size_t>(slice)] = sum.item<double>() * scale;
  }

  void finish_batch(Flight& flight) {
    Job& job = *flight.job;
    double loss = 0;
    for (const double slice : flight.losses) loss += slice;
    job.loss_sum += loss;
    const Tensor& gradient = flight.gradients[0];
    for (std::int64_t slice = 1; slice < slices_; ++slice)
      gradient.add_(flight.gradients[static_cast<std::size_t>(slice)]);
    if (!job.gradient.defined()) {
      const std::uint64_t position = job.position + flight.done;
      parts_.optimizer->step(job.row, gradient, {&position, 1}, {&job.count, 1});
      ++job.count;
      return;
    }
    if (flight.done == 0) {
      job.gradient.copy_(gradient);
    } else {
      job.gradient.add_(gradient);
    }
    if (flight.done + 1 == job.length) job.gradient.div_(static_cast<double>(job.length));
  }

  void next_batch(Flight& flight) {
    ++flight.done;
    flight.next_slice = 0;
    flight.finished_slices = 0;
    for (Tensor& gradient : flight.gradients) buffers_.push_back(std::move(gradient));
    flight.gradients.clear();
    if (flight.done == flight.job->length) --unfinished_;
    changed_.notify_all();
  }

  RunnerParts parts_;
  std::int64_t size_;
  std::int64_t context_;
  std::int64_t slices_;
  Tensor validation_;
  std::vector<Desk> desks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Flight> flights_;
  std::vector<Tensor> buffers_;
  std::size_t unfinished_ = 0;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_threaded_runner(const RunnerParts& parts) {
  return std::make_unique<ThreadedRunner>(parts);
}

Tensor validation_tensor(const RunnerParts& parts) {
  const std::vector<Token> tokens = parts.data->validation_sequences(parts.eval_tokens);
  const Tensor all = at::empty({static_cast<std::int64_t>(tokens.size())}, at::kLong);
  std::copy(tokens.begin(), tokens.end(), all.data_ptr<std::int64_t>());
  return all.view({-1, parts.model->layout().context + 1});
}

}  // namespace syncline
