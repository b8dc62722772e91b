// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowScatter.h - Kernels that are one select_and_scatter ----------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace millrace::lowering {

/// What a kernel computes that holds nothing but a select_and_scatter of the kind that gradients of max pooling are: arguments
/// (operand, source), `select` prefers the earlier of two numbers unless the later one is greater, `scatter` adds. The operand may be
/// padded before, if the result is cut back to the operand's shape.
struct WindowScatter {
  llvm::SmallVector<int64_t> window, strides, low; ///< per dimension; `low`: elements of the first window before the operand's first
  mlir::TypedAttr beyond;                          ///< what elements outside of the operand are; null: they are passed over
  bool keepsNan = false;                           ///< once a NaN is selected it stays; else whatever comes next replaces it
  mlir::TypedAttr init;                            ///< what the result starts with
};

/// Notes at `kernel` that it is such a kernel. Called while its body is StableHLO.
void noteWindowScatter(mlir::func::FuncOp kernel);
/// What was noted.
std::optional<WindowScatter> windowScatterOf(mlir::func::FuncOp kernel);

} // namespace millrace::lowering
