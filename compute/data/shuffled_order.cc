#include "compute/data/shuffled_order.h"

#include <algorithm>

#include "compute/data/counter_hash.h"
#include "compute/data/permutation.h"
#include "topology/check.h"

namespace syncline {

ShuffledOrder::ShuffledOrder(std::span<const Stretch> stretches, std::uint32_t context,
                             std::uint64_t seed)
    : context_(context), seed_(seed) {
  SYNCLINE_CHECK(context > 0, "sequences without tokens");
  for (const Stretch& stretch : stretches) {
    const std::uint64_t length = stretch.end - stretch.begin;
    if (length <= context) continue;
    cuts_.push_back({stretch, sequences_});
    sequences_ += (length - 1) / context;
  }
}

std::uint64_t ShuffledOrder::at(std::uint64_t index) const {
  SYNCLINE_CHECK(sequences_ > 0, "no sequence to read");
  const std::uint64_t epoch = index / sequences_;
  const Permutation permutation(sequences_, counter_hash({seed_, epoch, 0}));
  const std::uint64_t sequence = permutation.at(index % sequences_);
  const auto after = std::upper_bound(
      cuts_.begin(), cuts_.end(), sequence,
      [](std::uint64_t wanted, const Cut& cut) { return wanted < cut.first_sequence; });
  const Cut& cut = *(after - 1);
  const std::uint64_t left_over = (cut.stretch.end - cut.stretch.begin - 1) % context_;
  const std::uint64_t shift =
      below(counter_hash({seed_, epoch, 1, cut.stretch.begin}), left_over + 1);
  return cut.stretch.begin + shift + (sequence - cut.first_sequence) * context_;
}

}  // namespace syncline
