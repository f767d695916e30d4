#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "compute/data/dataset.h"
#include "tests/compute/temporary_folder.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Source = DataConfig::Source;

std::shared_ptr<const Dataset> load(Source source, std::vector<std::string> files,
                                    std::uint32_t context = 8) {
  DataConfig config;
  config.source = source;
  config.files = std::move(files);
  ModelConfig model;
  model.context = context;
  return Dataset::load(config, model, 1);
}

std::string message(Source source, const std::string& file, std::uint32_t context = 8) {
  try {
    load(source, {file}, context);
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << file << " was read";
  return "";
}

std::vector<Token> counting(std::size_t count, Token first = 0) {
  std::vector<Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// 256 words and then the tokens.
std::string shard(std::uint32_t magic, std::uint32_t version, std::uint32_t count,
                  const std::vector<Token>& tokens) {
  std::vector<std::uint32_t> header(256);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return std::string(reinterpret_cast<const char*>(header.data()), 1024) +
         std::string(reinterpret_cast<const char*>(tokens.data()), tokens.size() * 2);
}

TEST(DatasetFiles, TextIsBytes) {
  const TemporaryFolder folder;
  std::string text(1000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 251 + 5);
  const auto data = load(Source::TEXT, {folder.write("a", text)});
  EXPECT_EQ(data->vocabulary(), 256u);
  EXPECT_EQ(data->train_tokens(), 950u);
  EXPECT_EQ(data->validation_tokens(), 50u);
  EXPECT_TRUE(std::isnan(data->entropy()));
  std::vector<Token> out(9);
  data->batch(0, 0, 1, out);
  for (std::size_t t = 0; t < 8; ++t) {
    EXPECT_LT(out[t], 256);
    EXPECT_EQ((out[t] - 5 + 1) % 251, out[t + 1] - 5);
  }
}

TEST(DatasetFiles, TokensWithAndWithoutAHeader) {
  const TemporaryFolder folder;
  const std::vector<Token> tokens = counting(1000, 20000);
  const auto plain = load(Source::TOKENS, {folder.write_tokens("nano.bin", tokens)});
  const auto with =
      load(Source::TOKENS, {folder.write("llmc.bin", shard(20240520, 1, 1000, tokens))});
  for (const auto& data : {plain, with}) {
    EXPECT_EQ(data->vocabulary(), 21000u);
    EXPECT_EQ(data->train_tokens() + data->validation_tokens(), 1000u);
    EXPECT_EQ(data->validation_sequences(1).size(), 9u);
    EXPECT_GE(data->validation_sequences(1)[0], 20950);
  }
  EXPECT_EQ(plain->hash(), with->hash());
}

TEST(DatasetFiles, TheWholeVocabularyOf16Bits) {
  const TemporaryFolder folder;
  std::vector<Token> tokens = counting(1000);
  tokens[999] = 65535;
  EXPECT_EQ(load(Source::TOKENS, {folder.write_tokens("a", tokens)})->vocabulary(), 65536u);
}

TEST(DatasetFiles, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  for (const Source source : {Source::TEXT, Source::TOKENS}) {
    const std::string missing = folder.path() + "/missing";
    EXPECT_EQ(message(source, missing), missing + ": no such file");
    EXPECT_THAT(message(source, folder.path()),
                AllOf(StartsWith(folder.path()), HasSubstr("folder")));
    const std::string empty = folder.write("empty", "");
    EXPECT_EQ(message(source, empty), empty + ": is empty");
    const std::string below = empty + "/below";
    EXPECT_THAT(message(source, below), AllOf(StartsWith(below), HasSubstr("Not a directory")));
    EXPECT_THAT(message(source, "/dev/zero"), HasSubstr("not a regular file"));
    EXPECT_THAT(message(source, "/dev/null"), HasSubstr("not a regular file"));
    const std::string pipe = folder.path() + "/pipe";
    ::mkfifo(pipe.c_str(), 0666);
    EXPECT_THAT(message(source, pipe), AllOf(StartsWith(pipe), HasSubstr("not a regular file")));
    ::unlink(pipe.c_str());
    EXPECT_THROW(load(source, {}), InputError);
    // One bad file among good ones is not passed over.
    const std::string good = folder.write("good", std::string(1000, 'x'));
    EXPECT_THROW(load(source, {good, missing}), InputError);
    EXPECT_THROW(load(source, {good, empty}), InputError);
  }
}

TEST(DatasetFiles, WithoutPermission) {
  const TemporaryFolder folder;
  const std::string path = folder.write("secret", std::string(1000, 'x'));
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(path.c_str(), 0);
  const bool root = ::geteuid() == 0;
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot become another user";
  const std::string text = message(Source::TEXT, path);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(text, path + ": cannot be read: Permission denied");
}

TEST(DatasetFiles, BadTokenFiles) {
  const TemporaryFolder folder;
  const auto tokens = counting(1000);
  const auto said = [&](const std::string& content) {
    const std::string path = folder.write("a.bin", content);
    const std::string text = message(Source::TOKENS, path);
    EXPECT_THAT(text, StartsWith(path + ": "));
    return text;
  };
  EXPECT_THAT(said("x"), HasSubstr("odd"));
  EXPECT_THAT(said(std::string(1001, 'x')), HasSubstr("odd"));
  EXPECT_THAT(said(shard(20240520, 2, 1000, tokens)), HasSubstr("version 2"));
  EXPECT_THAT(said(shard(20240520, 1, 0, {})), HasSubstr("no tokens"));
  EXPECT_THAT(said(shard(20240520, 1, 1001, tokens)), HasSubstr("cut off"));
  EXPECT_THAT(said(shard(20240520, 1, 0xffffffff, tokens)), HasSubstr("cut off"));
  EXPECT_THAT(said(shard(20240520, 1, 999, tokens)), HasSubstr("too long"));
  EXPECT_THAT(said(shard(20240520, 1, 1000, tokens) + "x"), HasSubstr("too long"));
  EXPECT_THAT(said(shard(20240801, 7, 1000, tokens)), HasSubstr("32 bits"));
  const std::string whole = shard(20240520, 1, 1000, tokens);
  for (std::size_t length = 4;
       length<whole.size(); length += length> 1018 && length < 1030 ? 1 : 7) {
    EXPECT_THAT(said(whole.substr(0, length)), HasSubstr("cut off")) << length;
  }
}

TEST(DatasetFiles, FilesTooShortForASequenceAreLeftOut) {
  const TemporaryFolder folder;
  const std::string good = folder.write("good", std::string(1000, 'x'));
  const std::string eight = folder.write("eight", "abcdefgh");
  const std::string nine =
      folder.write("nine", "abcdefghi");  // one sequence of context 8, nothing held out
  EXPECT_EQ(load(Source::TEXT, {eight, good, eight})->train_tokens(), 950u);
  EXPECT_EQ(load(Source::TEXT, {eight, good, eight})->hash(), load(Source::TEXT, {good})->hash());
  EXPECT_EQ(load(Source::TEXT, {nine, good})->train_tokens(), 959u);
  EXPECT_EQ(load(Source::TEXT, {nine, good})->validation_tokens(), 50u);
  EXPECT_THAT(message(Source::TEXT, eight),
              AllOf(StartsWith(eight), HasSubstr("too short"), HasSubstr("9 tokens")));
  EXPECT_THAT(message(Source::TEXT, nine), AllOf(StartsWith(nine), HasSubstr("held out")));
  // The message says how long is enough.
  EXPECT_THAT(message(Source::TEXT, folder.write("b", std::string(179, 'x'))), HasSubstr("180"));
  EXPECT_NO_THROW(load(Source::TEXT, {folder.write("b", std::string(180, 'x'))}));
}

TEST(DatasetFiles, TheHashKnowsEveryTokenAndTheBorders) {
  const TemporaryFolder folder;
  const std::vector<Token> tokens = counting(2000);
  std::set<Key> hashes;
  const auto add = [&](const std::vector<std::vector<Token>>& files) {
    std::vector<std::string> paths;
    for (const auto& file : files) {
      paths.push_back(folder.write_tokens(fmt::format("f{}", paths.size()), file));
    }
    hashes.insert(load(Source::TOKENS, paths)->hash());
  };
  add({tokens});
  add({tokens});
  EXPECT_EQ(hashes.size(), 1u);
  add({{tokens.begin(), tokens.begin() + 1000}, {tokens.begin() + 1000, tokens.end()}});
  add({{tokens.begin(), tokens.begin() + 1001}, {tokens.begin() + 1001, tokens.end()}});
  EXPECT_EQ(hashes.size(), 3u);
  for (const std::size_t at : {0u, 1u, 777u, 1999u}) {
    std::vector<Token> changed = tokens;
    changed[at] ^= 1;
    add({changed});
  }
  EXPECT_EQ(hashes.size(), 7u);
}

TEST(DatasetValidation, IsSpreadOverTheHeldOutPartsAndFixed) {
  const TemporaryFolder folder;
  // 200 and 100 held-out tokens: at context 8, 24 and 12 sequences.
  const std::string a = folder.write_tokens("a", counting(4000));
  const std::string b = folder.write_tokens("b", counting(2000, 10000));
  const auto data = load(Source::TOKENS, {a, b});
  for (const std::uint32_t tokens : {0u, 1u, 8u, 48u, 100u, 288u, 1000000u, 0xffffffffu}) {
    const std::vector<Token> sequences = data->validation_sequences(tokens);
    ASSERT_EQ(sequences.size() % 9, 0u);
    const std::size_t count = sequences.size() / 9;
    const std::size_t wanted = std::clamp<std::size_t>((tokens + 4ull) / 8, 1, 36);
    EXPECT_EQ(count, wanted);
    std::set<Token> first;
    std::size_t in_a = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t t = 0; t < 9; ++t) EXPECT_EQ(sequences[i * 9 + t], sequences[i * 9] + t);
      const Token begin = sequences[i * 9];
      EXPECT_TRUE((begin >= 3800 && begin + 8 < 4000) || (begin >= 11900 && begin + 8 < 12000));
      first.insert(begin);
      in_a += begin < 4000;
    }
    EXPECT_EQ(first.size(), count);
    EXPECT_NEAR(static_cast<double>(in_a), static_cast<double>(count) * 2 / 3, 1);
    EXPECT_EQ(sequences, data->validation_sequences(tokens));
  }
}

TEST(DatasetMarkov, HasTheEntropyAndIsSplitLikeAFile) {
  DataConfig config;
  config.markov_states = 50;
  config.markov_entropy = 1.25;
  const auto data = Dataset::load(config, ModelConfig(), 7);
  EXPECT_EQ(data->vocabulary(), 50u);
  EXPECT_NEAR(data->entropy(), 1.25, 1e-9);
  EXPECT_EQ(data->train_tokens() + data->validation_tokens(), 1048576u);
  EXPECT_EQ(data->validation_tokens(), 52428u);
  EXPECT_NE(data->hash(), Dataset::load(config, ModelConfig(), 8)->hash());
  EXPECT_EQ(data->hash(), Dataset::load(config, ModelConfig(), 7)->hash());
}

TEST(DatasetMarkov, RefusesWhatCannotBe) {
  DataConfig config;
  ModelConfig model;
  model.context = 52427;
  EXPECT_NO_THROW(Dataset::load(config, model, 1));
  model.context = 52428;
  EXPECT_THROW(Dataset::load(config, model, 1), InputError);
  model.context = 0;
  EXPECT_THROW(Dataset::load(config, model, 1), InputError);
  config.streams = 0;
  EXPECT_THROW(Dataset::load(config, ModelConfig(), 1), InputError);
}

}  // namespace
}  // namespace syncline
