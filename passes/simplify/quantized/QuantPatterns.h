// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- QuantPatterns.h - What the quantization passes share ---------------===//
#pragma once

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/PatternMatch.h"

namespace millrace::simplify {

/// Element type of a quantized tensor, or null.
mlir::quant::QuantizedType quantizedElement(mlir::Type type);
/// `type` with the expressed element type; itself if it is not quantized.
mlir::Type expressedType(mlir::Type type);
/// The specification defines `op` on quantized values as dequantize, op, quantize. False for operations that only move
/// elements, for those with a body, and for the conversions themselves.
bool computesOnExpressedValues(mlir::Operation *op);

/// A quantized operation -> dequantize, operation, quantize.
void populateQuantizedOpToQdqPatterns(mlir::RewritePatternSet &patterns);

} // namespace millrace::simplify
