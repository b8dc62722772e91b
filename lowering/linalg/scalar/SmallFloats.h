// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallFloats.h - f8, f6 and f4 bit patterns to and from f32 ---------===//
#pragma once

#include "lowering/linalg/scalar/ScalarBuilder.h"

namespace millrace::lowering {

/// The f32 value of the bit pattern `bits` (i8, or a vector of it) of the small float type `type`. Exact.
mlir::Value decodeSmallFloat(ScalarBuilder &b, mlir::Value bits, mlir::FloatType type);

/// The bit pattern (i8) of the f32 `value` rounded to nearest, ties to even. Too large: infinity, else NaN, else the
/// largest value, whichever `type` has first. NaN in a type without NaN: see SmallFloats.cpp.
mlir::Value encodeSmallFloat(ScalarBuilder &b, mlir::Value value, mlir::FloatType type);

/// The f64 `value` as f32, rounded to odd: rounding the result again to any type of at most 22 significand bits gives the
/// same value as rounding `value` once.
mlir::Value truncToOddF32(ScalarBuilder &b, mlir::Value value);

} // namespace millrace::lowering
