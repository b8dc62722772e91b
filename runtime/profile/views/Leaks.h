// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Leaks.h - Memory that grows with each execution ---------------------===//
#pragma once
#include "runtime/profile/MemoryReplay.h"
#include "runtime/profile/views/Lanes.h"

namespace millrace::runtime::profile {

/// Adds a finding if what a device has in use after the executions of its most frequent program rises. `events` are its records of memory, `live`
/// what it has after its last execution, `peak` what it has at most.
void addLeak(const Lanes &lanes, const Events &events, const MemoryReplay::Blocks &live, double peak, Views &views);

} // namespace millrace::runtime::profile
