// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointwisePairs.h - Results that may overwrite an operand -----------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <utility>
#include <vector>

namespace millrace::lowering {

/// {operand, result} of `kernel` such that element i of the operand is read for elements i of results only, that result among
/// them, which has the same type. Code that handles an element, or a vector of them, at a time may then be given one buffer for
/// both: the store needs what the load returned, so it comes later in whatever order elements are visited.
std::vector<std::pair<unsigned, unsigned>> pointwisePairs(mlir::func::FuncOp kernel);

} // namespace millrace::lowering
