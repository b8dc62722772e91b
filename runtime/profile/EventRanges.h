// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EventRanges.h - The events of a recording, a part for each thread ----===//
#pragma once
#include "runtime/base/ThreadPool.h"
#include "runtime/profile/XSpace.h"

#include <algorithm>
#include <vector>

namespace millrace::runtime::profile {

/// Consecutive events of one line, so many that the work on them is worth a thread's while.
struct EventRange {
  /// A thread takes a millisecond for so many events, and does not wait long for another one at the end. Unit: events. Source: judgement, not measured
  /// alone.
  static constexpr size_t kEvents = 8192;
  size_t plane, line; ///< indices
  size_t begin, end;  ///< of events
};

/// Appends the ranges of a line that has so many events.
inline void appendRanges(std::vector<EventRange> &ranges, size_t plane, size_t line, size_t numEvents) {
  for (size_t begin = 0; begin < numEvents; begin += EventRange::kEvents)
    ranges.push_back({plane, line, begin, std::min(begin + EventRange::kEvents, numEvents)});
}

/// Calls `visit` with the index of each range, on the threads of the process's pool where there is more to do than for one. The ranges are visited in no
/// order. Must not be called by what the pool runs.
template <typename Visit>
void forRanges(const std::vector<EventRange> &ranges, Visit visit) {
  size_t numEvents = 0;
  for (const EventRange &range : ranges)
    numEvents += range.end - range.begin;
  if (numEvents <= EventRange::kEvents) {
    for (size_t i = 0; i < ranges.size(); ++i)
      visit(i);
    return;
  }
  const ThreadPool::Body body = [](void *context, int64_t begin, int64_t end) -> int32_t {
    for (int64_t i = begin; i < end; ++i)
      (*static_cast<Visit *>(context))(size_t(i));
    return 0;
  };
  ThreadPool::global().run(int64_t(ranges.size()), 1, body, &visit);
}

} // namespace millrace::runtime::profile
