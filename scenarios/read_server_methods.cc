// Methods that a server leads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "scenarios/readers.h"

namespace syncline {
namespace {

// The server's node, and what a method that has one does not go with.
void read_server(const Document& document, proto::Strategy& strategy, const std::string& method) {
  const proto::Workers& workers = document.scenario().workers();
  if (workers.server().empty())
    throw document.error(
        "workers.server",
        fmt::format("is missing: {} has a server; write the name of a node that is no worker",
                    method));
  proto::Collective& collective = *strategy.mutable_collective();
  if (collective.has_algorithm() && collective.algorithm() != proto::Collective::PARAMETER_SERVER) {
    throw document.error(
        "strategy.collective.algorithm",
        fmt::format("{}, but {} sends everything through its server; leave it out",
                    proto::Collective::Algorithm_Name(collective.algorithm()), method));
  }
  collective.set_algorithm(proto::Collective::PARAMETER_SERVER);
  if (strategy.has_within_cluster() && workers.per() == proto::Workers::HOST)
    throw document.error("strategy.within_cluster",
                         fmt::format("{} has one stage; choose diloco {{}}, or workers {{ per: "
                                     "CLUSTER }}",
                                     method));
}

}  // namespace

FedAvg read_fed_avg(const Document& document, const CheckedScenario& scenario,
                    proto::Strategy& strategy) {
  const std::string path = "strategy.fed_avg";
  proto::FedAvg& written = *strategy.mutable_fed_avg();
  read_server(document, strategy, "fed_avg");
  if (strategy.has_absent() && strategy.absent() == proto::Strategy::WAIT)
    throw document.error("strategy.absent",
                         "WAIT, but fed_avg averages over the clients that report; leave it out");
  strategy.set_absent(proto::Strategy::REWEIGHT);
  if (strategy.has_quorum())
    throw document.error("strategy.quorum",
                         "fed_avg waits for its clients; write fed_avg { clients: … "
                         "over_selection: … }");
  if (document.scenario().training().has_replicas())
    throw document.error("training.replicas",
                         "a client of fed_avg has a replica only while it trains, and each its own "
                         "data; leave it out");

  const std::size_t workers = scenario.workers.size();
  if (written.has_fraction() && written.has_clients())
    throw document.error(path + ".clients", "and fraction say the same; leave one of them out");
  if (!written.has_clients()) {
    if (!written.has_fraction()) written.set_fraction(0.1);
    if (!(written.fraction() > 0 && written.fraction() <= 1))
      throw document.error(path + ".fraction", fmt::format("{}; write a number above 0, at most 1",
                                                           written.fraction()));
  } else if (written.clients() == 0 || written.clients() > workers) {
    throw document.error(path + ".clients", fmt::format("{}; write 1 to {}, the number of workers",
                                                        written.clients(), workers));
  }
  if (!written.has_over_selection()) written.set_over_selection(1);
  if (!(written.over_selection() >= 1 && std::isfinite(written.over_selection())))
    throw document.error(path + ".over_selection",
                         fmt::format("{}; write a number from 1 on", written.over_selection()));

  FedAvg method;
  method.outer = read_outer(document, *written.mutable_outer(), path + ".outer", method.outer);
  const auto all = static_cast<double>(workers);
  const double clients = written.has_clients()
                             ? static_cast<double>(written.clients())
                             : std::max(std::round(written.fraction() * all), 1.0);
  method.clients = static_cast<std::size_t>(clients);
  method.chosen =
      static_cast<std::size_t>(std::min(std::ceil(written.over_selection() * clients), all));
  return method;
}

AsyncLocalSgd read_async_local_sgd(const Document& document, const CheckedScenario& scenario,
                                   proto::Strategy& strategy) {
  const std::string path = "strategy.async_local_sgd";
  proto::AsyncLocalSgd& written = *strategy.mutable_async_local_sgd();
  const proto::Scenario& all = document.scenario();
  read_server(document, strategy, "async_local_sgd");
  if (all.workers().weights_size() > 0)
    throw document.error("workers.weights",
                         "async_local_sgd takes each update alone; leave them out");
  if (all.training().has_replicas())
    throw document.error("training.replicas",
                         "in async_local_sgd every worker's updates count; leave it out");
  if (all.stop().has_rounds())
    throw document.error("stop.rounds",
                         "async_local_sgd has none: its updates come as they come; give steps or "
                         "tokens");
  AsyncLocalSgd method;
  method.outer = read_outer(document, *written.mutable_outer(), path + ".outer");
  if (!written.has_delay()) written.set_delay(scenario.workers.size());
  if (written.delay() == 0 || written.delay() > 1'000'000)
    throw document.error(path + ".delay",
                         fmt::format("{}; write 1 to 1000000 updates", written.delay()));
  method.delay = written.delay();
  written.set_activation(written.activation());
  method.activation = written.activation();
  if (!(method.activation >= 0 && method.activation * static_cast<double>(method.delay) <= 1))
    throw document.error(path + ".activation",
                         fmt::format("{}; write a number from 0 to 1 / delay, {:.4g}",
                                     method.activation, 1 / static_cast<double>(method.delay)));
  if (!written.has_by_speed()) written.set_by_speed(true);
  method.by_speed = written.by_speed();
  return method;
}

}  // namespace syncline
