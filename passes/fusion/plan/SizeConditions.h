// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeConditions.h - What an operation requires of open sizes ---------===//
// Sizes that types write as `?` are known when a program runs, and so is whether those that an operation takes for equal are equal. Code that is
// generated for the operation does not ask: its caller evaluates the conditions before.
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/fusion/plan/ShapeRecipe.h"

namespace millrace::fusion {

/// A relation of two sizes in terms of a kernel's arguments.
struct SizeCondition {
  enum class Relation { Equal, AtLeast, AtMost, OneOrEqual }; ///< OneOrEqual: `size` is 1, or `bound`
  ShapeRecipe size;
  Relation relation;
  ShapeRecipe bound;
};

/// Appends the conditions of the specification on sizes of `op`, which is in the block of a kernel, that its types leave open and without which its
/// machine code would access memory beyond operands or results. Fails if one cannot be evaluated before the kernel runs.
mlir::LogicalResult sizeConditions(mlir::Operation *op, llvm::SmallVectorImpl<SizeCondition> &conditions);

} // namespace millrace::fusion
