// A file's links with what the options complete, as far as they do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/read/read.h"

namespace syncline {

struct CompletedLink {
  const ImportedLink* record = nullptr;  // of the topology that was completed
  std::optional<BitRate> bandwidth;      // none: neither the file nor the options say it
  std::optional<double> latency_s;
};

struct CompletedLinks {
  std::vector<CompletedLink>
      links;  // in the order of the file, without self-loops and dropped ones
  std::vector<std::string> lacking;  // what has to be asked for, with the links that lack it
  std::vector<std::string> assumed;  // one sentence each
};

// Values as to_topology() takes them. Adds its warnings to `imported`. Throws InputError for
// options that are wrong.
CompletedLinks complete_links(ImportedTopology& imported, const ReadOptions& options);

}  // namespace syncline
