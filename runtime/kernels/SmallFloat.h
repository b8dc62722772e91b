// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallFloat.h - Float formats of at most 16 bits ---------------------===//
// Slow and obvious: for checks, collectives and printing, not for compiled code.
#pragma once
#include "runtime/base/DType.h"

namespace millrace::runtime {

/// Value of a bit pattern of any real float type (F32, F64 included). Exact.
double decodeFloat(DType type, uint64_t bits);

/// Nearest value of `type` (ties to even), with the overflow behaviour of the format: infinity where it has one, NaN
/// where it has only that, the largest finite value where it has neither (f4E2M1FN, f6*).
uint64_t encodeFloat(DType type, double value);

/// Position of the value in the ordered list of all values of its type, negative numbers below 0, both zeros 0:
/// the difference of two positions is the distance in ULP. NaN has none: not to be asked.
int64_t floatOrdinal(DType type, uint64_t bits);

bool isNan(DType type, uint64_t bits);
bool isInfinity(DType type, uint64_t bits);

} // namespace millrace::runtime
