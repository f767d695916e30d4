// How what is averaged between workers is compressed.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/compression/sparse.h"
#include "scenarios/readers.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr const char* kPath = "strategy.compression";
constexpr std::uint32_t kDefaultKeep = 64;

bool keeps_some(proto::Compression::Kind kind) {
  return kind == proto::Compression::TOP_K || kind == proto::Compression::RANDOM_K ||
         kind == proto::Compression::TOP_K_2BIT;
}

Codec codec_of(proto::Compression::Kind kind) {
  switch (kind) {
    case proto::Compression::BF16:
      return Codec::BF16;
    case proto::Compression::INT8:
      return Codec::INT8;
    case proto::Compression::FP16:
      return Codec::FP16;
    case proto::Compression::FP4_E2M1:
      return Codec::FP4_E2M1;
    case proto::Compression::FP4_E3M0:
      return Codec::FP4_E3M0;
    case proto::Compression::TOP_K:
      return Codec::TOP_K;
    case proto::Compression::RANDOM_K:
      return Codec::RANDOM_K;
    case proto::Compression::TOP_K_2BIT:
      return Codec::TOP_K_2BIT;
    default:
      break;
  }
  SYNCLINE_CHECK(false, "a codec that is not known");
}

// Settings that the kind has no use for.
void refuse_others(const Document& document, const proto::Compression& compression) {
  const std::string kind = proto::Compression::Kind_Name(compression.kind());
  if (compression.has_keep() && !keeps_some(compression.kind()))
    throw document.error(fmt::format("{}.keep", kPath),
                         fmt::format("{} sends every number; leave it out, or choose TOP_K, "
                                     "RANDOM_K or TOP_K_2BIT",
                                     kind));
  if (compression.kind() == proto::Compression::NONE && compression.error_feedback())
    throw document.error(fmt::format("{}.error_feedback", kPath),
                         "without compression nothing is dropped; choose a kind");
  if (compression.has_decay() && !compression.error_feedback())
    throw document.error(fmt::format("{}.decay", kPath),
                         "is of error feedback; write error_feedback: true, or leave it out");
}

}  // namespace

std::uint32_t read_keep(const Document& document, std::uint32_t keep, const std::string& path) {
  if (keep == 0 || keep > kSparseBlock)
    throw document.error(path, fmt::format("{} numbers of each block of {}; write 1 to {}", keep,
                                           kSparseBlock, kSparseBlock));
  return keep;
}

double read_decay(const Document& document, double decay, const std::string& path) {
  if (!(decay > 0 && decay <= 1))
    throw document.error(path, fmt::format("{}; write a number above 0, at most 1 for all that was "
                                           "dropped",
                                           decay));
  return decay;
}

void read_compression(const Document& document, CheckedScenario& scenario,
                      proto::Strategy& strategy) {
  proto::Compression& compression = *strategy.mutable_compression();
  compression.set_kind(compression.kind());
  refuse_others(document, compression);
  if (compression.kind() == proto::Compression::NONE) return;
  if (strategy.has_local_sgd()) {
    throw document.error(
        fmt::format("{}.kind", kPath),
        fmt::format("{} is for differences and gradients, and local_sgd sends parameters; choose "
                    "diloco {{}} (with outer {{ kind: SGD lr: 1 }} it is the same average)",
                    proto::Compression::Kind_Name(compression.kind())));
  }
  Compression read;
  read.codec.codec = codec_of(compression.kind());
  if (keeps_some(compression.kind())) {
    if (!compression.has_keep()) compression.set_keep(kDefaultKeep);
    read.codec.keep = read_keep(document, compression.keep(), fmt::format("{}.keep", kPath));
  }
  compression.set_error_feedback(compression.error_feedback());
  if (compression.error_feedback()) {
    if (!compression.has_decay()) compression.set_decay(1);
    read.feedback = read_decay(document, compression.decay(), fmt::format("{}.decay", kPath));
  }
  scenario.strategy.compression = read;
}

}  // namespace syncline
