#include "scenarios/write_topology.h"

#include <fmt/format.h>
#include <google/protobuf/text_format.h>

#include "scenarios/document.h"
#include "topology/input_error.h"
#include "topology/write/exact_text.h"

namespace syncline {
namespace {

const std::string& plain(const std::string& name) {
  if (!is_plain_text(name))
    throw InputError(fmt::format(
        "\"{}\" has control characters or is not UTF-8; the text format has no such names", name));
  return name;
}

void write(const Node& node, proto::Node& written) {
  written.set_name(plain(node.name));
  if (!node.host) written.set_host(false);
  if (!node.cluster.empty()) written.set_cluster(plain(node.cluster));
  if (!node.at) return;
  written.set_latitude(node.at->latitude);
  written.set_longitude(node.at->longitude);
}

void write(const Topology& topology, const Link& link, proto::Link& written) {
  written.set_name(plain(link.name));
  written.set_a(topology.node(link.a).name);
  written.set_b(topology.node(link.b).name);
  written.set_bandwidth(exact_text(link.capacity[0]));
  if (link.capacity[1] != link.capacity[0])
    written.set_bandwidth_back(exact_text(link.capacity[1]));
  written.set_latency(exact_time_text(link.latency_s[0]));
  if (link.latency_s[1] != link.latency_s[0])
    written.set_latency_back(exact_time_text(link.latency_s[1]));
  if (link.shared) written.set_shared(true);
}

}  // namespace

std::string write_topology(const Topology& topology) {
  proto::Topology written;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i)
    write(topology.node(NodeId{i}), *written.add_nodes());
  for (std::uint32_t i = 0; i < topology.link_count(); ++i)
    write(topology, topology.link(LinkId{i}), *written.add_links());
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  printer.SetSingleLineMode(true);
  std::string text;
  const auto add = [&](const char* field, const google::protobuf::Message& message) {
    std::string line;
    printer.PrintToString(message, &line);
    text += fmt::format("{} {{ {}}}\n", field, line);
  };
  for (const proto::Node& node : written.nodes()) add("nodes", node);
  for (const proto::Link& link : written.links()) add("links", link);
  return text;
}

}  // namespace syncline
