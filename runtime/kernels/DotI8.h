// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DotI8.h - Products of i8 matrices -----------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_dot_i8: a [m, k] and b [k, n], or [n, k] with the attribute `transposed`, of type i8 -> [m, n] of type i32. The result is exact: sums
/// wrap around in 32 bits only.
Status dotI8(const CustomCall &call);

} // namespace millrace::runtime
