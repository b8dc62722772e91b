// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JsonNumber.h - Numbers that may be infinite, as JSON ----------------===//
#pragma once

#include "llvm/Support/JSON.h"
#include <cmath>

namespace millrace::autosharding {

/// Returns the number, or null if it is infinite, which JSON cannot express: the seconds of deeply nested loops, the gap to a bound of zero.
inline llvm::json::Value finite(double number) { return std::isfinite(number) ? llvm::json::Value(number) : llvm::json::Value(nullptr); }

} // namespace millrace::autosharding
