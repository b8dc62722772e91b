// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loops.h - Building blocks of lowerings that linalg cannot say ------===//
// Index arithmetic, destination tensors and loop nests that thread tensors through scf.for so that bufferization updates
// them in place: a tensor is only read and written through the innermost iteration argument, and every loop yields it.
#pragma once

#include "lowering/linalg/scalar/ScalarOps.h"
#include "dialects/millrace/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace millrace::lowering {

/// Puts the attribute on the loop that makes `result`, if a loop does.
inline void markParallel(mlir::Value result, llvm::StringRef attribute) {
  if (auto loop = result.getDefiningOp<mlir::scf::ForOp>())
    loop->setAttr(attribute, mlir::UnitAttr::get(loop.getContext()));
}

/// A builder with its location, and the few operations on indices that every loop nest needs.
struct LoopBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;

  LoopBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value clamp(mlir::Value value, mlir::Value low, mlir::Value high);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse);
  /// The value of `folded` as an index.
  mlir::Value value(mlir::OpFoldResult folded);

  /// Extent of dimension `dim` of `tensor`, a constant if static.
  mlir::Value dim(mlir::Value tensor, int64_t dim);
  mlir::OpFoldResult foldedDim(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> dims(mlir::Value tensor);
  llvm::SmallVector<mlir::OpFoldResult> foldedDims(mlir::Value tensor);

  /// A tensor without contents: `sizes` are its extents.
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type elementType);
  /// The same of exactly the (possibly more static) type `type`.
  mlir::Value empty(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// The same for tensors that a loop carries beside each other: never merged with another one by CSE, as two tensor.empty of
  /// one type are. Two loop-carried values must not begin as one value, for then they would share a buffer.
  mlir::Value scratch(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type elementType);
  mlir::Value scratch(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Zero of a storage element type, complex included.
  mlir::Value zero(mlir::Type storageElement);
  /// `tensor` with `scalar` in every element.
  mlir::Value fill(mlir::Value scalar, mlir::Value tensor);
  /// `tensor` as `type` (same rank), by tensor.cast where the static extents differ.
  mlir::Value cast(mlir::Value tensor, mlir::Type type);

  mlir::Value extract(mlir::Value tensor, mlir::ValueRange indices = {});
  mlir::Value insert(mlir::Value scalar, mlir::Value tensor, mlir::ValueRange indices);

  /// An element of a stablehlo integer tensor as an index. Values of ui64 beyond the signed range become the largest index,
  /// so that clamping and bounds checks see them as too large.
  mlir::Value toIndex(mlir::Value storage, mlir::Type elementType);

  /// Loops over [0, sizes[0]) x ..., outermost first; `body(ivs, carried)` returns the next carried values.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(LoopBuilder &, mlir::ValueRange, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> nest(mlir::ValueRange sizes, mlir::ValueRange inits, Body body);
  /// The same over [froms[0], tos[0]) x ...
  llvm::SmallVector<mlir::Value> nest(mlir::ValueRange froms, mlir::ValueRange tos, mlir::ValueRange inits, Body body);
  /// One loop over [from, to) with step `step`.
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange inits, Body body);
};

/// `compute` (of element type `from`) as a compute value of element type `to`: sign or zero extension or truncation, widening
/// or rounding of floats, integer to float, real to complex.
mlir::Value convertElement(LoopBuilder &l, mlir::Value compute, mlir::Type from, mlir::Type to);

/// `tensor` (storage of element type `from`) converted elementwise to the storage of element type `to`.
mlir::Value convertTensor(LoopBuilder &l, mlir::Value tensor, mlir::Type from, mlir::Type to);

/// What a reducer with arguments (acc, value) does, if it is one commutative operation on exactly those two.
enum class Reducer { Add, Multiply, Minimum, Maximum, And, Or, Other };
Reducer classifyReducer(mlir::Region &region);

/// The element type in which a reducer over `elementType` accumulates: f32 for sums and products of f16 and bf16 (one
/// rounding at the end), otherwise `elementType`.
mlir::Type accumulatorType(Reducer reducer, mlir::Type elementType);

/// Sum and product of compute values of element type `elementType` (or and and for i1).
mlir::Value addElements(LoopBuilder &l, mlir::Value lhs, mlir::Value rhs, mlir::Type elementType);
mlir::Value multiplyElements(LoopBuilder &l, mlir::Value lhs, mlir::Value rhs, mlir::Type elementType);

/// One step of `reducer` (the classification of `region`): accumulators and values are compute values of `accElements`, which
/// accumulatorType chose.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitReducer(LoopBuilder &l, Reducer reducer, mlir::Region &region,
                                                            mlir::ValueRange accumulators, mlir::ValueRange values,
                                                            llvm::ArrayRef<mlir::Type> accElements);

} // namespace millrace::lowering
