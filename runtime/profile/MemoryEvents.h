// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryEvents.h - Allocations, as XProf's memory_profile reads them ---===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

// XProf looks for events of these two names in the plane of the host, whatever device has the memory.
inline constexpr std::string_view kAllocation = "MemoryAllocation", kDeallocation = "MemoryDeallocation";
inline constexpr std::string_view kMemoryLine = "memory of "; ///< followed by the device; how the names of these lines begin

/// What such an event takes of a file. Unit: bytes. Source: arithmetic: eight stats of 6 to 15 bytes.
inline constexpr uint64_t kMemoryEventBytes = 90;
/// Events of a recording for XProf, at most so many. Each repeats a point of a counter, and XProf draws a thousand of them. Unit: events.
/// Source: arithmetic: 9 MB of the 100 MB that a file may have.
inline constexpr size_t kMostMemoryEvents = 100'000;

/// A plane whose lines, one per device, have what the counters of the devices say as such events: bytes in use, their peak so far, the size, the
/// address, the purpose and the place. Of more than `most` events it has those of the largest blocks: with an allocation its deallocation.
Plane memoryEvents(const XSpace &space, size_t most = kMostMemoryEvents);

} // namespace millrace::runtime::profile
