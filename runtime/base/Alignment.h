// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Alignment.h - How buffers lie in memory ----------------------------===//
// One number for the runtime, which makes buffers, and for code generation, which relies on it.
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// Fact: bytes; every buffer of a kernel begins at a multiple, which the kernel ABI promises (docs/kernel-abi.md): the widest vector, and the line of
/// most caches.
inline constexpr uint64_t kBufferAlignment = 64;

/// The least multiple of kBufferAlignment that is not less than `bytes`.
constexpr uint64_t alignedBytes(uint64_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

} // namespace millrace::runtime
