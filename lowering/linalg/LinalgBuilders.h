// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinalgBuilders.h - Build linalg operations on storage tensors ------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace millrace::lowering {

/// Returns a tensor of exactly the type `type` with `sizes` and undefined contents.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Returns the size of dimension `dim`: an attribute if it is static, else a tensor.dim.
mlir::OpFoldResult dimSize(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, int64_t dim);
llvm::SmallVector<mlir::OpFoldResult> dimSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);

/// Returns element `position` of a rank-1 tensor of integers as an index.
mlir::Value shapeElement(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shape, int64_t position);
/// Returns the sizes of `type`; dynamic ones are read from the rank-1 integer tensor `shape`.
llvm::SmallVector<mlir::OpFoldResult> sizesFromShape(mlir::OpBuilder &builder, mlir::Location loc,
                                                     mlir::RankedTensorType type, mlir::Value shape);

/// Casts `tensor`, which is known to have the shape of `type`, to `type`.
mlir::Value castTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::RankedTensorType type);

using ElementBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// Returns a tensor of `type` and `sizes`; each element is what `body` yields for the elements of `inputs` that `maps` select.
mlir::Value mapElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::ValueRange inputs,
                        llvm::ArrayRef<mlir::AffineMap> maps, ElementBody body);

/// Returns a tensor of `type` and `sizes` all of whose elements are `element`.
mlir::Value splatTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value element);

} // namespace millrace::lowering
