// Places on the globe.
#pragma once

namespace syncline {

struct GeoPoint {
  double latitude = 0;   // degrees, -90 to 90
  double longitude = 0;  // degrees, -180 to 180
  friend bool operator==(const GeoPoint&, const GeoPoint&) = default;
};

// Great circle on a sphere of 6371 km radius, in metres (haversine).
double great_circle_m(const GeoPoint& a, const GeoPoint& b);

}  // namespace syncline
