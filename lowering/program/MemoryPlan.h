// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPlan.h - Assign arena offsets to live ranges -----------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::lowering {

/// A temporary, live from step `first` to step `last`, both included. Two temporaries whose live ranges share a step get disjoint memory.
struct Lifetime {
  uint64_t bytes = 0;
  uint32_t first = 0, last = 0;
  uint64_t live = 0; ///< bytes that are in use at the same time, if fewer (a callee's arena); 0: all
};

/// Returns the bytes that a value of `bytes` takes in the arena: a multiple of 64, the cache line, so that no two values share a line.
uint64_t arenaBytesOf(uint64_t bytes);

/// A splat constant of more bytes is not stored in the program: it is filled where it is used. Unit: bytes. Source: judgement, not measured alone.
inline constexpr uint64_t kLargestStoredSplat = 4096;

struct MemoryPlan {
  std::vector<uint64_t> offsets; ///< one per lifetime, multiples of 64
  uint64_t arenaBytes = 0;
  uint64_t lowerBound = 0; ///< the largest sum of live bytes (rounded up to 64 each) at any step: no arena is smaller
};

/// The entry of a program's metadata that holds the entry function's MemoryPlan::lowerBound.
inline constexpr char kLiveBytesKey[] = "live bytes";
/// The entry that holds the largest sum of bytes of all_gather results that are live at the same time in the entry function; absent if it is 0.
inline constexpr char kGatheredBytesKey[] = "gathered bytes";

/// First fit: one value after the other at the lowest offset that is free during its whole live range. Which order is best differs between programs:
/// by size first, and while the arena is larger than the lower bound, other orders and improvements of them, within a budget of steps (it grows with
/// the number of temporaries, so that compile time stays linear in it). Depends on the live ranges alone.
MemoryPlan planMemory(const std::vector<Lifetime> &lifetimes);

} // namespace millrace::lowering
