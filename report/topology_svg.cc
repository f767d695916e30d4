#include "report/topology_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>

#include "topology/layout.h"

namespace syncline {
namespace {

constexpr double kWidth = 1200;
constexpr double kLeast = 400, kMost = 1200;  // height
constexpr double kMargin = 70;
constexpr double kLegend = 70;  // below the picture
constexpr std::size_t kMostNames = 150;

// Dark blue, teal, green, yellow: falls in brightness for those who see no colours, too.
constexpr std::array<std::array<int, 3>, 5> kByBandwidth{
    {{253, 180, 47}, {122, 190, 90}, {33, 145, 140}, {49, 104, 142}, {68, 1, 84}}};
// Green, yellow, red.
constexpr std::array<std::array<int, 3>, 3> kByLoad{{{44, 160, 95}, {240, 190, 50}, {200, 30, 40}}};

template <std::size_t Count>
std::string colour_at(const std::array<std::array<int, 3>, Count>& colours, double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (Count - 1);
  const auto below = std::min(static_cast<std::size_t>(at), Count - 2);
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i)
    mixed[i] = static_cast<int>(
        std::lround(colours[below][i] + (at - static_cast<double>(below)) *
                                            (colours[below + 1][i] - colours[below][i])));
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

// Scales the points into the picture; returns its height.
double fit(std::vector<DrawnPoint>& points) {
  if (points.empty()) return kLeast;
  const auto by_x = [](const DrawnPoint& a, const DrawnPoint& b) { return a.x < b.x; };
  const auto by_y = [](const DrawnPoint& a, const DrawnPoint& b) { return a.y < b.y; };
  const auto [left, right] = std::minmax_element(points.begin(), points.end(), by_x);
  const auto [top, bottom] = std::minmax_element(points.begin(), points.end(), by_y);
  const double x = left->x, y = top->y;
  const double width = std::max(right->x - x, 1e-9), height = std::max(bottom->y - y, 1e-9);
  const double scale = std::min((kWidth - 2 * kMargin) / width, (kMost - 2 * kMargin) / height);
  const double picture = std::clamp(height * scale + 2 * kMargin, kLeast, kMost);
  const double shift_x = (kWidth - width * scale) / 2, shift_y = (picture - height * scale) / 2;
  for (DrawnPoint& point : points)
    point = {(point.x - x) * scale + shift_x, (point.y - y) * scale + shift_y};
  return picture;
}

// Degrees of longitude are shorter than those of latitude away from the equator.
std::vector<DrawnPoint> places_on_map(const std::vector<DrawnNode>& nodes,
                                      const std::vector<DrawnLink>& links) {
  double latitude = 0;
  std::size_t known = 0;
  for (const DrawnNode& node : nodes) {
    if (!node.at) continue;
    latitude += node.at->latitude;
    ++known;
  }
  latitude /= static_cast<double>(known);
  const double narrow = std::max(std::cos(latitude * std::numbers::pi / 180), 0.1);
  std::vector<DrawnPoint> points(nodes.size());
  std::vector<bool> placed(nodes.size());
  DrawnPoint middle;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].at) continue;
    points[i] = {nodes[i].at->longitude * narrow, -nodes[i].at->latitude};
    placed[i] = true;
    middle.x += points[i].x / static_cast<double>(known);
    middle.y += points[i].y / static_cast<double>(known);
  }
  double span = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (placed[i])
      span = std::max({span, std::abs(points[i].x - middle.x), std::abs(points[i].y - middle.y)});
  }
  // By their neighbours, a little apart, each further from the map than the one before.
  std::vector<std::vector<std::uint32_t>> neighbours(nodes.size());
  for (const DrawnLink& link : links) {
    neighbours[link.a].push_back(link.b);
    neighbours[link.b].push_back(link.a);
  }
  std::size_t without = 0;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (placed[i]) continue;
      DrawnPoint sum;
      double count = 0;
      for (const std::uint32_t near : neighbours[i]) {
        if (!placed[near]) continue;
        sum.x += points[near].x;
        sum.y += points[near].y;
        ++count;
      }
      if (count == 0) continue;
      const double angle = 2.4 * static_cast<double>(without++);  // the golden angle
      points[i] = {sum.x / count + 0.06 * span * std::cos(angle),
                   sum.y / count + 0.06 * span * std::sin(angle)};
      placed[i] = more = true;
    }
  }
  // Those that nothing joins to the map: in a row above it.
  double row = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!placed[i])
      points[i] = {middle.x - span + 0.12 * span * row++, middle.y - 1.25 * std::max(span, 1.0)};
  }
  return points;
}

std::vector<DrawnPoint> places(const std::vector<DrawnNode>& nodes,
                               const std::vector<DrawnLink>& links) {
  if (std::any_of(nodes.begin(), nodes.end(),
                  [](const DrawnNode& node) { return node.at.has_value(); }))
    return places_on_map(nodes, links);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const DrawnLink& link : links) edges.emplace_back(link.a, link.b);
  return lay_out(static_cast<std::uint32_t>(nodes.size()), edges);
}

// What the colours mean.
struct Scale {
  LinkColour by = LinkColour::BANDWIDTH;
  double least = 0, most = 0;  // bit/s, of the finite ones; equal: one colour

  double share(double bits_per_s) const {
    if (most <= least) return 1;
    if (!std::isfinite(bits_per_s)) return 1;
    return std::log(bits_per_s / least) / std::log(most / least);
  }
};

Scale scale_of(const std::vector<DrawnLink>& links, LinkColour colour) {
  Scale scale{colour};
  for (const DrawnLink& link : links) {
    const double rate = link.bandwidth ? link.bandwidth->in_bits_per_s() : 0;
    if (!(rate > 0) || !std::isfinite(rate)) continue;
    if (scale.most == 0) scale.least = scale.most = rate;
    scale.least = std::min(scale.least, rate);
    scale.most = std::max(scale.most, rate);
  }
  return scale;
}

struct Stroke {
  std::string colour = "#b0b0b0";
  double width = 1.5;
  bool known = false;
};

Stroke stroke_of(const DrawnLink& link, const Scale& scale) {
  if (scale.by == LinkColour::LOAD) {
    if (!link.load) return {};
    return {colour_at(kByLoad, *link.load), 1.5 + 3.5 * std::clamp(*link.load, 0.0, 1.0), true};
  }
  const double rate = link.bandwidth ? link.bandwidth->in_bits_per_s() : 0;
  if (!(rate > 0)) return {};
  const double share = scale.share(rate);
  return {colour_at(kByBandwidth, share), 1.5 + 2.5 * share, true};
}

std::string value_text(const DrawnLink& link) {
  std::string text = link.bandwidth ? to_text(*link.bandwidth) : "bandwidth not known";
  if (link.load) text += fmt::format(", load {:.1f} %", *link.load * 100);
  return text;
}

void add_legend(std::string& svg, double y, const Scale& scale, bool unknown) {
  constexpr int kSteps = 24;
  constexpr double kStep = 12;
  const auto out = std::back_inserter(svg);
  const bool load = scale.by == LinkColour::LOAD;
  const auto label = [&](double x, const char* anchor, const std::string& text) {
    fmt::format_to(out, "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y + 24,
                   anchor, text);
  };
  const bool one = !load && scale.most == scale.least;
  for (int i = 0; i < kSteps && (load || scale.most > 0); ++i) {
    const double share = one ? 1 : i / (kSteps - 1.0);
    fmt::format_to(out, R"(<rect x="{:.0f}" y="{:.0f}" width="{:.0f}" height="10" fill="{}"/>)",
                   kMargin + i * kStep, y, kStep,
                   load ? colour_at(kByLoad, share) : colour_at(kByBandwidth, share));
  }
  if (load) {
    label(kMargin, "start", "0 %");
    label(kMargin + kSteps * kStep, "end", "mean load 100 %");
  } else if (scale.most > 0) {
    label(kMargin, "start", to_text(BitRate::bits_per_s(scale.least)));
    if (!one) label(kMargin + kSteps * kStep, "end", to_text(BitRate::bits_per_s(scale.most)));
  }
  if (unknown)
    fmt::format_to(out,
                   "<path d=\"M{:.0f} {:.0f}h40\" stroke=\"#b0b0b0\" stroke-width=\"1.5\" "
                   "stroke-dasharray=\"5 4\"/><text x=\"{:.0f}\" y=\"{:.0f}\">not known</text>\n",
                   kMargin + kSteps * kStep + 40, y + 5, kMargin + kSteps * kStep + 88, y + 9);
}

}  // namespace

std::string topology_svg(const std::string& title, const std::vector<DrawnNode>& nodes,
                         const std::vector<DrawnLink>& links, LinkColour colour) {
  std::vector<DrawnPoint> points = places(nodes, links);
  const double height = fit(points);
  const Scale scale = scale_of(links, colour);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\" "
      "fill=\"#222\">\n<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n<text x=\"{3:.0f}\" y=\"30\" font-size=\"16\">{2}</text>\n",
      kWidth, height + kLegend, escaped(title), kMargin);
  const auto out = std::back_inserter(svg);

  // How many links there are between two nodes, and how many of them are drawn.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<int, int>> between;
  for (const DrawnLink& link : links) ++between[std::minmax(link.a, link.b)].first;
  bool unknown = false;
  svg += "<g fill=\"none\" stroke-linecap=\"round\">\n";
  for (const DrawnLink& link : links) {
    if (link.a == link.b) continue;
    auto& [count, drawn] = between[std::minmax(link.a, link.b)];
    const DrawnPoint a = points[std::min(link.a, link.b)], b = points[std::max(link.a, link.b)];
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    const double bend = (drawn++ - (count - 1) / 2.0) * 12;
    const Stroke stroke = stroke_of(link, scale);
    unknown |= !stroke.known;
    fmt::format_to(out,
                   "<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" stroke=\"{}\" "
                   "stroke-width=\"{:.1f}\"{}><title>{}: {}</title></path>\n",
                   a.x, a.y, (a.x + b.x) / 2 - 2 * bend * (b.y - a.y) / length,
                   (a.y + b.y) / 2 + 2 * bend * (b.x - a.x) / length, b.x, b.y, stroke.colour,
                   stroke.width, stroke.known ? "" : " stroke-dasharray=\"5 4\"",
                   escaped(link.name), value_text(link));
  }
  svg += "</g>\n";
  const double radius = nodes.size() > kMostNames ? 2.5 : 4.5;
  const bool map = std::any_of(nodes.begin(), nodes.end(),
                               [](const DrawnNode& node) { return node.at.has_value(); });
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const DrawnNode& node = nodes[i];
    // Hollow: it says no place.
    const char* const fill = map && !node.at ? "#ffffff" : node.host ? "#222222" : "#8a8a8a";
    fmt::format_to(out,
                   "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" "
                   "stroke=\"#222222\"><title>{}</title></circle>\n",
                   points[i].x, points[i].y, radius, fill, escaped(node.name));
  }
  if (nodes.size() <= kMostNames) {
    // A light rim keeps names readable over links.
    svg += "<g paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\">\n";
    for (std::size_t i = 0; i < nodes.size(); ++i)
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", points[i].x + 7,
                     points[i].y - 6, escaped(nodes[i].name));
    svg += "</g>\n";
  }
  add_legend(svg, height + kLegend - 40, scale, unknown);
  return svg + "</svg>\n";
}

}  // namespace syncline
