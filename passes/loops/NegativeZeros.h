// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NegativeZeros.h - Find the arrays that may hold -0.0 ---------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace millrace::loops {

/// The values of a function that may have an element, or a component of a complex one, that is -0.0. A sum is -0.0 only if both operands are, because
/// rounding is to nearest and no sum underflows; an array to which a loop only adds is never -0.0 if it was not before the loop.
///
/// Computed as the smallest set with unknown values, constants with such elements, and all values that can be computed from them: a carried value is
/// in it if its initial value or a next value is. Values that are created later must be added, or compute() must run again.
class NegativeZeros {
public:
  explicit NegativeZeros(mlir::func::FuncOp function) : function(function) { compute(); }

  /// Computes the set again.
  void compute();
  bool isPossible(mlir::Value value) const { return possible.contains(value); }
  /// Adds the new `value`, which equals `old`.
  void equals(mlir::Value value, mlir::Value old) { add(value, isPossible(old)); }

private:
  bool addResults(mlir::Operation *op);
  bool add(mlir::Value value, bool isPossible = true);

  mlir::func::FuncOp function;
  llvm::DenseSet<mlir::Value> possible;
};

} // namespace millrace::loops
