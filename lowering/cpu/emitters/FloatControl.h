// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatControl.h - Code regions in which subnormals are flushed to zero ===//
// A multiply-add with a subnormal operand or result takes an x86-64 processor 150 cycles instead of half a cycle. Between flushSubnormals() and
// keepSubnormals() subnormals are flushed to zero; the code before and after computes with them. Each of both waits for pending instructions,
// together 25 cycles.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/model/PointEvaluator.h"

namespace millrace::lowering {

/// Fact: 32-bit words in the parameter `words` of the following functions.
constexpr int64_t kFloatControlWords = 2;

/// Stores the thread's control word, and the same with flushing enabled, to `words`.
void saveFloatControl(PointEvaluator &at, mlir::Value words);
/// Begins the region. Values computed in loops that follow are computed inside.
void flushSubnormals(PointEvaluator &at, mlir::Value words);
/// Ends the region. `values` are computed inside; values computed from the returned ones are computed after it.
mlir::SmallVector<mlir::Value> keepSubnormals(PointEvaluator &at, mlir::Value words, mlir::ArrayRef<mlir::Value> values = {});

} // namespace millrace::lowering
