// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Page.h - A recording as one HTML file --------------------------------===//
#pragma once
#include "runtime/profile/Views.h"

namespace millrace::runtime::profile {

/// So many are drawn at most; the longest ones of those that there are. Tables count all. Unit: events. Source: judgement, not measured alone.
inline constexpr size_t kDrawnEvents = 150'000;

/// A page that needs no other file and no network, with a view for each question: what to change first, a timeline of devices and threads with
/// arrows from launches to executions, kernels under the roofs of the machine (if they are known), memory by purpose and who owns its peak, what was
/// compiled why, how devices wait for each other, programs as graphs, and tables by kernel and by the user's line. `title` stands at its top.
std::string htmlPage(const XSpace &space, const std::string &title, const Roofs &roofs = {}, size_t drawnEvents = kDrawnEvents);

} // namespace millrace::runtime::profile
