// Reports of a run: the summary for people and for programs, and the files of its folder.
#pragma once

#include <map>
#include <string>

#include "report/run_facts.h"

namespace syncline {

// True where a loss of the global model is not a number.
bool diverged(const RunFacts& facts);

// For people: a dozen lines.
std::string summary_text(const RunFacts& facts);
// For programs: the message Summary of report/results.proto as JSON.
std::string summary_json(const RunFacts& facts);

// The files of a run's folder by name: results.json, rounds.csv, links.csv, workers.csv,
// timeline.json, program.txt, scenario.textproto, real_time.json.
std::map<std::string, std::string> run_files(const RunFacts& facts);

}  // namespace syncline
