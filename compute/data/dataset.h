// Tokens to train on and the order in which streams see them. No LibTorch here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/program.h"
#include "compute/training_config.h"

namespace syncline {

using Token = std::uint16_t;

// The tokenised data, split into training and held-out parts (the last 5 % of every file, set aside
// before any split). Immutable.
class Dataset {
 public:
  // TEXT: bytes are tokens (vocabulary 256). TOKENS: 16-bit little-endian; the 1,024-byte headers
  // of llm.c shards (magic 20240520, version 1) and of modded-nanogpt are recognised, files without
  // a header (nanoGPT) are tokens from the first byte on; vocabulary: largest token + 1. MARKOV: a
  // random chain over `states` tokens whose entropy rate is `entropy` nats a token (made from
  // config seed), 2^20 tokens. Throws InputError naming the file: missing, a directory, not
  // readable, empty, odd length, bad header, too short for `context`.
  static std::shared_ptr<const Dataset> load(const DataConfig& config, const ModelConfig& model,
                                             std::uint64_t seed);

  std::uint32_t vocabulary() const;
  std::uint64_t train_tokens() const;
  std::uint64_t validation_tokens() const;
  Key hash() const;  // of all tokens and the file boundaries
  // MARKOV: the entropy rate of the chain that was made, in nats a token; else NaN.
  double entropy() const;

  // The batch `batch` of `stream`: out[row * (context + 1) + t], `rows` sequences of context + 1
  // tokens (inputs, and targets one later). A pure function of (config, seed, stream, batch):
  // nothing to keep, a death can read its batches again.
  void batch(std::uint32_t stream, std::uint64_t batch, std::uint32_t rows,
             std::span<Token> out) const;

  // Sequences of context + 1 tokens spread evenly over the held-out parts, covering about `tokens`
  // targets; fixed.
  std::vector<Token> validation_sequences(std::uint32_t tokens) const;

 private:
  struct State;
  explicit Dataset(std::unique_ptr<State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace syncline
