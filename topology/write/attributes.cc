#include "topology/write/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topology/write/exact_text.h"

namespace syncline {
namespace {

std::string number(double value) { return fmt::format("{}", value); }

bool is_planned(const std::string& status) {
  constexpr std::string_view kPlanned = "planned";
  return std::equal(status.begin(), status.end(), kPlanned.begin(), kPlanned.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

}  // namespace

WrittenAttributes attributes_of(const ImportedNode& node) {
  WrittenAttributes attributes{{"label", node.label}};
  if (!node.host) attributes.emplace_back("type", "switch");
  if (!node.cluster.empty()) attributes.emplace_back("cluster", node.cluster);
  if (node.at) {
    attributes.emplace_back("latitude", number(node.at->latitude));
    attributes.emplace_back("longitude", number(node.at->longitude));
  }
  if (node.up) attributes.emplace_back("host_bandwidth_up", exact_text(*node.up));
  if (node.down) attributes.emplace_back("host_bandwidth_down", exact_text(*node.down));
  if (node.self_latency_s)
    attributes.emplace_back("self_latency", exact_time_text(*node.self_latency_s));
  return attributes;
}

WrittenAttributes attributes_of(const ImportedLink& link) {
  WrittenAttributes attributes;
  if (!link.name.empty()) attributes.emplace_back("name", link.name);
  if (link.bandwidth) attributes.emplace_back("bandwidth", exact_text(*link.bandwidth));
  if (link.bandwidth_number) attributes.emplace_back("bandwidth", number(*link.bandwidth_number));
  if (link.latency_s) attributes.emplace_back("latency", exact_time_text(*link.latency_s));
  if (link.latency_number) attributes.emplace_back("latency", number(*link.latency_number));
  if (link.length_m) attributes.emplace_back("length_m", number(*link.length_m));
  if (link.planned)
    attributes.emplace_back("LinkStatus", is_planned(link.status) ? link.status : "Planned");
  else if (!link.status.empty())
    attributes.emplace_back("LinkLabel", link.status);
  if (link.shared) attributes.emplace_back("shared", "true");
  return attributes;
}

}  // namespace syncline
