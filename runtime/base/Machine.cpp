// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.cpp - Caches, cores and memory nodes of this machine --------===//
#include "runtime/base/Machine.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace millrace::runtime {
namespace {

std::string readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "48K" -> 49152; 0 for text of another form.
int64_t parseSize(const std::string &text) {
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || value <= 0)
    return 0;
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/// The caches of one processor. A level is missing where Linux does not tell its size.
std::vector<CacheLevel> readCaches(const std::string &folder) {
  std::vector<CacheLevel> levels;
  for (unsigned index = 0; index < 8; ++index) {
    std::string cache = folder + "/index" + std::to_string(index) + "/";
    std::string type = readLine(cache + "type");
    int64_t level = std::atoll(readLine(cache + "level").c_str());
    if ((type != "Data" && type != "Unified") || level < 1 || level > 4)
      continue;
    CacheLevel read;
    read.bytes = parseSize(readLine(cache + "size"));
    read.ways = std::atoi(readLine(cache + "ways_of_associativity").c_str());
    if (int line = std::atoi(readLine(cache + "coherency_line_size").c_str()); line > 0)
      read.lineBytes = line;
    read.sharedBy = std::max(1u, countProcessors(readLine(cache + "shared_cpu_list")));
    if (read.bytes == 0 || int64_t(levels.size()) != level - 1)
      continue;
    levels.push_back(read);
  }
  return levels;
}

} // namespace

unsigned countProcessors(const std::string &list) {
  unsigned count = 0;
  const char *at = list.c_str();
  while (true) {
    char *end = nullptr;
    long first = std::strtol(at, &end, 10), last = first;
    if (end == at || first < 0)
      return 0;
    at = end;
    if (*at == '-') {
      last = std::strtol(at + 1, &end, 10);
      if (end == at + 1 || last < first)
        return 0;
      at = end;
    }
    count += unsigned(last - first + 1);
    if (*at != ',')
      return *at == '\0' || *at == '\n' ? count : 0;
    ++at;
  }
}

std::vector<CacheLevel> cachesFromCpuid() {
  std::vector<CacheLevel> levels;
#if defined(__x86_64__)
  // Both leaves have the same layout; a processor has one of them.
  for (unsigned leaf : {0x4u, 0x8000001Du}) {
    for (unsigned index = 0; index < 8; ++index) {
      unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
      if (!__get_cpuid_count(leaf, index, &eax, &ebx, &ecx, &edx))
        break;
      unsigned type = eax & 31, level = eax >> 5 & 7;
      if (type == 0)
        break;
      if (type == 2 || level != levels.size() + 1) // of instructions, or out of order
        continue;
      CacheLevel read;
      read.ways = int(ebx >> 22) + 1;
      read.lineBytes = int(ebx & 0xfff) + 1;
      read.bytes = int64_t(read.ways) * ((ebx >> 12 & 0x3ff) + 1) * read.lineBytes * (int64_t(ecx) + 1);
      read.sharedBy = (eax >> 14 & 0xfff) + 1;
      levels.push_back(read);
    }
    if (!levels.empty())
      break;
  }
#endif
  return levels;
}

/// The highest clock as the processor states it (leaf 0x16), in megahertz; 0 if it does not.
static unsigned clockFromCpuid() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_max(0, nullptr) >= 0x16 && __get_cpuid(0x16, &eax, &ebx, &ecx, &edx))
    return std::max(eax & 0xffff, ebx & 0xffff);
#endif
  return 0;
}

int64_t Machine::cacheBytes(unsigned level) const {
  // Fact: the least that the cores of x86-64 and Armv8 servers of the last ten years have.
  constexpr int64_t kTypicalBytes[] = {32 << 10, 512 << 10};
  return level <= caches.size() && caches[level - 1].bytes > 0 ? caches[level - 1].bytes : kTypicalBytes[std::min(level, 2u) - 1];
}

Machine readMachine(const std::string &folder) {
  Machine machine;
  std::string cpus = folder + "/cpu/";
  machine.processors = std::max(1u, countProcessors(readLine(cpus + "online")));
  machine.caches = readCaches(cpus + "cpu0/cache");
  std::set<std::string> siblings;
  for (unsigned cpu = 0, seen = 0; seen < machine.processors && cpu < 65536; ++cpu) {
    std::string list = readLine(cpus + "cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    if (list.empty()) {
      std::error_code error;
      if (!std::filesystem::exists(cpus + "cpu" + std::to_string(cpu), error))
        break;
      continue; // not online
    }
    siblings.insert(list);
    ++seen;
  }
  machine.cores = siblings.empty() ? machine.processors : unsigned(siblings.size());
  machine.nodes = std::max(1u, countProcessors(readLine(folder + "/node/has_memory")));
  if (long long kilohertz = std::atoll(readLine(cpus + "cpu0/cpufreq/cpuinfo_max_freq").c_str()); kilohertz > 0)
    machine.gigahertz = double(kilohertz) / 1e6;
  return machine;
}

const Machine &Machine::host() {
  static const Machine machine = [] {
    Machine read = readMachine("/sys/devices/system");
    if (std::vector<CacheLevel> told = cachesFromCpuid(); told.size() > read.caches.size())
      read.caches = std::move(told);
    if (read.gigahertz == 0)
      read.gigahertz = clockFromCpuid() / 1e3;
    return read;
  }();
  return machine;
}

} // namespace millrace::runtime
