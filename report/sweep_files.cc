#include <fmt/format.h>

#include <iterator>

#include "report/csv.h"
#include "report/json.h"
#include "report/sweep.pb.h"
#include "report/sweep_answer.h"
#include "report/sweep_report.h"
#include "report/version.h"

namespace syncline {
namespace {

std::string value_of(const SweepFacts& facts, const SweepPoint& point, std::size_t dimension) {
  return facts.dimensions[dimension].values[point.values[dimension]];
}

std::string or_nothing(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string sweep_csv(const SweepFacts& facts) {
  std::string text = "point";
  for (const SweepDimension& dimension : facts.dimensions) text += "," + csv_field(dimension.path);
  text +=
      ",status,virtual_time_s,ideal_network_time_s,compute_utilisation,final_loss,proxy_loss,"
      "tokens,bytes_sent,syncs,program_hash,folder,message\n";
  for (std::size_t p = 0; p < facts.points.size(); ++p) {
    const SweepPoint& point = facts.points[p];
    text += fmt::format("{}", p);
    for (std::size_t d = 0; d < facts.dimensions.size(); ++d)
      text += "," + csv_field(value_of(facts, point, d));
    text += "," + point.status();
    if (const std::optional<StoredResults>& results = point.results) {
      fmt::format_to(std::back_inserter(text), ",{},{},{},{},{},{},{},{},{}",
                     results->virtual_time_s, results->ideal_network_time_s,
                     results->compute_utilisation, or_nothing(results->final_loss),
                     or_nothing(results->proxy_loss), results->tokens, results->bytes_sent,
                     results->syncs, results->program_hash);
    } else {
      text += ",,,,,,,,,";
    }
    text += "," + csv_field(point.folder) + "," + csv_field(point.message) + "\n";
  }
  return text;
}

std::string losses_csv(const SweepFacts& facts) {
  std::string text = "point,round,steps,virtual_time_s,loss\n";
  for (std::size_t p = 0; p < facts.points.size(); ++p) {
    if (!facts.points[p].results) continue;
    for (const StoredResults::LossPoint& loss : facts.points[p].results->losses)
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", p, loss.round, loss.steps,
                     loss.time_s, or_nothing(loss.loss));
  }
  return text;
}

template <class Owner>
void add_setting(const SweepFacts& facts, const SweepPoint& point, std::size_t dimension,
                 Owner* settings) {
  proto::Setting& setting = *settings->Add();
  setting.set_path(facts.dimensions[dimension].path);
  setting.set_value(value_of(facts, point, dimension));
}

void fill_point(const SweepFacts& facts, const SweepPoint& point, proto::Point& to) {
  for (std::size_t d = 0; d < facts.dimensions.size(); ++d)
    add_setting(facts, point, d, to.mutable_settings());
  to.set_status(point.status());
  if (!point.message.empty()) to.set_message(point.message);
  if (!point.folder.empty()) to.set_folder(point.folder);
  if (!point.results) return;
  const StoredResults& results = *point.results;
  to.set_virtual_time_s(results.virtual_time_s);
  to.set_ideal_network_time_s(results.ideal_network_time_s);
  to.set_compute_utilisation(results.compute_utilisation);
  if (results.final_loss) to.set_final_loss(*results.final_loss);
  if (results.proxy_loss) to.set_proxy_loss(*results.proxy_loss);
  to.set_tokens(results.tokens);
  to.set_bytes_sent(results.bytes_sent);
  to.set_syncs(results.syncs);
  if (!results.program_hash.empty()) to.set_program_hash(results.program_hash);
}

void fill_answer(const SweepFacts& facts, const SweepAnswer& answer, proto::Answer& to) {
  to.set_sentence(answer.sentence);
  const std::vector<std::size_t>& without = answer.without;
  const SweepPoint& any =
      facts.points[answer.contenders.empty() ? without.front() : answer.contenders.front().point];
  for (const std::size_t d : answer.network) add_setting(facts, any, d, to.mutable_network());
  if (answer.contenders.empty()) return;
  if (answer.loss) {
    to.set_loss(*answer.loss);
  } else {
    to.set_tokens(answer.tokens);
  }
  for (const SweepAnswer::Contender& contender : answer.contenders) {
    proto::Contender& added = *to.add_contenders();
    for (const std::size_t d : answer.choices)
      add_setting(facts, facts.points[contender.point], d, added.mutable_settings());
    if (contender.time_s) added.set_time_s(*contender.time_s);
  }
  if (!answer.contenders.front().time_s) return;
  for (const std::size_t d : answer.choices) add_setting(facts, any, d, to.mutable_take());
  to.set_time_s(*answer.contenders.front().time_s);
}

}  // namespace

std::string sweep_json(const SweepFacts& facts) {
  proto::Sweep sweep;
  sweep.set_syncline(kVersion);
  sweep.set_scenario(facts.scenario);
  for (const SweepDimension& dimension : facts.dimensions) {
    proto::Varied& varied = *sweep.add_varied();
    varied.set_path(dimension.path);
    for (const std::string& value : dimension.values) varied.add_values(value);
  }
  for (const SweepPoint& point : facts.points) fill_point(facts, point, *sweep.add_points());
  for (const SweepAnswer& answer : sweep_answers(facts))
    fill_answer(facts, answer, *sweep.add_answers());
  sweep.set_rule(kSweepRule);
  return as_json(sweep);
}

std::map<std::string, std::string> sweep_files(const SweepFacts& facts) {
  return {{"sweep.csv", sweep_csv(facts)},
          {"sweep.json", sweep_json(facts)},
          {"losses.csv", losses_csv(facts)}};
}

}  // namespace syncline
