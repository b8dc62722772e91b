// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DotI8.h - Products of matrices of bytes ------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// millrace_dot_i8: a [m, k] and b [k, n], or [n, k] with the attribute `transposed`, of type i8 -> [m, n] of type i32. Exact: sums
/// wrap around only where 32 bits do.
Status dotI8(const CustomCall &call);

} // namespace millrace::runtime
