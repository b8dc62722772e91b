// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPlan.h - Offsets in one arena for values with lifetimes ------===//
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::lowering {

/// A temporary: alive from step `first` to step `last`, both included. Two temporaries whose intervals share a step
/// get disjoint memory.
struct Lifetime {
  uint64_t bytes = 0;
  uint32_t first = 0, last = 0;
  uint64_t live = 0; ///< those of `bytes` that hold values at the same time, where these are fewer (a callee's arena); 0: all
};

/// Bytes that a value of `bytes` takes in the arena: a multiple of 64, the line of the caches, so that no two values share one.
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
/// The entry that holds how many bytes of results of all_gather are alive at once at most, in the entry function; there is none where it is 0.
inline constexpr char kGatheredBytesKey[] = "gathered bytes";

/// First fit: one value after the other at the lowest offset that is free for its whole lifetime. Which order is best differs between
/// programs: by size first, and while the arena is larger than the lower bound, other orders and improvements of them, as far as a
/// budget of steps reaches (it grows with the number of temporaries, so that compile time stays linear in it). Depends on the lifetimes alone.
MemoryPlan planMemory(const std::vector<Lifetime> &lifetimes);

} // namespace millrace::lowering
