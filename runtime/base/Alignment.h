// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Alignment.h - Alignment of buffers ---------------------------------===//
// The runtime, which allocates buffers, and code generation, which relies on their alignment, share this constant.
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// Fact: alignment of every buffer of a kernel in bytes, which the kernel ABI promises (docs/kernel-abi.md): the size of the widest vector, and of
/// the cache lines of most processors.
inline constexpr uint64_t kBufferAlignment = 64;

/// Returns the least multiple of kBufferAlignment that is at least `bytes`.
constexpr uint64_t alignedBytes(uint64_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

} // namespace millrace::runtime
