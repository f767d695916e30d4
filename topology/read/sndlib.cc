#include "topology/read/sndlib.h"

#include <cmath>

namespace syncline {

void SndlibPoints::add(const TextSource& source, const Token& x, const Token& y) {
  const GeoPoint point{to_number(source, y, "latitude"), to_number(source, x, "longitude")};
  if (std::abs(point.latitude) > 90 || std::abs(point.longitude) > 180) {
    if (degrees_) odd_line_ = x.place.line;
    degrees_ = false;
  }
  points_.push_back(point);
}

void SndlibPoints::apply(ImportedTopology& topology) const {
  if (!degrees_) {
    topology.warn("coordinates", "are not degrees (pixels of a map?) and are not used", odd_line_);
    return;
  }
  if (points_.size() != topology.nodes.size() || points_.empty()) return;
  for (std::size_t i = 0; i < points_.size(); ++i) topology.nodes[i].at = points_[i];
  topology.assumed.emplace_back("coordinates are degrees of longitude and latitude");
}

void set_sndlib_capacity(const TextSource& source, const Token& capacity, const std::string& unit,
                         ImportedLink& link) {
  const double value = to_number(source, capacity, "pre_installed_capacity", Sign::NOT_NEGATIVE);
  if (value == 0) return;
  if (unit == "MBITPERSEC") {
    link.bandwidth = BitRate::bits_per_s(value * 1e6);
  } else if (unit == "GBITPERSEC") {
    link.bandwidth = BitRate::bits_per_s(value * 1e9);
  } else {
    link.bandwidth_number = value;
  }
}

}  // namespace syncline
