// A lock between processes: flock on FOLDER/lock. It ends with the process, however that ends.
#pragma once

#include <functional>
#include <string>

#include "compute/file_descriptor.h"

namespace syncline {

// Held as long as the descriptor lives; empty if another holds it or there is no such folder. The
// lock file may be deleted by who holds it (with its folder); others then start anew.
FileDescriptor try_lock_folder(const std::string& folder);

// Makes the folder if it is missing, and waits. Asks `interrupted` ten times a second meanwhile and
// throws TrainingInterrupted if it says so; std::runtime_error with the path if the folder cannot
// be made or locked.
FileDescriptor lock_folder(const std::string& folder, const std::function<bool()>& interrupted);

}  // namespace syncline
