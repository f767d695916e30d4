#include "compute/cache/trajectory_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "compute/interrupted.h"
#include "tests/compute/temporary_folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;

Key key(std::uint64_t i) { return mix(Key{}, std::array{i}); }
double number(std::uint64_t i) { return 0.5 + static_cast<double>(i); }

std::vector<std::byte> bytes(std::size_t size, int start) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i)
    data[i] = static_cast<std::byte>(start + static_cast<int>(i) * 7);
  return data;
}

std::string folder_of(const std::string& root, const std::string& header) {
  return root + "/" + hash_text(header).to_text();
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// Runs `body` in a child process; how that ended.
template <typename Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      ::_exit(99);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TrajectoryCache, KeepsNumbersAndStates) {
  const TemporaryFolder root;
  const std::vector<std::byte> a = bytes(1000, 1);
  const std::vector<std::byte> b = bytes(0, 0);
  const std::vector<double> numbers = {1.25, -0.0, std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN(), 5e-324};
  {
    TrajectoryCache cache(root.path(), "header", kMuch);
    EXPECT_FALSE(cache.number(key(0)));
    EXPECT_FALSE(cache.has_state(key(0)));
    for (std::size_t i = 0; i < numbers.size(); ++i) cache.record(key(i), numbers[i]);
    EXPECT_EQ(cache.number(key(0)), 1.25);
    EXPECT_TRUE(
        cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(7), a}, {key(8), b}}));
    EXPECT_EQ(cache.state(key(7)), a);
  }
  {
    TrajectoryCache cache(root.path(), "header", kMuch);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_TRUE(cache.number(key(i)));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(*cache.number(key(i))),
                std::bit_cast<std::uint64_t>(numbers[i]));
    }
    EXPECT_TRUE(cache.has_state(key(7)));
    EXPECT_TRUE(cache.has_state(key(8)));
    EXPECT_FALSE(cache.has_state(key(9)));
    EXPECT_EQ(cache.state(key(7)), a);
    EXPECT_EQ(cache.state(key(8)), b);
    // As a whole: what is not in the new one is gone.
    EXPECT_TRUE(cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(9), a}}));
    EXPECT_FALSE(cache.has_state(key(7)));
    EXPECT_EQ(cache.state(key(9)), a);
  }
  TrajectoryCache other(root.path(), "another header", kMuch);
  EXPECT_FALSE(other.number(key(0)));
  EXPECT_FALSE(other.has_state(key(9)));
}

TEST(TrajectoryCache, WhatIsRecordedTwiceIsWrittenOnce) {
  const TemporaryFolder root;
  TrajectoryCache cache(root.path(), "h", kMuch);
  for (int i = 0; i < 5; ++i) cache.record(key(1), 3);
  cache.flush();
  cache.flush();
  EXPECT_EQ(fs::file_size(folder_of(root.path(), "h") + "/journal"), 32u);
}

// ---- Files that a kill, a full disk or a bad one left behind: never a wrong value, never a crash.

struct Written {
  TemporaryFolder root;
  std::string folder = folder_of(root.path(), "h");
  std::vector<std::byte> a = bytes(100, 1);
  std::vector<std::byte> b = bytes(60, 99);
  Written() {
    TrajectoryCache cache(root.path(), "h", kMuch);
    for (std::uint64_t i = 0; i < 5; ++i) cache.record(key(i), number(i));
    cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(20), a}, {key(21), b}});
  }
  // Opens, believes only what is right, and returns how many numbers and states are still there.
  std::pair<int, int> open_and_count() const {
    TrajectoryCache cache(root.path(), "h", kMuch);
    int numbers = 0;
    for (std::uint64_t i = 0; i < 5; ++i) {
      if (const auto found = cache.number(key(i))) {
        ++numbers;
        EXPECT_EQ(*found, number(i));
      }
    }
    int states = 0;
    if (cache.has_state(key(20))) {
      ++states;
      EXPECT_EQ(cache.state(key(20)), a);
    }
    if (cache.has_state(key(21))) {
      ++states;
      EXPECT_EQ(cache.state(key(21)), b);
    }
    return {numbers, states};
  }
};

TEST(TrajectoryCacheDamage, AJournalCutAnywhere) {
  const Written written;
  const std::string path = written.folder + "/journal";
  const std::string whole = read_file(path);
  ASSERT_EQ(whole.size(), 160u);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write_file(path, whole.substr(0, length));
    EXPECT_EQ(written.open_and_count(), std::pair(static_cast<int>(length / 32), 2));
    EXPECT_EQ(fs::file_size(path), length / 32 * 32);
    {
      // It can be written on.
      TrajectoryCache cache(written.root.path(), "h", kMuch);
      cache.record(key(50), 7);
    }
    TrajectoryCache cache(written.root.path(), "h", kMuch);
    EXPECT_EQ(cache.number(key(50)), 7);
  }
}

TEST(TrajectoryCacheDamage, AJournalWithAnyByteChanged) {
  const Written written;
  const std::string path = written.folder + "/journal";
  const std::string whole = read_file(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      write_file(path, damaged);
      EXPECT_EQ(written.open_and_count(), std::pair(4, 2)) << at;
    }
  }
  write_file(path, std::string(320, '\0'));  // what some file systems leave after a power cut
  EXPECT_EQ(written.open_and_count(), std::pair(0, 2));
}

TEST(TrajectoryCacheDamage, ASnapshotCutAnywhere) {
  const Written written;
  const std::string path = written.folder + "/snapshot";
  const std::string whole = read_file(path);
  ASSERT_EQ(whole.size(), 32u + 2 * 32 + 160);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(path, whole.substr(0, length));
    EXPECT_EQ(written.open_and_count(), std::pair(5, 0)) << length;
  }
  write_file(path, whole + "x");
  EXPECT_EQ(written.open_and_count(), std::pair(5, 0));
  write_file(path, whole);
  EXPECT_EQ(written.open_and_count(), std::pair(5, 2));
}

TEST(TrajectoryCacheDamage, ASnapshotWithAnyByteChanged) {
  const Written written;
  const std::string path = written.folder + "/snapshot";
  const std::string whole = read_file(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      write_file(path, damaged);
      // The table stands for all, a state for itself.
      EXPECT_EQ(written.open_and_count(), std::pair(5, at < 96 ? 0 : 1)) << at;
    }
  }
}

TEST(TrajectoryCacheDamage, AStateThatChangesWhileInUseIsNotBelieved) {
  const Written written;
  const std::string path = written.folder + "/snapshot";
  TrajectoryCache cache(written.root.path(), "h", kMuch);
  ASSERT_TRUE(cache.has_state(key(20)));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(100);
  file.put('x');
  file.close();
  EXPECT_THAT(message_of([&] { cache.state(key(20)); }),
              AllOf(StartsWith(path), HasSubstr("checksum")));
  EXPECT_FALSE(cache.has_state(key(20)));
  EXPECT_EQ(cache.state(key(21)), written.b);
}

TEST(TrajectoryCacheDamage, AnotherHeadersFilesAreNotBelieved) {
  const Written written;
  { TrajectoryCache other(written.root.path(), "other", kMuch); }
  const std::string other = folder_of(written.root.path(), "other");
  for (const char* name : {"/journal", "/snapshot"}) {
    fs::copy_file(written.folder + name, other + name, fs::copy_options::overwrite_existing);
  }
  {
    TrajectoryCache cache(written.root.path(), "other", kMuch);
    for (std::uint64_t i = 0; i < 5; ++i) EXPECT_FALSE(cache.number(key(i)));
    EXPECT_FALSE(cache.has_state(key(20)));
  }
  // A folder whose header file says something else, or nothing, begins anew.
  for (const char* header : {"other", "", "hh"}) {
    const Written again;
    write_file(again.folder + "/header", header);
    EXPECT_EQ(again.open_and_count(), std::pair(0, 0));
    EXPECT_EQ(read_file(again.folder + "/header"), "h");
  }
  const Written without;
  fs::remove(without.folder + "/header");
  EXPECT_EQ(without.open_and_count(), std::pair(0, 0));
}

TEST(TrajectoryCacheDamage, WhatAKilledWriterLeftBesideIsRemoved) {
  const Written written;
  write_file(written.folder + "/snapshot.new", "half a snaps");
  write_file(written.folder + "/header.new", "");
  EXPECT_EQ(written.open_and_count(), std::pair(5, 2));
  EXPECT_FALSE(fs::exists(written.folder + "/snapshot.new"));
  EXPECT_FALSE(fs::exists(written.folder + "/header.new"));
}

// A child writes and writes; it is killed at some moment. What it had reported as written must be
// there.
TEST(TrajectoryCacheDamage, SurvivesAKillAtAnyMoment) {
  const TemporaryFolder root;
  std::uint64_t last = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      TrajectoryCache cache(root.path(), "h", kMuch);
      for (std::uint64_t i = last;; ++i) {
        cache.record(key(i), number(i));
        const std::vector<std::byte> state = bytes(20000, static_cast<int>(i % 256));
        cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(i), state}});
        if (::write(ends[1], &i, sizeof i) != sizeof i) ::_exit(1);
      }
    }
    ::close(ends[1]);
    // Some steps, and then a little more of the next.
    for (int i = 0; i < 1 + round % 4; ++i) {
      ASSERT_EQ(::read(ends[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    }
    ::usleep(static_cast<useconds_t>(round * 37));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(ends[0], &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
    }
    ::close(ends[0]);

    TrajectoryCache cache(root.path(), "h", kMuch);
    for (std::uint64_t i = 0; i <= last; ++i) EXPECT_EQ(cache.number(key(i)), number(i));
    // The snapshot is the last one or the one that was being written then.
    bool found = false;
    for (const std::uint64_t i : {last, last + 1}) {
      if (!cache.has_state(key(i))) continue;
      found = true;
      EXPECT_EQ(cache.state(key(i)), bytes(20000, static_cast<int>(i % 256)));
    }
    EXPECT_TRUE(found);
  }
}

// ---- A disk that is full

// Files of this process may not grow beyond `size` from here on: writing beyond fails as on a full
// disk (EFBIG).
void limit_file_size(rlim_t size) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {size, size};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(TrajectoryCacheFull, TheJournalStaysWholeAndTheErrorNamesIt) {
  for (rlim_t size = 160; size <= 160 + 96; size += 7) {
    const Written written;
    const int status = in_child([&] {
      TrajectoryCache cache(written.root.path(), "h", kMuch);
      for (std::uint64_t i = 100; i < 104; ++i) cache.record(key(i), number(i));
      limit_file_size(size);
      const std::string said = message_of([&] { cache.flush(); });
      if (said.find(written.folder + "/journal: cannot write: File too large") != 0) ::_exit(1);
      if (fs::file_size(written.folder + "/journal") != 160) ::_exit(2);
      if (message_of([&] { cache.flush(); }) == "no error") ::_exit(3);  // it was not forgotten
      if (cache.number(key(101)) != number(101)) ::_exit(4);
    });
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
    EXPECT_EQ(written.open_and_count(), std::pair(5, 2));
  }
}

TEST(TrajectoryCacheFull, TheOldSnapshotStands) {
  const Written written;
  for (const rlim_t size : {0, 10, 32, 100, 1000, 5000}) {
    const int status = in_child([&] {
      TrajectoryCache cache(written.root.path(), "h", kMuch);
      limit_file_size(size);
      const std::vector<std::byte> large = bytes(10000, 3);
      const std::string said = message_of([&] {
        cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(30), large}});
      });
      if (said.find(written.folder + "/snapshot: cannot write: ") != 0) ::_exit(1);
      if (!cache.has_state(key(20)) || cache.state(key(20)) != written.a) ::_exit(2);
      if (fs::exists(written.folder + "/snapshot.new")) ::_exit(3);
    });
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
    EXPECT_EQ(written.open_and_count(), std::pair(5, 2));
  }
}

TEST(TrajectoryCacheFull, ANewFolderSaysSo) {
  const TemporaryFolder root;
  const int status = in_child([&] {
    limit_file_size(0);
    const std::string said = message_of([&] { TrajectoryCache(root.path(), "h", kMuch); });
    if (said.find(root.path()) != 0 || said.find("cannot write") == std::string::npos) ::_exit(1);
  });
  EXPECT_EQ(status, 0);
}

TEST(TrajectoryCacheFull, FoldersThatCannotBeUsedAreNamed) {
  const TemporaryFolder root;
  const std::string file = root.write("file", "x");
  EXPECT_THAT(message_of([&] { TrajectoryCache(file, "h", kMuch); }),
              AllOf(StartsWith(file), HasSubstr("cannot make the folder: Not a directory")));
  EXPECT_THAT(message_of([] { TrajectoryCache("/proc/cache", "h", kMuch); }),
              AllOf(StartsWith("/proc/cache"), HasSubstr("cannot make the folder")));
  for (const char* name : {"lock", "journal", "header"}) {
    const std::string path = folder_of(root.path(), name) + "/" + name;
    fs::create_directories(path);
    EXPECT_THAT(message_of([&] { TrajectoryCache(root.path(), name, kMuch); }),
                AllOf(StartsWith(path), HasSubstr("cannot")));
  }
}

// ---- Locks

// A process that holds the folder of "h" until it is told to end.
class Holder {
 public:
  explicit Holder(const std::string& root) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    EXPECT_EQ(::pipe(end_), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(end_[1]);
      TrajectoryCache cache(root, "h", kMuch);
      cache.record(key(1), 11);
      char byte = 0;
      if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
      if (::read(end_[0], &byte, 1) < 0) ::_exit(1);
      cache.flush();
      ::_exit(0);  // without destructors, as a killed process: the lock ends all the same
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  void end() {
    if (child_ == 0) return;
    ::close(end_[0]);
    ::close(end_[1]);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  ~Holder() { end(); }

 private:
  int end_[2];
  pid_t child_ = 0;
};

TEST(TrajectoryCacheLock, AnInterruptedWaitThrows) {
  const TemporaryFolder root;
  const Holder holder(root.path());
  int asked = 0;
  EXPECT_THROW(TrajectoryCache(root.path(), "h", kMuch, [&] { return ++asked == 3; }),
               TrainingInterrupted);
  EXPECT_EQ(asked, 3);
  TrajectoryCache other(root.path(), "another", kMuch);  // does not wait
}

TEST(TrajectoryCacheLock, WaitsUntilTheOtherProcessIsDone) {
  const TemporaryFolder root;
  Holder holder(root.path());
  int asked = 0;
  TrajectoryCache cache(root.path(), "h", kMuch, [&] {
    if (++asked == 2) holder.end();
    return asked > 100;
  });
  EXPECT_GE(asked, 2);
  EXPECT_EQ(cache.number(key(1)), 11);  // what the other one wrote meanwhile
}

TEST(TrajectoryCacheLock, IsFreeAfterDestructionAndAfterAnError) {
  const TemporaryFolder root;
  const auto never = [] { return true; };
  { TrajectoryCache cache(root.path(), "h", kMuch, never); }
  { TrajectoryCache cache(root.path(), "h", kMuch, never); }
  fs::remove(folder_of(root.path(), "h") + "/journal");
  fs::create_directory(folder_of(root.path(), "h") + "/journal");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(TrajectoryCache(root.path(), "h", kMuch, never), std::runtime_error);
  }
}

// ---- Room

void make(const std::string& root, const std::string& header, std::size_t size, time_t used) {
  {
    TrajectoryCache cache(root, header, kMuch);
    const std::vector<std::byte> state = bytes(size, 1);
    cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(1), state}});
  }
  const timespec times[2] = {{used, 0}, {used, 0}};
  ::utimensat(AT_FDCWD, folder_of(root, header).c_str(), times, 0);
}

TEST(TrajectoryCacheRoom, LeastRecentlyUsedFoldersGo) {
  const TemporaryFolder root;
  make(root.path(), "second", 10000, 2000);
  make(root.path(), "first", 10000, 1000);
  make(root.path(), "third", 10000, 3000);
  root.write("note.txt", std::string(100000, 'x'));  // not ours: neither counted nor removed
  fs::create_directory(root.path() + "/mine");
  const auto there = [&](const char* header) { return fs::exists(folder_of(root.path(), header)); };
  { TrajectoryCache cache(root.path(), "new", 100000); }
  EXPECT_TRUE(there("first"));
  { TrajectoryCache cache(root.path(), "new", 25000); }
  EXPECT_FALSE(there("first"));
  EXPECT_TRUE(there("second"));
  EXPECT_TRUE(there("third"));
  EXPECT_TRUE(there("new"));
  // Being opened is a use, also for one that is killed then.
  in_child([&] {
    TrajectoryCache cache(root.path(), "second", 25000);
    ::_exit(0);
  });
  { TrajectoryCache cache(root.path(), "new", 15000); }
  EXPECT_TRUE(there("second"));
  EXPECT_FALSE(there("third"));
  { TrajectoryCache cache(root.path(), "new", 0); }
  EXPECT_FALSE(there("second"));
  EXPECT_TRUE(there("new"));
  EXPECT_TRUE(fs::exists(root.path() + "/note.txt"));
  EXPECT_TRUE(fs::exists(root.path() + "/mine"));
}

TEST(TrajectoryCacheRoom, ASnapshotMakesItsOwnRoom) {
  const TemporaryFolder root;
  make(root.path(), "a", 10000, 1000);
  make(root.path(), "b", 10000, 2000);
  TrajectoryCache cache(root.path(), "new", 26000);
  EXPECT_TRUE(fs::exists(folder_of(root.path(), "a")));
  const std::vector<std::byte> state = bytes(8000, 1);
  EXPECT_TRUE(cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(1), state}}));
  EXPECT_FALSE(fs::exists(folder_of(root.path(), "a")));
  EXPECT_TRUE(fs::exists(folder_of(root.path(), "b")));
}

TEST(TrajectoryCacheRoom, ASnapshotAboveHalfOfTheLimitIsNotWritten) {
  const TemporaryFolder root;
  TrajectoryCache cache(root.path(), "h", 2 * (64 + 1000));
  cache.record(key(1), 4);
  const std::vector<std::byte> fits = bytes(1000, 1);
  const std::vector<std::byte> too_large = bytes(1001, 1);
  EXPECT_TRUE(cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(1), fits}}));
  cache.record(key(2), 5);
  EXPECT_FALSE(cache.replace_states(std::vector<TrajectoryCache::StateView>{{key(2), too_large}}));
  EXPECT_EQ(cache.state(key(1)), fits);
  EXPECT_FALSE(cache.has_state(key(2)));
  EXPECT_EQ(fs::file_size(folder_of(root.path(), "h") + "/journal"), 64u);  // flushed all the same
}

TEST(TrajectoryCacheRoom, LockedFoldersStay) {
  const TemporaryFolder root;
  const Holder holder(root.path());
  make(root.path(), "free", 1000, 1000);
  TrajectoryCache cache(root.path(), "new", 0);
  EXPECT_TRUE(fs::exists(folder_of(root.path(), "h") + "/lock"));
  EXPECT_FALSE(fs::exists(folder_of(root.path(), "free")));
}

// Processes that evict each other's folders all the time: each works in a folder that is there, and
// none fails.
TEST(TrajectoryCacheRoom, EvictionAndUseAtTheSameTime) {
  const TemporaryFolder root;
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (std::uint64_t i = 0; i < 60; ++i) {
          const std::string header =
              "header " + std::to_string((i * 7 + static_cast<std::uint64_t>(process)) % 3);
          TrajectoryCache cache(root.path(), header, 0);
          for (std::uint64_t n = 0; n < 3; ++n) {
            if (const auto found = cache.number(key(n)); found && *found != number(n)) ::_exit(2);
          }
          cache.record(key(i % 3), number(i % 3));
          cache.flush();
          if (read_file(folder_of(root.path(), header) + "/header") != header) ::_exit(3);
        }
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  }
}

}  // namespace
}  // namespace syncline
