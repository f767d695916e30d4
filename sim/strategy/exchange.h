// Workers that send each other what they bring, two by two, without a collective.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/signal.h"
#include "sim/engine/task.h"
#include "sim/strategy/group.h"

namespace syncline {

// Each worker's partners in a round, by worker; whoever is a partner has the other one as a
// partner.
using Partners = std::vector<std::vector<std::uint32_t>>;

class Exchange {
 public:
  // `hosts`: by worker.
  Exchange(Network& network, Traffic& traffic, std::vector<NodeId> hosts);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Sends so many bytes to each partner at once, whether it has come or not, and ends when they
  // have arrived and as many from each partner have come. Once a worker and round; the times are
  // those of the worker and its partners.
  Task<AverageTimes> swap(std::uint32_t worker, std::uint64_t round,
                          std::span<const std::uint32_t> partners, Bytes bytes);

 private:
  struct Round;
  Task<> send(Round* round, std::uint32_t from, std::uint32_t to, Bytes bytes);

  Network& network_;
  Traffic& traffic_;
  std::vector<NodeId> hosts_;
  std::map<std::uint64_t, std::unique_ptr<Round>> rounds_;  // those that somebody is in
};

// One exchange alone on an idle network, all joining at once.
IdleAllReduce idle_exchange(const Topology& topology, std::vector<NodeId> hosts,
                            const Partners& partners, Bytes bytes, const Transport& transport = {});

}  // namespace syncline
