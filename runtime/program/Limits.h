// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Limits.h - Limits of the sizes in a program -------------------------===//
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// The largest number of bytes of a value in memory, and of all temporaries of a function together: the address space of processors.
inline constexpr uint64_t maxValueBytes = uint64_t(1) << 46;

} // namespace millrace::runtime
