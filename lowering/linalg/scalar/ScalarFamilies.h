// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarFamilies.h - Families of emitScalar (private) ----------------===//
#pragma once

#include "lowering/linalg/scalar/ScalarBuilder.h"

namespace millrace::lowering {

/// The operation that a family emits: element types as in stablehlo, operands as compute values.
struct ScalarOp {
  mlir::Operation *op;
  mlir::ValueRange operands;
  mlir::Type operandElement; // element type of the first operand; null if there is none
  mlir::Type resultElement;

  bool isComplex() const { return mlir::isa<mlir::ComplexType>(operandElement); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(operandElement); }
  bool isBool() const { return operandElement.isInteger(1); }
  /// Unsigned integers and i1.
  bool isUnsigned() const { return isBool() || operandElement.isUnsignedInteger(); }
};

// Each function returns null for an operation that is not of its family.
mlir::Value emitComplexScalar(ScalarBuilder &b, const ScalarOp &op);  // any operation with complex operands or result
mlir::Value emitCompareScalar(ScalarBuilder &b, const ScalarOp &op);  // compare, minimum, maximum, clamp, select, is_finite
mlir::Value emitConvertScalar(ScalarBuilder &b, const ScalarOp &op);  // convert, bitcast_convert, reduce_precision, quantize
mlir::Value emitFloatScalar(ScalarBuilder &b, const ScalarOp &op);    // arithmetic and functions on floats
mlir::Value emitIntegerScalar(ScalarBuilder &b, const ScalarOp &op);  // arithmetic and bit operations on integers and i1

/// Convert a compute value to its bit pattern, an integer exactly as wide as `elementType` (not complex), and back.
mlir::Value toBits(ScalarBuilder &b, mlir::Value compute, mlir::Type elementType);
mlir::Value fromBits(ScalarBuilder &b, mlir::Value bits, mlir::Type elementType);

/// Emits stablehlo.convert of a compute value from element type `from` to `to`.
mlir::Value convertScalar(ScalarBuilder &b, mlir::Value value, mlir::Type from, mlir::Type to);

mlir::Value emitMinMax(ScalarBuilder &b, const ScalarOp &op, mlir::Value x, mlir::Value y, bool isMax);

} // namespace millrace::lowering
