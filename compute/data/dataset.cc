#include "compute/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compute/checksum.h"
#include "compute/data/counter_hash.h"
#include "compute/data/dirichlet_split.h"
#include "compute/data/markov_chain.h"
#include "compute/data/shuffled_order.h"
#include "compute/data/token_files.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr std::uint64_t kMarkovTokens = std::uint64_t{1} << 20;
constexpr std::uint64_t kHeldOut = 20;  // one token in 20 (5 %)

// Streams of random numbers that must not meet.
constexpr std::uint64_t kEvenOrder = 1;
constexpr std::uint64_t kContiguousOrder = 2;
constexpr std::uint64_t kDirichlet = 3;

// One file within the concatenated tokens.
struct File {
  Stretch training;
  Stretch held_out;
};

std::uint64_t length(const Stretch& stretch) { return stretch.end - stretch.begin; }

// The tokens from `first` up to `last`, counted over all training parts one after another, as
// stretches that lie in one file each.
std::vector<Stretch> cut_out(std::span<const Stretch> parts, std::uint64_t first,
                             std::uint64_t last) {
  std::vector<Stretch> pieces;
  std::uint64_t before = 0;
  for (const Stretch& part : parts) {
    const std::uint64_t after = before + length(part);
    const std::uint64_t begin = std::max(first, before);
    const std::uint64_t end = std::min(last, after);
    if (begin < end) pieces.push_back({part.begin + begin - before, part.begin + end - before});
    before = after;
  }
  return pieces;
}

// a · b / c, rounded down, without overflow.
std::uint64_t share(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b / c);
}

}  // namespace

struct Dataset::State {
  std::uint32_t context = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t streams = 0;
  double entropy = std::numeric_limits<double>::quiet_NaN();
  std::vector<Token> tokens;
  std::vector<File> files;
  std::uint64_t train_tokens = 0;
  std::uint64_t validation_tokens = 0;
  Key hash;

  // One of these, as the split is.
  std::optional<ShuffledOrder> even;
  std::vector<ShuffledOrder> contiguous;  // one a stream
  std::optional<DirichletSplit> dirichlet;

  void read_files(const DataConfig& config);
  void make_markov(const DataConfig& config, std::uint64_t seed);
  // Takes the tokens from `begin` on as a file; leaves them out if it is too short.
  void add_file(std::uint64_t begin);
  void make_hash();
  void make_split(const DataConfig& config, std::uint64_t seed);
  std::uint64_t position(std::uint32_t stream, std::uint64_t batch, std::uint32_t rows,
                         std::uint32_t row) const;
};

void Dataset::State::add_file(std::uint64_t begin) {
  const std::uint64_t end = tokens.size();
  const std::uint64_t border = end - (end - begin) / kHeldOut;
  if (border - begin <= context) {
    tokens.resize(begin);
    return;
  }
  files.push_back({{begin, border}, {border, end}});
  train_tokens += border - begin;
  validation_tokens += end - border;
}

void Dataset::State::read_files(const DataConfig& config) {
  const bool text = config.source == DataConfig::Source::TEXT;
  if (config.files.empty()) {
    throw InputError(fmt::format("no {} file to train on", text ? "text" : "token"));
  }
  for (const std::string& path : config.files) {
    const std::uint64_t begin = tokens.size();
    text ? append_text_file(path, tokens) : append_token_file(path, tokens);
    add_file(begin);
  }
  if (files.empty()) {
    throw InputError(fmt::format(
        "{}{}: too short: the first 95 % must hold a sequence of {} tokens (context + 1)",
        config.files.front(),
        config.files.size() == 1 ? "" : fmt::format(" and {} more", config.files.size() - 1),
        context + std::uint64_t{1}));
  }
  const bool validation = std::any_of(files.begin(), files.end(), [&](const File& file) {
    return length(file.held_out) > context;
  });
  if (!validation) {
    throw InputError(fmt::format(
        "{}{}: too short: the last 5 %, held out for the evaluation, must hold a sequence of {} "
        "tokens (context + 1), so the file at least {}",
        config.files.front(),
        config.files.size() == 1 ? "" : fmt::format(" and {} more", config.files.size() - 1),
        context + std::uint64_t{1}, (context + std::uint64_t{1}) * kHeldOut));
  }
  vocabulary = text ? 256u : *std::max_element(tokens.begin(), tokens.end()) + 1u;
}

void Dataset::State::make_markov(const DataConfig& config, std::uint64_t seed) {
  const MarkovChain chain(config.markov_states, config.markov_entropy, seed);
  entropy = chain.entropy();
  vocabulary = config.markov_states;
  if (context >= kMarkovTokens / kHeldOut) {
    throw InputError(
        fmt::format("a context of {} tokens; at most {} are possible with the {} "
                    "tokens of a Markov chain",
                    context, kMarkovTokens / kHeldOut - 1, kMarkovTokens));
  }
  tokens = chain.draw(kMarkovTokens);
  add_file(0);
}

void Dataset::State::make_hash() {
  std::vector<std::uint64_t> lengths;
  for (const File& file : files) lengths.push_back(file.held_out.end - file.training.begin);
  const auto bytes = std::as_bytes(std::span<const Token>(tokens));
  const auto shape = std::as_bytes(std::span<const std::uint64_t>(lengths));
  hash = {checksum(bytes, checksum(shape, 1)), checksum(bytes, checksum(shape, 2))};
}

void Dataset::State::make_split(const DataConfig& config, std::uint64_t seed) {
  std::vector<Stretch> parts;
  for (const File& file : files) parts.push_back(file.training);
  switch (config.split) {
    case DataConfig::Split::EVEN:
      even.emplace(parts, context, counter_hash({seed, kEvenOrder}));
      return;
    case DataConfig::Split::CONTIGUOUS:
      for (std::uint32_t stream = 0; stream < streams; ++stream) {
        const std::uint64_t first = share(train_tokens, stream, streams);
        const std::uint64_t last = share(train_tokens, stream + std::uint64_t{1}, streams);
        contiguous.emplace_back(cut_out(parts, first, last), context,
                                counter_hash({seed, kContiguousOrder, stream}));
        if (contiguous.back().sequences() == 0) {
          throw InputError(fmt::format(
              "split CONTIGUOUS: {} training tokens in {} parts: part {} holds no sequence of {} "
              "tokens (context + 1) that lies in one file; take fewer workers or more text",
              train_tokens, streams, stream + std::uint64_t{1}, context + std::uint64_t{1}));
        }
      }
      return;
    case DataConfig::Split::DIRICHLET:
      if (!(config.alpha >= 1e-6 && config.alpha <= 1e6)) {
        throw InputError(
            fmt::format("split DIRICHLET: alpha is {}; 1e-6 to 1e6 is possible", config.alpha));
      }
      if (files.size() < 2) {
        throw InputError(
            "split DIRICHLET: it deals whole files unequally, so it needs two or more that are "
            "long enough; here is one");
      }
      dirichlet.emplace(parts, context, config.alpha, streams, counter_hash({seed, kDirichlet}));
      return;
  }
  SYNCLINE_CHECK(false, "unknown split");
}

std::uint64_t Dataset::State::position(std::uint32_t stream, std::uint64_t batch,
                                       std::uint32_t rows, std::uint32_t row) const {
  if (even) {
    return even->at(batch * (std::uint64_t{streams} * rows) + std::uint64_t{stream} * rows + row);
  }
  if (dirichlet) return dirichlet->at(stream, batch, row);
  return contiguous[stream].at(batch * rows + row);
}

std::shared_ptr<const Dataset> Dataset::load(const DataConfig& config, const ModelConfig& model,
                                             std::uint64_t seed) {
  if (model.context == 0) throw InputError("context is 0; it must be at least 1");
  if (config.streams == 0) throw InputError("no data stream; there must be at least 1");
  auto state = std::make_unique<State>();
  state->context = model.context;
  state->streams = config.streams;
  if (config.source == DataConfig::Source::MARKOV) {
    state->make_markov(config, seed);
  } else {
    state->read_files(config);
  }
  state->make_hash();
  state->make_split(config, seed);
  return std::shared_ptr<const Dataset>(new Dataset(std::move(state)));
}

Dataset::Dataset(std::unique_ptr<State> state) : state_(std::move(state)) {}

std::uint32_t Dataset::vocabulary() const { return state_->vocabulary; }
std::uint64_t Dataset::train_tokens() const { return state_->train_tokens; }
std::uint64_t Dataset::validation_tokens() const { return state_->validation_tokens; }
Key Dataset::hash() const { return state_->hash; }
double Dataset::entropy() const { return state_->entropy; }

void Dataset::batch(std::uint32_t stream, std::uint64_t batch, std::uint32_t rows,
                    std::span<Token> out) const {
  const std::uint64_t width = std::uint64_t{state_->context} + 1;
  SYNCLINE_CHECK(stream < state_->streams, "no such data stream");
  SYNCLINE_CHECK(out.size() == rows * width, "room for another number of tokens");
  auto to = out.begin();
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint64_t begin = state_->position(stream, batch, rows, row);
    to = std::copy_n(state_->tokens.begin() + static_cast<std::ptrdiff_t>(begin), width, to);
  }
}

std::vector<Token> Dataset::validation_sequences(std::uint32_t tokens) const {
  const std::uint64_t context = state_->context;
  std::vector<std::uint64_t> begins;
  for (const File& file : state_->files) {
    for (std::uint64_t begin = file.held_out.begin; begin + context < file.held_out.end;
         begin += context) {
      begins.push_back(begin);
    }
  }
  const std::uint64_t all = begins.size();
  const std::uint64_t wanted = std::clamp<std::uint64_t>((tokens + context / 2) / context, 1, all);
  std::vector<Token> sequences;
  sequences.reserve(wanted * (context + 1));
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t begin = begins[share(2 * i + 1, all, 2 * wanted)];
    const auto from = state_->tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    sequences.insert(sequences.end(), from, from + static_cast<std::ptrdiff_t>(context + 1));
  }
  return sequences;
}

}  // namespace syncline
