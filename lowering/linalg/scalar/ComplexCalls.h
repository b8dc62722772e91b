// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComplexCalls.h - Call complex functions of the runtime -------------===//
// runtime/kernels/Symbols.h declares for every function f
//   millrace_rt_cff    for complex<f32>: arguments are exact in double, the result is rounded to f32 afterwards
//   millrace_rt_cf     for complex<f64>: computed in long double
// Both take and return (re, im) as doubles; the pair {double, double} is returned in two registers.
#pragma once

#include "lowering/linalg/scalar/ScalarBuilder.h"

namespace millrace::lowering {

/// Calls the runtime's complex function `name` for complex<f32> or complex<f64> `operands`. Adds the declaration to the enclosing module if it is
/// missing, so that no other thread may change that module meanwhile. Returns null if the insertion point is in no module.
mlir::Value emitComplexCall(ScalarBuilder &b, llvm::StringRef name, mlir::ValueRange operands);

} // namespace millrace::lowering
