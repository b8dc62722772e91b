// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallFloats.h - Convert between f8, f6, f4 bits and f32 ------------===//
#pragma once

#include "lowering/linalg/scalar/ScalarBuilder.h"

namespace millrace::lowering {

/// Returns the f32 value of the bit pattern `bits` (i8, or a vector of it) of the small float type `type`. Exact.
mlir::Value decodeSmallFloat(ScalarBuilder &b, mlir::Value bits, mlir::FloatType type);

/// Returns the bit pattern (i8) of the f32 `value` rounded to nearest, ties to even. An overflow gives infinity, NaN or the largest value, the first
/// of these that `type` has. SmallFloats.cpp says what NaN becomes in a type without NaN.
mlir::Value encodeSmallFloat(ScalarBuilder &b, mlir::Value value, mlir::FloatType type);

/// Returns the f64 `value` as f32, rounded to odd, so that rounding the result to any type of at most 22 significand bits gives the same value as
/// rounding `value` once.
mlir::Value truncToOddF32(ScalarBuilder &b, mlir::Value value);

} // namespace millrace::lowering
