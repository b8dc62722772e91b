// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementwiseInfer.cpp - Result types and builders -------------------===//
#include "dialects/stablehlo/ElementwiseOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

// The result is the operand with the element type of its (real) parts.
#define MILLRACE_INFER_REAL_TYPE(OP)                                                                                   \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,      \
                                     OpaqueProperties, RegionRange, SmallVectorImpl<Type> &inferredReturnTypes) {      \
    inferredReturnTypes.push_back(createRealType(cast<ShapedType>(operands.front().getType())));                       \
    return success();                                                                                                  \
  }
MILLRACE_INFER_REAL_TYPE(AbsOp)
MILLRACE_INFER_REAL_TYPE(RealOp)
MILLRACE_INFER_REAL_TYPE(ImagOp)
#undef MILLRACE_INFER_REAL_TYPE

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, ValueRange operands,
                                           DictionaryAttr, OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &inferredReturnTypes) {
  inferredReturnTypes.push_back(
      getSameShapeTensorType(cast<ShapedType>(operands.front().getType()), IntegerType::get(context, 1)));
  return success();
}

LogicalResult UniformDequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                                    DictionaryAttr, OpaqueProperties, RegionRange,
                                                    SmallVectorImpl<Type> &inferredReturnTypes) {
  auto operand = cast<ShapedType>(operands.front().getType());
  inferredReturnTypes.push_back(
      getSameShapeTensorType(operand, cast<quant::QuantizedType>(operand.getElementType()).getExpressedType()));
  return success();
}

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr, OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &inferredReturnTypes) {
  auto part = inferMostSpecificType(location, operands.getTypes());
  if (failed(part))
    return failure();
  auto shaped = cast<ShapedType>(*part);
  inferredReturnTypes.push_back(getSameShapeTensorType(shaped, ComplexType::get(shaped.getElementType())));
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &inferredReturnTypes) {
  auto type = inferMostSpecificType(location, operands.getTypes());
  if (failed(type))
    return failure();
  inferredReturnTypes.push_back(getSameShapeTensorType(cast<ShapedType>(*type), IntegerType::get(context, 1)));
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &inferredReturnTypes) {
  SelectOpAdaptor adaptor(operands, attributes, properties, regions);
  Type branches[] = {adaptor.getOnTrue().getType(), adaptor.getOnFalse().getType()};
  // (C2)
  if (!isCompatibleForHloTypeInference(branches[0], branches[1]))
    return emitOptionalError(location, "requires compatible types for non-predicate operands");
  // (C1)
  auto pred = cast<RankedTensorType>(adaptor.getPred().getType());
  if (pred.getRank() != 0 && failed(verifyCompatibleShape(pred, branches[0])))
    return emitOptionalError(location, "requires the same shape for all operands");
  auto type = inferMostSpecificType(location, branches);
  if (failed(type))
    return failure();
  inferredReturnTypes.push_back(*type);
  return success();
}

LogicalResult SelectOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                              SmallVectorImpl<Value> &reifiedReturnShapes) {
  // The predicate may be of rank 0, so that the shape is that of a branch.
  return deriveShapeFromOperand(&builder, getOperation(), SelectOpAdaptor(operands).getOnTrue(), &reifiedReturnShapes);
}

LogicalResult ClampOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                        DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &inferredReturnTypes) {
  ClampOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto verifyBound = [&](Value bound, StringRef name) -> LogicalResult {
    auto type = cast<RankedTensorType>(bound.getType());
    if (type.getRank() != 0 && failed(verifyCompatibleShape(type.getShape(), operand.getShape())))
      return emitOptionalError(location, name, " shape [", type.getShape(),
                               "] is not scalar and is not compatible to operand shape [", operand.getShape(), "]");
    return success();
  };
  // (C1), (C2)
  if (failed(verifyBound(adaptor.getMin(), "min")) || failed(verifyBound(adaptor.getMax(), "max")))
    return failure();
  inferredReturnTypes.push_back(operand);
  return success();
}

LogicalResult ClampOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                             SmallVectorImpl<Value> &reifiedReturnShapes) {
  return deriveShapeFromOperand(&builder, getOperation(), ClampOpAdaptor(operands).getOperand(), &reifiedReturnShapes);
}

LogicalResult BitcastConvertOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                      SmallVectorImpl<Value> &reifiedReturnShapes) {
  auto operand = cast<RankedTensorType>(operands.front().getType());
  auto result = cast<RankedTensorType>(getType());
  // The result of a bitcast that changes the rank has another shape than the operand.
  if (operand.getRank() != result.getRank())
    return failure();
  return deriveShapeFromOperand(&builder, getOperation(), operands.front(), &reifiedReturnShapes);
}

//===-- Builders ----------------------------------------------------------===//

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand, Type resultElementType) {
  build(builder, state, getSameShapeTensorType(cast<ShapedType>(operand.getType()), resultElementType), operand);
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs, ComparisonDirection direction,
                      ComparisonType type) {
  // NOTYPE is expressed by omitting the attribute.
  build(builder, state, lhs, rhs, ComparisonDirectionAttr::get(builder.getContext(), direction),
        type == ComparisonType::NOTYPE ? ComparisonTypeAttr()
                                       : ComparisonTypeAttr::get(builder.getContext(), type));
}

//===-- Speculation -------------------------------------------------------===//

// The size of the dimension that only one side has follows from the element types.
Speculation::Speculatability BitcastConvertOp::getSpeculatability() {
  int64_t commonRank = std::min(cast<ShapedType>(getOperand().getType()).getRank(), cast<ShapedType>(getType()).getRank());
  auto commonDimension = [=](int64_t dim) { return dim < commonRank ? std::optional<int64_t>(dim) : std::nullopt; };
  return speculation::speculatableIf(
      speculation::staticResultDimsAreStaticIn(getOperand().getType(), getType(), commonDimension));
}

} // namespace millrace::stablehlo
