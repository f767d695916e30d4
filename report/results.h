// The results as messages. Inside report/ only.
#pragma once

#include "report/results.pb.h"
#include "report/run_facts.h"

namespace syncline {

proto::Results make_results(const RunFacts& facts);
proto::RealTime make_real_time(const RunFacts& facts);

}  // namespace syncline
