// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Limits.h - Limits of the sizes in a program -------------------------===//
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// The largest number of bytes of a value in memory, and of all temporaries of a function together: the address space of processors.
inline constexpr uint64_t maxValueBytes = uint64_t(1) << 46;

/// The largest table that the executor puts on the stack for one step: the operands and results of a kernel, the sizes that it is given, the states
/// of a loop, and the sizes of those. Unit: entries of 8 bytes. Source: arithmetic: a step has two such tables at most, 1 MiB, which is half the
/// smallest stack that Linux gives a thread by itself (2 MiB, where the limit of stacks is unlimited).
inline constexpr uint64_t kMaxTableEntries = uint64_t(1) << 16;

} // namespace millrace::runtime
