// Quantities as texts that are read back as exactly the same values.
#pragma once

#include <string>

#include "topology/quantity.h"

namespace syncline {

std::string exact_text(BitRate rate);         // "1 Gbit/s", "123456.7 bit/s"; infinite: "no limit"
std::string exact_time_text(double seconds);  // "20 ms", "1.23456789e-05 s"

}  // namespace syncline
