#include "compute/torch/header.h"

#include <torch/version.h>

#include <charconv>

namespace syncline {
namespace {

// To be raised by every change of the trainer that changes numbers.
constexpr int kTrainerVersion = 1;

class Text {
 public:
  Text& line(const char* subject) {
    text_ += text_.empty() ? "" : "\n";
    text_ += subject;
    return *this;
  }
  Text& add(const char* key, const std::string& value) {
    text_ += std::string(" ") + key + "=" + value;
    return *this;
  }
  Text& add(const char* key, double value) {
    char digits[32];
    return add(key, std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr));
  }
  Text& add(const char* key, std::uint64_t value) { return add(key, std::to_string(value)); }
  Text& add(const char* key, std::uint32_t value) { return add(key, std::to_string(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string training_header(const TrainingConfig& config, const Dataset& data,
                            const std::string& device) {
  Text text;
  text.line("trainer")
      .add("version", std::to_string(kTrainerVersion))
      .add("libtorch", TORCH_VERSION)
      .add("device", device);

  static constexpr const char* kPrecisions[] = {"fp32", "bf16", "fp64"};
  text.line("model")
      .add("layers", config.model.layers)
      .add("width", config.model.width)
      .add("heads", config.model.heads);
  text.add("context", config.model.context).add("vocabulary", data.vocabulary());
  text.add("precision", kPrecisions[static_cast<int>(config.precision)]);

  static constexpr const char* kSplits[] = {"even", "contiguous", "dirichlet"};
  text.line("data")
      .add("hash", data.hash().to_text())
      .add("split", kSplits[static_cast<int>(config.data.split)]);
  if (config.data.split == DataConfig::Split::DIRICHLET) text.add("alpha", config.data.alpha);
  text.add("streams", config.data.streams)
      .add("seed", config.seed)
      .add("batch", config.batch)
      .add("eval_tokens", config.eval_tokens);

  const InnerOptimizer& inner = config.inner;
  if (inner.kind == InnerOptimizer::Kind::ADAMW) {
    text.line("adamw")
        .add("beta1", inner.beta1)
        .add("beta2", inner.beta2)
        .add("epsilon", inner.epsilon);
  } else {
    text.line("sgd").add("momentum", inner.momentum);
  }
  text.add("lr", inner.lr)
      .add("weight_decay", inner.weight_decay)
      .add("clip", inner.clip)
      .add("warmup", inner.warmup);
  if (inner.decay == InnerOptimizer::Decay::COSINE) {
    text.add("decay", "cosine").add("horizon", inner.horizon);
  } else {
    text.add("decay", "constant");
  }
  return text.text();
}

}  // namespace syncline
