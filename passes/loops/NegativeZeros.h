// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NegativeZeros.h - Which arrays can hold the number -0.0 ------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace millrace::loops {

/// Which values of a function can have an element, or a part of a complex one, that is -0.0. A sum is -0.0 only where both terms are, for rounding
/// is to nearest and no sum of two numbers underflows; so what a loop only adds to is never -0.0 if it was not before the loop.
///
/// The smallest set that holds unknown values, constants with such elements, and what can be made of them: a carried value is in it if its
/// initial value or a next one is. Values made later have to be told of, or compute() has to look again.
class NegativeZeros {
public:
  explicit NegativeZeros(mlir::func::FuncOp function) : function(function) { compute(); }

  /// Looks at the function again.
  void compute();
  bool isPossible(mlir::Value value) const { return possible.contains(value); }
  /// `value` is new, and equals `old`.
  void equals(mlir::Value value, mlir::Value old) { add(value, isPossible(old)); }

private:
  bool addResults(mlir::Operation *op);
  bool add(mlir::Value value, bool isPossible = true);

  mlir::func::FuncOp function;
  llvm::DenseSet<mlir::Value> possible;
};

} // namespace millrace::loops
