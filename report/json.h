// Protobuf messages as JSON. Inside report/ only.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace syncline {

// snake_case names, laid out for people.
std::string as_json(const google::protobuf::Message& message);
// False where the text is none of these; fields that are not known are passed over.
bool from_json(const std::string& text, google::protobuf::Message& message);

}  // namespace syncline
