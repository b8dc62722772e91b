// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingInfer.cpp - Result types of indexing ops -------------------===//
// The labels C1.. are those of the StableHLO specification.
#include "dialects/stablehlo/IndexingOps.h"
#include "llvm/ADT/SmallSet.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

static bool sameElementTypes(TypeRange types) {
  return llvm::all_of(types, [&](Type type) { return getElementTypeOrSelf(type) == getElementTypeOrSelf(types[0]); });
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                               DictionaryAttr attributes, OpaqueProperties properties,
                                               RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  DynamicSliceOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  ValueRange starts = adaptor.getStartIndices();
  // (C2)
  if (starts.size() != sizes.size())
    return emitOptionalError(location, "has mismatched number of slice sizes (", sizes.size(),
                             ") and number of start indices (", starts.size(), ")");
  if (operand.getRank() != static_cast<int64_t>(starts.size()))
    return emitOptionalError(location, "has mismatched number of start indices (", starts.size(),
                             ") and the rank of operand (", operand.getRank(), ")");
  // (C3)
  if (!sameElementTypes(starts.getTypes()))
    return emitOptionalError(location, "start indices must have same element type");
  // (C4)
  for (auto [d, size] : llvm::enumerate(sizes)) {
    if (size < 0)
      return emitOptionalError(location, "has negative size index to dynamic slice: ", size);
    if (!operand.isDynamicDim(d) && size > operand.getDimSize(d))
      return emitOptionalError(location, "has slice size ", size, " greater than dimension size ",
                               operand.getDimSize(d), " in dimension ", d, " of operand");
  }
  // (C5)
  inferredReturnTypes.push_back(RankedTensorType::get(sizes, operand.getElementType()));
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                     ValueRange operands, DictionaryAttr attributes,
                                                     OpaqueProperties properties, RegionRange regions,
                                                     SmallVectorImpl<Type> &inferredReturnTypes) {
  DynamicUpdateSliceOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  ValueRange starts = adaptor.getStartIndices();
  // (C3)
  if (update.getRank() != operand.getRank())
    return emitOptionalError(location, "update rank does not match operand rank: ", update.getRank(), " vs ",
                             operand.getRank(), ".");
  // (C4)
  if (static_cast<int64_t>(starts.size()) != operand.getRank())
    return emitOptionalError(location, "expects number of start_indices to match operand rank: ", starts.size(),
                             " vs ", operand.getRank(), ".");
  // (C5)
  if (!sameElementTypes(starts.getTypes()))
    return emitOptionalError(location, "start indices must have same element type");
  // (C6)
  for (int64_t d = 0; d < operand.getRank(); ++d)
    if (!update.isDynamicDim(d) && !operand.isDynamicDim(d) && update.getDimSize(d) > operand.getDimSize(d))
      return emitOptionalError(location, "expects size at dimension ", d, " of update to be in range [0, ",
                               operand.getDimSize(d), "]. Got: ", update.getDimSize(d), ".");
  // (C1)
  inferredReturnTypes.push_back(operand);
  return success();
}

//===-- gather ------------------------------------------------------------===//

static bool hasDuplicates(ArrayRef<int64_t> values) {
  llvm::SmallSet<int64_t, 8> seen;
  return llvm::any_of(values, [&](int64_t value) { return !seen.insert(value).second; });
}

/// One list after the other.
static SmallVector<int64_t> concatLists(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> all(a);
  llvm::append_range(all, b);
  return all;
}

static LogicalResult verifyInRange(std::optional<Location> location, ArrayRef<int64_t> dims, int64_t limit, StringRef name,
                                   StringRef limitName) {
  for (int64_t dim : dims)
    if (dim < 0 || dim >= limit)
      return emitOptionalError(location, "Expects each element of ", name, " to be in range [0, ", limitName,
                               ") i.e. [0, ", limit, "). got: ", dim, ".");
  return success();
}

/// Checks everything that does not depend on slice sizes. `numSliceSizes` is kDynamic if unknown.
static LogicalResult verifyGather(std::optional<Location> location, RankedTensorType operand,
                                  RankedTensorType indices, int64_t numSliceSizes, GatherDimensionNumbersAttr dims) {
  ArrayRef<int64_t> offset = dims.getOffsetDims(), collapsed = dims.getCollapsedSliceDims(),
                    batching = dims.getOperandBatchingDims(), indicesBatching = dims.getStartIndicesBatchingDims(),
                    startIndexMap = dims.getStartIndexMap();
  int64_t indexVectorDim = dims.getIndexVectorDim(), rank = operand.getRank();
  // (C1)
  if (static_cast<int64_t>(offset.size() + collapsed.size() + batching.size()) != rank)
    return emitOptionalError(location, "offset_dims size (", offset.size(), ") plus collapse_slice_dims size (",
                             collapsed.size(), ") plus operand_batching_dims size (", batching.size(),
                             ") is not equal to operand rank (", rank, ")");
  // (C2)
  if (indexVectorDim < 0 || indexVectorDim > indices.getRank())
    return emitOptionalError(location, "Expects index_vector_dim to be in range [0, rank-of('start_indices')] i.e. [0, ",
                             indices.getRank(), "]. got: ", indexVectorDim, ".");
  // (C3)
  int64_t indexSize = indexVectorDim == indices.getRank() ? 1 : indices.getDimSize(indexVectorDim);
  if (isStaticDimSize(indexSize) && indexSize != static_cast<int64_t>(startIndexMap.size()))
    return emitOptionalError(location, "start_index_map size (", startIndexMap.size(),
                             ") is not equal to size of index dimension (", indexVectorDim, ") of start_indices (",
                             indexSize, ")");
  // (C4)
  if (!llvm::is_sorted(offset))
    return emitOptionalError(location, "expects offset_dims to be sorted, got: [", offset, "]");
  if (hasDuplicates(offset))
    return emitOptionalError(location, "expects offset_dims to not repeat, got: [", offset, "]");
  // (C6)
  SmallVector<int64_t> collapsedAndBatching = concatLists(collapsed, batching);
  if (hasDuplicates(collapsedAndBatching))
    return emitOptionalError(location, "has duplicated dimension from collapsed_slice_dims and operand_batching_dims: ",
                             *llvm::find_if(collapsedAndBatching, [&](int64_t dim) {
                               return llvm::count(collapsedAndBatching, dim) > 1;
                             }));
  // (C7)
  if (!llvm::is_sorted(collapsed))
    return emitOptionalError(location, "expects collapsed_slice_dims to be sorted, got: [", collapsed, "]");
  // (C8)
  if (failed(verifyInRange(location, collapsed, rank, "collapsed_slice_dims", "rank-of('operand')")))
    return failure();
  // (C10)
  if (!llvm::is_sorted(batching))
    return emitOptionalError(location, "expects operand_batching_dims to be sorted, got: [", batching, "]");
  // (C11)
  if (failed(verifyInRange(location, batching, rank, "operand_batching_dims", "rank-of('operand')")))
    return failure();
  // (C13)
  if (hasDuplicates(indicesBatching))
    return emitOptionalError(location, "expects start_indices_batching_dims to not repeat, got: [", indicesBatching,
                             "]");
  // (C14)
  if (failed(verifyInRange(location, indicesBatching, indices.getRank(), "start_indices_batching_dims",
                           "rank-of('start_indices')")))
    return failure();
  // (C15)
  if (llvm::is_contained(indicesBatching, indexVectorDim))
    return emitOptionalError(location, "expects start_indices_batching_dims not to include index_vector_dim ",
                             indexVectorDim);
  // (C16)
  if (batching.size() != indicesBatching.size())
    return emitOptionalError(location, "operand_batching_dims and start_indices_batching_dims should have the same size");
  // (C17)
  for (auto [i, pair] : llvm::enumerate(llvm::zip(batching, indicesBatching))) {
    auto [operandDim, indicesDim] = pair;
    int64_t a = operand.getDimSize(operandDim), b = indices.getDimSize(indicesDim);
    if (isStaticDimSize(a) && isStaticDimSize(b) && a != b)
      return emitOptionalError(location, "operand_batching_dims[", i, "] and start_indices_batching_dims[", i,
                               "] must have compatible sizes, but got ", a, " and ", b);
  }
  // (C18)
  SmallVector<int64_t> mapAndBatching = concatLists(startIndexMap, batching);
  if (hasDuplicates(mapAndBatching))
    return emitOptionalError(
        location, "has duplicated dimension from start_index_map and operand_batching_dims: ",
        *llvm::find_if(mapAndBatching, [&](int64_t dim) { return llvm::count(mapAndBatching, dim) > 1; }));
  // (C19)
  if (failed(verifyInRange(location, startIndexMap, rank, "start_index_map", "rank-of('operand')")))
    return failure();
  // (C20)
  if (isStaticDimSize(numSliceSizes) && numSliceSizes != rank)
    return emitOptionalError(location, "slice_sizes size (", numSliceSizes, ") not equal to operand rank (", rank,
                             ")");
  return success();
}

/// Checks slice sizes, kDynamic if unknown: (C9), (C12), (C21).
static LogicalResult verifySliceSizes(std::optional<Location> location, RankedTensorType operand,
                                      ArrayRef<int64_t> sizes, GatherDimensionNumbersAttr dims) {
  for (int64_t dim : dims.getCollapsedSliceDims())
    if (isStaticDimSize(sizes[dim]) && sizes[dim] > 1)
      return emitOptionalError(location,
                               "Expects that for each dim in collapsed_slice_dims, slice_sizes[dim] should be <= 1, "
                               "but got ",
                               sizes[dim]);
  for (int64_t dim : dims.getOperandBatchingDims())
    if (isStaticDimSize(sizes[dim]) && sizes[dim] > 1)
      return emitOptionalError(location,
                               "Expects that for each dim in operand_batching_dims, slice_sizes[dim] should be <= 1, "
                               "but got ",
                               sizes[dim]);
  for (auto [d, size] : llvm::enumerate(sizes))
    if (isStaticDimSize(size) && (size < 0 || (!operand.isDynamicDim(d) && size > operand.getDimSize(d))))
      return emitOptionalError(location, "slice size (", size, ") is out of bounds for operand dimension (",
                               operand.getDimSize(d), ") at index ", d);
  return success();
}

/// (C22), (C23): batch dimensions from the indices, offset dimensions from the slices.
static FailureOr<Type> inferGatherType(std::optional<Location> location, RankedTensorType operand,
                                       RankedTensorType indices, ArrayRef<int64_t> sizes,
                                       GatherDimensionNumbersAttr dims) {
  SmallVector<int64_t> batchSizes;
  for (int64_t d = 0; d < indices.getRank(); ++d)
    if (d != dims.getIndexVectorDim())
      batchSizes.push_back(indices.getDimSize(d));
  SmallVector<int64_t> offsetSizes;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dims.getCollapsedSliceDims(), d) && !llvm::is_contained(dims.getOperandBatchingDims(), d))
      offsetSizes.push_back(size);
  int64_t rank = batchSizes.size() + offsetSizes.size();
  // (C5)
  if (failed(verifyInRange(location, dims.getOffsetDims(), rank, "offset_dims", "implied-result-rank")))
    return failure();
  SmallVector<int64_t> shape;
  auto batch = batchSizes.begin(), offset = offsetSizes.begin();
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(dims.getOffsetDims(), d) ? *offset++ : *batch++);
  // A dimension that is not in the result is read at one place: a slice of no elements has none.
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size == 0 && (llvm::is_contained(dims.getCollapsedSliceDims(), d) || llvm::is_contained(dims.getOperandBatchingDims(), d)) &&
        !llvm::is_contained(shape, 0))
      return emitOptionalError(location, "expects slice_sizes[", d, "] of a collapsed or batching dimension to be 1 where the result has elements, but got 0");
  return Type(RankedTensorType::get(shape, operand.getElementType()));
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &inferredReturnTypes) {
  GatherOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getStartIndices().getType());
  GatherDimensionNumbersAttr dims = adaptor.getDimensionNumbers();
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(verifyGather(location, operand, indices, sizes.size(), dims)) ||
      failed(verifySliceSizes(location, operand, sizes, dims)))
    return failure();
  auto type = inferGatherType(location, operand, indices, sizes, dims);
  if (failed(type))
    return failure();
  inferredReturnTypes.push_back(*type);
  return success();
}

LogicalResult DynamicGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                                DictionaryAttr attributes, OpaqueProperties properties,
                                                RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  DynamicGatherOpAdaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getStartIndices().getType());
  GatherDimensionNumbersAttr dims = adaptor.getDimensionNumbers();
  int64_t count = cast<RankedTensorType>(adaptor.getSliceSizes().getType()).getDimSize(0);
  if (failed(verifyGather(location, operand, indices, count, dims)))
    return failure();
  SmallVector<int64_t> sizes;
  if (failed(matchInts(adaptor.getSliceSizes(), sizes)))
    sizes.assign(operand.getRank(), ShapedType::kDynamic);
  if (failed(verifySliceSizes(location, operand, sizes, dims)))
    return failure();
  auto type = inferGatherType(location, operand, indices, sizes, dims);
  if (failed(type))
    return failure();
  inferredReturnTypes.push_back(*type);
  return success();
}

//===-- scatter -----------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties,
                                          RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  ScatterOpAdaptor adaptor(operands, attributes, properties, regions);
  // (C24), (C25): shapes of the inputs, element types of the body, which may be wider.
  Region &body = adaptor.getUpdateComputation();
  if (body.empty())
    return emitOptionalError(location, "expect non-empty region");
  auto returned = body.front().getTerminator()->getOperandTypes();
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs().getTypes())) {
    auto type = cast<ShapedType>(input);
    auto element = i < returned.size() ? dyn_cast<ShapedType>(returned[i]) : ShapedType();
    inferredReturnTypes.push_back(element ? getSameShapeTensorType(type, element.getElementType()) : type);
  }
  return success();
}

//===-- Speculation -------------------------------------------------------===//
// Sorted or unique indices are promises about values, which only hold where the program executes the operation.

Speculation::Speculatability GatherOp::getSpeculatability() {
  return speculation::speculatableIf(speculation::allOperandsStatic(*this) && !getIndicesAreSorted());
}

Speculation::Speculatability ScatterOp::getSpeculatability() {
  return speculation::recursivelySpeculatableIf(speculation::allOperandsStatic(*this) && !getIndicesAreSorted() &&
                                                !getUniqueIndices());
}

} // namespace millrace::stablehlo
