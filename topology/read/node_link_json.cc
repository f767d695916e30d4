// JSON with "nodes" and "links", as NetworkX writes it and as B4 is published.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "topology/read/readers.h"

namespace syncline {
namespace {

using Json = nlohmann::json;

// Ids are numbers or texts; "1" and 1 are the same here.
std::string read_id(const TextSource& source, const Json& object, const char* key,
                    const std::string& path) {
  const std::string field = path + "." + key;
  if (!object.is_object() || !object.contains(key)) throw source.error({}, field, "is missing");
  const Json& value = object.at(key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  throw source.error({}, field, "is neither a text nor a whole number");
}

const Json& read_list(const TextSource& source, const Json& object, const char* key) {
  if (!object.contains(key) || !object.at(key).is_array())
    throw source.error({}, key, "a list is needed");
  return object.at(key);
}

}  // namespace

ImportedTopology read_node_link_json(const TextSource& source) {
  Json json;
  try {
    json = Json::parse(source.text());
  } catch (const Json::parse_error& problem) {
    throw source.error(source.place_of(problem.byte > 0 ? problem.byte - 1 : 0), "",
                       "is not well-formed JSON");
  } catch (const Json::exception& problem) {  // a number outside of what a double holds
    throw source.error({}, "", problem.what());
  }
  if (!json.is_object()) throw source.error({}, "", "an object with nodes and links is needed");
  ImportedTopology topology{.file = source.name(), .format = "node-link JSON"};
  NodeIndex index(source, topology);
  const Json& nodes = read_list(source, json, "nodes");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string path = fmt::format("nodes[{}]", i);
    const std::string id = read_id(source, nodes[i], "id", path);
    index.add(id, {}, path + ".id").label = id;
  }
  const Json& directed = json.contains("directed") ? json.at("directed") : Json(false);
  if (!directed.is_boolean()) throw source.error({}, "directed", "is neither true nor false");
  const Json& links = read_list(source, json, "links");
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string path = fmt::format("links[{}]", i);
    ImportedLink link;
    link.a = index.find(read_id(source, links[i], "source", path), {}, path + ".source");
    link.b = index.find(read_id(source, links[i], "target", path), {}, path + ".target");
    link.directed = directed.get<bool>();
    if (links[i].contains("capacity")) {
      const Json& capacity = links[i].at("capacity");
      if (!capacity.is_number() || capacity.get<double>() < 0)
        throw source.error({}, path + ".capacity", "is not a number of 0 or more");
      link.bandwidth_number = capacity.get<double>();
    }
    topology.links.push_back(std::move(link));
  }
  return topology;
}

}  // namespace syncline
