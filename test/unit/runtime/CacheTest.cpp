// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CacheTest.cpp - Persistent compilation cache ------------------------===//
#include "runtime/base/File.h"
#include "runtime/cache/Cache.h"
#include "runtime/cache/PartsIndex.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace millrace::runtime;
namespace fs = std::filesystem;

namespace {

class CacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "/millrace-cache-" + std::to_string(::getpid()) + "-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  CacheOptions options() {
    CacheOptions o;
    o.folder = folder;
    o.warn = [this](const std::string &text) { warnings.push_back(text); };
    return o;
  }
  static CacheKey key(const std::string &program, const std::string &flags = "O3", const std::string &cpu = "znver4") {
    CacheKey k;
    k.add("program", program);
    k.add("options", flags);
    k.add("cpu features", cpu);
    return k;
  }
  std::vector<fs::path> files() {
    std::vector<fs::path> list;
    if (fs::exists(folder))
      for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().filename() != "usage" && entry.path().filename() != "keys")
          list.push_back(entry.path());
    return list;
  }
  static std::string valueOf(const std::optional<Cache::Hit> &hit) {
    return hit ? std::string(hit->value) : std::string("<miss>");
  }
  std::string folder;
  std::vector<std::string> warnings;
};

TEST_F(CacheTest, HitAfterRestart) {
  Cache(options()).store(key("a"), "machine code");
  Cache second(options());
  auto hit = second.find(key("a"));
  EXPECT_EQ(valueOf(hit), "machine code");
  EXPECT_EQ(uintptr_t(hit->value.data()) % 64, 0u);
  EXPECT_EQ(second.stats().hits, 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheTest, MissNamesThePartsThatDiffer) {
  Cache cache(options());
  std::string why;
  EXPECT_FALSE(cache.find(key("a"), &why));
  EXPECT_EQ(why, "the cache is empty");
  cache.store(key("a"), "x");
  cache.store(key("z", "O0", "other"), "y");
  struct { CacheKey key; const char *part; } cases[] = {{key("b"), "program"},
                                                        {key("a", "O2"), "options"},
                                                        {key("a", "O3", "skylake"), "cpu features"},
                                                        {key("a", "O2", "skylake"), "cpu features, options"}};
  for (auto &c : cases) {
    EXPECT_FALSE(cache.find(c.key, &why));
    EXPECT_EQ(why, std::string("the most similar entry differs in: ") + c.part);
  }
  CacheKey more = key("a");
  more.add("mesh", "2x4");
  EXPECT_FALSE(cache.find(more, &why));
  EXPECT_EQ(why, "the most similar entry differs in: mesh");
}

TEST_F(CacheTest, AMissIsExplainedByTheSameProgramFirst) {
  Cache cache(options());
  cache.store(key("a", "O3", "skylake"), "x");
  cache.store(key("b", "O3", "skylake"), "y");
  cache.store(key("a", "O2", "haswell"), "of this process");
  std::string why;
  EXPECT_FALSE(cache.find(key("b", "O2", "haswell"), &why));
  EXPECT_EQ(why, "the most similar entry differs in: cpu features, options");
}

TEST_F(CacheTest, AMissIsExplainedByTheNearestOfAllPrograms) {
  Cache cache(options());
  cache.store(key("old", "O3", "skylake"), "x");
  for (int i = 0; i < 300; ++i)
    cache.store(key("program " + std::to_string(i), "O2", "haswell"), "y");
  std::string why;
  EXPECT_FALSE(Cache(options()).find(key("old", "O2", "skylake"), &why));
  EXPECT_EQ(why, "the most similar entry differs in: options");
  // What is not in the folder any more explains nothing.
  fs::remove(folder + "/" + key("old", "O3", "skylake").digest().substr(0, 2) + "/" + key("old", "O3", "skylake").digest() + ".mrc");
  EXPECT_FALSE(cache.find(key("old", "O2", "skylake"), &why));
  EXPECT_EQ(why, "the most similar entry differs in: cpu features, program");
}

TEST_F(CacheTest, EntriesOfAnOlderMillraceExplainMissesToo) {
  Cache cache(options());
  for (int i = 0; i < 20; ++i)
    cache.store(key("program " + std::to_string(i), "O2", "haswell"), "y");
  const CacheKey nearest = key("a", "O3", "skylake");
  cache.store(nearest, "x");
  fs::last_write_time(folder + "/" + nearest.digest().substr(0, 2) + "/" + nearest.digest() + ".mrc", fs::file_time_type::clock::now() + std::chrono::seconds(1));
  fs::remove(folder + "/keys");
  cache.store(key("b"), "z");
  std::string why;
  EXPECT_FALSE(cache.find(key("a", "O3", "znver4"), &why));
  EXPECT_EQ(why, "the most similar of the newest 17 entries differs in: cpu features"); // one is in the index; of the others 16 are read
}

TEST_F(CacheTest, AnIndexIsReadUpToABoundAndWithTornLines) {
  fs::create_directories(folder);
  const CacheKey wanted = key("a"), other = key("b");
  const std::string text = indexLine(wanted) + "torn" + indexLine(other) + indexLine(other).substr(0, 80) + "\n" + indexLine(other) +
                           indexLine(wanted).substr(0, 90);
  std::vector<IndexedKey> keys = readIndex(text);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].digest, wanted.digest());
  std::vector<std::string> names;
  const Difference difference = differenceOf(keys[0], keys[1], &names);
  EXPECT_TRUE(difference.isOtherProgram);
  EXPECT_EQ(names, std::vector<std::string>{"program"});
  bool isWhole = false;
  EXPECT_EQ(newestOfIndex(folder, isWhole), "");
  EXPECT_TRUE(isWhole);
  const size_t lines = 2 * kIndexBytes / indexLine(other).size();
  {
    std::ofstream file(folder + "/keys");
    for (size_t i = 0; i < lines; ++i)
      file << indexLine(other);
  }
  const std::string newest = newestOfIndex(folder, isWhole);
  EXPECT_FALSE(isWhole);
  EXPECT_LE(newest.size(), kIndexBytes);
  EXPECT_EQ(newest.size() % indexLine(other).size(), 0u) << "begins with a line";
  for (int i = 0; i < 3; ++i)
    appendToIndex(folder, wanted);
  EXPECT_LE(fs::file_size(folder + "/keys"), kIndexBytes + 3 * indexLine(wanted).size());
  EXPECT_EQ(readIndex(newestOfIndex(folder, isWhole)).back().digest, wanted.digest());
}

TEST_F(CacheTest, OrderOfPartsDoesNotMatter) {
  CacheKey a, b;
  a.add("x", "1");
  a.add("y", "2");
  b.add("y", "2");
  b.add("x", "1");
  EXPECT_EQ(a.digest(), b.digest());
}

TEST_F(CacheTest, DamageIsAMissWithAWarning) {
  Cache cache(options());
  cache.store(key("a"), std::string(300, 'v'));
  fs::path file = files().at(0);
  std::string intact(readWholeFile(file.string())->bytes);
  auto write = [&](std::string_view bytes) { std::ofstream(file, std::ios::binary) << bytes; };
  for (size_t size = 0; size < intact.size(); ++size) {
    write(std::string_view(intact).substr(0, size));
    ASSERT_FALSE(cache.find(key("a"))) << size;
  }
  for (size_t i = 0; i < intact.size(); ++i) {
    std::string bytes = intact;
    bytes[i] ^= 0x40;
    write(bytes);
    ASSERT_FALSE(cache.find(key("a"))) << i;
  }
  EXPECT_EQ(warnings.size(), 2 * intact.size());
  std::string why;
  EXPECT_FALSE(cache.find(key("a"), &why));
  EXPECT_EQ(why, "the entry is damaged: its checksum does not match");
  // It is replaced by the next store.
  cache.store(key("a"), "new");
  EXPECT_EQ(valueOf(cache.find(key("a"))), "new");
}

TEST_F(CacheTest, EntryOfAnotherKeyIsNotUsed) {
  Cache cache(options());
  cache.store(key("a"), "of a");
  fs::path file = files().at(0);
  std::string digest = key("b").digest();
  fs::create_directories(folder + "/" + digest.substr(0, 2));
  fs::copy_file(file, folder + "/" + digest.substr(0, 2) + "/" + digest + ".mrc");
  EXPECT_FALSE(cache.find(key("b")));
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(CacheTest, LeastRecentlyUsedGoesFirst) {
  CacheOptions o = options();
  std::string kilobyte(1024, 'x');
  Cache(o).store(key("a"), kilobyte);
  o.sizeLimit = fs::file_size(files().at(0)) * 7 / 2; // three entries fit, four do not
  {
    Cache cache(o);
    for (const char *name : {"a", "b", "c"}) {
      cache.store(key(name), kilobyte);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_TRUE(cache.find(key("a"))); // used again
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cache.store(key("d"), kilobyte);
    EXPECT_EQ(cache.stats().evicted, 1u);
  }
  Cache cache(o);
  EXPECT_TRUE(cache.find(key("a")));
  EXPECT_FALSE(cache.find(key("b")));
  EXPECT_TRUE(cache.find(key("c")));
  EXPECT_TRUE(cache.find(key("d")));
}

TEST_F(CacheTest, EntriesAreCountedAnewWhenNobodyKnowsTheirSize) {
  const std::string kilobyte(1024, 'x');
  Cache(options()).store(key("a"), kilobyte);
  CacheOptions o = options();
  o.sizeLimit = fs::file_size(files().at(0)) * 3 / 2; // one entry fits
  auto evictedAfter = [&](const std::string &usage) {
    std::ofstream(o.folder + "/usage") << usage;
    Cache cache(o);
    cache.store(key("b"), kilobyte);
    return cache.stats().evicted;
  };
  std::string now = std::to_string(std::time(nullptr));
  EXPECT_EQ(evictedAfter("10 " + now), 0u); // trusted: nobody looks
  EXPECT_EQ(evictedAfter("10 1000"), 1u);   // long ago
  for (const char *damaged : {"", "ten", "10", "-1 5", "99999999999999999999999 1", "10 99999999999999"}) {
    Cache(options()).store(key("a"), kilobyte);
    EXPECT_EQ(evictedAfter(damaged), 1u) << damaged;
  }
  Cache(options()).store(key("a"), kilobyte);
  EXPECT_EQ(evictedAfter("100000 " + now), 1u); // too much
  EXPECT_EQ(evictedAfter("10 " + now), 0u);
}

TEST_F(CacheTest, ReadOnlyAndOff) {
  Cache(options()).store(key("a"), "x");
  CacheOptions o = options();
  o.mode = CacheMode::ReadOnly;
  Cache readOnly(o);
  EXPECT_EQ(valueOf(readOnly.find(key("a"))), "x");
  readOnly.store(key("b"), "y");
  EXPECT_FALSE(readOnly.find(key("b")));
  EXPECT_EQ(files().size(), 1u);
  o.mode = CacheMode::Off;
  Cache off(o);
  std::string why;
  EXPECT_FALSE(off.find(key("a"), &why));
  EXPECT_EQ(why, "the cache is off");
}

TEST_F(CacheTest, ClearingDeletesEntriesAlone) {
  Cache cache(options());
  for (EntryKind kind : {EntryKind::Program, EntryKind::Kernel, EntryKind::Plan})
    cache.store(key("a"), "x", kind);
  const std::string ofOthers = folder + "/notes.txt", beingWritten = files()[0].string() + ".tmp.1.0";
  for (const std::string &file : {ofOthers, beingWritten})
    std::ofstream(file) << "kept";
  CacheOptions o = options();
  o.mode = CacheMode::ReadOnly;
  EXPECT_TRUE(Cache(o).clear().ok());
  EXPECT_EQ(files().size(), 5u);
  EXPECT_TRUE(cache.clear().ok());
  EXPECT_EQ(std::set<fs::path>({ofOthers, beingWritten}), [&] {
    auto left = files();
    return std::set<fs::path>(left.begin(), left.end());
  }());
  EXPECT_FALSE(fs::exists(folder + "/usage"));
  EXPECT_FALSE(fs::exists(folder + "/keys"));
  std::string why;
  EXPECT_FALSE(cache.find(key("a"), &why));
  EXPECT_EQ(why, "the cache is empty");
  EXPECT_TRUE(cache.clear().ok()); // nothing is left to delete
  cache.store(key("a"), "x");
  EXPECT_EQ(valueOf(cache.find(key("a"))), "x");
  EXPECT_TRUE(fs::exists(folder + "/usage"));
}

TEST_F(CacheTest, ClearingNamesTheFileThatCannotBeDeleted) {
  Cache cache(options());
  cache.store(key("a"), "x");
  fs::remove(folder + "/usage");
  fs::create_directories(folder + "/usage/full"); // the root user may delete every file, but nobody a folder that is not empty
  const Status status = cache.clear();
  EXPECT_EQ(status.code(), Code::Internal);
  EXPECT_NE(status.message().find(folder + "/usage"), std::string::npos) << status.message();
  EXPECT_TRUE(files().empty());
}

TEST_F(CacheTest, UnwritableFolderIsAWarning) {
  CacheOptions o = options();
  o.folder = "/proc/millrace-cache";
  Cache cache(o);
  EXPECT_FALSE(cache.checkWritable().ok());
  for (const char *program : {"a", "b", "c"})
    cache.store(key(program), "x");
  Cache(o).store(key("d"), "x");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("/proc/millrace-cache"), std::string::npos);
}

// Processes write and read the same keys at the same time; each read is a miss or a whole value.
TEST_F(CacheTest, ManyWriters) {
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    pid_t pid = ::fork();
    if (pid == 0) {
      Cache cache(options());
      bool good = true;
      for (int i = 0; i < 60; ++i) {
        std::string name = std::to_string(i % 5), value(20000, char('a' + i % 5));
        cache.store(key(name), value);
        auto hit = cache.find(key(name));
        good = good && hit && hit->value == value;
      }
      ::_exit(good && warnings.empty() ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), 5u); // no temporary files left
}

TEST_F(CacheTest, Environment) {
  auto set = [](const char *name, const char *value) { value ? ::setenv(name, value, 1) : ::unsetenv(name); };
  set("MILLRACE_CACHE", nullptr);
  set("MILLRACE_CACHE_DIR", nullptr);
  set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(cacheOptionsFromEnvironment()->folder, "/x/millrace");
  set("XDG_CACHE_HOME", "x");
  EXPECT_EQ(cacheOptionsFromEnvironment()->folder, std::string(std::getenv("HOME") ? std::getenv("HOME") : "") + "/.cache/millrace");
  set("MILLRACE_CACHE_DIR", "/y");
  EXPECT_EQ(cacheOptionsFromEnvironment()->folder, "/y");
  EXPECT_EQ(cacheOptionsFromEnvironment()->mode, CacheMode::ReadWrite);
  set("MILLRACE_CACHE", "ro");
  EXPECT_EQ(cacheOptionsFromEnvironment()->mode, CacheMode::ReadOnly);
  set("MILLRACE_CACHE", "of");
  EXPECT_EQ(cacheOptionsFromEnvironment().status().message(), "expects MILLRACE_CACHE to be off, ro or rw, but got 'of'");
  for (const char *name : {"MILLRACE_CACHE", "MILLRACE_CACHE_DIR", "XDG_CACHE_HOME"})
    set(name, nullptr);
}

} // namespace
