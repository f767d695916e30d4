#include "scenarios/document.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "scenarios/field_path.h"

namespace syncline {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr std::uintmax_t kLargestScenario = 64 << 20;

// The text between the next two quotes after `at`.
std::string quoted(const std::string& message, std::size_t at) {
  const std::size_t open = message.find('"', at);
  if (open == std::string::npos) return {};
  const std::size_t close = message.find('"', open + 1);
  return close == std::string::npos ? std::string() : message.substr(open + 1, close - open - 1);
}

// Protobuf's messages in the words of the schema: candidates for unknown fields and names of enums.
std::string explain(const std::string& message) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  if (const std::size_t no_field = message.find("\" has no field named \"");
      no_field != std::string::npos) {
    const Descriptor* type = pool.FindMessageTypeByName(quoted(message, 0));
    if (type != nullptr) return no_such_field(*type, quoted(message, no_field + 1));
  }
  if (message.starts_with("Unknown enumeration value of")) {
    // Protobuf does not say of which message; several may have a field of this name.
    const std::string field_name = quoted(message, message.find("for field"));
    const google::protobuf::FileDescriptor& file = *proto::Scenario::descriptor()->file();
    std::vector<const FieldDescriptor*> candidates;
    for (int i = 0; i < file.message_type_count(); ++i) {
      const FieldDescriptor* field = file.message_type(i)->FindFieldByName(field_name);
      if (field != nullptr && field->enum_type() != nullptr &&
          field->enum_type()->FindValueByName(quoted(message, 0)) == nullptr)
        candidates.push_back(field);
    }
    std::string text;
    for (const FieldDescriptor* field : candidates) {
      const std::string name =
          candidates.size() == 1 ? field_name : field->containing_type()->name() + "." + field_name;
      text += fmt::format("{}{}: \"{}\" is none of {}", text.empty() ? "" : "; ", name,
                          quoted(message, 0), enum_names(*field->enum_type()));
    }
    if (!text.empty()) return text;
  }
  if (message.starts_with("Expected string, got:")) {
    return message + R"(; a quantity or a text stands in quotes, with its unit: "20 ms")";
  }
  return message;
}

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  // Counts from 0; people count from 1.
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, explain(message));
  }
  // "LINE:COLUMN: what is wrong".
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The first field that is written.
std::string first_name(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size() &&
         (std::isspace(static_cast<unsigned char>(text[at])) || text[at] == '#'))
    at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
  const std::size_t begin = at;
  while (at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
    ++at;
  return text.substr(begin, at - begin);
}

std::string read_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status))
    throw InputError(fmt::format("{}: there is no such file", file));
  if (!std::filesystem::is_regular_file(status))
    throw InputError(
        fmt::format("{}: this is no file; a scenario is a text file (*.textproto)", file));
  if (std::filesystem::file_size(file, error) > kLargestScenario)
    throw InputError(fmt::format("{}: larger than 64 MiB; this is no scenario", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool is_plain_text(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x20 || lead == 0x7f) return false;
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    }
    if (length > 2) {
      // Longer than needed, half of a UTF-16 pair, or past the last character.
      const auto second = static_cast<unsigned char>(text[i + 1]);
      if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
          (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
        return false;
    }
    i += length;
  }
  return true;
}

Document Document::read(const std::string& file, std::span<const std::string> sets) {
  Document document;
  document.file_ = file;
  document.parse(read_file(file), document.scenario_, "");
  for (const std::string& assignment : sets) document.set(assignment);
  document.check_values(document.scenario_, "");
  return document;
}

std::string Document::folder() const {
  return std::filesystem::absolute(file_).parent_path().string();
}

Document Document::read_topology(const std::string& file) {
  Document document;
  document.file_ = file;
  const std::string text = read_file(file);
  const bool alone = proto::Topology::descriptor()->FindFieldByName(first_name(text)) != nullptr;
  if (alone) {
    document.parse(text, *document.scenario_.mutable_topology(), "topology.");
  } else {
    document.parse(text, document.scenario_, "");
  }
  document.check_values(document.scenario_, "");
  return document;
}

void Document::parse(const std::string& text, Message& message, const std::string& prefix) {
  TextFormat::Parser parser;
  TextFormat::ParseInfoTree tree;
  FirstError error;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(text, &message)) {
    throw InputError(fmt::format("{}:{}", file_, error.text()));
  }
  places_[""] = file_;
  remember_places(message, &tree, prefix, file_);
}

void Document::remember_places(const Message& message, const TextFormat::ParseInfoTree* tree,
                               const std::string& prefix, const std::string& file) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const int index = field->is_repeated() ? i : -1;
      std::string path = prefix + field->name();
      if (field->is_repeated()) path += fmt::format("[{}]", i);
      // Of a list in brackets Protobuf keeps only where the list begins.
      int line = tree->GetLocation(field, index).line;
      if (line < 0) line = tree->GetLocation(field, 0).line;
      places_[path] = fmt::format("{}:{}", file, line + 1);
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const Message& inner = field->is_repeated()
                                 ? message.GetReflection()->GetRepeatedMessage(message, field, i)
                                 : message.GetReflection()->GetMessage(message, field);
      const TextFormat::ParseInfoTree* inner_tree = tree->GetTreeForNested(field, index);
      if (inner_tree != nullptr) remember_places(inner, inner_tree, path + ".", file);
    }
  }
}

void Document::check_values(const Message& message, const std::string& prefix) const {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool list = field->is_repeated();
    const int count = list ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const std::string path = prefix + field->name() + (list ? fmt::format("[{}]", i) : "");
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        check_values(list ? reflection.GetRepeatedMessage(message, field, i)
                          : reflection.GetMessage(message, field),
                     path + ".");
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string scratch;
        if (!is_plain_text(list ? reflection.GetRepeatedStringReference(message, field, i, &scratch)
                                : reflection.GetStringReference(message, field, &scratch))) {
          throw error(path, "is not plain text; write UTF-8 without control characters");
        }
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
        // The text format takes any number for an enum.
        const int value = reflection.GetEnumValue(message, field);
        if (field->enum_type()->FindValueByNumber(value) == nullptr)
          throw error(path,
                      fmt::format("{} is none of {}", value, enum_names(*field->enum_type())));
      }
    }
  }
}

void Document::set(const std::string& assignment) {
  const std::string place = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    throw InputError(place + ": write PATH=VALUE, for example strategy.local_steps=50");
  }
  const std::string value = assignment.substr(equals + 1);
  try {
    const FieldPlace field = find_field(scenario_, assignment.substr(0, equals));
    const std::string& path = field.path;
    // What the file said below this field is gone.
    std::erase_if(places_, [&](const auto& entry) {
      return entry.first.starts_with(path + ".") || entry.first.starts_with(path + "[");
    });
    places_[path] = place;
    // What it belongs to, if the file does not have it, was written here too.
    for (std::size_t cut = path.find_last_of(".["); cut != std::string::npos;
         cut = path.find_last_of(".[", cut - 1)) {
      places_.try_emplace(path.substr(0, cut), place);
    }
    if (value.starts_with('@') && field.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      set_from_file(field, value.substr(1));
    } else {
      set_field(scenario_, path, value);
    }
  } catch (const InputError& problem) {
    throw problem.at(place);
  }
}

std::string Document::path_of(const std::string& file) const {
  return (std::filesystem::path(folder()) / file).lexically_normal().string();
}

void Document::set_from_file(const FieldPlace& field, const std::string& name) {
  const std::string file =
      (std::filesystem::path(file_).parent_path() / name).lexically_normal().string();
  const google::protobuf::Reflection& reflection = *field.owner->GetReflection();
  const bool list = field.field->is_repeated();
  reflection.ClearField(field.owner, field.field);
  Message& message = list ? *reflection.AddMessage(field.owner, field.field)
                          : *reflection.MutableMessage(field.owner, field.field);
  TextFormat::Parser parser;
  TextFormat::ParseInfoTree tree;
  FirstError error;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(read_file(file), &message))
    throw InputError(fmt::format("{}:{}", file, error.text()));
  remember_places(message, &tree, field.path + (list ? "[0]." : "."), file);
}

InputError Document::error(std::string_view path, std::string_view problem) const {
  std::string_view known = path;
  auto place = places_.find(known);
  while (place == places_.end()) {
    const std::size_t cut = known.find_last_of(".[");
    known = cut == std::string_view::npos ? std::string_view() : known.substr(0, cut);
    place = places_.find(known);
  }
  return InputError(fmt::format("{}: {}: {}", place->second, path, problem));
}

}  // namespace syncline
