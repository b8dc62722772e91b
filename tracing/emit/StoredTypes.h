// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredTypes.h - Tensors that are stored in a smaller type -----------===//
// XLA_USE_BF16 and related variables: tensors report the type of their program, but the device stores and computes them in a smaller type. Programs
// are not changed where they are recorded; their parameters and results are converted, and the result of every operation is rounded.
#pragma once
#include "tracing/emit/Emit.h"

namespace millrace::tracing {

/// Returns the type in which the device stores tensors of `dtype`, by the environment: XLA_USE_BF16 and XLA_USE_FP16 (f32 and f64 in 16 bits),
/// XLA_DOWNCAST_BF16 and XLA_DOWNCAST_FP16 (f32 in 16 bits, f64 as f32), XLA_USE_32BIT_LONG (64-bit integers in 32 bits). Read once.
DType storedType(DType dtype);

/// Adds a parameter of the stored type and returns it in the program's type. `isConstant`: consecutive executions get the same buffer.
Val storedParameter(Emitter &e, const Value &leaf, int64_t donatedTo, bool isConstant = false);
/// Returns `value` in the type in which the device stores it.
Val toStored(Emitter &e, const Val &value);
/// Returns `value` in its own type, rounded to the precision of the stored type.
Val roundToStored(Emitter &e, const Val &value);

/// Converts elements in host memory from the program's type to the stored one, or back.
void convertToStored(DType dtype, const void *from, void *to, int64_t count);
void convertFromStored(DType dtype, const void *from, void *to, int64_t count);

} // namespace millrace::tracing
