// Paths of fields, as --set and --vary write them: "topology.clusters.wan.bandwidth",
// "topology.links[milan-core].latency".
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace syncline {

// Sets the field at `path` of `root` to `value`: numbers, true/false and names of enums as they
// stand, texts with or without quotes, messages as
// "{ … }" in the text format. An element of a repeated field is chosen by [index] or by [name]; a
// name that is not there is added. "links[…]" and "nodes[…]" are short for "topology.links[…]".
// Returns the path with names turned into indexes ("topology.links[0].latency"). Throws InputError:
// unknown field (lists what there is), value of the wrong type (says the right form).
std::string set_field(google::protobuf::Message& root, std::string_view path,
                      std::string_view value);

// Where such a path leads; what lies on the way is added. Throws InputError: unknown field.
struct FieldPlace {
  google::protobuf::Message* owner = nullptr;
  const google::protobuf::FieldDescriptor* field = nullptr;
  std::string path;  // names turned into indexes
};
FieldPlace find_field(google::protobuf::Message& root, std::string_view path);

// "Link has no field \"bandwith\"; it has: name, a, b, …; did you mean bandwidth?"
std::string no_such_field(const google::protobuf::Descriptor& type, std::string_view name);
// "RING, HIERARCHICAL or PARAMETER_SERVER"
std::string enum_names(const google::protobuf::EnumDescriptor& type);

}  // namespace syncline
