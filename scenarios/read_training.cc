#include <fmt/format.h>

#include <cmath>

#include "scenarios/data_files.h"
#include "scenarios/readers.h"

namespace syncline {
namespace {

void read_model(Document& document, ModelConfig& model) {
  const std::string path = "training.model";
  proto::Gpt& gpt = *document.scenario().mutable_training()->mutable_model();
  if (!gpt.has_layers()) gpt.set_layers(model.layers);
  if (!gpt.has_width()) gpt.set_width(model.width);
  if (!gpt.has_heads()) gpt.set_heads(model.heads);
  if (!gpt.has_context()) gpt.set_context(model.context);
  const auto within = [&](const char* field, std::uint32_t value, std::uint32_t most) {
    if (value == 0 || value > most)
      throw document.error(fmt::format("{}.{}", path, field),
                           fmt::format("{}; write 1 to {}", value, most));
  };
  within("layers", gpt.layers(), 1'000);
  within("width", gpt.width(), 65'536);
  within("heads", gpt.heads(), 1'024);
  within("context", gpt.context(), 1'048'576);
  if (gpt.width() % (2 * gpt.heads()) != 0) {
    throw document.error(
        path + ".width",
        fmt::format(
            "{} is no multiple of 2 · heads = {}; rotary positions turn pairs within a head",
            gpt.width(), 2 * gpt.heads()));
  }
  model = {gpt.layers(), gpt.width(), gpt.heads(), gpt.context()};
}

void read_data(Document& document, DataConfig& config, const std::string& cache_folder) {
  const std::string path = "training.data";
  proto::Data& data = *document.scenario().mutable_training()->mutable_data();
  if (!data.has_split()) data.set_split(proto::Data::EVEN);
  switch (data.source_case()) {
    case proto::Data::kText:
      config.source = DataConfig::Source::TEXT;
      config.files = document.at(path + ".text", [&] {
        return find_data_files(data.text(), ".txt", document.folder(), cache_folder);
      });
      break;
    case proto::Data::kTokens:
      config.source = DataConfig::Source::TOKENS;
      config.files = document.at(path + ".tokens", [&] {
        return find_data_files(data.tokens(), ".bin", document.folder(), cache_folder);
      });
      break;
    case proto::Data::kMarkov: {
      config.source = DataConfig::Source::MARKOV;
      proto::Markov& markov = *data.mutable_markov();
      if (!markov.has_states()) markov.set_states(config.markov_states);
      if (!markov.has_entropy()) markov.set_entropy(config.markov_entropy);
      if (markov.states() < 2 || markov.states() > 65536)
        throw document.error(path + ".markov.states",
                             fmt::format("{}; write 2 to 65536", markov.states()));
      const double most = std::log(static_cast<double>(markov.states()));
      if (!(markov.entropy() > 0 && markov.entropy() < most)) {
        throw document.error(
            path + ".markov.entropy",
            fmt::format("{}; write a number above 0 and below ln({}) = {:.4f} nats",
                        markov.entropy(), markov.states(), most));
      }
      config.markov_states = markov.states();
      config.markov_entropy = markov.entropy();
      break;
    }
    case proto::Data::SOURCE_NOT_SET:
      throw document.error(
          path,
          R"(has no source; write text: "cache:shakespeare", tokens: "FILE.bin" or markov {})");
  }
  switch (data.split()) {
    case proto::Data::CONTIGUOUS:
      config.split = DataConfig::Split::CONTIGUOUS;
      break;
    case proto::Data::DIRICHLET:
      config.split = DataConfig::Split::DIRICHLET;
      if (!data.has_alpha()) data.set_alpha(config.alpha);
      if (!(data.alpha() > 0 && std::isfinite(data.alpha())))
        throw document.error(path + ".alpha",
                             fmt::format("{}; write a number above 0", data.alpha()));
      config.alpha = data.alpha();
      break;
    default:
      config.split = DataConfig::Split::EVEN;
  }
  if (data.has_alpha() && data.split() != proto::Data::DIRICHLET)
    throw document.error(path + ".alpha", "belongs to split: DIRICHLET");
}

void read_inner(Document& document, InnerOptimizer& config) {
  const std::string path = "training.inner";
  proto::Optimizer& inner = *document.scenario().mutable_training()->mutable_inner();
  if (!inner.has_kind()) inner.set_kind(proto::Optimizer::ADAMW);
  if (inner.kind() == proto::Optimizer::NESTEROV)
    throw document.error(path + ".kind", "NESTEROV is an outer optimizer; write ADAMW or SGD");
  const bool adamw = inner.kind() == proto::Optimizer::ADAMW;
  if (!inner.has_lr()) inner.set_lr(adamw ? 3e-3 : 0.1);
  if (!inner.has_weight_decay()) inner.set_weight_decay(adamw ? 0.1 : 0);
  if (!inner.has_clip()) inner.set_clip(adamw ? 1 : 0);
  if (!inner.has_warmup()) inner.set_warmup(20);
  if (!inner.has_decay()) inner.set_decay(proto::Optimizer::COSINE);
  if (adamw && inner.has_momentum())
    throw document.error(path + ".momentum", "belongs to SGD; ADAMW has its own moments");
  if (!adamw && !inner.has_momentum()) inner.set_momentum(0);
  const auto at_least_zero = [&](const char* field, double value) {
    if (!(value >= 0 && std::isfinite(value)))
      throw document.error(fmt::format("{}.{}", path, field),
                           fmt::format("{}; write a number, 0 or above", value));
  };
  if (!(inner.lr() > 0 && std::isfinite(inner.lr())))
    throw document.error(path + ".lr", fmt::format("{}; write a number above 0", inner.lr()));
  at_least_zero("weight_decay", inner.weight_decay());
  at_least_zero("clip", inner.clip());
  if (!(inner.momentum() >= 0 && inner.momentum() < 1))
    throw document.error(path + ".momentum",
                         fmt::format("{}; write a number from 0 to below 1", inner.momentum()));
  config.kind = adamw ? InnerOptimizer::Kind::ADAMW : InnerOptimizer::Kind::SGD;
  config.lr = inner.lr();
  config.momentum = inner.momentum();
  config.weight_decay = inner.weight_decay();
  config.clip = inner.clip();
  config.warmup = inner.warmup();
  config.decay = inner.decay() == proto::Optimizer::COSINE ? InnerOptimizer::Decay::COSINE
                                                           : InnerOptimizer::Decay::CONSTANT;
}

}  // namespace

void read_training(Document& document, CheckedScenario& scenario, const std::string& cache_folder) {
  proto::Training& training = *document.scenario().mutable_training();
  if (!training.has_trainer()) training.set_trainer(proto::Training::TORCH);
  scenario.train = training.trainer() == proto::Training::TORCH;
  TrainingConfig& config = scenario.training;
  config.seed = scenario.seed;
  read_model(document, config.model);
  read_inner(document, config.inner);
  if (scenario.train || training.has_data()) read_data(document, config.data, cache_folder);

  if (!training.has_batch()) training.set_batch(config.batch);
  if (training.batch() == 0 || training.batch() > 1'000'000)
    throw document.error("training.batch", fmt::format("{}; write 1 to 1000000", training.batch()));
  config.batch = training.batch();
  config.precision =
      training.precision() == proto::Training::BF16 ? Precision::BF16 : Precision::FP32;
  training.set_precision(training.precision());
  if (!training.has_evaluate_tokens()) training.set_evaluate_tokens(config.eval_tokens);
  if (training.evaluate_tokens() == 0)
    throw document.error("training.evaluate_tokens", "0; write 1 or more");
  config.eval_tokens = training.evaluate_tokens();
  if (training.has_evaluate_every()) {
    if (training.evaluate_every() == 0)
      throw document.error("training.evaluate_every", "0; write 1 or more inner steps");
    scenario.evaluate_every = training.evaluate_every();
  }
  if (training.has_tokens()) {
    if (!(training.tokens() > 0 && std::isfinite(training.tokens())))
      throw document.error("training.tokens",
                           fmt::format("{}; write a number above 0", training.tokens()));
    scenario.training_tokens = training.tokens();
  }
  if (training.has_replicas()) {
    if (training.replicas() == 0 || training.replicas() > scenario.workers.size()) {
      throw document.error("training.replicas",
                           fmt::format("{}; write 1 to {}, the number of workers",
                                       training.replicas(), scenario.workers.size()));
    }
    if (training.replicas() < scenario.workers.size()) {
      scenario.replicas = training.replicas();
      scenario.assumptions.push_back(fmt::format("{} real replicas stand for all {} workers.",
                                                 training.replicas(), scenario.workers.size()));
    }
  }
  config.data.streams = static_cast<std::uint32_t>(
      scenario.replicas != 0 ? scenario.replicas : scenario.workers.size());
}

}  // namespace syncline
