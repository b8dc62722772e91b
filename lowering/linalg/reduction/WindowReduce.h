// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowReduce.h - Kernels that are one reduce_window ----------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace millrace::lowering {

/// The computation of a kernel that is a single reduce_window of its one argument by a single operation, where elements outside of the argument may
/// be ignored.
struct WindowReduce {
  enum Kind { Sum, Minimum, Maximum } kind = Sum;
  bool isUnsigned = false;
  /// Values per dimension. `low`: padding before the first element; `spread`: base dilation.
  llvm::SmallVector<int64_t> window, strides, dilation, low, spread;
  mlir::TypedAttr init; ///< the initial value, of the stored type

  bool isSpread() const {
    return llvm::any_of(spread, [](int64_t by) { return by != 1; });
  }
};

/// Records such a computation as an attribute of `kernel`. Called while its body is StableHLO.
void noteWindowReduce(mlir::func::FuncOp kernel);
/// Returns the recorded computation.
std::optional<WindowReduce> windowReduceOf(mlir::func::FuncOp kernel);
/// Combines two numbers or vectors by the recorded operation.
mlir::Value combineElements(mlir::OpBuilder &b, mlir::Location loc, const WindowReduce &what, mlir::Value x, mlir::Value y);

} // namespace millrace::lowering
