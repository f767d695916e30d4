// Where the regions of cloud providers are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/geo.h"

namespace syncline {

// "aws:us-east-1", "azure:westeurope", "gcp:europe-west4" (or one of its zones,
// "gcp:europe-west4-a"): the metropolitan area that the provider names, to about 50 km. None: not
// known.
std::optional<GeoPoint> find_cloud_region(std::string_view name);
std::vector<std::string> cloud_region_names();

}  // namespace syncline
