// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Builders.h - Small pieces of StableHLO that several passes build ---===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace millrace::simplify {

/// Elements of static `type`, all `value` (rounded to the element type; the real part of a complex one).
mlir::DenseElementsAttr splat(mlir::ShapedType type, double value);
/// Constant of static `type`, all `value`.
mlir::Value splatConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::ShapedType type, double value);
/// Scalar constant.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType, double value);

/// Sizes of `value` as `tensor<rank x i32>`, constant where they are.
mlir::Value shapeOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
/// `value` repeated to the shape of `like`; dimension d of `value` is dimension dims[d] of the result.
mlir::Value broadcastLike(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value like,
                          llvm::ArrayRef<int64_t> dims);
/// Scalar `value` in the shape of `like`, with like's encoding.
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value like, double value);

/// Sum over `dims`.
mlir::Value reduceSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> dims);
/// `value` with another element type; itself if it has it.
mlir::Value convertTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type elementType);

} // namespace millrace::simplify
