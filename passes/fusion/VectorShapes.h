// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorShapes.h - What fills a vector of every processor ------------===//
// Passes decide for the longest and shortest vectors of all processors instead of those of the target: a program has the same kernels, and its sums the
// same order, on all of them. Emitters, which cut a kernel into vectors, ask the target.
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace millrace::fusion {

/// Fact: bits of the longest vectors (AVX-512).
inline constexpr int64_t kLongestVectorBits = 512;
/// Fact: bytes of the shortest vectors (SSE, Armv8-A).
inline constexpr int64_t kShortestVectorBytes = 16;
/// Elements that fill the longest vectors, of f32 or integers of 32 bits. Unit: elements. Source: arithmetic.
inline constexpr int64_t kLanesOfLongest = kLongestVectorBits / 32;

} // namespace millrace::fusion
