// Bandwidth logs with columns and stamps of time. Private to topology/read.
#pragma once

#include "topology/read/bandwidth_trace.h"
#include "topology/read/text_source.h"

namespace syncline {

// See read_bandwidth_trace(). `rows` stands before the first row.
bool is_ucc_log(const CsvCursor& rows);
bool is_starlink_log(const CsvCursor& rows);
BandwidthTrace parse_ucc_log(const TextSource& source, CsvCursor& rows, TraceDirection direction);
BandwidthTrace parse_starlink_log(const TextSource& source, CsvCursor& rows,
                                  TraceDirection direction);
BandwidthTrace parse_pantheon_log(const TextSource& source);

}  // namespace syncline
