#include "app/sweep/vary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "topology/input_error.h"

namespace syncline {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

constexpr std::string_view kOpening = "([{";
constexpr std::string_view kClosing = ")]}";

// "topology.links[milan-core].latency" -> its parts; dots inside brackets are the name's.
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts(1);
  bool inside = false;
  for (const char c : path) {
    inside = (inside || c == '[') && c != ']';
    if (c == '.' && !inside) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// The last `count` parts of the path.
std::string end_of(const std::string& path, std::size_t count) {
  const std::vector<std::string> parts = parts_of(path);
  std::string text;
  for (std::size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i)
    text += (text.empty() ? "" : ".") + parts[i];
  return text;
}

void label(std::vector<SweepDimension>& dimensions) {
  for (SweepDimension& dimension : dimensions) {
    for (std::size_t count = 1;; ++count) {
      dimension.label = end_of(dimension.path, count);
      const auto alike =
          std::count_if(dimensions.begin(), dimensions.end(), [&](const SweepDimension& other) {
            return end_of(other.path, count) == dimension.label;
          });
      if (alike <= 1 || dimension.label == dimension.path) break;
    }
  }
}

SweepDimension parse_one(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string form = "write PATH=V1,V2, for example strategy.local_steps=10,50";
  if (equals == std::string::npos) throw InputError(form);
  SweepDimension dimension;
  dimension.path = trimmed(std::string_view(text).substr(0, equals));
  if (dimension.path.empty()) throw InputError("no field stands before the \"=\"; " + form);
  dimension.values = split_values(std::string_view(text).substr(equals + 1));
  std::set<std::string> seen;
  for (const std::string& value : dimension.values) {
    if (!seen.insert(value).second)
      throw InputError(fmt::format("{} stands there twice; write each value once", value));
  }
  return dimension;
}

// What may stand in a folder's name: the rest becomes "-".
std::string plain(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string name;
  for (const char c : text) {
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+';
    if (kept) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name.resize(std::min(name.size(), kLongest));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

}  // namespace

std::vector<std::string> split_values(std::string_view list) {
  std::vector<std::string> values;
  std::string open;  // what closes the brackets that stand open
  char quote = 0;
  std::size_t begin = 0;
  const auto take = [&](std::size_t end) {
    const std::string_view value = trimmed(list.substr(begin, end - begin));
    if (value.empty()) throw InputError("has an empty value; write PATH=V1,V2");
    values.emplace_back(value);
    begin = end + 1;
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (const std::size_t kind = kOpening.find(c); kind != std::string_view::npos) {
      open += kClosing[kind];
    } else if (!open.empty() && c == open.back()) {
      open.pop_back();
    } else if (c == ',' && open.empty()) {
      take(i);
    }
  }
  if (quote != 0) throw InputError(fmt::format("lacks a closing {}", quote));
  if (!open.empty()) throw InputError(fmt::format("lacks a closing \"{}\"", open.back()));
  take(list.size());
  return values;
}

std::vector<SweepDimension> parse_vary(std::span<const std::string> varied) {
  std::vector<SweepDimension> dimensions;
  std::size_t points = 1;
  for (const std::string& text : varied) {
    try {
      dimensions.push_back(parse_one(text));
      for (std::size_t i = 0; i + 1 < dimensions.size(); ++i) {
        if (dimensions[i].path == dimensions.back().path)
          throw InputError("the field is varied twice; write all its values in one --vary");
      }
      points *= dimensions.back().values.size();
      if (points > kMostPoints)
        throw InputError(
            fmt::format("makes {} points; a sweep takes at most {}", points, kMostPoints));
    } catch (const InputError& problem) {
      throw problem.at("--vary " + text);
    }
  }
  label(dimensions);
  return dimensions;
}

std::vector<std::vector<std::size_t>> combinations(std::span<const SweepDimension> dimensions) {
  std::vector<std::vector<std::size_t>> points(1);
  for (const SweepDimension& dimension : dimensions) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& point : points) {
      for (std::size_t value = 0; value < dimension.values.size(); ++value) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::string point_name(std::span<const SweepDimension> dimensions,
                       std::span<const std::size_t> values) {
  std::string name;
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    name += fmt::format("{}{}={}", i == 0 ? "" : ", ", dimensions[i].label,
                        dimensions[i].values[values[i]]);
  return name;
}

std::vector<std::string> folder_names(std::span<const SweepDimension> dimensions,
                                      std::span<const std::vector<std::size_t>> points) {
  // A file system takes 255 bytes, and the name that stands there while a folder is written is
  // longer.
  constexpr std::size_t kLongest = 180;
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const std::vector<std::size_t>& point : points) {
    std::string name;
    for (std::size_t i = 0; i < dimensions.size(); ++i)
      name += fmt::format("{}{}={}", i == 0 ? "" : ",", plain(dimensions[i].label),
                          plain(dimensions[i].values[point[i]]));
    name.resize(std::min(name.size(), kLongest));
    // Values that differ only in what a name cannot hold.
    std::string different = name;
    for (int copy = 2; !taken.insert(different).second; ++copy)
      different = fmt::format("{}-{}", name, copy);
    names.push_back(different);
  }
  return names;
}

}  // namespace syncline
