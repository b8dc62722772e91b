// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TypeRewrite.h - The same operation with other types ----------------===//
#pragma once

#include "mlir/Transforms/DialectConversion.h"

namespace millrace::simplify {

/// A copy of `op` on `operands`, with results and parameters of its regions of converted type; the regions move to it.
mlir::FailureOr<mlir::Operation *> convertTypes(mlir::Operation *op, mlir::ValueRange operands,
                                                const mlir::TypeConverter &converter,
                                                mlir::ConversionPatternRewriter &rewriter);

/// Converts every operation under `root` whose types `types` changes, functions and calls included; the others by `patterns`. Fails, with a
/// diagnostic, if one is left.
mlir::LogicalResult convertAllTypes(mlir::Operation *root, const mlir::TypeConverter &types, mlir::RewritePatternSet patterns);

} // namespace millrace::simplify
