// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thin.cpp - Fewer events, for viewers with limits ---------------------===//
#include "runtime/profile/Thin.h"

#include <algorithm>
#include <functional>

namespace millrace::runtime::profile {
namespace {

bool isCounter(const Plane::Line &line) { return line.name == "_counters_"; }

uint64_t valueOf(const Plane::Line &line, const Plane::Event &event) { return event.numStats ? line.stats[event.firstStat].number : 0; }

} // namespace

XSpace thinned(XSpace space, size_t most) {
  std::vector<int64_t> durations;
  size_t points = 0;
  for (const Plane &plane : space.planes) {
    if (plane.name.starts_with(kMetadataPlane))
      continue;
    for (const Plane::Line &line : plane.lines) {
      points += isCounter(line) ? line.events.size() : 0;
      if (!isCounter(line))
        for (const Plane::Event &event : line.events)
          durations.push_back(event.duration);
    }
  }
  const size_t before = durations.size() + points;
  int64_t least = 0;
  size_t ofLeast = 0; ///< of those that last exactly as long, so many stay
  if (durations.size() > most) {
    auto nth = durations.begin() + ptrdiff_t(most);
    std::nth_element(durations.begin(), nth, durations.end(), std::greater<>());
    least = *nth;
    ofLeast = most - size_t(std::count_if(durations.begin(), durations.end(), [&](int64_t each) { return each > least; }));
  }
  const bool dropsSlices = durations.size() > most;
  const size_t group = (points + std::max<size_t>(1, most) - 1) / std::max<size_t>(1, most);
  if (!dropsSlices && group <= 1)
    return space;
  for (Plane &plane : space.planes) {
    if (plane.name.starts_with(kMetadataPlane))
      continue;
    for (Plane::Line &line : plane.lines) {
      if (!isCounter(line)) {
        if (dropsSlices)
          std::erase_if(line.events, [&](const Plane::Event &event) {
            if (event.duration != least)
              return event.duration < least;
            return ofLeast == 0 || !ofLeast--;
          });
        continue;
      }
      std::vector<Plane::Event> kept;
      for (size_t i = 0; i < line.events.size(); i += std::max<size_t>(1, group))
        kept.push_back(*std::max_element(line.events.begin() + ptrdiff_t(i), line.events.begin() + ptrdiff_t(std::min(i + group, line.events.size())),
                                         [&](const auto &a, const auto &b) { return valueOf(line, a) < valueOf(line, b); }));
      line.events = std::move(kept);
    }
  }
  space.warnings.push_back(std::to_string(before - space.numEvents()) + " of " + std::to_string(before) +
                           " events, the shortest ones, are not drawn here; tables and the file for XProf have them");
  return space;
}

} // namespace millrace::runtime::profile
