#include "topology/cloud_regions.h"

#include <algorithm>
#include <iterator>

namespace syncline {
namespace {

struct Region {
  std::string_view name;
  GeoPoint at;
};

// By name.
constexpr Region kRegions[] = {
    {"aws:af-south-1", {-33.92, 18.42}},
    {"aws:ap-east-1", {22.32, 114.17}},
    {"aws:ap-northeast-1", {35.68, 139.69}},
    {"aws:ap-northeast-2", {37.57, 126.98}},
    {"aws:ap-northeast-3", {34.69, 135.5}},
    {"aws:ap-south-1", {19.08, 72.88}},
    {"aws:ap-south-2", {17.39, 78.49}},
    {"aws:ap-southeast-1", {1.35, 103.82}},
    {"aws:ap-southeast-2", {-33.87, 151.21}},
    {"aws:ap-southeast-3", {-6.21, 106.85}},
    {"aws:ap-southeast-4", {-37.81, 144.96}},
    {"aws:ca-central-1", {45.5, -73.57}},
    {"aws:ca-west-1", {51.05, -114.07}},
    {"aws:eu-central-1", {50.11, 8.68}},
    {"aws:eu-central-2", {47.38, 8.54}},
    {"aws:eu-north-1", {59.33, 18.07}},
    {"aws:eu-south-1", {45.46, 9.19}},
    {"aws:eu-south-2", {41.65, -0.89}},
    {"aws:eu-west-1", {53.35, -6.26}},
    {"aws:eu-west-2", {51.51, -0.13}},
    {"aws:eu-west-3", {48.86, 2.35}},
    {"aws:il-central-1", {32.09, 34.78}},
    {"aws:me-central-1", {24.45, 54.38}},
    {"aws:me-south-1", {26.07, 50.55}},
    {"aws:sa-east-1", {-23.55, -46.63}},
    {"aws:us-east-1", {39.04, -77.49}},
    {"aws:us-east-2", {39.96, -83.0}},
    {"aws:us-west-1", {37.35, -121.95}},
    {"aws:us-west-2", {45.84, -119.7}},
    {"azure:australiaeast", {-33.87, 151.21}},
    {"azure:australiasoutheast", {-37.81, 144.96}},
    {"azure:brazilsouth", {-23.55, -46.63}},
    {"azure:canadacentral", {43.65, -79.38}},
    {"azure:canadaeast", {46.81, -71.21}},
    {"azure:centralindia", {18.52, 73.86}},
    {"azure:centralus", {41.59, -93.62}},
    {"azure:eastasia", {22.32, 114.17}},
    {"azure:eastus", {37.37, -79.82}},
    {"azure:eastus2", {36.67, -78.39}},
    {"azure:francecentral", {48.86, 2.35}},
    {"azure:germanywestcentral", {50.11, 8.68}},
    {"azure:italynorth", {45.46, 9.19}},
    {"azure:japaneast", {35.68, 139.69}},
    {"azure:japanwest", {34.69, 135.5}},
    {"azure:koreacentral", {37.57, 126.98}},
    {"azure:northcentralus", {41.88, -87.63}},
    {"azure:northeurope", {53.35, -6.26}},
    {"azure:norwayeast", {59.91, 10.75}},
    {"azure:polandcentral", {52.23, 21.01}},
    {"azure:qatarcentral", {25.29, 51.53}},
    {"azure:southafricanorth", {-26.2, 28.05}},
    {"azure:southcentralus", {29.42, -98.49}},
    {"azure:southeastasia", {1.35, 103.82}},
    {"azure:southindia", {13.08, 80.27}},
    {"azure:spaincentral", {40.42, -3.7}},
    {"azure:swedencentral", {60.67, 17.14}},
    {"azure:switzerlandnorth", {47.38, 8.54}},
    {"azure:uaenorth", {25.2, 55.27}},
    {"azure:uksouth", {51.51, -0.13}},
    {"azure:ukwest", {51.48, -3.18}},
    {"azure:westcentralus", {41.14, -104.82}},
    {"azure:westeurope", {52.37, 4.9}},
    {"azure:westus", {37.78, -122.42}},
    {"azure:westus2", {47.23, -119.85}},
    {"azure:westus3", {33.45, -112.07}},
    {"gcp:africa-south1", {-26.2, 28.05}},
    {"gcp:asia-east1", {24.05, 120.52}},
    {"gcp:asia-east2", {22.32, 114.17}},
    {"gcp:asia-northeast1", {35.68, 139.69}},
    {"gcp:asia-northeast2", {34.69, 135.5}},
    {"gcp:asia-northeast3", {37.57, 126.98}},
    {"gcp:asia-south1", {19.08, 72.88}},
    {"gcp:asia-south2", {28.61, 77.21}},
    {"gcp:asia-southeast1", {1.35, 103.82}},
    {"gcp:asia-southeast2", {-6.21, 106.85}},
    {"gcp:australia-southeast1", {-33.87, 151.21}},
    {"gcp:australia-southeast2", {-37.81, 144.96}},
    {"gcp:europe-central2", {52.23, 21.01}},
    {"gcp:europe-north1", {60.57, 27.19}},
    {"gcp:europe-southwest1", {40.42, -3.7}},
    {"gcp:europe-west1", {50.47, 3.87}},
    {"gcp:europe-west10", {52.52, 13.4}},
    {"gcp:europe-west12", {45.07, 7.69}},
    {"gcp:europe-west2", {51.51, -0.13}},
    {"gcp:europe-west3", {50.11, 8.68}},
    {"gcp:europe-west4", {53.44, 6.84}},
    {"gcp:europe-west6", {47.38, 8.54}},
    {"gcp:europe-west8", {45.46, 9.19}},
    {"gcp:europe-west9", {48.86, 2.35}},
    {"gcp:me-central1", {25.29, 51.53}},
    {"gcp:me-west1", {32.09, 34.78}},
    {"gcp:northamerica-northeast1", {45.5, -73.57}},
    {"gcp:northamerica-northeast2", {43.65, -79.38}},
    {"gcp:southamerica-east1", {-23.55, -46.63}},
    {"gcp:southamerica-west1", {-33.45, -70.67}},
    {"gcp:us-central1", {41.26, -95.86}},
    {"gcp:us-east1", {33.2, -80.01}},
    {"gcp:us-east4", {39.03, -77.47}},
    {"gcp:us-east5", {39.96, -83.0}},
    {"gcp:us-south1", {32.78, -96.8}},
    {"gcp:us-west1", {45.59, -121.18}},
    {"gcp:us-west2", {34.05, -118.24}},
    {"gcp:us-west3", {40.76, -111.89}},
    {"gcp:us-west4", {36.17, -115.14}},
};

}  // namespace

std::optional<GeoPoint> find_cloud_region(std::string_view name) {
  const auto find = [](std::string_view wanted) {
    return std::find_if(std::begin(kRegions), std::end(kRegions),
                        [&](const Region& region) { return region.name == wanted; });
  };
  auto region = find(name);
  const bool zone = name.starts_with("gcp:") && name.size() > 2 && name[name.size() - 2] == '-' &&
                    name.back() >= 'a' && name.back() <= 'z';
  if (region == std::end(kRegions) && zone) region = find(name.substr(0, name.size() - 2));
  if (region == std::end(kRegions)) return std::nullopt;
  return region->at;
}

std::vector<std::string> cloud_region_names() {
  std::vector<std::string> names;
  for (const Region& region : kRegions) names.emplace_back(region.name);
  return names;
}

}  // namespace syncline
