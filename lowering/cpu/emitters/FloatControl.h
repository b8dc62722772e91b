// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatControl.h - Stretches of code in which subnormal numbers are zeros ===//
// A multiply-add with a subnormal factor or sum takes an x86-64 processor a hundred and fifty cycles instead of half a one. Between
// flushSubnormals() and keepSubnormals() it takes them for zeros; what stands before and behind computes with them. Each of both waits for what
// is under way, together 25 cycles.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/model/PointEvaluator.h"

namespace millrace::lowering {

/// Fact: words of 32 bits that `words` of the following holds.
constexpr int64_t kFloatControlWords = 2;

/// Writes the thread's control word, and the same with subnormal numbers as zeros, to `words`.
void saveFloatControl(PointEvaluator &at, mlir::Value words);
/// The stretch begins. What is in loops behind is computed inside.
void flushSubnormals(PointEvaluator &at, mlir::Value words);
/// The stretch ends. `values` are computed inside; what is computed from those it returns is computed behind.
mlir::SmallVector<mlir::Value> keepSubnormals(PointEvaluator &at, mlir::Value words, mlir::ArrayRef<mlir::Value> values = {});

} // namespace millrace::lowering
