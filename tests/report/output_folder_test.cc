// A run's folder: whole or not at all, and nobody else's folder is touched.
#include "report/output_folder.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/compute/temporary_folder.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> kRun{
    {"results.json", "{}"}, {"scenario.textproto", "name: \"a\""}, {"rounds.csv", "round\n"}};

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// All that lies in a folder, hidden ones too.
std::vector<std::string> names(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

std::string refusal(const std::string& path) {
  try {
    const OutputFolder folder(path);
    return {};
  } catch (const InputError& problem) {
    return problem.what();
  }
}

TEST(OutputFolder, NewWithTheFoldersAboveIt) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/runs/today/first";
  const OutputFolder folder(path);
  EXPECT_FALSE(fs::exists(path));  // nothing is there before it is whole
  folder.publish(kRun);
  EXPECT_THAT(names(path),
              testing::UnorderedElementsAre("results.json", "scenario.textproto", "rounds.csv"));
  EXPECT_EQ(read(path + "/scenario.textproto"), "name: \"a\"");
  EXPECT_THAT(names(temporary.path() + "/runs/today"), testing::ElementsAre("first"));
}

TEST(OutputFolder, Empty) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/run";
  fs::create_directory(path);
  OutputFolder(path).publish(kRun);
  EXPECT_EQ(names(path).size(), 3u);
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("run"));
}

TEST(OutputFolder, ARunIsReplacedWhole) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/run";
  OutputFolder(path).publish(kRun);
  const OutputFolder folder(path);
  EXPECT_EQ(read(path + "/results.json"), "{}");  // until the new one is there
  folder.publish({{"results.json", "{\"new\": 1}"}, {"scenario.textproto", ""}});
  EXPECT_THAT(names(path), testing::UnorderedElementsAre("results.json", "scenario.textproto"));
  EXPECT_EQ(read(path + "/results.json"), "{\"new\": 1}");
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("run"));
}

TEST(OutputFolder, AnotherFolderIsRefusedAndUntouched) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/thesis";
  fs::create_directory(path);
  temporary.write("thesis/chapter.tex", "years of work");
  EXPECT_THAT(refusal(path), testing::HasSubstr("is not empty and no run's folder"));
  temporary.write("thesis/results.json", "{}");  // half of what a run has is not enough
  EXPECT_THAT(refusal(path), testing::HasSubstr("is not empty and no run's folder"));
  EXPECT_EQ(read(path + "/chapter.tex"), "years of work");
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("thesis"));
}

TEST(OutputFolder, AFolderThatSomebodyFilledMeanwhileIsLeftAlone) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/run";
  const OutputFolder folder(path);
  fs::create_directory(path);
  temporary.write("run/chapter.tex", "years of work");
  EXPECT_THROW(folder.publish(kRun), std::runtime_error);
  EXPECT_THAT(names(path), testing::ElementsAre("chapter.tex"));
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("run"));
}

TEST(OutputFolder, AFileIsRefused) {
  const TemporaryFolder temporary;
  const std::string path = temporary.write("notes.txt", "notes");
  EXPECT_THAT(refusal(path), testing::HasSubstr("is a file"));
  EXPECT_EQ(read(path), "notes");
}

// Also for root, whom permissions do not stop.
TEST(OutputFolder, PlacesThatCannotBeWritten) {
  const TemporaryFolder temporary;
  const std::string file = temporary.write("notes.txt", "notes");
  EXPECT_THAT(refusal(file + "/run"),
              testing::AllOf(testing::StartsWith("--out " + file + "/run: "),
                             testing::HasSubstr("cannot be written")));
  EXPECT_THAT(refusal("/proc/run"), testing::HasSubstr("cannot be written"));
  EXPECT_THAT(refusal(temporary.path() + "/" + std::string(300, 'x')),
              testing::HasSubstr("cannot be written"));
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("notes.txt"));
}

TEST(OutputFolder, TheFolderThatOneStandsInIsRefused) {
  EXPECT_THAT(refusal("."), testing::HasSubstr("--out .: "));
  EXPECT_THAT(refusal(".."), testing::HasSubstr("--out ..: "));
  EXPECT_THAT(refusal("/"), testing::HasSubstr("--out /: "));
}

TEST(OutputFolder, ANameWithDotsAndSlashesIsTheSamePlace) {
  const TemporaryFolder temporary;
  for (const char* name :
       {"run", "run/", "run//", "run/.", "./run", "other/../run", "run/../run/"}) {
    SCOPED_TRACE(name);
    OutputFolder(temporary.path() + "/" + name).publish(kRun);
    EXPECT_THAT(names(temporary.path()), testing::ElementsAre("run"));
  }
}

TEST(OutputFolder, ALinkStaysALinkToTheNewRun) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/run";
  OutputFolder(path).publish({{"results.json", "old"}, {"scenario.textproto", ""}});
  fs::create_directory_symlink(path, temporary.path() + "/latest");
  OutputFolder(temporary.path() + "/latest").publish(kRun);
  EXPECT_TRUE(fs::is_symlink(temporary.path() + "/latest"));
  EXPECT_EQ(read(path + "/results.json"), "{}");
  EXPECT_THAT(names(temporary.path()), testing::UnorderedElementsAre("run", "latest"));
}

TEST(OutputFolder, ALinkToNowhereIsRefused) {
  const TemporaryFolder temporary;
  fs::create_symlink("nowhere", temporary.path() + "/latest");
  EXPECT_THAT(refusal(temporary.path() + "/latest"),
              testing::HasSubstr("link to a folder that is not there"));
}

// Of a process that was killed while it wrote, and had the number that this one has now.
TEST(OutputFolder, LeftoversAreNoHindrance) {
  const TemporaryFolder temporary;
  const std::string partial = ".run.partial-" + std::to_string(::getpid());
  fs::create_directory(temporary.path() + "/" + partial);
  temporary.write(partial + "/results.json", "half");
  OutputFolder(temporary.path() + "/run").publish(kRun);
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("run"));
  EXPECT_EQ(read(temporary.path() + "/run/results.json"), "{}");
}

// In a child process, since the limit holds for all that follows. 0: publish() threw what it
// should.
int publish_on_a_full_disk(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      OutputFolder(path).publish({{"results.json", "{}"},
                                  {"rounds.csv", std::string(5000, 'x')},
                                  {"scenario.textproto", ""}});
    } catch (const InputError&) {
      code = 2;
    } catch (const std::runtime_error& problem) {
      code =
          std::string(problem.what()).find("cannot be written: File too large") == std::string::npos
              ? 3
              : 0;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OutputFolder, AFullDiskLeavesNothing) {
  const TemporaryFolder temporary;
  EXPECT_EQ(publish_on_a_full_disk(temporary.path() + "/run"), 0);
  EXPECT_THAT(names(temporary.path()), testing::IsEmpty());
}

TEST(OutputFolder, AFullDiskLeavesTheOldRun) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path() + "/run";
  OutputFolder(path).publish(kRun);
  EXPECT_EQ(publish_on_a_full_disk(path), 0);
  EXPECT_EQ(names(path).size(), kRun.size());
  for (const auto& [name, text] : kRun) EXPECT_EQ(read(path + "/" + name), text);
  EXPECT_THAT(names(temporary.path()), testing::ElementsAre("run"));
}

}  // namespace
}  // namespace syncline
