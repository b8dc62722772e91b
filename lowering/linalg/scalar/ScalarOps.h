// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarOps.h - One stablehlo operation on scalars -------------------===//
// emitScalar() computes the value of a stablehlo elementwise operation for one element, by arith/math/complex operations on compute types
// (StorageTypes.h). Elementwise operations, reducers, comparators and window functions all use it, so that every edge case is decided in one place.
#pragma once

#include "lowering/linalg/storage/StorageTypes.h"

namespace millrace::lowering {

/// Returns the compute value of one element loaded from a storage tensor whose stablehlo element type is `elementType`.
mlir::Value toCompute(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value storage, mlir::Type elementType);

/// Returns the storage value of `compute`: rounds f32 to f8/f6/f4 (nearest even, overflow as the type demands), extends i2/i4.
mlir::Value toStorage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value compute, mlir::Type elementType);

/// Returns `compute` rounded to `elementType`, in its compute type; changes only f8/f6/f4.
mlir::Value roundToElement(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value compute, mlir::Type elementType);

/// Returns true if emitScalar supports operations of this kind (elementwise operations, and those that are the identity on scalars).
bool isScalarOp(mlir::Operation *op);

/// Returns the result of the elementwise operation `op`, which has one result, for one element of each operand. The value of an f8/f6/f4 operation is
/// not rounded yet: use toStorage or roundToElement. Fails, without a diagnostic, for operations that are not elementwise.
mlir::FailureOr<mlir::Value> emitScalar(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands);

/// Returns the value of the scalar constant or splat `value` of stablehlo element type `elementType`, in its compute type.
mlir::Value emitConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Attribute value, mlir::Type elementType);

/// Returns the values that `region` (one block, arguments of rank 0, terminated by stablehlo.return) returns for the compute values `arguments`.
/// Values from outside of the region are read through an unrealized cast to their storage tensor. Nested if, case, while and func.call on scalars are
/// supported. Fails, with a diagnostic at the operation, for other operations.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitScalarRegion(mlir::OpBuilder &builder, mlir::Location loc,
                                                                 mlir::Region &region, mlir::ValueRange arguments);

} // namespace millrace::lowering
