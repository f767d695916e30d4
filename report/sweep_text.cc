#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/sweep_answer.h"
#include "report/sweep_report.h"
#include "topology/quantity.h"

namespace syncline {
namespace {

using Cells = std::vector<std::string>;

// Characters, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string table(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += "  " + row[i] + std::string(widths[i] - width(row[i]), ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

// What stands in the column of the time to the common goal.
std::map<std::size_t, std::string> goal_times(const std::vector<SweepAnswer>& answers) {
  std::map<std::size_t, std::string> times;
  for (const SweepAnswer& answer : answers) {
    for (const SweepAnswer::Contender& contender : answer.contenders) {
      const bool best = contender.point == answer.contenders.front().point;
      times[contender.point] = contender.time_s ? time_text(*contender.time_s) +
                                                      (best && !answer.choices.empty() ? " *" : "")
                                                : "not reached";
    }
  }
  return times;
}

std::string goal_column(const std::vector<SweepAnswer>& answers) {
  const SweepAnswer& first = answers.front();
  const bool one = std::all_of(answers.begin(), answers.end(), [&](const SweepAnswer& answer) {
    return answer.loss == first.loss && answer.tokens == first.tokens;
  });
  if (!first.loss) return one ? "time" : "time to the same tokens";
  return one ? fmt::format("to loss {:.4g}", *first.loss) : "to the same loss";
}

}  // namespace

std::string sweep_text(const SweepFacts& facts) {
  constexpr std::size_t kLongestValue = 40;
  const std::vector<SweepAnswer> answers = sweep_answers(facts);
  const std::map<std::size_t, std::string> times = goal_times(answers);
  const bool losses = std::any_of(
      facts.points.begin(), facts.points.end(),
      [](const SweepPoint& point) { return point.results && !point.results->losses.empty(); });

  std::vector<Cells> rows(1);
  for (const SweepDimension& dimension : facts.dimensions) rows[0].push_back(dimension.label);
  rows[0].insert(rows[0].end(), {"virtual time", "utilisation", "sent"});
  if (losses) rows[0].push_back("loss");
  rows[0].push_back(goal_column(answers));
  for (std::size_t p = 0; p < facts.points.size(); ++p) {
    const SweepPoint& point = facts.points[p];
    Cells& row = rows.emplace_back();
    for (std::size_t d = 0; d < facts.dimensions.size(); ++d) {
      const std::string& value = facts.dimensions[d].values[point.values[d]];
      row.push_back(value.size() <= kLongestValue ? value
                                                  : value.substr(0, kLongestValue - 3) + "...");
    }
    if (!point.results) {
      row.push_back("failed");
      continue;
    }
    const StoredResults& results = *point.results;
    row.push_back(time_text(results.virtual_time_s));
    row.push_back(fmt::format("{:.1f} %", results.compute_utilisation * 100));
    row.push_back(to_text(Bytes(static_cast<std::int64_t>(results.bytes_sent))));
    const std::optional<double> loss = results.proxy_loss ? results.proxy_loss : results.final_loss;
    if (losses) row.push_back(loss ? fmt::format("{:.4f}", *loss) : results.status);
    const auto time = times.find(p);
    row.push_back(time == times.end() ? "" : time->second);
  }

  std::string text =
      fmt::format("{}: {} points\n{}", facts.scenario, facts.points.size(), table(rows));
  for (const SweepPoint& point : facts.points) {
    if (!point.message.empty()) text += fmt::format("  {}: {}\n", point.status(), point.message);
  }
  text += "\n";
  for (const SweepAnswer& answer : answers) text += answer.sentence + "\n";
  if (!losses)
    text += "Time only: nothing was trained, so what a setting costs in loss is not in this.\n";
  return text;
}

}  // namespace syncline
