// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowReduce.h - Kernels that are one reduce_window ----------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace millrace::lowering {

/// What a kernel computes that holds nothing but a reduce_window of its one argument by a single operation, where elements outside
/// of the argument may be passed over.
struct WindowReduce {
  enum Kind { Sum, Minimum, Maximum } kind = Sum;
  bool isUnsigned = false;
  /// Per dimension; `low`: padding before the first element, `spread`: the distance of the argument's elements (base dilation).
  llvm::SmallVector<int64_t> window, strides, dilation, low, spread;
  mlir::TypedAttr init; ///< of the type that is stored

  bool isSpread() const {
    return llvm::any_of(spread, [](int64_t by) { return by != 1; });
  }
};

/// Notes at `kernel` that it is such a kernel. Called while its body is StableHLO.
void noteWindowReduce(mlir::func::FuncOp kernel);
/// What was noted.
std::optional<WindowReduce> windowReduceOf(mlir::func::FuncOp kernel);
/// Two numbers or vectors combined by its operation.
mlir::Value combineElements(mlir::OpBuilder &b, mlir::Location loc, const WindowReduce &what, mlir::Value x, mlir::Value y);

} // namespace millrace::lowering
