// What is trained: model, data, optimizer. Plain values; everything in it decides the numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syncline {

// GPT-style decoder: pre-norm, rotary positions, causal attention, no biases, untied output layer.
struct ModelConfig {
  std::uint32_t layers = 4;
  std::uint32_t width = 128;
  std::uint32_t heads = 4;
  std::uint32_t context = 128;  // tokens a sequence
  bool operator==(const ModelConfig&) const = default;
};

// Embedding and output layer (V·C each), 12 C² a layer, and 2 · layers + 1 norms of C gains.
std::uint64_t parameter_count(const ModelConfig& model, std::uint32_t vocabulary);

struct DataConfig {
  enum class Source : std::uint8_t { TEXT, TOKENS, MARKOV };
  Source source = Source::MARKOV;
  std::vector<std::string> files;    // TEXT: files as bytes; TOKENS: 16-bit token files
  std::uint32_t markov_states = 64;  // MARKOV
  double markov_entropy = 2.0;       // nats a token, 0 < entropy < ln(states)

  // How the training tokens (all but the last 5 % of every file) are dealt to the streams.
  enum class Split : std::uint8_t {
    EVEN,  // one shuffled order of all sequences, dealt batch by batch: K streams of batch B are
           // one stream of batch K·B
    CONTIGUOUS,  // stream k has the k-th of K equal contiguous parts
    DIRICHLET    // stream k draws file f with weight p_kf ~ Dirichlet(alpha) (Hsu, Qi, Brown 2019:
                 // arXiv 1909.06335)
  };
  Split split = Split::EVEN;
  double alpha = 0.5;         // DIRICHLET
  std::uint32_t streams = 1;  // data streams that share the data, one a worker
  bool operator==(const DataConfig&) const = default;
};

struct InnerOptimizer {
  enum class Kind : std::uint8_t { ADAMW, SGD };
  Kind kind = Kind::ADAMW;
  double lr = 3e-3;
  double momentum = 0;               // SGD only
  double beta1 = 0.9, beta2 = 0.99;  // ADAMW only
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // decoupled (AdamW); for SGD added to the gradient
  double clip = 1;            // largest norm of a replica's gradient; 0: none
  std::uint64_t warmup = 20;  // steps of linear warm-up from 0
  enum class Decay : std::uint8_t { CONSTANT, COSINE };
  Decay decay = Decay::COSINE;  // COSINE: to 10 % of lr at `horizon`
  std::uint64_t horizon = 1;    // steps of the whole schedule

  // Learning rate of the step at this position (0 is the first): lr · (position+1)/warmup while
  // warming up, then the decay.
  double lr_at(std::uint64_t position) const;
  bool operator==(const InnerOptimizer&) const = default;
};

enum class Precision : std::uint8_t {
  FP32,
  BF16,  // forward and backward in bf16, parameters, moments and sums in fp32
  FP64   // for tests of equalities
};

struct TrainingConfig {
  ModelConfig model;
  DataConfig data;
  InnerOptimizer inner;
  std::uint32_t batch = 4;  // sequences a worker and step
  Precision precision = Precision::FP32;
  std::uint64_t seed = 1;
  std::uint32_t eval_tokens = 32768;  // held-out tokens of an evaluation, spread evenly over the
                                      // validation part (at most all)
  bool operator==(const TrainingConfig&) const = default;
};

}  // namespace syncline
