// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingVerify.cpp - Constraints of indexing ops -------------------===//
// The labels C1.. are those of the StableHLO specification. gather and the slices: see IndexingInfer.cpp.
#include "dialects/stablehlo/IndexingOps.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "llvm/ADT/SmallSet.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {

static bool hasDuplicates(ArrayRef<int64_t> values) { return !checks::isUnique(values); }

/// Checks constraints between one input, its updates and the dimension numbers. `indices` includes the implied trailing 1.
static LogicalResult verifyScatterDims(Location loc, RankedTensorType input, ArrayRef<int64_t> indices,
                                       RankedTensorType updates, ScatterDimensionNumbersAttr dims) {
  ArrayRef<int64_t> window = dims.getUpdateWindowDims(), inserted = dims.getInsertedWindowDims(),
                    batching = dims.getInputBatchingDims(), indicesBatching = dims.getScatterIndicesBatchingDims(),
                    toOperand = dims.getScatterDimsToOperandDims();
  int64_t rank = input.getRank(), indexVectorDim = dims.getIndexVectorDim();
  // (C2)
  if (rank != static_cast<int64_t>(window.size() + inserted.size() + batching.size()))
    return emitError(loc, "Expects rank-of operand to match size-of('update_window_dims') + "
                          "size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. ")
           << window.size() + inserted.size() + batching.size() << " but got " << rank << ".";
  // (C7)
  if (!llvm::is_sorted(window))
    return emitError(loc, "Expects update_window_dims to be sorted; got: [") << window << "].";
  if (hasDuplicates(window))
    return emitError(loc, "Expects update_window_dims to not repeat; got: [") << window << "].";
  // (C8)
  for (int64_t dim : window)
    if (dim < 0 || dim >= updates.getRank())
      return emitError(loc, "Expects each element of update_window_dims to be in range [0, rank-of('updates')) i.e. [0, ")
             << updates.getRank() << "). got: " << dim << ".";
  // (C9)
  SmallVector<int64_t> insertedAndBatching(inserted);
  llvm::append_range(insertedAndBatching, batching);
  if (hasDuplicates(insertedAndBatching))
    return emitError(loc, "has duplicated dimension from inserted_window_dims and input_batching_dims: ")
           << *llvm::find_if(insertedAndBatching,
                             [&](int64_t dim) { return llvm::count(insertedAndBatching, dim) > 1; });
  // (C10)
  if (!llvm::is_sorted(inserted))
    return emitError(loc, "Expects inserted_window_dims to be sorted; got: [") << inserted << "].";
  // (C11)
  for (int64_t dim : inserted)
    if (dim < 0 || dim >= rank)
      return emitError(loc, "Expects each element of inserted_window_dims to be in range [0, rank-of('operand')) i.e. [0, ")
             << rank << "). got: " << dim << ".";
  // (C12)
  if (!llvm::is_sorted(batching))
    return emitError(loc, "Expects input_batching_dims to be sorted; got: [") << batching << "].";
  // (C13)
  for (int64_t dim : batching)
    if (dim < 0 || dim >= rank)
      return emitError(loc, "Expects each element of input_batching_dims to be in range [0, rank-of('operand')) i.e. [0, ")
             << rank << "). got: " << dim << ".";
  // (C14)
  if (hasDuplicates(indicesBatching))
    return emitError(loc, "Expects scatter_indices_batching_dims to not repeat; got: [") << indicesBatching << "].";
  // (C15)
  for (int64_t dim : indicesBatching)
    if (dim < 0 || dim >= static_cast<int64_t>(indices.size()))
      return emitError(loc, "Expects each element of scatter_indices_batching_dims to be in range [0, "
                            "rank-of('scatter_indices')) i.e. [0, ")
             << indices.size() << "). got: " << dim << ".";
  // (C16)
  if (llvm::is_contained(indicesBatching, indexVectorDim))
    return emitError(loc, "expects scatter_indices_batching_dims not to include index_vector_dim ") << indexVectorDim
                                                                                                   << ".";
  // (C17)
  if (batching.size() != indicesBatching.size())
    return emitError(loc, "input_batching_dims and scatter_indices_batching_dims should have the same size.");
  // (C18)
  for (auto [i, pair] : llvm::enumerate(llvm::zip(batching, indicesBatching))) {
    auto [inputDim, indicesDim] = pair;
    if (!checks::dimsAgree(input.getDimSize(inputDim), indices[indicesDim]))
      return emitError(loc, "input_batching_dims[") << i << "] and scatter_indices_batching_dims[" << i
                                                    << "] must have compatible sizes, but got "
                                                    << input.getDimSize(inputDim) << " and " << indices[indicesDim]
                                                    << ".";
  }
  // (C19)
  if (isStaticDimSize(indices[indexVectorDim]) && static_cast<int64_t>(toOperand.size()) != indices[indexVectorDim])
    return emitError(loc, "Scatter op has ")
           << toOperand.size() << " elements in scatter_dims_to_operand_dims and the bound of dimension index_vector_dim="
           << indexVectorDim << " of scatter_indices is " << indices[indexVectorDim]
           << ". These two numbers must be equal.";
  // (C20)
  SmallVector<int64_t> toOperandAndBatching(toOperand);
  llvm::append_range(toOperandAndBatching, batching);
  if (hasDuplicates(toOperandAndBatching))
    return emitError(loc, "has duplicated dimension from scatter_dims_to_operand_dims and input_batching_dims: ")
           << *llvm::find_if(toOperandAndBatching,
                             [&](int64_t dim) { return llvm::count(toOperandAndBatching, dim) > 1; });
  // (C21)
  for (int64_t dim : toOperand)
    if (dim < 0 || dim >= rank)
      return emitError(loc, "Expects each element of scatter_dims_to_operand_dims to be in range [0, "
                            "rank-of('operand')) i.e. [0, ")
             << rank << "). got: " << dim << ".";
  // (C4): window dimensions fit into the input, scatter dimensions are those of the indices.
  SmallVector<int64_t> windowSizes;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(inserted, d) && !llvm::is_contained(batching, d))
      windowSizes.push_back(input.getDimSize(d));
  for (auto [dim, largest] : llvm::zip(window, windowSizes)) {
    int64_t size = updates.getDimSize(dim);
    if (isStaticDimSize(size) && isStaticDimSize(largest) && size > largest)
      return emitError(loc, "expects bounds of the window dimensions of updates to not exceed the bounds of the "
                            "corresponding dimensions of operand. For dimension ")
             << dim << ", updates bound is " << size << ", operand bound is " << largest << ".";
  }
  int64_t indicesDim = 0;
  for (int64_t d = 0; d < updates.getRank(); ++d) {
    if (llvm::is_contained(window, d))
      continue;
    if (indicesDim == indexVectorDim)
      ++indicesDim;
    if (!checks::dimsAgree(updates.getDimSize(d), indices[indicesDim]))
      return emitError(loc, "expects bounds of the scatter dimensions of updates to be same as the bounds of the "
                            "corresponding dimensions of scatter indices. For scatter dimension ")
             << d << ", updates bound is " << updates.getDimSize(d) << " , scatter_indices bound is "
             << indices[indicesDim] << ".";
    ++indicesDim;
  }
  return success();
}

LogicalResult ScatterOp::verify() {
  auto indicesType = cast<RankedTensorType>(getScatterIndices().getType());
  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  int64_t indexVectorDim = dims.getIndexVectorDim();
  // (C5)
  if (getInputs().empty())
    return emitOpError() << "expects at least one input";
  // (C22)
  if (indexVectorDim < 0 || indexVectorDim > indicesType.getRank())
    return mlir::emitError(getLoc(), "Expects index_vector_dim to be in range [0, rank-of('scatter_indices')] i.e. [0, ")
           << indicesType.getRank() << "]. got: " << indexVectorDim << ".";
  // (C1), (C3)
  for (auto [i, type] : llvm::enumerate(getInputs().getTypes()))
    if (failed(verifyCompatibleShape(type, getInputs()[0].getType())))
      return emitOpError() << "expects all inputs to have compatible shapes. Shape at input-index " << i
                           << " is not compatible with shape at input-index 0";
  for (auto [i, type] : llvm::enumerate(getUpdates().getTypes()))
    if (failed(verifyCompatibleShape(type, getUpdates()[0].getType())))
      return emitOpError() << "expects all updates to have compatible shapes. Shape at update-index " << i
                           << " is not compatible with shape at update-index 0";
  // (C6), (C23)
  SmallVector<ShapedType> inputs, inits;
  for (auto [input, update] : llvm::zip(getInputs(), getUpdates())) {
    inputs.push_back(cast<ShapedType>(input.getType()));
    inits.push_back(RankedTensorType::get({}, getElementTypeOrSelf(update)));
  }
  if (failed(checks::checkReducer(getLoc(), getUpdateComputation().front(), inputs, inits, {})))
    return failure();
  SmallVector<int64_t> indices(indicesType.getShape());
  if (indexVectorDim == indicesType.getRank())
    indices.push_back(1);
  for (auto [input, update] : llvm::zip(getInputs(), getUpdates())) {
    auto updateType = cast<RankedTensorType>(update.getType());
    // (C4)
    int64_t expected = indices.size() - 1 + dims.getUpdateWindowDims().size();
    if (updateType.getRank() != expected)
      return emitOpError() << "expects updates tensor must be of rank " << expected
                           << " ( == rank-of('scatter_indices') - 1 + size-of('update_window_dims'), where "
                              "'scatter_indices' is expanded by a trailing 1 dimension if 'index_vector_dim' == "
                              "rank-of('scatter_indices')), but got "
                           << updateType.getRank() << ".";
    if (failed(verifyScatterDims(getLoc(), cast<RankedTensorType>(input.getType()), indices, updateType, dims)))
      return failure();
  }
  return success();
}

LogicalResult TorchIndexSelectOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), index = cast<RankedTensorType>(getIndex().getType());
  auto result = cast<RankedTensorType>(getType());
  int64_t dim = getDim(), batchDims = getBatchDims();
  if (!isa<IntegerType>(index.getElementType()))
    return emitOpError() << "expects an index of integers, but got " << index;
  if (dim < 0 || dim >= operand.getRank())
    return emitOpError() << "expects dim to be in range [0, " << operand.getRank() << "), but got " << dim;
  if (batchDims < 0 || batchDims > dim || batchDims > index.getRank())
    return emitOpError() << "expects batch_dims to be at most dim (" << dim << ") and the rank of index ("
                         << index.getRank() << "), but got " << batchDims;
  SmallVector<int64_t> shape(operand.getShape().take_front(dim));
  llvm::append_range(shape, index.getShape().drop_front(batchDims));
  llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
  if (failed(verifyCompatibleShape(shape, result.getShape())))
    return emitOpError() << "inferred shape '" << RankedTensorType::get(shape, operand.getElementType())
                         << "' is incompatible with return type of operation " << result;
  return success();
}

} // namespace millrace::stablehlo
