// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinalgBuilders.h - Making linalg operations on storage tensors -----===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace millrace::lowering {

/// A tensor of `sizes` whose contents are undefined, of exactly the type `type`.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The size of dimension `dim`: an attribute if static, else a tensor.dim.
mlir::OpFoldResult dimSize(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, int64_t dim);
llvm::SmallVector<mlir::OpFoldResult> dimSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);

/// Element `position` of a rank-1 tensor of integers as an index.
mlir::Value shapeElement(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shape, int64_t position);
/// The sizes of `type`, dynamic ones read from the rank-1 integer tensor `shape`.
llvm::SmallVector<mlir::OpFoldResult> sizesFromShape(mlir::OpBuilder &builder, mlir::Location loc,
                                                     mlir::RankedTensorType type, mlir::Value shape);

/// `tensor`, known to have the shape of `type`, as `type`.
mlir::Value castTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::RankedTensorType type);

using ElementBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// A tensor of `type` and `sizes`: each element is what `body` yields for the elements that `maps` pick from `inputs`.
mlir::Value mapElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::ValueRange inputs,
                        llvm::ArrayRef<mlir::AffineMap> maps, ElementBody body);

/// A tensor of `type` and `sizes` all of whose elements are `element`.
mlir::Value splatTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value element);

} // namespace millrace::lowering
