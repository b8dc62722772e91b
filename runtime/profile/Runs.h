// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Runs.h - Which recordings of a folder are of the same run -----------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// A recording among others of the same folder.
struct RecordedPart {
  const XSpace *space;
  std::string capture; ///< the folder of the capture that wrote it, whose recordings belong together; empty where each process writes its own
};

/// Per recording, whether it belongs to the newest run: its period overlaps that of the newest one, at once or by way of others. Periods of several
/// hosts are those of several clocks: of each host the newest recordings count, unless they are much older. What has no period belongs to every run.
std::vector<bool> areOfNewestRun(const std::vector<RecordedPart> &parts);

} // namespace millrace::runtime::profile
