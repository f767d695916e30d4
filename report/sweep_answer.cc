#include "report/sweep_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace syncline {
namespace {

// What stands outside the training method is given: the network, the workers' pace, and chance.
bool is_given(const SweepDimension& dimension) {
  const std::string first = dimension.path.substr(0, dimension.path.find_first_of(".["));
  for (const char* given : {"topology", "links", "nodes", "pace", "project", "events", "seed"}) {
    if (first == given) return true;
  }
  return false;
}

bool ends_with_field(const SweepDimension& dimension, std::string_view field) {
  return dimension.path == field || dimension.path.ends_with("." + std::string(field));
}

std::string value_text(const SweepDimension& dimension, std::size_t value) {
  const std::string& text = dimension.values[value];
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// "H = 50", "latency = 20 ms"; a bandwidth speaks for itself.
std::string setting_text(const SweepDimension& dimension, std::size_t value) {
  const std::string text = value_text(dimension, value);
  if (dimension.path == "strategy.local_steps") return "H = " + text;
  if (ends_with_field(dimension, "bandwidth") || text.starts_with('@')) return text;
  return fmt::format("{} = {}", dimension.label, text);
}

std::string settings_text(const SweepFacts& facts, const SweepPoint& point,
                          const std::vector<std::size_t>& dimensions) {
  std::string text;
  for (const std::size_t d : dimensions)
    text += (text.empty() ? "" : ", ") + setting_text(facts.dimensions[d], point.values[d]);
  return text;
}

double best_loss(const StoredResults& results) {
  double best = INFINITY;
  for (const StoredResults::LossPoint& point : results.losses)
    best = std::min(best, point.loss.value_or(INFINITY));
  return best;
}

// Every one of them reaches the loss or, where none has losses, the tokens.
void find_target(const SweepFacts& facts, SweepAnswer& answer) {
  double loss = -INFINITY;
  double tokens = INFINITY;
  for (const SweepAnswer::Contender& contender : answer.contenders) {
    const StoredResults& results = *facts.points[contender.point].results;
    loss = std::max(loss, best_loss(results));
    tokens = std::min(tokens, results.tokens);
    answer.proxy = answer.proxy || results.proxy_loss.has_value();
  }
  if (std::isfinite(loss)) answer.loss = facts.target_loss.value_or(std::ceil(loss * 100) / 100);
  answer.tokens = tokens;
}

void find_times(const SweepFacts& facts, SweepAnswer& answer) {
  for (SweepAnswer::Contender& contender : answer.contenders) {
    const StoredResults& results = *facts.points[contender.point].results;
    if (answer.loss) {
      contender.time_s = time_to_loss(results, *answer.loss);
    } else if (results.tokens > 0) {
      contender.time_s = results.virtual_time_s * answer.tokens / results.tokens;
    }
  }
  std::stable_sort(answer.contenders.begin(), answer.contenders.end(),
                   [](const SweepAnswer::Contender& a, const SweepAnswer::Contender& b) {
                     return a.time_s.value_or(INFINITY) < b.time_s.value_or(INFINITY);
                   });
}

std::string goal_text(const SweepAnswer& answer) {
  if (answer.loss)
    return fmt::format("a {}loss of {:.4g}", answer.proxy ? "proxy " : "", *answer.loss);
  if (answer.tokens >= 1e6) return fmt::format("{:.4g} million tokens", answer.tokens / 1e6);
  return fmt::format("{:.0f} tokens", answer.tokens);
}

std::string sentence(const SweepFacts& facts, const SweepAnswer& answer, std::size_t any_point) {
  constexpr std::size_t kOthersNamed = 4;
  const std::string where = settings_text(facts, facts.points[any_point], answer.network);
  std::string text = where.empty() ? "" : where.starts_with('@') ? "With " + where : "At " + where;
  const auto begin = [&](const char* with, const char* alone) {
    text += text.empty() ? alone : std::string(" ") + with;
  };
  if (answer.contenders.empty()) {
    begin("no setting came to a result", "No setting came to a result");
  } else if (!answer.contenders.front().time_s) {
    begin("no setting reaches ", "No setting reaches ");
    text += goal_text(answer);
  } else {
    const SweepAnswer::Contender& best = answer.contenders.front();
    if (answer.choices.empty()) {
      begin("it reaches ", "It reaches ");
    } else {
      begin("take ", "Take ");
      text += settings_text(facts, facts.points[best.point], answer.choices) + ": it reaches ";
    }
    text += fmt::format("{} after {}", goal_text(answer), time_text(*best.time_s));
    std::string others;
    for (std::size_t i = 1; i < answer.contenders.size() && i <= kOthersNamed; ++i) {
      const SweepAnswer::Contender& other = answer.contenders[i];
      others += (others.empty() ? "; " : ", ") +
                settings_text(facts, facts.points[other.point], answer.choices) +
                (other.time_s ? " takes " + time_text(*other.time_s) : " does not get there");
    }
    if (answer.contenders.size() > kOthersNamed + 1)
      others +=
          fmt::format(", and {} more take longer", answer.contenders.size() - 1 - kOthersNamed);
    text += others;
  }
  for (const std::size_t point : answer.without) {
    const std::string what = settings_text(facts, facts.points[point], answer.choices);
    text += fmt::format("; {}{}", what.empty() ? "" : what + " ", facts.points[point].status());
  }
  return text + ".";
}

}  // namespace

std::string time_text(double seconds) {
  const auto rounded = [](double value, const char* unit) {
    return value >= 100 ? fmt::format("{:.0f} {}", value, unit)
                        : fmt::format("{:.3g} {}", value, unit);
  };
  if (seconds > 0 && seconds < 1) return rounded(seconds * 1e3, "ms");
  if (seconds < 600) return rounded(seconds, "s");
  if (seconds < 7200) return rounded(seconds / 60, "min");
  if (seconds < 48 * 3600) return rounded(seconds / 3600, "h");
  return rounded(seconds / 86400, "days");
}

std::optional<double> time_to_loss(const StoredResults& results, double loss) {
  const StoredResults::LossPoint* before = nullptr;
  for (const StoredResults::LossPoint& point : results.losses) {
    if (!point.loss) return std::nullopt;
    if (*point.loss > loss) {
      before = &point;
      continue;
    }
    const double rounds = before == nullptr ? 0 : point.round - before->round;
    if (rounds <= 1) return point.time_s;
    // Rounds between two evaluations are about equally long.
    const double share = (*before->loss - loss) / (*before->loss - *point.loss);
    const double syncs = std::clamp(std::ceil(share * rounds - 1e-9), 1.0, rounds);
    return before->time_s + (point.time_s - before->time_s) * syncs / rounds;
  }
  return std::nullopt;
}

std::vector<SweepAnswer> sweep_answers(const SweepFacts& facts) {
  SweepAnswer form;
  for (std::size_t d = 0; d < facts.dimensions.size(); ++d)
    (is_given(facts.dimensions[d]) ? form.network : form.choices).push_back(d);
  // By the network's values, in the order in which they appear.
  std::vector<std::pair<std::size_t, SweepAnswer>> answers;  // with their first point
  std::map<std::vector<std::size_t>, std::size_t> known;
  for (std::size_t p = 0; p < facts.points.size(); ++p) {
    std::vector<std::size_t> place;
    for (const std::size_t d : form.network) place.push_back(facts.points[p].values[d]);
    const auto [entry, added] = known.try_emplace(place, answers.size());
    if (added) answers.emplace_back(p, form);
    SweepAnswer& answer = answers[entry->second].second;
    if (facts.points[p].status() == "done") {
      answer.contenders.push_back({p, std::nullopt});
    } else {
      answer.without.push_back(p);
    }
  }
  // In the order of the values, whatever was varied first.
  std::vector<SweepAnswer> sorted;
  for (const auto& [place, index] : known) {
    auto& [first, answer] = answers[index];
    find_target(facts, answer);
    find_times(facts, answer);
    answer.sentence = sentence(facts, answer, first);
    sorted.push_back(std::move(answer));
  }
  return sorted;
}

}  // namespace syncline
