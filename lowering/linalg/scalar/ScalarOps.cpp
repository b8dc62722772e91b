// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarOps.cpp - One stablehlo operation on scalars: dispatch -------===//
// Input:   %r = stablehlo.add %a, %b : tensor<4xui8>, one compute value i8 for each operand
// Output:  arith.addi on i8
// Leaves alone (returns failure for) operations that are not elementwise.
#include "lowering/linalg/scalar/ScalarOps.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ScalarFamilies.h"
#include "lowering/linalg/scalar/SmallFloats.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace millrace::lowering {

/// Replaces a quantized type by its storage type.
static Type throughQuantized(Type elementType) {
  auto quantized = dyn_cast<quant::QuantizedType>(elementType);
  if (!quantized)
    return elementType;
  auto width = quantized.getStorageTypeIntegralWidth();
  auto signedness = quantized.isSigned() ? IntegerType::Signless : IntegerType::Unsigned;
  return IntegerType::get(elementType.getContext(), width, signedness);
}

Value toCompute(OpBuilder &builder, Location loc, Value storage, Type elementType) {
  ScalarBuilder b(builder, loc);
  elementType = throughQuantized(elementType);
  if (isSmallFloat(elementType))
    return decodeSmallFloat(b, storage, cast<FloatType>(elementType));
  if (auto integer = dyn_cast<IntegerType>(elementType); integer && integer.getWidth() < 8 && integer.getWidth() > 1)
    return b.trunci(storage, b.intLike(storage.getType(), integer.getWidth()));
  return storage;
}

Value toStorage(OpBuilder &builder, Location loc, Value compute, Type elementType) {
  ScalarBuilder b(builder, loc);
  elementType = throughQuantized(elementType);
  if (isSmallFloat(elementType))
    return encodeSmallFloat(b, compute, cast<FloatType>(elementType));
  if (auto integer = dyn_cast<IntegerType>(elementType); integer && integer.getWidth() < 8 && integer.getWidth() > 1) {
    Type i8 = b.intLike(compute.getType(), 8);
    return integer.isUnsigned() ? b.extui(compute, i8) : b.extsi(compute, i8);
  }
  return compute;
}

Value roundToElement(OpBuilder &builder, Location loc, Value compute, Type elementType) {
  if (!isSmallFloat(elementType))
    return compute;
  return toCompute(builder, loc, toStorage(builder, loc, compute, elementType), elementType);
}

Value emitConstant(OpBuilder &builder, Location loc, Attribute value, Type elementType) {
  ScalarBuilder b(builder, loc);
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    value = dense.getSplatValue<Attribute>();
  Type type = computeElementType(elementType);
  if (auto complexType = dyn_cast<ComplexType>(elementType)) {
    auto parts = cast<ArrayAttr>(value);
    return complex::ConstantOp::create(builder, loc, complexType, parts);
  }
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat wide = number.getValue();
    if (isSmallFloat(elementType)) {
      bool losesInfo;
      wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
    }
    return b.constant(FloatAttr::get(type, wide), type);
  }
  return b.i(cast<IntegerAttr>(value).getValue(), type);
}

/// The elementwise operations, in the order of the specification.
bool isScalarOp(Operation *op) {
  using namespace stablehlo;
  return isa<AbsOp, AddOp, AndOp, Atan2Op, BitcastConvertOp, CbrtOp, CeilOp, ClampOp, ClzOp, CompareOp, ComplexOp, ConvertOp,
             CosineOp, DivOp, ExpOp, Expm1Op, FloorOp, ImagOp, IsFiniteOp, LogOp, Log1pOp, LogisticOp, MaxOp, MinOp, MulOp,
             NegOp, NotOp, OrOp, PopulationCountOp, PowOp, RealOp, ReducePrecisionOp, RemOp, RoundOp, RoundNearestEvenOp,
             RsqrtOp, SelectOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, SignOp, SineOp, SqrtOp,
             SubtractOp, TanOp, TanhOp, XorOp>(op);
}

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

FailureOr<Value> emitScalar(OpBuilder &builder, Operation *op, ValueRange operands) {
  if (!isScalarOp(op) || op->getNumOperands() != operands.size())
    return failure();
  ScalarOp scalar{op, operands, elementOf(op->getOperand(0)), elementOf(op->getResult(0))};
  ScalarBuilder b(builder, op->getLoc());
  // Arithmetic on quantized numbers has been rewritten before; only moves of their storage values remain.
  bool isQuantized = llvm::any_of(op->getOperands(), [](Value v) { return isa<quant::QuantizedType>(elementOf(v)); });
  if (isQuantized && !isa<stablehlo::SelectOp>(op))
    return failure();
  if (Value result = emitCompareScalar(b, scalar))
    return result;
  if (Value result = emitConvertScalar(b, scalar))
    return result;
  if (isa<ComplexType>(scalar.operandElement) || isa<ComplexType>(scalar.resultElement)) {
    if (Value result = emitComplexScalar(b, scalar))
      return result;
    return failure();
  }
  Value result;
  if (scalar.isFloat())
    result = emitFloatScalar(b, scalar);
  else if (isa<IntegerType>(scalar.operandElement))
    result = emitIntegerScalar(b, scalar);
  if (!result)
    return failure();
  return result;
}

} // namespace millrace::lowering
