// What SNDlib's two formats share. Private to topology/read.
#pragma once

#include <string>
#include <vector>

#include "topology/read/imported.h"
#include "topology/read/text_source.h"

namespace syncline {

// Coordinates are degrees or pixels, and the native format does not say which: they count as
// degrees where all of them can be.
class SndlibPoints {
 public:
  void add(const TextSource& source, const Token& x, const Token& y);
  // To the nodes, in order; nothing where nodes lack points or one is outside of the globe.
  void apply(ImportedTopology& topology) const;

 private:
  std::vector<GeoPoint> points_;
  bool degrees_ = true;
  std::size_t odd_line_ = 0;
};

// Zero stands for "nothing installed": no bandwidth. A unit that is not known leaves a plain
// number.
void set_sndlib_capacity(const TextSource& source, const Token& capacity, const std::string& unit,
                         ImportedLink& link);

}  // namespace syncline
