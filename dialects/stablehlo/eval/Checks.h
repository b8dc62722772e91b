// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Checks.h - Comparison of tensors by check.* -------------------------===//
#pragma once

#include "dialects/stablehlo/eval/Tensor.h"

#include <string>

namespace millrace::eval {

/// Returns the number of values of the type from the smaller (included) to the larger of the two; 0 for two NaN or two equal infinities; 2^64 - 1 if
/// only one of them is NaN, or if they are different and one is infinite.
uint64_t ulpDistance(Kind kind, const char *a, const char *b);

/// Each function returns the first difference, or an empty string. All of them compare integers exactly.
/// Equal values; NaN equals nothing.
std::string compareEqual(const Tensor &actual, const Tensor &expected);
/// |actual - expected| <= tolerance; NaN equals NaN.
std::string compareAlmostEqual(const Tensor &actual, const Tensor &expected, double tolerance);
/// minUlp <= ulpDistance <= maxUlp, of complex elements the larger distance of their parts.
std::string compareClose(const Tensor &actual, const Tensor &expected, uint64_t minUlp, uint64_t maxUlp);

} // namespace millrace::eval
