// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Functions.h - Expansions of mathematical functions -----------------===//
// Each takes and returns f32 or f64 (as its name says) scalars or vectors, and is right at NaN, infinities, subnormals and
// signed zeros. Bounds on the error: test/unit/math.
#pragma once

#include "lowering/cpu/math/MathBuilder.h"

namespace millrace::lowering {

// ExpLog.cpp
/// Of several vectors of f32 or f64 where canScale(). Products that become subnormal take the processor a hundred cycles: they are left out,
/// and what of them is no zero is computed in a branch that all vectors share.
mlir::SmallVector<mlir::Value> expTogether(MathBuilder &b, mlir::ArrayRef<mlir::Value> numbers);
/// `isBounded`: the result is a normal number.
mlir::Value expF32(MathBuilder &b, mlir::Value x, bool isBounded = false);
mlir::Value exp2F32(MathBuilder &b, mlir::Value x);
/// power 2^floor(number) where canScale(), |power| in [1/2, 2], subnormal results, too; e^x is about as large.
mlir::Value scaleExp(MathBuilder &b, mlir::Value x, mlir::Value power, mlir::Value number);
mlir::Value expm1F32(MathBuilder &b, mlir::Value x);
/// e^x - 1 and e^x + 1, for |x| < 80 or NaN.
std::pair<mlir::Value, mlir::Value> expAroundOneF32(MathBuilder &b, mlir::Value x);
mlir::Value logF32(MathBuilder &b, mlir::Value x);
mlir::Value log1pF32(MathBuilder &b, mlir::Value x);
mlir::Value expF64(MathBuilder &b, mlir::Value x, bool isBounded = false);
mlir::Value expm1F64(MathBuilder &b, mlir::Value x);
mlir::Value log1pF64(MathBuilder &b, mlir::Value x);
mlir::Value logF64(MathBuilder &b, mlir::Value x);
/// log2 of an f32 through f64; `base10` for log10.
mlir::Value log2F32(MathBuilder &b, mlir::Value x, bool base10 = false);

// Hyperbolic.cpp
mlir::Value tanhF32(MathBuilder &b, mlir::Value x);
mlir::Value tanhF64(MathBuilder &b, mlir::Value x);
mlir::Value sinhF32(MathBuilder &b, mlir::Value x);
mlir::Value coshF32(MathBuilder &b, mlir::Value x);
mlir::Value erfF32(MathBuilder &b, mlir::Value x);

// Trigonometric.cpp
mlir::Value sinF32(MathBuilder &b, mlir::Value x, bool cosine = false);
/// Sine and cosine.
std::pair<mlir::Value, mlir::Value> sinCosF32(MathBuilder &b, mlir::Value x);
/// `far` computes it if an argument is too large.
mlir::Value sinF64(MathBuilder &b, mlir::Value x, bool cosine, llvm::function_ref<mlir::Value()> far);
mlir::Value tanF32(MathBuilder &b, mlir::Value x);
mlir::Value atanF32(MathBuilder &b, mlir::Value x);
mlir::Value atanF64(MathBuilder &b, mlir::Value x);
mlir::Value atan2F32(MathBuilder &b, mlir::Value y, mlir::Value x);
/// The same of f64 operands that came from f32, to f64's accuracy.
mlir::Value angleOf(MathBuilder &b, mlir::Value y, mlir::Value x);
mlir::Value asinF32(MathBuilder &b, mlir::Value x);
mlir::Value acosF32(MathBuilder &b, mlir::Value x);

// Power.cpp
mlir::Value powF32(MathBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value cbrtF32(MathBuilder &b, mlir::Value x);
mlir::Value cbrtF64(MathBuilder &b, mlir::Value x);
mlir::Value rsqrt(MathBuilder &b, mlir::Value x);

// FloatDivision.cpp
/// Quotients of vectors by a constant or by what a loop does not change, without dividing; null where that would be wrong or not worth it.
mlir::Value divideFloats(MathBuilder &b, mlir::arith::DivFOp op);

// Remainder.cpp
/// x - n y, exact, with the sign of x and n the quotient without its fraction. `far` computes it where the quotient is large or none.
mlir::Value remainder(MathBuilder &b, mlir::Value x, mlir::Value y, llvm::function_ref<mlir::Value()> far);

// Complex.cpp
/// A complex number, or one per lane.
struct ComplexParts {
  mlir::Value re, im;
};
mlir::Value complexAbs(MathBuilder &b, ComplexParts x);
ComplexParts complexExp(MathBuilder &b, ComplexParts z);
/// Of complex<f32>; null for others.
ComplexParts complexSqrt(MathBuilder &b, ComplexParts z);
ComplexParts complexTanh(MathBuilder &b, ComplexParts z);
ComplexParts complexDivision(MathBuilder &b, ComplexParts x, ComplexParts y);
ComplexParts complexPower(MathBuilder &b, ComplexParts x, ComplexParts y);

// Double arithmetic with at least 2^-33 relative accuracy, for f32 results. Arguments are finite f64 values.
/// 2^x for x in [-1000, 1000].
mlir::Value exp2Lite(MathBuilder &b, mlir::Value x);
/// log2(x) for normal positive x.
mlir::Value log2Lite(MathBuilder &b, mlir::Value x);
/// atan(t) for t in [0, 1].
mlir::Value atanLite(MathBuilder &b, mlir::Value t);

// IntegerDivision.cpp
/// The quotient or remainder of vectors of up to 32 bits that `op` computes; null for others and for divisors that are constants.
mlir::Value divideIntegers(MathBuilder &b, mlir::Operation *op);

// Bfloat16.cpp
/// bf16 <-> f32 by bit operations, rounding to nearest even; no flushing of subnormals, no library calls.
mlir::Value extendBf16(MathBuilder &b, mlir::Value x);
mlir::Value roundToBf16(MathBuilder &b, mlir::Value x);
/// Of an f32 that is a bf16: nothing is rounded.
mlir::Value topOfBf16(MathBuilder &b, mlir::Value x);

} // namespace millrace::lowering
