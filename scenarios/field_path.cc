#include "scenarios/field_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "topology/check.h"
#include "topology/input_error.h"
#include "topology/topology.h"

namespace syncline {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct Segment {
  std::string name;
  std::optional<std::string> selector;
};

// "a.b[x.y].c": dots inside brackets belong to the name.
std::vector<Segment> split(std::string_view path) {
  std::vector<Segment> segments;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = std::min(path.find_first_of(".[", at), path.size());
    Segment& segment = segments.emplace_back();
    segment.name = path.substr(at, end - at);
    if (segment.name.empty())
      throw InputError(fmt::format(
          "\"{}\" is no path of a field; write for example strategy.local_steps", path));
    at = end;
    if (at < path.size() && path[at] == '[') {
      const std::size_t close = path.find(']', at);
      if (close == std::string_view::npos)
        throw InputError(fmt::format("\"{}\" lacks a \"]\"", path));
      segment.selector = path.substr(at + 1, close - at - 1);
      at = close + 1;
    }
    if (at == path.size()) return segments;
    if (path[at] != '.')
      throw InputError(
          fmt::format("\"{}\" is no path of a field: a \".\" belongs after \"]\"", path));
    ++at;
  }
}

const FieldDescriptor& require_field(const Descriptor& type, const std::string& name) {
  const FieldDescriptor* field = type.FindFieldByName(name);
  if (field == nullptr) throw InputError(no_such_field(type, name));
  return *field;
}

std::optional<int> as_index(std::string_view text) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0) return std::nullopt;
  return index;
}

// The index of the element that [selector] names; a new one where a named element is not there.
int require_element(Message& owner, const FieldDescriptor& field, const std::string& selector) {
  const Reflection& reflection = *owner.GetReflection();
  const int size = reflection.FieldSize(owner, &field);
  if (const std::optional<int> index = as_index(selector)) {
    if (*index < size) return *index;
    throw InputError(
        fmt::format("there is no {}[{}]; the scenario has {} of them", field.name(), *index, size));
  }
  const FieldDescriptor* name = field.message_type()->FindFieldByName("name");
  if (name == nullptr)
    throw InputError(
        fmt::format("{} have no names; write {}[0] for the first", field.name(), field.name()));
  for (int i = 0; i < size; ++i) {
    const Message& element = reflection.GetRepeatedMessage(owner, &field, i);
    if (element.GetReflection()->GetString(element, name) == selector) return i;
  }
  Message& added = *reflection.AddMessage(&owner, &field);
  added.GetReflection()->SetString(&added, name, selector);
  return size;
}

std::string right_form(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "a whole number, not negative";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "a number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return enum_names(*field.enum_type());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return fmt::format("{{ … }} with the fields of {}", field.message_type()->name());
    default:
      return "a text";
  }
}

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, int, const std::string& message) override {
    if (text_.empty()) text_ = message;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void set_value(Message& owner, const FieldDescriptor& field, std::string_view value) {
  const Reflection& reflection = *owner.GetReflection();
  reflection.ClearField(&owner, &field);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field.is_repeated()) {
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    reflection.SetString(&owner, &field, std::string(value));
    return;
  }
  // Numbers, enums, messages and lists read as in the file.
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  const bool message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (parser.MergeFromString(fmt::format("{}{} {}", field.name(), message ? "" : ":", value),
                             &owner))
    return;
  throw InputError(
      fmt::format("\"{}\" is not right; write {} ({})", value, right_form(field), error.text()));
}

}  // namespace

std::string enum_names(const google::protobuf::EnumDescriptor& type) {
  std::string text;
  for (int i = 0; i < type.value_count(); ++i) {
    text += i == 0 ? "" : i + 1 == type.value_count() ? " or " : ", ";
    text += type.value(i)->name();
  }
  return text;
}

std::string no_such_field(const Descriptor& type, std::string_view name) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  const std::vector<std::string> near = nearest_names(name, names, 1);
  return fmt::format("{} has no field \"{}\"; it has: {}{}", type.name(), name,
                     fmt::join(names, ", "),
                     near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near.front()));
}

FieldPlace find_field(Message& root, std::string_view path) {
  std::vector<Segment> segments = split(path);
  if (segments.front().selector &&
      root.GetDescriptor()->FindFieldByName(segments.front().name) == nullptr) {
    segments.insert(segments.begin(), Segment{"topology", std::nullopt});
  }
  Message* owner = &root;
  std::string resolved;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const FieldDescriptor& field = require_field(*owner->GetDescriptor(), segment.name);
    resolved += (i == 0 ? "" : ".") + segment.name;
    const bool last = i + 1 == segments.size();
    const bool message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (segment.selector) {
      if (!field.is_repeated() || !message)
        throw InputError(fmt::format("{} is no list of messages, so [{}] chooses nothing", resolved,
                                     *segment.selector));
      const int index = require_element(*owner, field, *segment.selector);
      resolved += fmt::format("[{}]", index);
      Message& element = *owner->GetReflection()->MutableRepeatedMessage(owner, &field, index);
      if (!last) {
        owner = &element;
        continue;
      }
      throw InputError(fmt::format("{} is a whole message; name one of its fields: {}.{}", path,
                                   path, field.message_type()->field(0)->name()));
    }
    if (last) return {owner, &field, resolved};
    if (!message)
      throw InputError(fmt::format("{} is a single value and has no field \"{}\"", resolved,
                                   segments[i + 1].name));
    if (field.is_repeated())
      throw InputError(
          fmt::format("{} is a list; write {}[NAME].{}", resolved, resolved, segments[i + 1].name));
    owner = owner->GetReflection()->MutableMessage(owner, &field);
  }
  SYNCLINE_CHECK(false, "a path has a last part");
}

std::string set_field(Message& root, std::string_view path, std::string_view value) {
  const FieldPlace place = find_field(root, path);
  set_value(*place.owner, *place.field, value);
  return place.path;
}

}  // namespace syncline
