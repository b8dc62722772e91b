// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Verify.h - Compare compiled results with the evaluator's -----------===//
#pragma once

#include "runtime/base/Status.h"
#include "tools/support/run/Npy.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace millrace::tools {

/// Evaluates @`entry` of `module` with `arguments` and compares. Integers must be equal; floats may differ by rounding: relative 2e-4 for f32, 1e-9
/// for f64, 2 units of the last place of narrower types, relative to the larger of the two and with the same absolute tolerance near 0; NaN equals
/// NaN, infinities must be equal. The error names the first element that differs.
runtime::Status verifyAgainstEvaluator(mlir::ModuleOp module, const std::string &entry,
                                       const std::vector<Array> &arguments, const std::vector<Array> &results);

} // namespace millrace::tools
