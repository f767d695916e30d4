// Which training method, with its own settings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "scenarios/readers.h"
#include "topology/check.h"

namespace syncline {
OuterRule read_outer(const Document& document, proto::Optimizer& outer, const std::string& path,
                     const OuterRule& by_default) {
  if (!outer.has_kind())
    outer.set_kind(by_default.kind == OuterRule::Kind::NESTEROV ? proto::Optimizer::NESTEROV
                                                                : proto::Optimizer::SGD);
  if (outer.kind() == proto::Optimizer::ADAMW)
    throw document.error(path + ".kind", "ADAMW is an inner optimizer; write NESTEROV or SGD");
  const bool nesterov = outer.kind() == proto::Optimizer::NESTEROV;
  if (!outer.has_lr()) outer.set_lr(by_default.lr);
  if (!outer.has_momentum()) outer.set_momentum(nesterov ? OuterRule().momentum : 0);
  if (!(outer.lr() > 0 && std::isfinite(outer.lr())))
    throw document.error(path + ".lr", fmt::format("{}; write a number above 0", outer.lr()));
  if (!(outer.momentum() >= 0 && outer.momentum() < 1))
    throw document.error(path + ".momentum",
                         fmt::format("{}; write a number from 0 to below 1", outer.momentum()));
  if (!nesterov && outer.momentum() != 0)
    throw document.error(path + ".momentum",
                         "the outer SGD has none; write kind: NESTEROV, or leave it out");
  if (outer.has_weight_decay() || outer.has_clip() || outer.has_warmup() || outer.has_decay()) {
    throw document.error(
        path,
        "has kind, lr and momentum; weight_decay, clip, warmup and decay belong to training.inner");
  }
  return {nesterov ? OuterRule::Kind::NESTEROV : OuterRule::Kind::SGD, outer.lr(),
          outer.momentum()};
}

namespace {

std::uint32_t layers_of(const Document& document) {
  const proto::Gpt& model = document.scenario().training().model();
  return model.has_layers() ? model.layers() : ModelConfig().layers;
}

StreamingDiloco read_streaming(const Document& document, const proto::Strategy& strategy,
                               proto::StreamingDiloco& streaming) {
  const std::string path = "strategy.streaming_diloco";
  StreamingDiloco method;
  method.outer = read_outer(document, *streaming.mutable_outer(), path + ".outer", {.lr = 0.4});
  const std::uint64_t interval = std::max<std::uint64_t>(strategy.local_steps(), 1);
  const std::uint32_t layers = std::max(layers_of(document), 1u);
  if (!streaming.has_fragments()) {
    constexpr std::uint32_t kLayersOfOne = 3;
    streaming.set_fragments(static_cast<std::uint32_t>(
        std::min<std::uint64_t>((layers + kLayersOfOne - 1) / kLayersOfOne, interval)));
  }
  method.fragments = streaming.fragments();
  if (method.fragments == 0) throw document.error(path + ".fragments", "0; write 1 or more");
  if (method.fragments > layers) {
    throw document.error(path + ".fragments",
                         fmt::format("{}, but the model has {} layers, and a fragment is at least "
                                     "one; write at most {}",
                                     method.fragments, layers, layers));
  }
  if (method.fragments > interval) {
    throw document.error(path + ".fragments",
                         fmt::format("{}, but each has its turn once in strategy.local_steps, {}; "
                                     "write at most {}",
                                     method.fragments, interval, interval));
  }
  streaming.set_pattern(streaming.pattern());
  method.pattern = streaming.pattern() == proto::StreamingDiloco::SEQUENTIAL
                       ? Fragment::Pattern::SEQUENTIAL
                       : Fragment::Pattern::STRIDED;
  if (!streaming.has_overlap()) streaming.set_overlap(interval > 1 ? 1 : 0);
  method.overlap = streaming.overlap();
  if (method.overlap >= interval) {
    throw document.error(path + ".overlap",
                         fmt::format("{}, but a fragment is sent again after strategy.local_steps, "
                                     "{}; write less",
                                     method.overlap, interval));
  }
  if (!streaming.has_alpha()) streaming.set_alpha(method.overlap > 0 ? 0.5 : 0);
  method.alpha = streaming.alpha();
  if (!(method.alpha >= 0 && method.alpha < 1))
    throw document.error(
        path + ".alpha",
        fmt::format("{}; write a number from 0, all from the average, to below 1", method.alpha));
  return method;
}

LocalSgd read_local_sgd(const Document& document, proto::LocalSgd& local_sgd) {
  local_sgd.set_average_optimizer(local_sgd.average_optimizer());
  const proto::Optimizer& inner = document.scenario().training().inner();
  const bool plain = inner.kind() == proto::Optimizer::SGD && inner.momentum() == 0;
  if (local_sgd.average_optimizer() && plain)
    throw document.error("strategy.local_sgd.average_optimizer",
                         "the inner SGD without momentum has no state; leave it out");
  return {local_sgd.average_optimizer()};
}

SparseLoco read_sparse_loco(const Document& document, proto::Strategy& strategy) {
  const std::string path = "strategy.sparse_loco";
  if (strategy.compression().kind() != proto::Compression::NONE)
    throw document.error("strategy.compression.kind",
                         "sparse_loco has a compression of its own: keep, decay and values; leave "
                         "it out, or choose diloco {}");
  proto::SparseLoco& written = *strategy.mutable_sparse_loco();
  SparseLoco method;
  if (!written.has_outer_lr()) written.set_outer_lr(method.lr);
  if (!written.has_keep()) written.set_keep(method.codec.keep);
  if (!written.has_decay()) written.set_decay(method.decay);
  written.set_values(written.values());
  method.lr = written.outer_lr();
  if (!(method.lr > 0 && std::isfinite(method.lr)))
    throw document.error(path + ".outer_lr", fmt::format("{}; write a number above 0", method.lr));
  method.codec = {written.values() == proto::SparseLoco::FP32 ? Codec::TOP_K : Codec::TOP_K_2BIT,
                  read_keep(document, written.keep(), path + ".keep")};
  method.decay = read_decay(document, written.decay(), path + ".decay");
  return method;
}

}  // namespace

Method read_method(const Document& document, const CheckedScenario& scenario,
                   proto::Strategy& strategy) {
  switch (strategy.method_case()) {
    case proto::Strategy::kDataParallel:
      return DataParallel{};
    case proto::Strategy::kLocalSgd:
      return read_local_sgd(document, *strategy.mutable_local_sgd());
    case proto::Strategy::kDiloco:
      return Diloco{read_outer(document, *strategy.mutable_diloco()->mutable_outer(),
                               "strategy.diloco.outer")};
    case proto::Strategy::kDelayedDiloco:
      return DelayedDiloco{read_outer(document, *strategy.mutable_delayed_diloco()->mutable_outer(),
                                      "strategy.delayed_diloco.outer")};
    case proto::Strategy::kEagerDiloco:
      if (document.scenario().workers().weights_size() > 0)
        throw document.error("workers.weights",
                             "eager_diloco takes every worker's part as one of K equal ones; leave "
                             "them out");
      return EagerDiloco{read_outer(document, *strategy.mutable_eager_diloco()->mutable_outer(),
                                    "strategy.eager_diloco.outer")};
    case proto::Strategy::kStreamingDiloco:
      return read_streaming(document, strategy, *strategy.mutable_streaming_diloco());
    case proto::Strategy::kFedAvg:
      return read_fed_avg(document, scenario, strategy);
    case proto::Strategy::kSparseLoco:
      return read_sparse_loco(document, strategy);
    case proto::Strategy::kGossip:
      return read_gossip(document, scenario, strategy);
    case proto::Strategy::kAsyncLocalSgd:
      return read_async_local_sgd(document, scenario, strategy);
    case proto::Strategy::METHOD_NOT_SET:
      break;
  }
  SYNCLINE_CHECK(false, "a strategy has a method");
}

}  // namespace syncline
