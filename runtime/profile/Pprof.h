// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pprof.h - Recordings for pprof ----------------------------------------===//
// The message Profile of google/pprof, which `go tool pprof`, speedscope and others read: samples with stacks. Not compressed; they read both.
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// Time, as two values per stack: samples/count and time/nanoseconds. The stack of a step on a device is its name, the user's line, the program and
/// the device; that of an event of the host are the events around it and the thread. Each counts its own time without what lies inside of it.
std::string pprofOfTime(const XSpace &space);

/// Memory where each device has most in use, as objects/count and space/bytes: what it is for and the line that asked for it.
std::string pprofOfMemory(const XSpace &space);

} // namespace millrace::runtime::profile
