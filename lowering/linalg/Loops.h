// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loops.h - Helpers for lowerings to loops ----------------------------===//
// Some lowerings need more than linalg. These helpers build index arithmetic, destination tensors and loop nests that carry tensors through scf.for
// so that bufferization updates them in place: a tensor is read and written only through the innermost iteration argument, and every loop yields it.
#pragma once

#include "lowering/linalg/scalar/ScalarOps.h"
#include "dialects/millrace/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace millrace::lowering {

/// Sets the attribute on the loop that defines `result`, if a loop does.
inline void markParallel(mlir::Value result, llvm::StringRef attribute) {
  if (auto loop = result.getDefiningOp<mlir::scf::ForOp>())
    loop->setAttr(attribute, mlir::UnitAttr::get(loop.getContext()));
}

/// A builder with its location, and the operations on indices that every loop nest needs.
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
  /// Returns `folded` as a value of type index.
  mlir::Value value(mlir::OpFoldResult folded);

  /// Returns the size of dimension `dim` of `tensor`, a constant if it is static.
  mlir::Value dim(mlir::Value tensor, int64_t dim);
  mlir::OpFoldResult foldedDim(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> dims(mlir::Value tensor);
  llvm::SmallVector<mlir::OpFoldResult> foldedDims(mlir::Value tensor);

  /// Returns a tensor with sizes `sizes` and undefined contents.
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type elementType);
  /// Does the same for exactly the (possibly more static) type `type`.
  mlir::Value empty(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Does the same for several tensors that a loop carries. CSE never merges the result with another one, unlike two tensor.empty of one type:
  /// loop-carried values that begin as one value would share a buffer.
  mlir::Value scratch(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type elementType);
  mlir::Value scratch(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Returns zero of a storage element type, complex included.
  mlir::Value zero(mlir::Type storageElement);
  /// Returns `tensor` with every element set to `scalar`.
  mlir::Value fill(mlir::Value scalar, mlir::Value tensor);
  /// Casts `tensor` to `type` (same rank) by tensor.cast if the static sizes differ.
  mlir::Value cast(mlir::Value tensor, mlir::Type type);

  mlir::Value extract(mlir::Value tensor, mlir::ValueRange indices = {});
  mlir::Value insert(mlir::Value scalar, mlir::Value tensor, mlir::ValueRange indices);

  /// Converts an element of a stablehlo integer tensor to an index. A ui64 beyond the signed range becomes the largest index, so that clamping and
  /// bounds checks treat it as too large.
  mlir::Value toIndex(mlir::Value storage, mlir::Type elementType);

  /// Builds loops over [0, sizes[0]) x ..., outermost first; `body(ivs, carried)` returns the next carried values.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(LoopBuilder &, mlir::ValueRange, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> nest(mlir::ValueRange sizes, mlir::ValueRange inits, Body body);
  /// Builds loops over [froms[0], tos[0]) x ... likewise.
  llvm::SmallVector<mlir::Value> nest(mlir::ValueRange froms, mlir::ValueRange tos, mlir::ValueRange inits, Body body);
  /// Builds one loop over [from, to) with step `step`.
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange inits, Body body);
};

/// Converts `compute`, a compute value of element type `from`, to element type `to`: by sign or zero extension or truncation, widening or rounding of
/// floats, integer to float, real to complex.
mlir::Value convertElement(LoopBuilder &l, mlir::Value compute, mlir::Type from, mlir::Type to);

/// Converts `tensor` (storage of element type `from`) elementwise to the storage of element type `to`.
mlir::Value convertTensor(LoopBuilder &l, mlir::Value tensor, mlir::Type from, mlir::Type to);

/// The operation of a reducer with arguments (acc, value), if it is a single commutative operation on exactly these two.
enum class Reducer { Add, Multiply, Minimum, Maximum, And, Or, Other };
Reducer classifyReducer(mlir::Region &region);

/// Returns the element type in which a reducer over `elementType` accumulates: f32 for sums and products of f16 and bf16 (which are rounded once, at
/// the end), otherwise `elementType`.
mlir::Type accumulatorType(Reducer reducer, mlir::Type elementType);

/// Returns the sum and the product of compute values of element type `elementType`; for i1 "or" and "and".
mlir::Value addElements(LoopBuilder &l, mlir::Value lhs, mlir::Value rhs, mlir::Type elementType);
mlir::Value multiplyElements(LoopBuilder &l, mlir::Value lhs, mlir::Value rhs, mlir::Type elementType);

/// Emits one step of `reducer`, which is the classification of `region`. Accumulators and values are compute values of `accElements`, which
/// accumulatorType chose.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitReducer(LoopBuilder &l, Reducer reducer, mlir::Region &region,
                                                            mlir::ValueRange accumulators, mlir::ValueRange values,
                                                            llvm::ArrayRef<mlir::Type> accElements);

} // namespace millrace::lowering
