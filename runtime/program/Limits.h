// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Limits.h - How large what a program holds can be -------------------===//
#pragma once
#include <cstdint>

namespace millrace::runtime {

/// Bytes that a value in memory, and all temporaries of a function together, may take: what processors can address.
inline constexpr uint64_t maxValueBytes = uint64_t(1) << 46;

} // namespace millrace::runtime
