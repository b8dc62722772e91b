// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowKernel.h - Kernels that are one operation on windows ---------===//
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
  mlir::Type element;   ///< as stored
  mlir::TypedAttr init; ///< the initial value, of the stored type

  /// Returns the computation of `kernel`, whose body is StableHLO. None for other reducers, sums that do not start from zero, several operands,
  /// cumulative forms, unknown sizes, booleans and types that are stored as others.
  static std::optional<WindowReduce> of(mlir::func::FuncOp kernel);

  bool isSpread() const {
    return llvm::any_of(spread, [](int64_t by) { return by != 1; });
  }
  /// Combines two numbers or vectors.
  mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) const;
};

/// The computation of a kernel that is a single select_and_scatter as in gradients of max pooling: the arguments are (operand, source), `select`
/// keeps the earlier of two numbers unless the later one is greater, and `scatter` adds. The operand may be padded before, if the result is sliced to
/// the operand's shape.
struct WindowScatter {
  llvm::SmallVector<int64_t> window, strides, low; ///< per dimension; `low`: elements of the first window before the operand's first
  mlir::TypedAttr beyond;                          ///< value of elements outside of the operand; null if they are ignored
  bool keepsNan = false;                           ///< a selected NaN stays selected; otherwise the next element replaces it
  mlir::TypedAttr init;                            ///< initial value of the result

  /// Returns the computation of `kernel`, whose body is StableHLO. None for other selections and scatters, unknown sizes, numbers that are not f32,
  /// f64, or signed and as wide.
  static std::optional<WindowScatter> of(mlir::func::FuncOp kernel);
};

} // namespace millrace::lowering
