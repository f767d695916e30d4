#include "report/json.h"

#include <google/protobuf/util/json_util.h>

#include "topology/check.h"

namespace syncline {

std::string as_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  SYNCLINE_CHECK(status.ok(), status.ToString());
  return text;
}

bool from_json(const std::string& text, google::protobuf::Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return google::protobuf::util::JsonStringToMessage(text, &message, options).ok();
}

}  // namespace syncline
