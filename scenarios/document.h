// A scenario file as it stands: its fields, and where each was written. Inside scenarios/ only.
#pragma once

#include <google/protobuf/text_format.h>

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/field_path.h"
#include "scenarios/scenario.pb.h"
#include "topology/input_error.h"

namespace syncline {

// UTF-8 without control characters: everything that is read ends up in messages of one line, in
// JSON and in names of files.
bool is_plain_text(std::string_view text);

class Document {
 public:
  // Reads the file and applies "PATH=VALUE" changes in order; a message may stand in a file of its
  // own, "PATH=@FILE" with FILE relative to the scenario's folder. Throws InputError for what is
  // not a scenario.
  static Document read(const std::string& file, std::span<const std::string> sets);

  // The same of a file that may also hold the message Topology alone, which then is the scenario's.
  static Document read_topology(const std::string& file);

  const std::string& file() const { return file_; }
  std::string folder() const;                          // that relative paths start from
  std::string path_of(const std::string& file) const;  // as this document names it
  proto::Scenario& scenario() { return scenario_; }
  const proto::Scenario& scenario() const { return scenario_; }

  // The error for a field: "FILE:LINE: topology.links[2].latency: PROBLEM". A field that was not
  // written has the line of what it belongs to.
  InputError error(std::string_view path, std::string_view problem) const;

  // What `read` returns; its InputError becomes the field's.
  template <class Read>
  auto at(std::string_view path, Read read) const {
    try {
      return read();
    } catch (const InputError& problem) {
      throw error(path, problem.what());
    }
  }

 private:
  // `prefix`: of the fields of `message`, "" or "topology.".
  void parse(const std::string& text, google::protobuf::Message& message,
             const std::string& prefix);
  void set(const std::string& assignment);
  // The field's message from a file in the text format.
  void set_from_file(const FieldPlace& field, const std::string& name);
  // Throws InputError for texts that are no plain text, and for numbers that an enum does not have.
  void check_values(const google::protobuf::Message& message, const std::string& prefix) const;
  void remember_places(const google::protobuf::Message& message,
                       const google::protobuf::TextFormat::ParseInfoTree* tree,
                       const std::string& prefix, const std::string& file);

  std::string file_;
  proto::Scenario scenario_;
  // Field path -> "FILE:LINE" or "--set PATH=VALUE".
  std::map<std::string, std::string, std::less<>> places_;
};

}  // namespace syncline
