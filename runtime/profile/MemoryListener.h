// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryListener.h - Another profiler that keeps account of memory -----===//
#pragma once
#include <cstdint>

namespace millrace::runtime::profile {

/// Another profiler, which keeps an account of its own of the memory of values. It is called while somebody records, on the thread that asks for memory
/// or gives it back (`bytes` < 0), with a lock held: it must not use the allocator. `inUse`: bytes that the device has in use after that.
using MemoryListener = void (*)(uint32_t device, void *data, int64_t bytes, uint64_t inUse);
void setMemoryListener(MemoryListener listener);
/// Calls the listener for an allocator that belongs to a device.
void tellOfMemory(const void *allocator, void *data, int64_t bytes, uint64_t inUse);

} // namespace millrace::runtime::profile
