// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Checks.h - check.expect_* custom calls ------------------------------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// check.expect_eq: equal values; NaN is never equal, -0 equals 0.
/// check.expect_close: at most 3 ULP per element (attributes min_ulp_difference, max_ulp_difference), where two NaN
///   or equal infinities are 0 apart, and a NaN or an infinity and anything else 2^64 - 1.
/// check.expect_almost_eq: |a - b| <= 1e-3 (attribute tolerance), NaN equals NaN.
/// Integers and booleans are compared exactly by all of them; complex numbers per part. A failure names the first
/// element that differs, both values and the number of differing elements.
std::vector<std::pair<std::string, CustomCallHandler>> checkCustomCalls();

/// "1.5", "-7", "(0.5, 2)", "true".
std::string elementToText(DType type, const void *element);

} // namespace millrace::runtime
