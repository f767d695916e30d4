// The folder that a run's files go to: whole, or not at all.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline {

// Whose folder it is, and the files that only such a folder has.
struct FolderKind {
  std::string owner;
  std::vector<std::string> marks;
};
extern const FolderKind kRunFolder;
extern const FolderKind kTrafficFolder;

class OutputFolder {
 public:
  // Checks, before the work starts, that `path` can be written: it does not exist, is empty, or is
  // a folder of this kind (it will be replaced). Makes the folders above it. Throws InputError: any
  // other folder that is not empty, a file, the working folder, a place that cannot be written.
  explicit OutputFolder(std::string path, const FolderKind& kind = kRunFolder);

  // Writes the files beside `path` and renames. A run that was there stays until then. Throws
  // std::runtime_error (disk full, …); then nothing is left.
  void publish(const std::map<std::string, std::string>& files) const;

  const std::string& path() const { return path_; }

 private:
  FolderKind kind_;
  std::string path_;     // as it was named
  std::string folder_;   // the place itself, absolute
  std::string partial_;  // beside it, on the same file system
};

}  // namespace syncline
