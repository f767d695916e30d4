// ASTRA-sim's analytical networks as YAML (github.com/astra-sim): a building block a dimension,
// with its count of NPUs, bandwidth and latency. An NPU's number counts the first dimension
// fastest. ASTRA-sim's GB/s are 2^30 bytes a second, and a way through a switch takes its latency
// twice.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "topology/read/readers.h"
#include "topology/read/yaml.h"

namespace syncline {
namespace {

constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostLinks = 4'000'000;
constexpr double kMost = 1e12;

struct Axis {
  std::string block;  // "Ring", "FullyConnected", "Switch"
  std::size_t count = 0;
  BitRate bandwidth;
  double latency_s = 0;
  TextPlace place;
};

class AstraReader {
 public:
  explicit AstraReader(const TextSource& source) : source_(source) {
    topology_.file = source.name();
    topology_.format = "ASTRA-sim network";
  }

  ImportedTopology read() {
    const YAML::Node root = parse_yaml(source_);
    read_axes(root);
    std::size_t npus = 1;
    for (const Axis& axis : axes_) {
      npus *= axis.count;
      if (npus > kMostNodes)
        throw source_.error(axis.place, "npus_count", fmt::format("more than {} NPUs", kMostNodes));
    }
    for (std::size_t i = 0; i < npus; ++i) add_node(fmt::format("npu{}", i), true, axes_[0].place);
    std::size_t stride = 1;
    for (std::size_t dimension = 0; dimension < axes_.size(); ++dimension) {
      const Axis& axis = axes_[dimension];
      std::size_t groups = 0;
      for (std::size_t first = 0; first < npus; ++first) {
        if (first / stride % axis.count == 0) add_group(axis, dimension, groups++, first, stride);
      }
      stride *= axis.count;
    }
    topology_.assumed.push_back(
        "1 GB/s is 2^30 bytes a second, as in ASTRA-sim; a way through a switch takes its latency "
        "twice");
    return std::move(topology_);
  }

 private:
  YAML::Node read_list(const YAML::Node& root, const std::string& key) const {
    YAML::Node list = require_child(source_, root, key);
    if (!list.IsSequence())
      throw source_.error(place_of(list), key, "a list is needed, as in [ Ring, Switch ]");
    if (!axes_.empty() && list.size() != axes_.size())
      throw source_.error(place_of(list), key,
                          fmt::format("has {} values; topology has {}", list.size(), axes_.size()));
    return list;
  }

  void read_axes(const YAML::Node& root) {
    const YAML::Node blocks = read_list(root, "topology");
    for (const YAML::Node& block : blocks) {
      const Token name = token_of(source_, block, "topology");
      if (name.text != "Ring" && name.text != "FullyConnected" && name.text != "Switch")
        throw source_.error(
            name.place, "topology",
            fmt::format("\"{}\" is none of Ring, FullyConnected, Switch", name.text));
      axes_.push_back({std::string(name.text), 0, {}, 0, name.place});
    }
    if (axes_.empty()) throw source_.error(place_of(blocks), "topology", "has no dimension");
    const YAML::Node counts = read_list(root, "npus_count");
    const YAML::Node bandwidths = read_list(root, "bandwidth");
    const YAML::Node latencies = read_list(root, "latency");
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const Token count = token_of(source_, counts[i], "npus_count");
      axes_[i].count = to_count(source_, count, "npus_count", kMostNodes);
      if (axes_[i].count == 0)
        throw source_.error(count.place, "npus_count", "is 0; 1 or more is right");
      axes_[i].bandwidth = BitRate::bytes_per_s(number(bandwidths[i], "bandwidth", Sign::POSITIVE) *
                                                static_cast<double>(1 << 30));
      axes_[i].latency_s = 1e-9 * number(latencies[i], "latency", Sign::NOT_NEGATIVE);
    }
  }

  double number(const YAML::Node& node, std::string_view field, Sign sign) const {
    const Token token = token_of(source_, node, field);
    const double value = to_number(source_, token, field, sign);
    if (value > kMost) throw source_.error(token.place, field, fmt::format("is above {}", kMost));
    return value;
  }

  std::size_t add_node(std::string name, bool host, TextPlace place) {
    ImportedNode& node = topology_.nodes.emplace_back();
    node.id = node.label = std::move(name);
    node.host = host;
    node.line = place.line;
    return topology_.nodes.size() - 1;
  }

  void add_link(const Axis& axis, std::size_t a, std::size_t b) {
    if (topology_.links.size() >= kMostLinks)
      throw source_.error(axis.place, "topology", fmt::format("more than {} links", kMostLinks));
    ImportedLink link;
    link.a = static_cast<std::uint32_t>(a);
    link.b = static_cast<std::uint32_t>(b);
    link.bandwidth = axis.bandwidth;
    link.latency_s = axis.latency_s;
    link.line = axis.place.line;
    topology_.links.push_back(std::move(link));
  }

  // The NPUs first, first + stride, … that differ in this dimension alone.
  void add_group(const Axis& axis, std::size_t dimension, std::size_t group, std::size_t first,
                 std::size_t stride) {
    const auto npu = [&](std::size_t i) { return first + i * stride; };
    if (axis.block == "Switch") {
      const std::size_t middle =
          add_node(fmt::format("dim{}_switch{}", dimension, group), false, axis.place);
      for (std::size_t i = 0; i < axis.count; ++i) add_link(axis, npu(i), middle);
    } else if (axis.block == "Ring") {
      for (std::size_t i = 0; i + 1 < axis.count; ++i) add_link(axis, npu(i), npu(i + 1));
      if (axis.count > 2) add_link(axis, npu(axis.count - 1), npu(0));
    } else {
      for (std::size_t i = 0; i < axis.count; ++i)
        for (std::size_t j = i + 1; j < axis.count; ++j) add_link(axis, npu(i), npu(j));
    }
  }

  const TextSource& source_;
  ImportedTopology topology_;
  std::vector<Axis> axes_;
};

}  // namespace

ImportedTopology read_astra(const TextSource& source) { return AstraReader(source).read(); }

}  // namespace syncline
