// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SmallFloat.h - Float formats of at most 16 bits ---------------------===//
// The functions are simple and slow; checks, collectives and printing use them, compiled code does not.
#pragma once
#include "runtime/base/DType.h"

namespace millrace::runtime {

/// Returns the value of a bit pattern of any real float type (including F32 and F64). Exact.
double decodeFloat(DType type, uint64_t bits);

/// Rounds to the nearest value of `type` (ties to even). An overflow gives infinity if the format has it, else NaN if it has that, else the largest
/// finite value (f4E2M1FN, f6*).
uint64_t encodeFloat(DType type, double value);

/// Returns the position of the value in the ordered list of all values of its type; negative numbers have negative positions, both zeros 0. The
/// difference of two positions is the distance in ULP. Must not be called for NaN.
int64_t floatOrdinal(DType type, uint64_t bits);

bool isNan(DType type, uint64_t bits);
bool isInfinity(DType type, uint64_t bits);

} // namespace millrace::runtime
