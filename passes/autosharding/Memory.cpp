// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - The memory that a compiled program takes ---------------===//
#include "passes/autosharding/Memory.h"

namespace millrace::autosharding {

std::vector<int64_t> bytesByTime(const CompiledMemory &memory) {
  std::vector<int64_t> bytes(memory.times + 1, 0);
  bytes.front() = memory.constants;
  for (const CompiledMemory::Buffer &buffer : memory.buffers) {
    bytes[buffer.begin] += buffer.bytes;
    bytes[buffer.end] -= buffer.bytes;
  }
  for (int64_t time = 1; time <= memory.times; ++time)
    bytes[time] += bytes[time - 1];
  return bytes;
}

} // namespace millrace::autosharding
