// The readers, one file each, behind one signature, and what they share. Private to topology/read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "topology/read/imported.h"
#include "topology/read/text_source.h"

namespace syncline {

// Each throws InputError for input that is wrong.
ImportedTopology read_graphml(const TextSource& source);
ImportedTopology read_gml(const TextSource& source);
ImportedTopology read_sndlib_native(const TextSource& source);
ImportedTopology read_sndlib_xml(const TextSource& source);
ImportedTopology read_repetita(const TextSource& source);
ImportedTopology read_hpcc(const TextSource& source);
ImportedTopology read_inet(const TextSource& source);
ImportedTopology read_orbis(const TextSource& source);
ImportedTopology read_rocketfuel(const TextSource& source);
ImportedTopology read_node_link_json(const TextSource& source);
ImportedTopology read_dot(const TextSource& source);
ImportedTopology read_tiers(const TextSource& source);
ImportedTopology read_link_table(const TextSource& source);
ImportedTopology read_rtt_matrix(const TextSource& source);
ImportedTopology read_speed_tests(const TextSource& source);
ImportedTopology read_simgrid(const TextSource& source);
ImportedTopology read_astra(const TextSource& source);
ImportedTopology read_shadow(const TextSource& source);

// The nodes of a file by id.
class NodeIndex {
 public:
  NodeIndex(const TextSource& source, ImportedTopology& topology)
      : source_(source), topology_(topology) {}
  // Throws InputError: the id is empty or taken.
  ImportedNode& add(std::string_view id, TextPlace place, std::string_view field);
  // Throws InputError: there is no such node.
  std::uint32_t find(std::string_view id, TextPlace place, std::string_view field) const;
  bool contains(const std::string& id) const { return index_.contains(id); }

 private:
  const TextSource& source_;
  ImportedTopology& topology_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

// Named values of a node or a link, as GraphML and GML have them.
struct Attribute {
  std::string name;
  Token value;
};
void apply_attributes(const TextSource& source, const std::vector<Attribute>& attributes,
                      ImportedNode& node);
void apply_attributes(const TextSource& source, const std::vector<Attribute>& attributes,
                      ImportedLink& link);

// Throws InputError: neither true nor false.
bool to_flag(const TextSource& source, const Token& token, std::string_view field);
// Throws InputError: outside of the globe.
GeoPoint to_geo_point(const TextSource& source, const Token& latitude, const Token& longitude);

}  // namespace syncline
