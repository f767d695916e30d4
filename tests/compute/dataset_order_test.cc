// Which tokens the streams see. The files' tokens are their own addresses: file f holds f ·
// kFileBase, f · kFileBase + 1, …

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "compute/data/dataset.h"
#include "tests/compute/temporary_folder.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr std::uint32_t kFileBase = 8000;  // 8 files of less than that fit into 16 bits

using Random = boost::random::mt19937;

struct Corpus {
  explicit Corpus(std::vector<std::uint32_t> file_lengths) : lengths(std::move(file_lengths)) {
    config.source = DataConfig::Source::TOKENS;
    for (std::size_t f = 0; f < lengths.size(); ++f) {
      std::vector<Token> tokens(lengths[f]);
      std::iota(tokens.begin(), tokens.end(), static_cast<Token>(f * kFileBase));
      config.files.push_back(folder.write_tokens("file" + std::to_string(f), tokens));
    }
  }
  std::shared_ptr<const Dataset> load(DataConfig::Split split, std::uint32_t streams,
                                      std::uint32_t context, std::uint64_t seed = 1) {
    config.split = split;
    config.streams = streams;
    ModelConfig model;
    model.context = context;
    return Dataset::load(config, model, seed);
  }
  static std::uint32_t training(std::uint32_t length) { return length - length / 20; }

  TemporaryFolder folder;
  std::vector<std::uint32_t> lengths;
  DataConfig config;
};

// Where each row begins, having checked that it is context + 1 tokens one after another of one
// file's training part.
std::vector<Token> begins(const Corpus& corpus, const Dataset& data, std::uint32_t context,
                          std::uint32_t stream, std::uint64_t batch, std::uint32_t rows) {
  std::vector<Token> out(rows * (context + 1));
  data.batch(stream, batch, rows, out);
  std::vector<Token> first;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const Token* tokens = out.data() + row * (context + 1);
    for (std::uint32_t t = 0; t <= context; ++t) EXPECT_EQ(tokens[t], tokens[0] + t);
    const std::size_t file = tokens[0] / kFileBase;
    EXPECT_LT(file, corpus.lengths.size());
    EXPECT_LT(tokens[context] - file * kFileBase, Corpus::training(corpus.lengths[file]));
    first.push_back(tokens[0]);
  }
  return first;
}

// No target is in two of the sequences.
void expect_disjoint(std::vector<Token> first, std::uint32_t context) {
  std::sort(first.begin(), first.end());
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    ASSERT_GE(first[i + 1] - first[i], static_cast<int>(context));
  }
}

TEST(DatasetOrder, AnEpochReadsEachSequenceOnceOverAllStreams) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t context = 1 + random() % 40;
    std::vector<std::uint32_t> lengths(1 + random() % 5);
    for (std::uint32_t& length : lengths) length = 1 + random() % 3000;
    lengths[0] = 20 * (context + 1) + random() % 1000;  // its held-out part has a sequence
    const std::uint32_t streams = 1 + random() % 4;
    const std::uint32_t rows = 1 + random() % 3;
    std::size_t per_epoch = 0;
    for (const std::uint32_t length : lengths) {
      per_epoch += (Corpus::training(length) - 1) / context;
    }

    Corpus corpus(lengths);
    const auto data = corpus.load(DataConfig::Split::EVEN, streams, context);
    std::vector<Token> read;  // in the order of the stream of all samples
    for (std::uint64_t batch = 0; read.size() < 3 * per_epoch; ++batch) {
      for (std::uint32_t stream = 0; stream < streams; ++stream) {
        const auto more = begins(corpus, *data, context, stream, batch, rows);
        read.insert(read.end(), more.begin(), more.end());
      }
    }
    for (std::size_t epoch = 0; epoch < 3; ++epoch) {
      const auto first = read.begin() + static_cast<std::ptrdiff_t>(epoch * per_epoch);
      expect_disjoint({first, first + static_cast<std::ptrdiff_t>(per_epoch)}, context);
    }
  }
}

TEST(DatasetOrder, KStreamsOfBatchBAreOneStreamOfBatchKB) {
  for (const std::uint32_t streams : {1u, 2u, 3u, 8u}) {
    for (const std::uint32_t rows : {1u, 4u}) {
      Corpus corpus({4000, 2500});
      const auto many = corpus.load(DataConfig::Split::EVEN, streams, 16);
      const auto one = corpus.load(DataConfig::Split::EVEN, 1, 16);
      for (std::uint64_t batch = 0; batch < 200; ++batch) {
        std::vector<Token> whole(streams * rows * 17);
        one->batch(0, batch, streams * rows, whole);
        std::vector<Token> parts(whole.size());
        for (std::uint32_t stream = 0; stream < streams; ++stream) {
          many->batch(stream, batch, rows, std::span(parts).subspan(stream * rows * 17, rows * 17));
        }
        ASSERT_EQ(parts, whole);
      }
    }
  }
}

TEST(DatasetOrder, EpochsAreShuffledAndCutAnew) {
  Corpus corpus({7000});
  const std::uint32_t context = 16;  // 6650 training tokens: 415 sequences and 9 tokens left over
  const auto data = corpus.load(DataConfig::Split::EVEN, 1, context);
  std::set<std::vector<Token>> orders;
  std::set<int> shifts;
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
    const auto order = begins(corpus, *data, context, 0, epoch, 415);
    orders.insert(order);
    shifts.insert(order[0] % static_cast<int>(context));
    // Not in the order of the file: about half of the steps go back.
    int back = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) back += order[i + 1] < order[i];
    EXPECT_NEAR(back, 207, 40);
  }
  EXPECT_EQ(orders.size(), 40u);
  EXPECT_EQ(shifts.size(), 10u);
}

TEST(DatasetOrder, ContiguousStreamsOwnEqualPartsInTheOrderOfTheFiles) {
  Random random(2);
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t context = 1 + random() % 20;
    const std::vector<std::uint32_t> lengths = {1500 + random() % 2000, 30 + random() % 900,
                                                1000 + random() % 3000};
    std::uint64_t total = 0;
    std::map<std::size_t, std::uint64_t> before;  // training tokens before each file
    for (std::size_t f = 0; f < lengths.size(); ++f) {
      before[f] = total;
      total += Corpus::training(lengths[f]);
    }
    const std::uint32_t streams = 1 + random() % 6;
    Corpus corpus(lengths);
    const auto data = corpus.load(DataConfig::Split::CONTIGUOUS, streams, context);
    ASSERT_EQ(data->train_tokens(), total);
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
      const std::uint64_t begin = total * stream / streams;
      const std::uint64_t end = total * (stream + 1) / streams;
      std::size_t per_epoch = 0;
      for (std::size_t f = 0; f < lengths.size(); ++f) {
        const std::uint64_t from = std::max(begin, before[f]);
        const std::uint64_t to = std::min(end, before[f] + Corpus::training(lengths[f]));
        if (from < to) per_epoch += (to - from - 1) / context;
      }
      for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        const auto read =
            begins(corpus, *data, context, stream, epoch, static_cast<std::uint32_t>(per_epoch));
        expect_disjoint(read, context);
        for (const Token token : read) {
          const std::uint64_t place = before[token / kFileBase] + token % kFileBase;
          EXPECT_GE(place, begin);
          EXPECT_LE(place + context + 1, end);
        }
      }
    }
  }
}

TEST(DatasetOrder, ContiguousStreamsWithoutASequenceAreRefused) {
  Corpus corpus({2000});
  EXPECT_NO_THROW(corpus.load(DataConfig::Split::CONTIGUOUS, 19, 99));  // 100 tokens each
  EXPECT_THROW(corpus.load(DataConfig::Split::CONTIGUOUS, 20, 99), InputError);
}

TEST(DatasetOrder, BatchesAreAFunctionOfSeedStreamAndBatch) {
  for (const auto split :
       {DataConfig::Split::EVEN, DataConfig::Split::CONTIGUOUS, DataConfig::Split::DIRICHLET}) {
    Corpus corpus({3000, 3000});
    const auto data = corpus.load(split, 3, 16);
    const auto again = corpus.load(split, 3, 16);
    const auto other = corpus.load(split, 3, 16, 2);
    bool differs = false;
    for (const std::uint64_t batch : {7ull, 0ull, 1000000007ull, 7ull}) {
      for (const std::uint32_t stream : {2u, 0u, 1u}) {
        const auto read = begins(corpus, *data, 16, stream, batch, 4);
        EXPECT_EQ(read, begins(corpus, *again, 16, stream, batch, 4));
        differs |= read != begins(corpus, *other, 16, stream, batch, 4);
      }
    }
    EXPECT_TRUE(differs);
  }
}

}  // namespace
}  // namespace syncline
