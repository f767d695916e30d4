// What the surroundings say: folders, the terminal, ctrl-C.
#pragma once

#include <string>

namespace syncline {

// SYNCLINE_CACHE, else syncline in XDG_CACHE_HOME or ~/.cache: what set-up fetched and what was
// trained.
std::string cache_folder();

// Version and build of this program: what another one wrote may differ.
std::string build_identity();

bool stderr_is_terminal();

// From now on ctrl-C and SIGTERM only set a flag; a second one ends the process at once with 130. A
// full disk or a closed pipe is an error of the write, not a signal.
void handle_signals();
bool interrupted();

}  // namespace syncline
