// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChromeTrace.h - Events for chrome://tracing and Perfetto ------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// Slices of a trace, and points of its counters: 90 MB of JSON, which viewers open in seconds. Unit: events. Source: benchmarks.recording_cost: 184 MB
/// of 500,000.
inline constexpr size_t kMostSlices = 250'000;

/// The JSON object that chrome://tracing and ui.perfetto.dev read: planes are processes, lines are threads, launches have arrows to executions,
/// memory is a counter. Times are microseconds since the first line begins. Of more than `most` events the longest ones: viewers stop at some
/// 200 MB.
std::string chromeTrace(const XSpace &space, size_t most = kMostSlices);

/// `text` in quotes, for JSON; what is not UTF-8 becomes U+FFFD.
std::string jsonText(std::string_view text);

} // namespace millrace::runtime::profile
