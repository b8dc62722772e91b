// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MachineTest.cpp - What Linux and the processor say of the machine ---===//
#include "runtime/base/Machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace millrace::runtime;

namespace {

class SysFolder : public testing::Test {
protected:
  void SetUp() override {
    root = fs::temp_directory_path() / ("machine-" + std::to_string(::getpid()));
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  void writeCache(int index, int level, const char *type, const char *size, const char *ways, const char *shared) {
    std::string folder = "cpu/cpu0/cache/index" + std::to_string(index) + "/";
    write(folder + "level", std::to_string(level));
    write(folder + "type", type);
    write(folder + "size", size);
    write(folder + "ways_of_associativity", ways);
    write(folder + "coherency_line_size", "64");
    write(folder + "shared_cpu_list", shared);
  }
  fs::path root;
};

TEST_F(SysFolder, TwoThreadsPerCoreAndTwoNodes) {
  write("cpu/online", "0-7");
  for (int cpu = 0; cpu < 8; ++cpu)
    write("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  write("node/has_memory", "0-1");
  write("cpu/cpu0/cpufreq/cpuinfo_max_freq", "4200000");
  writeCache(0, 1, "Data", "32K", "8", "0,4");
  writeCache(1, 1, "Instruction", "64K", "8", "0,4");
  writeCache(2, 2, "Unified", "1M", "16", "0,4");
  writeCache(3, 3, "Unified", "24576K", "12", "0-7");
  Machine machine = readMachine(root.string());
  EXPECT_EQ(machine.processors, 8u);
  EXPECT_EQ(machine.cores, 4u);
  EXPECT_EQ(machine.nodes, 2u);
  EXPECT_DOUBLE_EQ(machine.gigahertz, 4.2);
  ASSERT_EQ(machine.caches.size(), 3u);
  EXPECT_EQ(machine.caches[0], (CacheLevel{32 << 10, 8, 64, 2}));
  EXPECT_EQ(machine.caches[1], (CacheLevel{1 << 20, 16, 64, 2}));
  EXPECT_EQ(machine.caches[2], (CacheLevel{24 << 20, 12, 64, 8}));
}

TEST_F(SysFolder, MachineThatTellsNothing) {
  Machine machine = readMachine(root.string());
  EXPECT_EQ(machine.processors, 1u);
  EXPECT_EQ(machine.cores, 1u);
  EXPECT_EQ(machine.nodes, 1u);
  EXPECT_EQ(machine.gigahertz, 0);
  EXPECT_TRUE(machine.caches.empty());
}

TEST_F(SysFolder, ProcessorThatIsOffline) {
  write("cpu/online", "0,2");
  write("cpu/cpu0/topology/thread_siblings_list", "0");
  fs::create_directories(root / "cpu/cpu1");
  write("cpu/cpu2/topology/thread_siblings_list", "2");
  EXPECT_EQ(readMachine(root.string()).cores, 2u);
}

TEST_F(SysFolder, NonsenseIsNotBelieved) {
  write("cpu/online", "many");
  writeCache(0, 1, "Data", "-5K", "8", "0");
  writeCache(1, 2, "Unified", "1M", "16", "0"); // without level 1 nothing is said
  Machine machine = readMachine(root.string());
  EXPECT_EQ(machine.processors, 1u);
  EXPECT_TRUE(machine.caches.empty());
}

TEST(Machine, ListsOfProcessors) {
  EXPECT_EQ(countProcessors("0"), 1u);
  EXPECT_EQ(countProcessors("0-3,8,10-11\n"), 7u);
  for (const char *wrong : {"", "x", "3-1", "0-", "0,,2", "0;1"})
    EXPECT_EQ(countProcessors(wrong), 0u) << wrong;
}

TEST(Machine, HostHasProcessors) {
  const Machine &host = Machine::host();
  EXPECT_GE(host.processors, host.cores);
  EXPECT_GE(host.cores, 1u);
  for (size_t level = 1; level < host.caches.size(); ++level)
    EXPECT_GE(host.caches[level].bytes, host.caches[level - 1].bytes);
}

#if defined(__x86_64__)
// Two sources for one fact, where the machine has both.
TEST(Machine, CpuidAgreesWithLinux) {
  std::vector<CacheLevel> linux = readMachine("/sys/devices/system").caches, told = cachesFromCpuid();
  if (linux.empty() || told.empty())
    GTEST_SKIP() << "only one of the two says what the caches are";
  for (size_t level = 0; level < std::min({linux.size(), told.size(), size_t(2)}); ++level) {
    EXPECT_EQ(linux[level].bytes, told[level].bytes) << "level " << level + 1;
    EXPECT_EQ(linux[level].ways, told[level].ways) << "level " << level + 1;
  }
}
#endif

} // namespace
