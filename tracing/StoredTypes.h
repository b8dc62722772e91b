// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredTypes.h - Tensors that are kept in a smaller type -------------===//
// XLA_USE_BF16 and its relatives: tensors report the type of their program, but the device keeps and computes them in a
// smaller one. Here programs stay as they were recorded; their edges convert, and what an operation yields is rounded.
#pragma once
#include "tracing/Emit.h"

namespace millrace::tracing {

/// The type in which the device keeps tensors of `dtype`, by the environment: XLA_USE_BF16 and XLA_USE_FP16 (f32 and f64
/// in 16 bits), XLA_DOWNCAST_BF16 and XLA_DOWNCAST_FP16 (f32 in 16 bits, f64 as f32), XLA_USE_32BIT_LONG (64-bit integers
/// in 32). Read once.
DType storedType(DType dtype);

/// A parameter that is kept in its stored type, in the type of the program. `isConstant`: executions one after the other get the same buffer.
Val storedParameter(Emitter &e, const Value &leaf, int64_t donatedTo, bool isConstant = false);
/// `value` as the device keeps it.
Val toStored(Emitter &e, const Val &value);
/// `value` with the precision that the device keeps.
Val roundToStored(Emitter &e, const Val &value);

/// Elements between the program's type and the stored one, in host memory.
void convertToStored(DType dtype, const void *from, void *to, int64_t count);
void convertFromStored(DType dtype, const void *from, void *to, int64_t count);

} // namespace millrace::tracing
