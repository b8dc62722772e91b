// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPeak.cpp - Who owns the memory where most is in use ------------===//
#include "runtime/profile/MemoryPeak.h"
#include "runtime/profile/Utf8.h"
#include "runtime/profile/MemoryReplay.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

MemoryPeak peakOf(const Plane &plane, const Plane::Line &line) {
  MemoryPeak peak;
  peak.device = plane.name;
  MemoryReplay replay(plane, line);
  const size_t last = indexOfPeak(plane, line);
  for (size_t i = 0; i <= last && replay.next(); ++i) {
  }
  if (last < line.events.size()) {
    peak.bytes = replay.inUse();
    peak.offset = line.events[last].offset;
  }
  std::map<std::tuple<std::string, std::string>, MemoryPeak::Owner> owners;
  for (const auto &[address, block] : replay.live()) {
    MemoryPeak::Owner &owner = owners[{*block.purpose, *block.source}];
    owner.purpose = *block.purpose;
    owner.source = *block.source;
    owner.bytes += block.bytes;
    ++owner.blocks;
  }
  for (auto &[key, owner] : owners)
    peak.owners.push_back(std::move(owner));
  if (peak.bytes > replay.known())
    peak.owners.push_back({"", "", peak.bytes - replay.known(), 0});
  std::sort(peak.owners.begin(), peak.owners.end(),
            [](const auto &a, const auto &b) { return std::tie(b.bytes, a.purpose, a.source) < std::tie(a.bytes, b.purpose, b.source); });
  return peak;
}

} // namespace

std::vector<MemoryPeak> memoryPeaks(const XSpace &space) {
  std::vector<MemoryPeak> peaks;
  for (const Plane &plane : space.planes)
    if (plane.name.starts_with("/device:"))
      for (const Plane::Line &line : plane.lines)
        if (line.name == "_counters_" && !line.events.empty())
          peaks.push_back(peakOf(plane, line));
  return peaks;
}

std::string toText(const std::vector<MemoryPeak> &peaks, size_t top) {
  std::string out;
  for (const MemoryPeak &peak : peaks) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.1f MB", double(peak.bytes) / 1e6);
    out += "\nmemory of " + forTerminal(peak.device) + " at its peak, " + buffer + ": MB, blocks, for, line";
    out += peak.owners.size() > top ? " (the first " + std::to_string(top) + " of " + std::to_string(peak.owners.size()) + ")\n" : "\n";
    for (size_t i = 0; i < std::min(top, peak.owners.size()); ++i) {
      const MemoryPeak::Owner &owner = peak.owners[i];
      std::snprintf(buffer, sizeof buffer, "%10.3f %8llu  ", double(owner.bytes) / 1e6, (unsigned long long)owner.blocks);
      out += buffer + (owner.purpose.empty() ? std::string("(had before the recording)") : forTerminal(owner.purpose) + "  " + forTerminal(owner.source)) + "\n";
    }
  }
  return out;
}

} // namespace millrace::runtime::profile
