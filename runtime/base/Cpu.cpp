// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cpu.cpp - Affinity, cgroup quota and environment --------------------===//
#include "runtime/base/Cpu.h"

#include "runtime/base/Environment.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace millrace::runtime {
namespace {

unsigned affinityCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return unsigned(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

unsigned quotaCount(long long quota, long long period) {
  if (quota <= 0 || period <= 0)
    return 0;
  return unsigned(std::min<long long>((quota + period - 1) / period, 1 << 16));
}

/// The tightest limit from the process's own group up to the root.
unsigned cgroupCount() {
  unsigned limit = 0;
  auto tighten = [&](unsigned count) {
    if (count)
      limit = limit ? std::min(limit, count) : count;
  };
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos)
      continue;
    for (int depth = 0; depth < 64; ++depth) {
      if (v2) {
        tighten(parseCpuMax(readLine("/sys/fs/cgroup" + path + "/cpu.max")));
      } else {
        std::string folder = "/sys/fs/cgroup/cpu" + path;
        tighten(quotaCount(std::atoll(readLine(folder + "/cpu.cfs_quota_us").c_str()),
                           std::atoll(readLine(folder + "/cpu.cfs_period_us").c_str())));
      }
      size_t slash = path.rfind('/');
      if (path.empty() || slash == std::string::npos)
        break;
      path.resize(slash);
    }
  }
  return limit;
}

} // namespace

unsigned parseCpuMax(const std::string &text) {
  std::istringstream in(text);
  long long quota = 0, period = 0;
  if (!(in >> quota >> period))
    return 0;
  return quotaCount(quota, period);
}

unsigned parseThreadCount(const char *text) {
  if (!text)
    return 0;
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (end == text || (*end != '\0' && *end != ',') || value <= 0)
    return 0;
  return unsigned(std::min<long>(value, kMostThreads));
}

unsigned availableCpus() {
  static const unsigned count = [] {
    unsigned cpus = affinityCount(), quota = cgroupCount();
    return std::max(1u, quota ? std::min(cpus, quota) : cpus);
  }();
  return count;
}

bool requestMatrixRegisters() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool granted = [] {
    // Fact: ARCH_REQ_XCOMP_PERM of Linux's asm/prctl.h.
    constexpr long kRequestPermission = 0x1023;
    // Fact: the number of the state of AMX's tile registers.
    constexpr long kTileData = 18;
    return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return granted;
#else
  return false;
#endif
}

unsigned defaultThreadCount() {
  for (const auto &[name, text] : {std::pair("MILLRACE_NUM_THREADS", environment::text("MILLRACE_NUM_THREADS")),
                                   std::pair("OMP_NUM_THREADS", environment::text("OMP_NUM_THREADS"))}) {
    if (unsigned count = parseThreadCount(text.c_str()))
      return count;
    if (!text.empty())
      environment::warn(name, "a number of threads, 1 to " + std::to_string(kMostThreads), text);
  }
  return availableCpus();
}

} // namespace millrace::runtime
