// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorMoves.h - Iota, reshape and pad of any shape -----------------===//
#pragma once

#include "lowering/linalg/LinalgBuilders.h"

namespace millrace::lowering {

/// Arithmetic on sizes that is folded if both operands are known.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}
  using Size = mlir::OpFoldResult;
  Size add(Size a, Size b);
  Size sub(Size a, Size b);
  Size mul(Size a, Size b);
  Size max(Size a, Size b);
  Size min(Size a, Size b);
  /// Rounds toward minus and plus infinity; `b` > 0.
  Size floorDiv(Size a, Size b);
  Size ceilDiv(Size a, Size b);
  Size attr(int64_t value) { return builder.getIndexAttr(value); }
  mlir::Value value(Size size);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Returns element[i] = i[dim], converted to stablehlo element type `element`.
mlir::Value iotaTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes, int64_t dim, mlir::Type element);

/// Returns the elements of `tensor` in row-major order in the shape of `type`. `shape`, a rank-1 integer tensor, is needed if `type` has more than
/// one dynamic size.
mlir::Value reshapeTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::RankedTensorType type,
                          mlir::Value shape = {});

/// Lowers stablehlo.pad; `padding` is a storage tensor of rank 0.
mlir::Value padTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, mlir::Value operand,
                      mlir::Value padding, llvm::ArrayRef<mlir::OpFoldResult> low,
                      llvm::ArrayRef<mlir::OpFoldResult> high, llvm::ArrayRef<mlir::OpFoldResult> interior);

} // namespace millrace::lowering
