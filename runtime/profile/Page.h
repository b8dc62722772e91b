// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Page.h - A recording as one HTML file --------------------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// So many events are drawn at most; the longest ones of those that there are. Tables count all.
inline constexpr size_t kDrawnEvents = 150'000;

/// A page that needs no other file and no network: a sentence on where the time goes, a timeline of devices and threads with arrows from launches
/// to executions, memory in use, and tables of what takes the time, by kernel and by the user's line. `title` stands at its top.
std::string htmlPage(const XSpace &space, const std::string &title, size_t drawnEvents = kDrawnEvents);

} // namespace millrace::runtime::profile
