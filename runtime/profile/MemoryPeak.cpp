// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPeak.cpp - Who owns the memory where most is in use ------------===//
#include "runtime/profile/MemoryPeak.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

struct Block {
  uint64_t bytes = 0;
  const std::string *purpose = nullptr, *source = nullptr;
};

MemoryPeak peakOf(const Plane &plane, const Plane::Line &line) {
  static const std::string none;
  auto textOf = [&](const Plane::Event &event, std::string_view name) {
    const Stat *stat = plane.find(line, event, name);
    return stat && stat->type == Stat::Type::Text ? &plane.texts[stat->text] : &none;
  };
  auto numberOf = [&](const Plane::Event &event, std::string_view name) -> uint64_t {
    const Stat *stat = plane.find(line, event, name);
    return stat && stat->type != Stat::Type::Text ? stat->number : 0;
  };
  MemoryPeak peak;
  peak.device = plane.name;
  size_t last = line.events.size();
  for (size_t i = 0; i < line.events.size(); ++i)
    if (uint64_t bytes = numberOf(line.events[i], "bytes in use"); bytes > peak.bytes || last == line.events.size()) {
      peak.bytes = bytes;
      last = i;
    }
  // Once more up to there: what has been taken and not given back.
  std::map<uint64_t, Block> blocks;
  uint64_t known = 0;
  for (size_t i = 0; last < line.events.size() && i <= last; ++i) {
    const Plane::Event &event = line.events[i];
    const int64_t change = int64_t(numberOf(event, "change"));
    const uint64_t address = numberOf(event, "address");
    if (auto found = blocks.find(address); found != blocks.end()) {
      known -= found->second.bytes;
      blocks.erase(found);
    }
    if (change > 0) {
      blocks[address] = {uint64_t(change), textOf(event, "purpose"), textOf(event, "source")};
      known += uint64_t(change);
    }
  }
  if (last < line.events.size())
    peak.offset = line.events[last].offset;
  std::map<std::tuple<std::string, std::string>, MemoryPeak::Owner> owners;
  for (const auto &[address, block] : blocks) {
    MemoryPeak::Owner &owner = owners[{*block.purpose, *block.source}];
    owner.purpose = *block.purpose;
    owner.source = *block.source;
    owner.bytes += block.bytes;
    ++owner.blocks;
  }
  for (auto &[key, owner] : owners)
    peak.owners.push_back(std::move(owner));
  if (peak.bytes > known)
    peak.owners.push_back({"", "", peak.bytes - known, 0});
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
    out += "\nmemory of " + peak.device + " at its peak, " + buffer + ": MB, blocks, for, line";
    out += peak.owners.size() > top ? " (the first " + std::to_string(top) + " of " + std::to_string(peak.owners.size()) + ")\n" : "\n";
    for (size_t i = 0; i < std::min(top, peak.owners.size()); ++i) {
      const MemoryPeak::Owner &owner = peak.owners[i];
      std::snprintf(buffer, sizeof buffer, "%10.3f %8llu  ", double(owner.bytes) / 1e6, (unsigned long long)owner.blocks);
      out += buffer + (owner.purpose.empty() ? std::string("(had before the recording)") : owner.purpose + "  " + owner.source) + "\n";
    }
  }
  return out;
}

} // namespace millrace::runtime::profile
