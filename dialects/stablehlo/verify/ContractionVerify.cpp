// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionVerify.cpp - Constraints of contractions ----------------===//
// The labels C1.. are those of the StableHLO specification.
#include "dialects/stablehlo/ContractionOps.h"
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

static LogicalResult verifyPrecisionConfig(Operation *op, std::optional<ArrayAttr> precisions) {
  if (precisions && *precisions && precisions->size() > 2)
    return op->emitOpError() << "expects precision config to be empty or have <= 2 elements, got "
                             << precisions->size();
  return success();
}

static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> inferred, Type result) {
  if (failed(verifyCompatibleShape(inferred, cast<ShapedType>(result).getShape())))
    return op->emitOpError() << "inferred shape '" << dimSizesToString(inferred)
                             << "' is incompatible with return type of operation " << result;
  return success();
}

//===-- Quantization ------------------------------------------------------===//

static bool isPerAxis(Type type) { return isa<quant::UniformQuantizedPerAxisType>(type); }

/// Checks the constraints on the element types of a contraction. `rhsAxis` says whether a per-axis type of rhs may have this axis.
static LogicalResult verifyQuantization(Operation *op, Type lhs, Type rhs, Type result) {
  lhs = getElementTypeOrSelf(lhs);
  rhs = getElementTypeOrSelf(rhs);
  result = getElementTypeOrSelf(result);
  auto quantLhs = dyn_cast<quant::QuantizedType>(lhs), quantRhs = dyn_cast<quant::QuantizedType>(rhs),
       quantResult = dyn_cast<quant::QuantizedType>(result);
  if (!quantLhs && !quantRhs && !quantResult)
    return success();
  // All quantized, or only rhs (a weight) with float operand and result.
  bool allQuantized = quantLhs && quantRhs && quantResult;
  bool weightOnly = !quantLhs && quantRhs && !quantResult;
  if (!allQuantized && !weightOnly)
    return op->emitOpError() << "rhs should be quantized for quantized operations and "
                                "is_quantized(lhs)=is_quantized(result) should hold";
  auto signedAxisZero = [](Type type) {
    auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
    return !perAxis || llvm::all_of(perAxis.getZeroPoints(), [](int64_t zero) { return zero == 0; });
  };
  if (!signedAxisZero(rhs))
    return op->emitOpError() << "Zero points of rhs should be 0";
  if (weightOnly) {
    if (lhs != quantRhs.getExpressedType() || result != lhs)
      return op->emitOpError() << "mismatched rhs quantization expressed type and lhs and result element type";
    return success();
  }
  if (isPerAxis(lhs))
    return op->emitOpError() << "expects per-tensor quantized lhs, but got " << lhs;
  if (quantLhs.getStorageType() != quantRhs.getStorageType())
    return op->emitOpError() << "mismatched lhs and rhs quantization storage types";
  if (quantLhs.getExpressedType() != quantRhs.getExpressedType() ||
      quantLhs.getExpressedType() != quantResult.getExpressedType())
    return op->emitOpError() << "mismatched lhs, rhs and result quantization expressed types";
  if (!isPerAxis(rhs) && isPerAxis(result))
    return op->emitOpError() << "mismatched rhs and result quantization granularity";
  return success();
}

//===-- dot and dot_general -----------------------------------------------===//

LogicalResult DotOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType());
  if (failed(verifyPrecisionConfig(*this, getPrecisionConfig())))
    return failure();
  if (lhs.getRank() < 1 || lhs.getRank() > 2 || rhs.getRank() < 1 || rhs.getRank() > 2 ||
      !checks::dimsAgree(lhs.getShape().back(), rhs.getShape().front()))
    return emitOpError() << "expected both lhs/rhs ranks to be either 1 or 2";
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  return verifyShape(*this, shape, getType());
}

/// Checks (C3) and (C4).
static LogicalResult verifyDistinct(Operation *op, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting,
                                    StringRef side) {
  SmallVector<int64_t> seen;
  for (int64_t dim : llvm::concat<const int64_t>(batching, contracting)) {
    if (llvm::is_contained(seen, dim))
      return op->emitOpError() << "has duplicated dimension from " << side << "_batching_dimensions and " << side
                               << "_contracting_dimensions: " << dim;
    seen.push_back(dim);
  }
  return success();
}

/// Checks (C5) to (C8).
static LogicalResult verifyInRange(Operation *op, ArrayRef<int64_t> dims, int64_t rank, StringRef name) {
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << name << " value: " << dim << " is out of range: [0, " << rank << ")";
  return success();
}

/// Returns true for the combinations of types, components and products that an algorithm may have.
static bool isKnownDotAlgorithm(DotAlgorithmAttr algorithm) {
  Type lhs = algorithm.getLhsPrecisionType(), accumulation = algorithm.getAccumulationType();
  bool imprecise = algorithm.getAllowImpreciseAccumulation();
  int64_t lhsComponents = algorithm.getLhsComponentCount(), rhsComponents = algorithm.getRhsComponentCount();
  int64_t products = algorithm.getNumPrimitiveOperations();
  Type rhs = algorithm.getRhsPrecisionType();
  bool isFp8 = lhs.getIntOrFloatBitWidth() == 8 && rhs.getIntOrFloatBitWidth() == 8;
  if (lhsComponents != rhsComponents)
    return false;
  if (isFp8)
    return lhsComponents == 1 && products == 1 && accumulation.isF32();
  if (lhs != rhs || imprecise)
    return false;
  if (lhsComponents == 1 && products == 1)
    return (lhs.isF16() && (accumulation.isF16() || accumulation.isF32())) ||
           (lhs.isBF16() && (accumulation.isBF16() || accumulation.isF32())) ||
           (lhs.isTF32() && accumulation.isF32()) || (lhs.isF32() && accumulation.isF32()) ||
           (lhs.isF64() && accumulation.isF64());
  if (!accumulation.isF32())
    return false;
  if (lhs.isTF32())
    return lhsComponents == 1 && products == 3;
  if (lhs.isBF16())
    return (lhsComponents == 1 && (products == 3 || products == 6)) || (lhsComponents == 2 && products == 3) ||
           (lhsComponents == 3 && (products == 6 || products == 9));
  return false;
}

LogicalResult DotGeneralOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType());
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions(), rhsBatch = dims.getRhsBatchingDimensions(),
                    lhsContract = dims.getLhsContractingDimensions(),
                    rhsContract = dims.getRhsContractingDimensions();
  // (C11)
  if (failed(verifyPrecisionConfig(*this, getPrecisionConfig())))
    return failure();
  // (C1)
  if (lhsBatch.size() != rhsBatch.size())
    return emitOpError() << "lhs and rhs should have the same number of batching dimensions";
  // (C2)
  if (lhsContract.size() != rhsContract.size())
    return emitOpError() << "lhs and rhs should have the same number of contracting dimensions";
  if (failed(verifyDistinct(*this, lhsBatch, lhsContract, "lhs")) ||
      failed(verifyDistinct(*this, rhsBatch, rhsContract, "rhs")) ||
      failed(verifyInRange(*this, lhsBatch, lhs.getRank(), "lhs_batching_dimensions")) ||
      failed(verifyInRange(*this, lhsContract, lhs.getRank(), "lhs_contracting_dimensions")) ||
      failed(verifyInRange(*this, rhsBatch, rhs.getRank(), "rhs_batching_dimensions")) ||
      failed(verifyInRange(*this, rhsContract, rhs.getRank(), "rhs_contracting_dimensions")))
    return failure();
  // (C9)
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch))
    if (!checks::dimsAgree(lhs.getDimSize(l), rhs.getDimSize(r)))
      return emitOpError() << "batching dimension sizes must match for lhs/rhs";
  // (C10)
  for (auto [l, r] : llvm::zip(lhsContract, rhsContract))
    if (!checks::dimsAgree(lhs.getDimSize(l), rhs.getDimSize(r)))
      return emitOpError() << "contracting dimension sizes must match for lhs/rhs";
  // (C12)
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(lhsBatch, dim) && !llvm::is_contained(lhsContract, dim))
      shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(rhsBatch, dim) && !llvm::is_contained(rhsContract, dim))
      shape.push_back(rhs.getDimSize(dim));
  if (failed(verifyShape(*this, shape, getType())))
    return failure();
  // (C14) to (C20)
  if (failed(verifyQuantization(*this, lhs, rhs, getType())))
    return failure();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs.getElementType()))
    if (llvm::is_contained(rhsContract, perAxis.getQuantizedDimension()))
      return emitOpError() << "quantization dimension of rhs should not be in the contracting dimension of rhs";
  // (C22) to (C27)
  if (auto algorithm = getAlgorithm())
    if (!isKnownDotAlgorithm(*algorithm))
      return emitOpError() << "dot algorithm not known to be supported on any hardware: {lhs:"
                           << algorithm->getLhsPrecisionType() << ", rhs:" << algorithm->getRhsPrecisionType()
                           << ", accum:" << algorithm->getAccumulationType()
                           << ", lhs_components:" << algorithm->getLhsComponentCount()
                           << ", rhs_components:" << algorithm->getRhsComponentCount()
                           << ", primitive_ops:" << algorithm->getNumPrimitiveOperations()
                           << ", imprecise:" << (algorithm->getAllowImpreciseAccumulation() ? "true" : "false") << "}";
  return success();
}

//===-- convolution -------------------------------------------------------===//

static LogicalResult verifyConvolutionDims(Operation *op, RankedTensorType lhs, ConvDimensionNumbersAttr dims) {
  size_t spatial = dims.getInputSpatialDimensions().size();
  if (spatial != dims.getKernelSpatialDimensions().size() || spatial != dims.getOutputSpatialDimensions().size())
    return op->emitOpError() << "expects the same size for input, kernel and output spatial-dimensions, but got "
                             << spatial << ", " << dims.getKernelSpatialDimensions().size() << ", and "
                             << dims.getOutputSpatialDimensions().size() << " resp.";
  auto all = [](int64_t a, int64_t b, ArrayRef<int64_t> rest) {
    SmallVector<int64_t> list{a, b};
    llvm::append_range(list, rest);
    return list;
  };
  auto input = all(dims.getInputBatchDimension(), dims.getInputFeatureDimension(), dims.getInputSpatialDimensions());
  auto kernel = all(dims.getKernelInputFeatureDimension(), dims.getKernelOutputFeatureDimension(),
                    dims.getKernelSpatialDimensions());
  auto output =
      all(dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions());
  auto inRange = [&](int64_t dim) { return dim >= 0 && dim < lhs.getRank(); };
  if (!llvm::all_of(input, inRange) || !llvm::all_of(kernel, inRange) || !llvm::all_of(output, inRange))
    return op->emitOpError() << "expects input, kernel, and output dimension-numbers to be in-range [0, "
                             << lhs.getRank() << ").";
  auto verifyUnique = [&](ArrayRef<int64_t> list, StringRef name) -> LogicalResult {
    if (checks::isUnique(list))
      return success();
    return op->emitOpError() << "expects " << name << " dimension-numbers to be unique, got {" << list << "}.";
  };
  return success(succeeded(verifyUnique(input, "input")) && succeeded(verifyUnique(kernel, "kernel")) &&
                 succeeded(verifyUnique(output, "output")));
}

static LogicalResult verifyGroups(Operation *op, RankedTensorType lhs, RankedTensorType rhs,
                                  ConvDimensionNumbersAttr dims, int64_t featureGroups, int64_t batchGroups) {
  if (featureGroups <= 0)
    return op->emitOpError() << "expects feature_group_count to be a positive number, got " << featureGroups << ".";
  if (batchGroups <= 0)
    return op->emitOpError() << "expects batch_group_count to be a positive number, got " << batchGroups << ".";
  if (batchGroups > 1 && featureGroups > 1)
    return op->emitOpError() << "expects batch_group_count and feature_group_count not to be both greater than 1. Got "
                             << batchGroups << " and " << featureGroups << " resp.";
  int64_t inputFeatures = lhs.getDimSize(dims.getInputFeatureDimension()),
          inputBatch = lhs.getDimSize(dims.getInputBatchDimension()),
          kernelInput = rhs.getDimSize(dims.getKernelInputFeatureDimension()),
          kernelOutput = rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  if (isStaticDimSize(kernelOutput)) {
    if (kernelOutput % batchGroups != 0)
      return op->emitOpError() << "expects output feature dimension size (" << kernelOutput
                               << ") to be a multiple of batch_group_count. Got batch_group_count = " << batchGroups
                               << ".";
    if (kernelOutput % featureGroups != 0)
      return op->emitOpError() << "expects kernel output feature dimension (" << kernelOutput
                               << ") to be divisible by feature_group_count. For feature_group_count = "
                               << featureGroups << ".";
  }
  if (isStaticDimSize(inputFeatures)) {
    if (inputFeatures % featureGroups != 0)
      return op->emitOpError() << "expects input feature dimension (" << inputFeatures
                               << ") to be a multiple of feature_group_count. Got feature_group_count = "
                               << featureGroups << ".";
    if (isStaticDimSize(kernelInput) && inputFeatures / featureGroups != kernelInput)
      return op->emitOpError() << "expects input feature dimension (" << inputFeatures
                               << ") / feature_group_count = kernel input feature dimension (" << kernelInput
                               << "). Got feature_group_count = " << featureGroups << ".";
  }
  if (isStaticDimSize(inputBatch) && inputBatch % batchGroups != 0)
    return op->emitOpError() << "expects input batch dimension (" << inputBatch
                             << ") to be divisible by batch_group_count. Got batch_group_count = " << batchGroups
                             << ".";
  return success();
}

/// Checks a convolution except for its padding, which is passed as pairs; `knownPadding` is false if it is computed at run time.
template <typename Op>
static LogicalResult verifyConvolution(Op op, ArrayRef<std::pair<int64_t, int64_t>> padding, bool knownPadding) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()), rhs = cast<RankedTensorType>(op.getRhs().getType());
  int64_t rank = lhs.getRank();
  // (C1)
  if (rank != rhs.getRank())
    return op.emitOpError() << "expects convolution arguments to have same number of dimensions. Got: " << lhs
                            << " and " << rhs << ".";
  if (rank < 2)
    return op.emitOpError() << "expects convolution arguments to have >= 2 dimensions. Got: " << lhs << " and " << rhs
                            << ".";
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  int64_t featureGroups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
  // (C10) to (C23)
  if (failed(verifyConvolutionDims(op, lhs, dims)) ||
      failed(verifyGroups(op, lhs, rhs, dims, featureGroups, batchGroups)) ||
      failed(verifyPrecisionConfig(op, op.getPrecisionConfig())))
    return failure();
  if (rank != static_cast<int64_t>(dims.getInputSpatialDimensions().size()) + 2)
    return op.emitOpError() << "expects convolution arguments to have " << dims.getInputSpatialDimensions().size() + 2
                            << " dimensions. Got: " << rank;
  // (C2) to (C9)
  SmallVector<int64_t> windowSizes, inputSizes;
  for (int64_t dim : dims.getKernelSpatialDimensions())
    windowSizes.push_back(rhs.getDimSize(dim));
  for (int64_t dim : dims.getInputSpatialDimensions())
    inputSizes.push_back(lhs.getDimSize(dim));
  if (auto reversal = op.getWindowReversal(); reversal && reversal->size() != windowSizes.size())
    return op.emitOpError() << "expects window-reversal to have same dimension-size as size of window dimensions ("
                            << windowSizes.size() << "), but got: " << reversal->size() << ".";
  auto list = [](std::optional<ArrayRef<int64_t>> attr) { return attr ? *attr : ArrayRef<int64_t>(); };
  // Errors of the inference are reported at the operation, like those of a verifier.
  auto window = checks::checkWindow(op.getLoc(), windowSizes, list(op.getWindowStrides()), padding,
                                    list(op.getLhsDilation()), list(op.getRhsDilation()));
  if (failed(window))
    return failure();
  // (C25), (C26)
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  if (knownPadding)
    for (auto [dim, size] : llvm::zip(dims.getOutputSpatialDimensions(), checks::windowPositions(inputSizes, *window)))
      shape[dim] = size;
  int64_t batch = lhs.getDimSize(dims.getInputBatchDimension());
  shape[dims.getOutputBatchDimension()] = isDynamicDimSize(batch) ? batch : batch / batchGroups;
  shape[dims.getOutputFeatureDimension()] = rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  if (failed(verifyShape(op, shape, op.getType())))
    return failure();
  // (C28) to (C34)
  if (failed(verifyQuantization(op, lhs, rhs, op.getType())))
    return failure();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs.getElementType()))
    if (perAxis.getQuantizedDimension() != dims.getKernelOutputFeatureDimension())
      return op.emitOpError() << "quantization dimension of rhs should be same with kernel_output_feature_dimension";
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(op.getType())))
    if (perAxis.getQuantizedDimension() != dims.getOutputFeatureDimension())
      return op.emitOpError() << "quantization dimension of result should be same with output_feature_dimension";
  return success();
}

LogicalResult ConvolutionOp::verify() {
  auto padding = checks::paddingPairs(getPadding(), getLoc());
  return failed(padding) ? LogicalResult(failure()) : verifyConvolution(*this, *padding, /*knownPadding=*/true);
}

LogicalResult DynamicConvOp::verify() {
  auto type = cast<RankedTensorType>(getPadding().getType());
  // (C4)
  if (type.getRank() != 2 || (!type.isDynamicDim(1) && type.getDimSize(1) != 2))
    return emitOpError() << "expects padding to be of shape [N, 2], but got [" << type.getShape() << "]";
  int64_t spatial = getDimensionNumbers().getInputSpatialDimensions().size();
  if (!type.isDynamicDim(0) && type.getDimSize(0) != spatial)
    return emitOpError() << "expects padding-entries to have same dimension-size as size of window dimensions ("
                         << spatial << "), but got: " << type.getDimSize(0) << ".";
  SmallVector<int64_t> values;
  SmallVector<std::pair<int64_t, int64_t>> padding;
  bool known = succeeded(matchInts(getPadding(), values));
  for (size_t i = 0; known && i + 1 < values.size(); i += 2)
    padding.emplace_back(values[i], values[i + 1]);
  return verifyConvolution(*this, padding, known);
}

} // namespace millrace::stablehlo
