// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StorageTypes.cpp - Element types in memory and in registers --------===//
// Input:   a stablehlo tensor or element type: tensor<3xui4>
// Output:  its storage type tensor<3xi8>, its compute element type i4
// Leaves alone types that are no tensors, tuples or tokens.
#include "lowering/linalg/storage/StorageTypes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace millrace::lowering {

bool isSmallFloat(Type elementType) {
  auto floatType = dyn_cast<FloatType>(elementType);
  return floatType && floatType.getWidth() <= 8;
}

bool isUnsignedElement(Type elementType) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(elementType))
    return !quantized.isSigned();
  return elementType.isUnsignedInteger() || elementType.isInteger(1);
}

Type computeElementType(Type elementType) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(elementType))
    return computeElementType(quantized.getStorageType());
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(integer.getContext(), integer.getWidth());
  if (isSmallFloat(elementType))
    return Float32Type::get(elementType.getContext());
  if (isa<FloatType, ComplexType, IndexType>(elementType))
    return elementType;
  return {};
}

Type storageElementType(Type elementType) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(elementType))
    return storageElementType(quantized.getStorageType());
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(integer.getContext(), integer.getWidth() == 1 ? 1 : std::max(8u, integer.getWidth()));
  if (isSmallFloat(elementType))
    return IntegerType::get(elementType.getContext(), 8);
  if (isa<FloatType, ComplexType, IndexType>(elementType))
    return elementType;
  return {};
}

/// Casts a value whose type changes, until the operations around it are converted.
static Value castValue(OpBuilder &builder, Type type, ValueRange inputs, Location loc) {
  return UnrealizedConversionCastOp::create(builder, loc, type, inputs).getResult(0);
}

StorageTypeConverter::StorageTypeConverter(MLIRContext *context) {
  addConversion([](Type type) -> std::optional<Type> { return type; });
  addConversion([](RankedTensorType type) -> std::optional<Type> {
    Type element = storageElementType(type.getElementType());
    if (!element)
      return Type();
    return RankedTensorType::get(type.getShape(), element);
  });
  addConversion([](stablehlo::TokenType, SmallVectorImpl<Type> &) -> std::optional<LogicalResult> { return success(); });
  addConversion([this](TupleType type, SmallVectorImpl<Type> &leaves) -> std::optional<LogicalResult> {
    for (Type part : type.getTypes())
      if (failed(convertType(part, leaves)))
        return failure();
    return success();
  });
  addSourceMaterialization(castValue);
  addTargetMaterialization(castValue);
}

} // namespace millrace::lowering
