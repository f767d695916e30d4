#include <algorithm>
#include <utility>

#include "topology/topology.h"

namespace syncline {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein's distance by rows, doubled: 2 for a letter put in, left out or changed, 1 where only
// the case changed.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);  // row[j]: from the first i letters of a to the first j of b
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(2 * j);
  for (const char from : a) {
    int diagonal = row[0];
    row[0] += 2;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char to = b[j - 1];
      const int change = from == to ? 0 : lower(from) == lower(to) ? 1 : 2;
      diagonal = std::exchange(row[j], std::min({row[j] + 2, row[j - 1] + 2, diagonal + change}));
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates, std::size_t limit) {
  std::vector<std::pair<int, std::size_t>> ranked;  // distance, index
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ranked.emplace_back(edit_distance(name, candidates[i]), i);
  }
  const std::size_t count = std::min(limit, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < count; ++i) nearest.push_back(candidates[ranked[i].second]);
  return nearest;
}

}  // namespace syncline
