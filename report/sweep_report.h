// Reports of a sweep.
#pragma once

#include <map>
#include <string>

#include "report/sweep_facts.h"

namespace syncline {

// For people: a table and the answers.
std::string sweep_text(const SweepFacts& facts);
// For programs: the message Sweep of report/sweep.proto as JSON.
std::string sweep_json(const SweepFacts& facts);

// By name: sweep.csv, a row a point; sweep.json, the same with the answers; losses.csv, a row an
// evaluation.
std::map<std::string, std::string> sweep_files(const SweepFacts& facts);

}  // namespace syncline
