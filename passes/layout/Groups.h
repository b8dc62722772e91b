// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.h - Reshapes as dimensions that are merged and split ---------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace millrace::layout {

/// groups[d] are the dimensions of the split shape into which dimension d of the merged shape was divided.
using Groups = llvm::SmallVector<llvm::SmallVector<int64_t, 2>>;

/// Returns null if `split` is not `merged` with some dimensions divided (and unit dimensions added), or if a size is dynamic.
std::optional<Groups> groupsOf(llvm::ArrayRef<int64_t> merged, llvm::ArrayRef<int64_t> split);

/// Returns the coarsest shape of which both shapes are merged forms: 64x64x320 and 4096x32x10 give 64x64x32x10. Null if there is none.
std::optional<llvm::SmallVector<int64_t>> commonRefinement(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right);

/// A reduction of a split shape in two steps: first over whole merged dimensions, then over the rest.
struct Stages {
  llvm::SmallVector<int64_t> whole;   ///< merged dimensions that are reduced first
  llvm::SmallVector<int64_t> partial; ///< split dimensions that are reduced afterwards
};

/// Returns null unless whole dimensions of 16 elements or more are reduced, and parts of others.
std::optional<Stages> stagesOf(llvm::ArrayRef<int64_t> reduced, llvm::ArrayRef<int64_t> split, llvm::ArrayRef<int64_t> merged);

/// Returns why the reduction must not be done in two steps; empty if it may: its initial value is neutral, or combining with it twice gives the same
/// result, and the intermediate results are not rounded to a smaller type.
llvm::StringRef whyIndivisible(stablehlo::ReduceOp op);
inline bool isDivisible(stablehlo::ReduceOp op) { return whyIndivisible(op).empty(); }

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::RankedTensorType withShape(mlir::Type type, llvm::ArrayRef<int64_t> shape);
/// Returns `value` reshaped; `value` itself if it has that shape already.
mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);
/// Returns the only result of a copy of the elementwise operation `op` on operands of another shape.
mlir::Value computedOn(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands, llvm::ArrayRef<int64_t> shape);

} // namespace millrace::layout
