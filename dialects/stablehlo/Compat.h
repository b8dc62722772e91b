// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compat.h - Compatibility of types of one value ----------------------===//
// All families use these: compatibility of declared and inferred types, merging of shapes with dynamic and bounded dimensions, and the trait of
// operations whose operands and results have one type.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace millrace::stablehlo {

inline bool isDynamicDimSize(int64_t size) { return size == mlir::ShapedType::kDynamic; }
inline bool isStaticDimSize(int64_t size) { return size != mlir::ShapedType::kDynamic; }

/// Returns true if the element types are equal, or quantized with the same storage, range, expressed type and granularity (scales and zero points may
/// differ). Of shaped types the element types are compared.
bool isCompatibleElementTypeForHloTypeInference(mlir::Type a, mlir::Type b);

/// Returns true if shapes are equal except for dynamic dimensions, bounds are respected, and element types are compatible.
bool isCompatibleForHloTypeInference(mlir::Type a, mlir::Type b);
bool isCompatibleForHloTypeInference(mlir::TypeRange a, mlir::TypeRange b);
/// Returns true unless the shape operand `shape` is a constant that contradicts `type`.
bool isCompatibleForHloTypeInference(mlir::Value shape, mlir::Type type);
bool isCompatibleForHloTypeInference(mlir::ArrayRef<int64_t> shape, mlir::Type type);

/// Checks as mlir::verifyCompatibleShape, and that no static dimension exceeds the bound of the other type.
mlir::LogicalResult verifyCompatibleShapeWithBounds(mlir::Type a, mlir::Type b);

/// Returns the bounds of a tensor encoding; empty if it has none.
mlir::ArrayRef<int64_t> encodingToBounds(mlir::Attribute encoding);
/// Returns an encoding for `bounds`; null if no dimension is bounded; `prototype` if `bounds` is empty.
mlir::Attribute boundsToEncoding(mlir::MLIRContext *context, mlir::Attribute prototype,
                                 mlir::ArrayRef<int64_t> bounds);

/// Returns true for a ranked tensor whose dynamic dimensions have bounds, at most one of them.
bool hasStaticOrBoundedShape(mlir::Type type);

/// The size and bound of a dimension, each kDynamic if unknown.
struct DimAndBound {
  int64_t size = mlir::ShapedType::kDynamic;
  int64_t bound = mlir::ShapedType::kDynamic;
};
DimAndBound inferConcatenatedDimAndBound(DimAndBound a, DimAndBound b);
/// Combines two facts that both hold: static beats bounded beats dynamic, and the smaller bound counts. Fails if they contradict each other.
mlir::FailureOr<DimAndBound> inferMostSpecificDimAndBound(std::optional<mlir::Location> location, int64_t dim,
                                                          DimAndBound a, DimAndBound b);
/// Combines two facts one of which holds (branches): dynamic beats bounded beats static, and the larger bound counts.
mlir::FailureOr<DimAndBound> inferLeastSpecificDimAndBound(std::optional<mlir::Location> location, int64_t dim,
                                                           DimAndBound a, DimAndBound b);
/// Merges types; if they are not ranked tensors the result is the first type. The element type is that of the first.
mlir::FailureOr<mlir::Type> inferMostSpecificType(std::optional<mlir::Location> location, mlir::TypeRange types);
mlir::FailureOr<mlir::Type> inferLeastSpecificType(std::optional<mlir::Location> location, mlir::TypeRange types);

/// Matches a constant of integers and returns them sign-extended.
mlir::LogicalResult matchInt(mlir::Value value, int64_t &result);
mlir::LogicalResult matchInts(mlir::Value value, mlir::SmallVector<int64_t> &result);

/// Computes the shape of a result that has the shape of `operand`.
mlir::LogicalResult deriveShapeFromOperand(mlir::OpBuilder *builder, mlir::Operation *op, mlir::Value operand,
                                           mlir::SmallVectorImpl<mlir::Value> *reifiedReturnShapes);

/// Returns `type` with another element type; shape and encoding stay.
mlir::ShapedType getSameShapeTensorType(mlir::ShapedType type, mlir::Type elementType);
/// `tensor<4xcomplex<f32>>` -> `tensor<4xf32>`; other types unchanged.
mlir::ShapedType createRealType(mlir::ShapedType type);

namespace traits {
template <typename ConcreteType>
class CompatibleOperandsAndResultElementType
    : public mlir::OpTrait::TraitBase<ConcreteType, CompatibleOperandsAndResultElementType> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    mlir::Type expected;
    if (op->getNumResults() != 0)
      expected = op->getResult(0).getType();
    if (op->getNumOperands() != 0)
      expected = op->getOperand(0).getType();
    if (!expected)
      return op->emitOpError() << "expected at least one operand or result";
    auto differs = [&](mlir::Type type) { return !isCompatibleElementTypeForHloTypeInference(expected, type); };
    if (llvm::any_of(op->getOperandTypes(), differs) || llvm::any_of(op->getResultTypes(), differs))
      return op->emitOpError() << "requires compatible element types for all operands and results";
    return mlir::success();
  }
};

template <typename ConcreteType>
class CompatibleOperandsElementType : public mlir::OpTrait::TraitBase<ConcreteType, CompatibleOperandsElementType> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    for (mlir::Type type : op->getOperandTypes())
      if (!isCompatibleElementTypeForHloTypeInference(op->getOperand(0).getType(), type))
        return op->emitOpError() << "requires compatible element types for all operands";
    return mlir::success();
  }
};

template <typename ConcreteType>
class CompatibleOperandsAndResultType
    : public mlir::OpTrait::TraitBase<ConcreteType, CompatibleOperandsAndResultType> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    mlir::Type expected;
    if (op->getNumResults() != 0)
      expected = op->getResult(0).getType();
    if (op->getNumOperands() != 0)
      expected = op->getOperand(0).getType();
    if (!expected)
      return op->emitOpError() << "expected at least one operand or result";
    auto differs = [&](mlir::Type type) { return !isCompatibleForHloTypeInference(expected, type); };
    if (llvm::any_of(op->getOperandTypes(), differs) || llvm::any_of(op->getResultTypes(), differs))
      return op->emitOpError() << "requires compatible types for all operands and results";
    return mlir::success();
  }

  static mlir::LogicalResult inferReturnTypes(mlir::MLIRContext *, std::optional<mlir::Location> location,
                                              mlir::ValueRange operands, mlir::DictionaryAttr, mlir::OpaqueProperties,
                                              mlir::RegionRange,
                                              mlir::SmallVectorImpl<mlir::Type> &inferredReturnTypes) {
    if (operands.empty())
      return emitOptionalError(location, "Expected non-empty operands for CompatibleOperandsAndResultType::inferReturnTypes");
    auto type = inferMostSpecificType(location, operands.getTypes());
    if (failed(type))
      return mlir::failure();
    inferredReturnTypes.push_back(*type);
    return mlir::success();
  }
};

/// Checks that there are as many operands as results, and that operand i has the type of result i.
template <typename ConcreteType>
class PairwiseSameOperandAndResultType
    : public mlir::OpTrait::TraitBase<ConcreteType, PairwiseSameOperandAndResultType> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    if (op->getNumOperands() != op->getNumResults())
      return op->emitOpError() << "requires the same number of operands and results";
    for (auto [index, operand, result] : llvm::enumerate(op->getOperandTypes(), op->getResultTypes()))
      if (operand != result)
        return op->emitOpError() << "requires the same type for operand and result at index " << index;
    return mlir::success();
  }
};

/// Checks that there are as many operands as results, and that operand i has the element type of result i.
template <typename ConcreteType>
class PairwiseSameOperandAndResultElementType
    : public mlir::OpTrait::TraitBase<ConcreteType, PairwiseSameOperandAndResultElementType> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    if (op->getNumOperands() != op->getNumResults())
      return op->emitOpError() << "requires the same number of operands and results";
    for (auto [index, operand, result] : llvm::enumerate(op->getOperandTypes(), op->getResultTypes()))
      if (mlir::getElementTypeOrSelf(operand) != mlir::getElementTypeOrSelf(result))
        return op->emitOpError() << "requires the same element type for operand and result at index " << index;
    return mlir::success();
  }
};
} // namespace traits
} // namespace millrace::stablehlo
