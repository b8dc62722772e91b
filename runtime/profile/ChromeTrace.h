// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChromeTrace.h - Events for chrome://tracing and Perfetto ------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// Bytes of a trace: viewers open so many in seconds, and stop at some 200 MB. Unit: bytes. Source: judgement: a file stays below 100 MB.
inline constexpr size_t kMostTraceBytes = 95'000'000;

/// The JSON object that chrome://tracing and ui.perfetto.dev read: planes are processes, lines are threads, launches have arrows to executions,
/// memory is a counter. Times are microseconds since the first line begins. The text has at most `most` bytes: where that is too little for all events,
/// it has the longest ones, and says how many are left out.
std::string chromeTrace(const XSpace &space, size_t most = kMostTraceBytes);

/// `text` in quotes, for JSON; what is not UTF-8 becomes U+FFFD.
std::string jsonText(std::string_view text);

} // namespace millrace::runtime::profile
