#include "report/json.h"
#include "report/results.pb.h"
#include "report/sweep_facts.h"

namespace syncline {

std::optional<StoredResults> read_results(const std::string& results_json) {
  proto::Results read;
  if (!from_json(results_json, read) || !read.has_summary()) return std::nullopt;
  const proto::Summary& summary = read.summary();
  StoredResults results;
  results.version = read.syncline();
  results.status = read.status();
  results.trained_on = read.device().trained_on();
  results.settings = read.device().settings();
  results.virtual_time_s = summary.virtual_time_s();
  results.ideal_network_time_s = summary.ideal_network_time_s();
  results.compute_utilisation = summary.compute_utilisation();
  if (summary.has_final_loss()) results.final_loss = summary.final_loss();
  if (summary.has_proxy_loss()) results.proxy_loss = summary.proxy_loss();
  results.tokens = summary.tokens();
  results.bytes_sent = summary.bytes_sent();
  results.syncs = summary.syncs();
  results.program_hash = summary.program_hash();
  for (const proto::LossPoint& point : read.losses()) {
    StoredResults::LossPoint& loss = results.losses.emplace_back();
    loss.round = point.round();
    loss.steps = point.steps();
    loss.time_s = point.time_s();
    if (point.has_loss()) loss.loss = point.loss();
  }
  return results;
}

}  // namespace syncline
