#include "topology/geo.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace syncline {

double great_circle_m(const GeoPoint& a, const GeoPoint& b) {
  constexpr double kRadiusM = 6371e3;
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double half_lat = std::sin(radians(b.latitude - a.latitude) / 2);
  const double half_lon = std::sin(radians(b.longitude - a.longitude) / 2);
  const double h = half_lat * half_lat + std::cos(radians(a.latitude)) *
                                             std::cos(radians(b.latitude)) * half_lon * half_lon;
  return 2 * kRadiusM * std::asin(std::min(1.0, std::sqrt(h)));
}

}  // namespace syncline
