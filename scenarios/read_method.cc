// Which training method, with its own settings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "scenarios/readers.h"
#include "topology/check.h"

namespace syncline {
namespace {

OuterRule read_outer(const Document& document, proto::Optimizer& outer, const std::string& path,
                     double default_lr) {
  if (!outer.has_kind()) outer.set_kind(proto::Optimizer::NESTEROV);
  if (outer.kind() == proto::Optimizer::ADAMW)
    throw document.error(path + ".kind", "ADAMW is an inner optimizer; write NESTEROV or SGD");
  const bool nesterov = outer.kind() == proto::Optimizer::NESTEROV;
  if (!outer.has_lr()) outer.set_lr(default_lr);
  if (!outer.has_momentum()) outer.set_momentum(nesterov ? 0.9 : 0);
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

}  // namespace

Method read_method(const Document& document, proto::Strategy& strategy) {
  switch (strategy.method_case()) {
    case proto::Strategy::kDataParallel:
      return DataParallel{};
    case proto::Strategy::kLocalSgd:
      return LocalSgd{};
    case proto::Strategy::kDiloco:
      return Diloco{read_outer(document, *strategy.mutable_diloco()->mutable_outer(),
                               "strategy.diloco.outer", 0.7)};
    case proto::Strategy::kDelayedDiloco:
      return DelayedDiloco{read_outer(document, *strategy.mutable_delayed_diloco()->mutable_outer(),
                                      "strategy.delayed_diloco.outer", 0.7)};
    case proto::Strategy::kEagerDiloco:
      return EagerDiloco{read_outer(document, *strategy.mutable_eager_diloco()->mutable_outer(),
                                    "strategy.eager_diloco.outer", 0.7)};
    case proto::Strategy::METHOD_NOT_SET:
      break;
  }
  SYNCLINE_CHECK(false, "a strategy has a method");
}

}  // namespace syncline
