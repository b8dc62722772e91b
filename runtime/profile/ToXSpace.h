// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToXSpace.h - A recording as planes, lines and events ----------------===//
#pragma once
#include "runtime/profile/ProfileOptions.h"
#include "runtime/profile/Recorder.h"
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// What stands before the names of transfers, compilations and launches: "PjRtComputationClient::" where users of PyTorch look for them.
void setHostPrefix(std::string prefix);

/// Lines of a device, by id.
enum DeviceLine : int64_t { kModules = 1, kOps = 2, kCounters = 3 };
inline constexpr std::string_view kDevicePlane = "/device:CUSTOM:Millrace CPU:", kEnvironmentPlane = "Task Environment";
inline constexpr std::string_view kThreadsStat = "threads"; ///< of a device: threads of the pool that runs its kernels
inline constexpr std::string_view kProgramsPlane = "/millrace:programs"; ///< a stat per program that ran: ProgramGraph.h

/// One plane per device ("/device:CUSTOM:Millrace CPU:0": executions, their steps, memory in use) and one of the host's threads. `isWhole`: also
/// the plane that says when the recording began and ended, which jaxlib's sessions add themselves. `wanted` says which of these there are, and whether
/// there is "/host:metadata", where XProf looks for the HLO of the programs that ran (ProgramHlo.h).
XSpace toXSpace(const Recording &recording, bool isWhole, const Wanted &wanted = {});

} // namespace millrace::runtime::profile
