// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryUse.cpp - Memory over time, and who owns its peak -------------===//
#include "runtime/profile/MemoryPeak.h"
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Leaks.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

/// The highest point of each pixel is drawn: a page is not wider. Unit: pixels. Source: judgement.
constexpr double kPixels = 1200;

/// Adds points of a device's memory to `series`, one after the other.
class Drawing {
public:
  Drawing(const Events &events, const Lanes &lanes) : first(lanes.first), pixel(std::max(1.0, (events.back().end - events.front().begin) / kPixels)) {
    series.device = events[0].plane->name;
    std::set<std::string> purposes;
    for (const Event &event : events)
      if (std::string purpose = event.text("purpose"); !purpose.empty())
        purposes.insert(purpose);
    series.purposes.assign(purposes.begin(), purposes.end());
    series.purposes.push_back(purposes.empty() ? "in use" : "before the recording");
  }

  void add(const MemoryReplay &now) {
    const bool isNext = series.points.empty() || now.at() >= until;
    if (!isNext && double(now.inUse()) <= highest)
      return;
    if (isNext) {
      series.points.emplace_back();
      until = now.at() + pixel;
    }
    highest = double(now.inUse());
    std::vector<double> &point = series.points.back();
    point = {now.at() - first};
    double sum = 0;
    for (size_t k = 0; k + 1 < series.purposes.size(); ++k) {
      point.push_back(double(now.bytesFor(series.purposes[k])));
      sum += point.back();
    }
    point.push_back(std::max(0.0, highest - sum));
  }

  MemorySeries series;

private:
  double first, pixel, highest = -1, until = 0;
};

/// When the last execution of a device ends: what is given back while the process ends says nothing.
double endOfRuns(const Lanes &lanes, const Plane &plane) {
  double last = 0;
  for (const Events &all : lanes.executions)
    if (all[0].plane->name == plane.name)
      for (const Event &event : all)
        last = std::max(last, event.end);
  return last;
}

void addOwners(const Lanes &lanes, Views &views) {
  for (const MemoryPeak &peak : memoryPeaks(lanes.space))
    for (const MemoryPeak::Owner &owner : peak.owners) {
      const bool isUnknown = owner.purpose.empty() && owner.source.empty();
      if (isUnknown && double(owner.bytes) <= 0.001 * double(peak.bytes))
        continue;
      views.owners.push_back({peak.device,
                              !isUnknown               ? owner.purpose
                              : peak.owners.size() > 1 ? "before the recording"
                                                       : "not known",
                              owner.source, owner.bytes, owner.blocks});
    }
  std::sort(views.owners.begin(), views.owners.end(), [](const auto &a, const auto &b) {
    return std::tie(b.bytes, a.device, a.purpose, a.source) < std::tie(a.bytes, b.device, b.purpose, b.source);
  });
}

} // namespace

void addMemory(const Lanes &lanes, Views &views) {
  for (const Events &events : lanes.counters) {
    const double last = endOfRuns(lanes, *events[0].plane);
    MemoryReplay replay(*events[0].plane, *events[0].line);
    MemoryReplay::Blocks afterLast;
    Drawing drawing(events, lanes);
    bool isPast = false;
    double peak = 0;
    do {
      if (!isPast && replay.nextAt() > last) {
        isPast = true;
        afterLast = replay.live();
      }
      if (replay.isAtStart())
        continue;
      peak = std::max(peak, double(replay.inUse()));
      drawing.add(replay);
    } while (replay.next());
    views.memory.push_back(std::move(drawing.series));
    addLeak(lanes, events, afterLast, peak, views);
  }
  addOwners(lanes, views);
}

} // namespace millrace::runtime::profile
