// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryEvents.cpp - Allocations, as XProf's memory_profile reads them -===//
#include "runtime/profile/MemoryEvents.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <unordered_set>

namespace millrace::runtime::profile {
namespace {

/// What the names of stats are in one plane, so that an event is read without comparing texts.
struct Names {
  explicit Names(const Plane &plane) {
    const std::pair<std::string_view, uint32_t *> known[] = {
        {"bytes in use", &inUse}, {"change", &change}, {"address", &address}, {"purpose", &purpose}, {"source", &source}};
    for (uint32_t i = 0; i < plane.texts.size(); ++i)
      for (const auto &[name, index] : known)
        if (plane.texts[i] == name)
          *index = i;
  }
  static constexpr uint32_t kNone = ~uint32_t(0);
  uint32_t inUse = kNone, change = kNone, address = kNone, purpose = kNone, source = kNone;
};

struct Change {
  int64_t bytes = 0;
  uint64_t inUse = 0, address = 0;
  std::string_view purpose, source;
  uint64_t size() const { return bytes < 0 ? uint64_t(-bytes) : uint64_t(bytes); }
};

Change changeOf(const Plane &plane, const Names &names, const Plane::Line &line, const Plane::Event &event) {
  Change change;
  for (uint32_t i = 0; i < event.numStats; ++i) {
    const Stat &stat = line.stats[event.firstStat + i];
    if (stat.name == names.inUse)
      change.inUse = stat.number;
    else if (stat.name == names.change)
      change.bytes = stat.integer;
    else if (stat.name == names.address)
      change.address = stat.number;
    else if (stat.type == Stat::Type::Text && stat.name == names.purpose)
      change.purpose = plane.texts[stat.text];
    else if (stat.type == Stat::Type::Text && stat.name == names.source)
      change.source = plane.texts[stat.text];
  }
  return change;
}

/// The number of a device of this process; nothing for planes of other kinds and of merged recordings, which XProf does not read.
std::optional<uint32_t> ordinalOf(const Plane &plane) {
  if (!plane.name.starts_with(kDevicePlane))
    return std::nullopt;
  const char *begin = plane.name.data() + kDevicePlane.size(), *end = plane.name.data() + plane.name.size();
  uint32_t number = 0;
  auto [at, error] = std::from_chars(begin, end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

/// Which blocks are told of: all that are larger than a size, and some of that size.
class Choice {
public:
  Choice(std::vector<uint64_t> sizes, size_t most) {
    if (sizes.size() <= most)
      return;
    auto nth = sizes.begin() + ptrdiff_t(most);
    std::nth_element(sizes.begin(), nth, sizes.end(), std::greater<>());
    isBounded = true;
    least = *nth;
    ofLeast = most - size_t(std::count_if(sizes.begin(), sizes.end(), [&](uint64_t size) { return size > least; }));
  }
  bool takes(const Change &change) {
    if (!isBounded || change.size() > least)
      return true;
    if (change.size() < least)
      return false;
    if (change.bytes < 0)
      return taken.erase(change.address) != 0; // its room was taken with the allocation
    if (ofLeast < 2)
      return false;
    ofLeast -= 2;
    taken.insert(change.address);
    return true;
  }

private:
  bool isBounded = false;
  uint64_t least = 0;
  size_t ofLeast = 0;
  std::unordered_set<uint64_t> taken;
};

} // namespace

Plane memoryEvents(const XSpace &space, size_t most) {
  Plane made;
  made.kinds.resize(2);
  made.kinds[0].name = kAllocation;
  made.kinds[1].name = kDeallocation;
  std::vector<uint64_t> sizes;
  auto forChanges = [&](auto visit) {
    for (const Plane &plane : space.planes)
      if (const std::optional<uint32_t> ordinal = ordinalOf(plane))
        for (const Plane::Line &line : plane.lines)
          if (line.name == "_counters_") {
            const Names names(plane);
            for (const Plane::Event &event : line.events)
              if (const Change change = changeOf(plane, names, line, event); change.bytes)
                visit(*ordinal, line, event, change);
          }
  };
  forChanges([&](uint32_t, const Plane::Line &, const Plane::Event &, const Change &change) { sizes.push_back(change.size()); });
  Choice choice(std::move(sizes), most);
  Plane::Line *line = nullptr;
  const Plane::Line *seen = nullptr;
  std::string device;
  uint64_t peak = 0;
  forChanges([&](uint32_t ordinal, const Plane::Line &counters, const Plane::Event &event, const Change &change) {
    if (seen != &counters) {
      seen = &counters;
      device = "Millrace CPU:" + std::to_string(ordinal);
      peak = 0;
      line = &made.lines.emplace_back();
      // Fact: larger than the number of any thread of Linux, because lines of threads are numbered so.
      constexpr int64_t kFirstLine = 5'000'000;
      line->id = kFirstLine + ordinal;
      line->name = std::string(kMemoryLine) + device;
      line->start = counters.start;
    }
    peak = std::max(peak, change.inUse);
    if (!choice.takes(change))
      return;
    const bool isAllocation = change.bytes > 0;
    Plane::Event &told = line->events.emplace_back();
    told.kind = isAllocation ? 0 : 1;
    told.firstStat = uint32_t(line->stats.size());
    told.offset = event.offset;
    // XProf reads numbers with a sign.
    line->stats.push_back(made.text("allocator_name", device));
    line->stats.push_back(made.integer("bytes_allocated", int64_t(change.inUse)));
    line->stats.push_back(made.integer("peak_bytes_in_use", int64_t(peak)));
    line->stats.push_back(made.integer("requested_bytes", int64_t(change.size())));
    line->stats.push_back(made.integer("allocation_bytes", int64_t(change.size())));
    line->stats.push_back(made.integer("addr", int64_t(change.address)));
    if (isAllocation) {
      line->stats.push_back(made.text("tf_op", change.source.empty() ? "no line is known" : change.source));
      line->stats.push_back(made.text("region_type", change.purpose));
    }
    told.numStats = uint32_t(line->stats.size()) - told.firstStat;
  });
  return made;
}

} // namespace millrace::runtime::profile
