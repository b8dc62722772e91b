// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.h - Reshapes as dimensions that are merged and split ---------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace millrace::layout {

/// groups[d]: the dimensions of the split shape that dimension d of the merged one became.
using Groups = llvm::SmallVector<llvm::SmallVector<int64_t, 2>>;

/// Null if `split` is not `merged` with some dimensions split (and 1s added), or if a size is not known.
std::optional<Groups> groupsOf(llvm::ArrayRef<int64_t> merged, llvm::ArrayRef<int64_t> split);

/// The coarsest shape of which both are merged forms: 64x64x320 and 4096x32x10 give 64x64x32x10. Null if there is none.
std::optional<llvm::SmallVector<int64_t>> commonRefinement(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right);

/// How a reduction of a split shape divides among the merged dimensions.
struct Stages {
  llvm::SmallVector<int64_t> whole;   ///< merged dimensions that disappear at once
  llvm::SmallVector<int64_t> partial; ///< split dimensions that are reduced afterwards
};

/// Null unless whole dimensions of 16 elements or more disappear, and parts of others.
std::optional<Stages> stagesOf(llvm::ArrayRef<int64_t> reduced, llvm::ArrayRef<int64_t> split, llvm::ArrayRef<int64_t> merged);

/// Reductions may be divided in two: the initial value changes nothing, or nothing when it is met twice, and results between the two
/// are not rounded more than those of one.
bool isDivisible(stablehlo::ReduceOp op);

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::RankedTensorType withShape(mlir::Type type, llvm::ArrayRef<int64_t> shape);
/// `value` itself if it has that shape already.
mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);
/// The only result of a copy of an elementwise operation on values of another shape.
mlir::Value computedOn(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands, llvm::ArrayRef<int64_t> shape);

/// Computes what a block does between reshapes to and from another mix of its dimensions on their common refinement, where a
/// reduction could then be divided.
void refineReshapes(mlir::Block &block);

} // namespace millrace::layout
