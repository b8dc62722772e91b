// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Runs.cpp - Which recordings of a folder are of the same run ---------===//
#include "runtime/profile/Runs.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <map>
#include <optional>

namespace millrace::runtime::profile {
namespace {

// Clocks of hosts differ by less, also where nothing sets them. Unit: nanoseconds. Source: judgement, not measured alone.
constexpr int64_t kClocksDiffer = 600'000'000'000;

struct Period {
  int64_t begin, end; ///< nanoseconds of CLOCK_REALTIME
  void add(int64_t first, int64_t last) {
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
};

/// The time in which it was recorded, else that of its events.
std::optional<Period> periodOf(const XSpace &space) {
  std::optional<Period> recorded, seen;
  auto add = [](std::optional<Period> &period, int64_t begin, int64_t end) {
    if (!period)
      period = Period{begin, end};
    period->add(begin, end);
  };
  for (const Plane &plane : space.planes) {
    const Stat *start = plane.find(plane.stats, "profile_start_time"), *stop = plane.find(plane.stats, "profile_stop_time");
    if (start && stop)
      add(recorded, start->integer, stop->integer);
    if (!plane.name.starts_with(kMetadataPlane))
      for (const Plane::Line &line : plane.lines)
        for (const Plane::Event &event : line.events)
          add(seen, line.start + event.offset / 1000, line.start + (event.offset + event.duration) / 1000);
  }
  return recorded ? recorded : seen;
}

/// The recordings of a run, and the period of all of them.
class Run {
public:
  Run(const std::vector<RecordedPart> &parts, const std::vector<std::optional<Period>> &periods) : parts(parts), periods(periods), has(parts.size()) {}

  void add(size_t part) {
    has[part] = true;
    whole = whole.value_or(*periods[part]);
    whole->add(periods[part]->begin, periods[part]->end);
  }
  /// Adds those of `among` that are of the same capture as one of these, or overlap them.
  void addOverlapping(const std::vector<size_t> &among) {
    for (bool isMore = true; isMore;) {
      isMore = false;
      for (size_t part : among)
        if (!has[part] && (isOfSameCapture(part) || (periods[part]->begin <= whole->end && periods[part]->end >= whole->begin))) {
          add(part);
          isMore = true;
        }
    }
  }
  bool isOfSameCapture(size_t part) const {
    for (size_t i = 0; i < parts.size(); ++i)
      if (has[i] && !parts[i].capture.empty() && parts[i].capture == parts[part].capture)
        return true;
    return false;
  }
  /// The time between this run and another one; 0 if they overlap.
  int64_t distanceTo(const Run &other) const { return std::max<int64_t>({0, whole->begin - other.whole->end, other.whole->begin - whole->end}); }
  bool contains(size_t part) const { return has[part]; }
  int64_t end() const { return whole->end; }

private:
  const std::vector<RecordedPart> &parts;
  const std::vector<std::optional<Period>> &periods;
  std::vector<bool> has;
  std::optional<Period> whole;
};

} // namespace

std::vector<bool> areOfNewestRun(const std::vector<RecordedPart> &parts) {
  std::vector<std::optional<Period>> periods;
  std::map<std::string, std::vector<size_t>> ofHosts;
  std::vector<size_t> all;
  for (size_t i = 0; i < parts.size(); ++i) {
    periods.push_back(periodOf(*parts[i].space));
    if (!periods.back())
      continue;
    all.push_back(i);
    ofHosts[parts[i].space->hostnames.empty() ? std::string() : parts[i].space->hostnames[0]].push_back(i);
  }
  std::vector<Run> runs; ///< the newest one of each host
  for (const auto &[host, own] : ofHosts) {
    Run &run = runs.emplace_back(parts, periods);
    run.add(*std::max_element(own.begin(), own.end(), [&](size_t a, size_t b) { return periods[a]->end < periods[b]->end; }));
    run.addOverlapping(own);
  }
  std::vector<bool> found(parts.size(), true);
  if (runs.empty())
    return found;
  const Run &newest = *std::max_element(runs.begin(), runs.end(), [](const Run &a, const Run &b) { return a.end() < b.end(); });
  for (size_t part : all)
    found[part] = newest.isOfSameCapture(part) || std::any_of(runs.begin(), runs.end(), [&](const Run &run) {
                    return run.contains(part) && run.distanceTo(newest) <= kClocksDiffer;
                  });
  return found;
}

} // namespace millrace::runtime::profile
