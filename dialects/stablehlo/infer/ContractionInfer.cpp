// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionInfer.cpp - Result types of contractions ----------------===//
// The labels C1.. are those of the StableHLO specification.
#include "dialects/stablehlo/ContractionOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
namespace millrace::stablehlo {

static bool dimsAgree(int64_t a, int64_t b) { return isDynamicDimSize(a) || isDynamicDimSize(b) || a == b; }

LogicalResult CholeskyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                           DictionaryAttr, OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &inferredReturnTypes) {
  auto type = cast<RankedTensorType>(operands.front().getType());
  ArrayRef<int64_t> shape = type.getShape();
  // (C2)
  if (shape.size() < 2)
    return emitOptionalError(location, "argument 'a' must have rank >= 2, got shape ", shape, ".");
  // (C3)
  if (!dimsAgree(shape[shape.size() - 2], shape.back()))
    return emitOptionalError(location, "minor dimensions of 'a' must have equal size, got shape ", shape, ".");
  // (C1)
  inferredReturnTypes.push_back(type);
  return success();
}

LogicalResult TriangularSolveOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  ValueRange operands, DictionaryAttr attributes,
                                                  OpaqueProperties properties, RegionRange regions,
                                                  SmallVectorImpl<Type> &inferredReturnTypes) {
  TriangularSolveOpAdaptor adaptor(operands, attributes, properties, regions);
  auto a = cast<RankedTensorType>(adaptor.getA().getType()), b = cast<RankedTensorType>(adaptor.getB().getType());
  int64_t rank = a.getRank();
  // (C2)
  if (rank < 2)
    return emitOptionalError(location, "operand 'a' must have rank >= 2, but got ", a);
  // (C3)
  if (!dimsAgree(a.getDimSize(rank - 2), a.getDimSize(rank - 1)))
    return emitOptionalError(location, "two minor dimensions of operand 'a' must be compatible, but got ", a);
  if (rank != b.getRank())
    return emitOptionalError(location, "operands must have equal rank, but got ", a, " and ", b);
  if (!dimsAgree(a.getDimSize(rank - 1), b.getDimSize(rank - (adaptor.getLeftSide() ? 2 : 1))))
    return emitOptionalError(location, "shared dimension of operands 'a' and 'b' must be compatible, but got ", a,
                             " and ", b);
  if (failed(verifyCompatibleShape(a.getShape().drop_back(2), b.getShape().drop_back(2))))
    return emitOptionalError(location, "batch dimensions of the operands must be compatible, but got ", a, " and ",
                             b);
  if (adaptor.getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOptionalError(location, "Invalid transpose option value for triangular solve");
  // (C4)
  inferredReturnTypes.push_back(b);
  return success();
}

LogicalResult DotGeneralOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                  SmallVectorImpl<Value> &reifiedReturnShapes) {
  DotGeneralOpAdaptor adaptor(operands, *this);
  Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  SmallVector<Value> sizes;
  auto push = [&](Value value, int64_t dim) {
    sizes.push_back(tensor::DimOp::create(builder, getLoc(), value, dim));
  };
  for (int64_t dim : dims.getLhsBatchingDimensions())
    push(lhs, dim);
  for (int64_t dim = 0; dim < cast<RankedTensorType>(lhs.getType()).getRank(); ++dim)
    if (!llvm::is_contained(dims.getLhsBatchingDimensions(), dim) &&
        !llvm::is_contained(dims.getLhsContractingDimensions(), dim))
      push(lhs, dim);
  for (int64_t dim = 0; dim < cast<RankedTensorType>(rhs.getType()).getRank(); ++dim)
    if (!llvm::is_contained(dims.getRhsBatchingDimensions(), dim) &&
        !llvm::is_contained(dims.getRhsContractingDimensions(), dim))
      push(rhs, dim);
  reifiedReturnShapes.push_back(tensor::FromElementsOp::create(
      builder, getLoc(), RankedTensorType::get({static_cast<int64_t>(sizes.size())}, builder.getIndexType()), sizes));
  return success();
}

bool DotGeneralOp::isSimpleDot() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType());
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  return dims.getLhsBatchingDimensions().empty() && dims.getRhsBatchingDimensions().empty() && lhs.getRank() <= 2 &&
         rhs.getRank() <= 2 && dims.getLhsContractingDimensions() == ArrayRef<int64_t>{lhs.getRank() - 1} &&
         dims.getRhsContractingDimensions() == ArrayRef<int64_t>{0};
}

//===-- Speculation -------------------------------------------------------===//
// Dimensions in which two operands must agree have to be static on both sides for speculation; other dimensions have to be static only if the
// result's size is.

Speculation::Speculatability DotGeneralOp::getSpeculatability() {
  auto lhs = cast<ShapedType>(getLhs().getType()), rhs = cast<ShapedType>(getRhs().getType());
  auto result = cast<ShapedType>(getType());
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  auto isDynamicIn = [](ShapedType type) { return [type](int64_t dim) { return type.isDynamicDim(dim); }; };
  if (llvm::any_of(dims.getLhsBatchingDimensions(), isDynamicIn(lhs)) ||
      llvm::any_of(dims.getRhsBatchingDimensions(), isDynamicIn(rhs)) ||
      llvm::any_of(dims.getLhsContractingDimensions(), isDynamicIn(lhs)) ||
      llvm::any_of(dims.getRhsContractingDimensions(), isDynamicIn(rhs)))
    return Speculation::NotSpeculatable;
  int64_t resultDim = dims.getLhsBatchingDimensions().size();
  auto freeDimensionsAgree = [&](ShapedType type, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    for (int64_t dim = 0, e = type.getRank(); dim != e; ++dim) {
      if (llvm::is_contained(batching, dim) || llvm::is_contained(contracting, dim))
        continue;
      if (type.isDynamicDim(dim) && !result.isDynamicDim(resultDim))
        return false;
      ++resultDim;
    }
    return true;
  };
  return speculation::speculatableIf(
      freeDimensionsAgree(lhs, dims.getLhsBatchingDimensions(), dims.getLhsContractingDimensions()) &&
      freeDimensionsAgree(rhs, dims.getRhsBatchingDimensions(), dims.getRhsContractingDimensions()));
}

Speculation::Speculatability ConvolutionOp::getSpeculatability() {
  auto input = cast<ShapedType>(getLhs().getType()), kernel = cast<ShapedType>(getRhs().getType());
  auto result = cast<ShapedType>(getType());
  ConvDimensionNumbersAttr dims = getDimensionNumbers();
  if (input.isDynamicDim(dims.getInputFeatureDimension()) || kernel.isDynamicDim(dims.getKernelInputFeatureDimension()))
    return Speculation::NotSpeculatable;
  // The group counts have to divide these sizes.
  auto mayContradict = [&](bool dynamic, bool divided, int64_t resultDim) {
    return dynamic && (divided || !result.isDynamicDim(resultDim));
  };
  bool batches = getBatchGroupCount() > 1, features = getFeatureGroupCount() > 1;
  if (mayContradict(input.isDynamicDim(dims.getInputBatchDimension()), batches, dims.getOutputBatchDimension()) ||
      mayContradict(kernel.isDynamicDim(dims.getKernelOutputFeatureDimension()), batches || features,
                    dims.getOutputFeatureDimension()))
    return Speculation::NotSpeculatable;
  for (auto [inputDim, kernelDim, resultDim] :
       llvm::zip(dims.getInputSpatialDimensions(), dims.getKernelSpatialDimensions(), dims.getOutputSpatialDimensions()))
    if (mayContradict(input.isDynamicDim(inputDim) || kernel.isDynamicDim(kernelDim), false, resultDim))
      return Speculation::NotSpeculatable;
  return Speculation::Speculatable;
}

// `unit_diagonal` is a promise about values that only holds where the program executes the operation.
Speculation::Speculatability TriangularSolveOp::getSpeculatability() {
  return speculation::speculatableIf(speculation::allOperandsStatic(*this) && !getUnitDiagonal());
}

} // namespace millrace::stablehlo
