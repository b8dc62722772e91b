// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChromeTrace.h - Events for chrome://tracing and Perfetto ------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// The JSON object that chrome://tracing and ui.perfetto.dev read: planes are processes, lines are threads, launches have arrows to executions,
/// memory is a counter. Times are microseconds since the first line begins. Of more than `most` events the longest ones: viewers stop at some
/// 200 MB.
std::string chromeTrace(const XSpace &space, size_t most = 500'000);

/// `text` in quotes, for JSON; what is not UTF-8 becomes U+FFFD.
std::string jsonText(std::string_view text);

} // namespace millrace::runtime::profile
