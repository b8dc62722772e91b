// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowScatter.h - Kernels that are one select_and_scatter ----------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace millrace::lowering {

/// The computation of a kernel that is a single select_and_scatter as in gradients of max pooling: the arguments are (operand, source), `select`
/// keeps the earlier of two numbers unless the later one is greater, and `scatter` adds. The operand may be padded before, if the result is sliced to
/// the operand's shape.
struct WindowScatter {
  llvm::SmallVector<int64_t> window, strides, low; ///< per dimension; `low`: elements of the first window before the operand's first
  mlir::TypedAttr beyond;                          ///< value of elements outside of the operand; null if they are ignored
  bool keepsNan = false;                           ///< a selected NaN stays selected; otherwise the next element replaces it
  mlir::TypedAttr init;                            ///< initial value of the result
};

/// Records such a computation as an attribute of `kernel`. Called while its body is StableHLO.
void noteWindowScatter(mlir::func::FuncOp kernel);
/// Returns the recorded computation.
std::optional<WindowScatter> windowScatterOf(mlir::func::FuncOp kernel);

} // namespace millrace::lowering
