// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryReplay.cpp - What a device has in use, record by record --------===//
#include "runtime/profile/MemoryReplay.h"

#include <limits>

namespace millrace::runtime::profile {
namespace {

const std::string &textOf(const Plane &plane, const Plane::Line &line, const Plane::Event &event, std::string_view name) {
  static const std::string none;
  const Stat *stat = plane.find(line, event, name);
  return stat && stat->type == Stat::Type::Text ? plane.texts[stat->text] : none;
}
uint64_t numberOf(const Plane &plane, const Plane::Line &line, const Plane::Event &event, std::string_view name) {
  const Stat *stat = plane.find(line, event, name);
  return stat && (stat->type == Stat::Type::Unsigned || stat->type == Stat::Type::Signed) ? stat->number : 0;
}

double timeOf(const Plane::Line &line, const Plane::Event &event) { return double(line.start) + double(event.offset) / 1000; }

} // namespace

double MemoryReplay::nextAt() const {
  return position < counters.events.size() ? timeOf(counters, counters.events[position]) : std::numeric_limits<double>::infinity();
}

bool MemoryReplay::next() {
  if (position == counters.events.size())
    return false;
  const Plane::Event &event = counters.events[position++];
  begin = timeOf(counters, event);
  bytesInUse = numberOf(plane, counters, event, "bytes in use");
  const auto change = int64_t(numberOf(plane, counters, event, "change"));
  const uint64_t address = numberOf(plane, counters, event, "address");
  if (!address)
    return true;
  if (auto found = blocks.find(address); found != blocks.end()) {
    knownBytes -= found->second.bytes;
    byPurpose[*found->second.purpose] -= found->second.bytes;
    blocks.erase(found);
  }
  if (change > 0) {
    const Block block{uint64_t(change), &textOf(plane, counters, event, "purpose"), &textOf(plane, counters, event, "source"), begin};
    blocks[address] = block;
    knownBytes += block.bytes;
    byPurpose[*block.purpose] += block.bytes;
  }
  return true;
}

uint64_t MemoryReplay::bytesFor(const std::string &purpose) const {
  auto found = byPurpose.find(purpose);
  return found == byPurpose.end() ? 0 : found->second;
}

size_t indexOfPeak(const Plane &plane, const Plane::Line &counters) {
  size_t best = counters.events.size();
  uint64_t most = 0;
  for (size_t i = 0; i < counters.events.size(); ++i)
    if (const uint64_t bytes = numberOf(plane, counters, counters.events[i], "bytes in use"); bytes > most || best == counters.events.size()) {
      most = bytes;
      best = i;
    }
  return best;
}

} // namespace millrace::runtime::profile
