// Tables of links as CSV, a row a directed link: Skyplane's throughput grid
// (github.com/skyplane-project: throughput_sent of each pair of cloud regions and service tiers)
// and plain ones with the columns a, b, delay_ms, bandwidth_gbit_per_s (undirected).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "topology/read/readers.h"

namespace syncline {
namespace {

class Table {
 public:
  explicit Table(const TextSource& source) : source_(source), rows_(source) {
    topology_.file = source.name();
  }

  ImportedTopology read() {
    const auto from = rows_.column({"src_region", "a"});
    const auto to = rows_.column({"dst_region", "b"});
    if (!from || !to) throw source_.error({1, 0}, "header", "the columns of the ends are missing");
    skyplane_ = rows_.header()[*from] == "src_region";
    topology_.format = skyplane_ ? "Skyplane throughput" : "link table";
    while (rows_.next()) read_row(rows_.field(*from), rows_.field(*to));
    if (topology_.links.empty()) throw source_.error({}, "", "there are no rows under the header");
    if (skyplane_) set_rates_of_nodes();
    // A table of all pairs holds what hosts see of each other; one of some holds links.
    const std::size_t nodes = topology_.nodes.size();
    topology_.paths = skyplane_ || kept_.size() == nodes * (nodes - 1) / 2;
    return std::move(topology_);
  }

 private:
  std::uint32_t node_of(const Token& name, std::string_view field) {
    const auto [known, is_new] =
        index_.try_emplace(std::string(name.text), static_cast<std::uint32_t>(index_.size()));
    if (is_new) {
      if (name.text.empty()) throw source_.error(name.place, field, "the name is empty");
      ImportedNode& node = topology_.nodes.emplace_back();
      node.id = node.label = name.text;
      node.line = name.place.line;
    }
    return known->second;
  }

  // The tier of a pair of ends; the best one stands for the pair.
  bool is_premium() const {
    for (const char* const name : {"src_tier", "dst_tier"}) {
      const auto column = rows_.column({name});
      if (column && rows_.field(*column).text != "PREMIUM") return false;
    }
    return true;
  }

  void read_row(const Token& from, const Token& to) {
    ImportedLink link;
    link.a = node_of(from, "source");
    link.b = node_of(to, "destination");
    link.directed = skyplane_;
    link.line = rows_.line();
    if (const auto column = rows_.column({"throughput_sent_bits_per_second", "throughput_sent"}))
      link.bandwidth = BitRate::bits_per_s(
          to_number(source_, rows_.field(*column), rows_.header()[*column], Sign::NOT_NEGATIVE));
    if (const auto column = rows_.column({"bandwidth_gbit_per_s"}))
      link.bandwidth =
          BitRate::bits_per_s(1e9 * to_number(source_, rows_.field(*column),
                                              rows_.header()[*column], Sign::NOT_NEGATIVE));
    if (const auto column = rows_.column({"delay_ms"}))
      link.latency_s =
          1e-3 * to_number(source_, rows_.field(*column), "delay_ms", Sign::NOT_NEGATIVE);
    const bool premium = is_premium();
    if (const std::size_t before = repeated_row(from, to))
      return topology_.warn("repeated rows",
                            fmt::format("{} to {} is there already, in line {}; the first counts",
                                        from.text, to.text, before),
                            rows_.line());
    const auto [known, is_new] =
        kept_.try_emplace({link.a, link.b}, Kept{topology_.links.size(), premium});
    if (is_new) {
      topology_.links.push_back(std::move(link));
      return;
    }
    Kept& kept = known->second;
    const bool better = premium && !kept.premium;
    warn_of_tier(from, to, better ? topology_.links[kept.link].line : rows_.line());
    if (!better) return;
    topology_.links[kept.link] = std::move(link);
    kept.premium = true;
  }

  // The line of an earlier row of the same ends and tiers; 0: there is none.
  std::size_t repeated_row(const Token& from, const Token& to) {
    std::string key = fmt::format("{}\n{}", from.text, to.text);
    for (const char* const name : {"src_tier", "dst_tier"}) {
      if (const auto column = rows_.column({name}))
        key += fmt::format("\n{}", rows_.field(*column).text);
    }
    const auto [known, is_new] = seen_.try_emplace(std::move(key), rows_.line());
    return is_new ? 0 : known->second;
  }

  void warn_of_tier(const Token& from, const Token& to, std::size_t line) {
    topology_.warn(
        "other tiers",
        fmt::format("{} to {} was measured on several tiers; PREMIUM counts, else the first",
                    from.text, to.text),
        line);
  }

  // One machine measured one pair at a time, so what it reached at best is what it has for all.
  void set_rates_of_nodes() {
    for (const ImportedLink& link : topology_.links) {
      if (link.a == link.b || !link.bandwidth) continue;
      ImportedNode& from = topology_.nodes[link.a];
      ImportedNode& to = topology_.nodes[link.b];
      from.up = std::max(from.up.value_or(BitRate()), *link.bandwidth);
      to.down = std::max(to.down.value_or(BitRate()), *link.bandwidth);
    }
    topology_.assumed.push_back(
        "a machine's own limit is the highest rate that it reached with any other");
  }

  struct Kept {
    std::size_t link;
    bool premium;
  };

  const TextSource& source_;
  CsvCursor rows_;
  bool skyplane_ = false;
  ImportedTopology topology_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Kept> kept_;
  std::unordered_map<std::string, std::size_t> seen_;
};

}  // namespace

ImportedTopology read_link_table(const TextSource& source) { return Table(source).read(); }

}  // namespace syncline
