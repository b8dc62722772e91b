// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Indexing.cpp - Slices, gather and scatter at run-time positions as HLO ---===//
// Input:   %1 = stablehlo.dynamic_slice %0, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
// Output:  dynamic-slice.1 = f32[2]{0} dynamic-slice(a, i), dynamic_slice_sizes={2}
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

static LogicalResult gather(shlo::GatherOp op, Computation &to) {
  shlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  Attributes attributes;
  attributes.list("offset_dims", dims.getOffsetDims()).list("collapsed_slice_dims", dims.getCollapsedSliceDims());
  attributes.list("start_index_map", dims.getStartIndexMap());
  if (!dims.getOperandBatchingDims().empty())
    attributes.list("operand_batching_dims", dims.getOperandBatchingDims())
        .list("start_indices_batching_dims", dims.getStartIndicesBatchingDims());
  attributes.add("index_vector_dim", Twine(dims.getIndexVectorDim())).list("slice_sizes", op.getSliceSizes());
  attributes.flag("indices_are_sorted", op.getIndicesAreSorted());
  return to.result(op, "gather", attributes);
}

static LogicalResult scatter(shlo::ScatterOp op, Computation &to) {
  FailureOr<std::string> update = to.module.region(op.getUpdateComputation());
  if (failed(update))
    return failure();
  shlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  Attributes attributes;
  attributes.list("update_window_dims", dims.getUpdateWindowDims()).list("inserted_window_dims", dims.getInsertedWindowDims());
  attributes.list("scatter_dims_to_operand_dims", dims.getScatterDimsToOperandDims());
  if (!dims.getInputBatchingDims().empty())
    attributes.list("input_batching_dims", dims.getInputBatchingDims())
        .list("scatter_indices_batching_dims", dims.getScatterIndicesBatchingDims());
  attributes.add("index_vector_dim", Twine(dims.getIndexVectorDim()));
  attributes.flag("indices_are_sorted", op.getIndicesAreSorted()).flag("unique_indices", op.getUniqueIndices());
  attributes.add("to_apply", *update);
  auto elementOf = [&](size_t i) { return cast<RankedTensorType>(op.getResult(i).getType()).getElementType(); };
  SmallVector<std::string> operands;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    operands.push_back(to.convertedTo(input, elementOf(i)));
  operands.push_back(to[op.getScatterIndices()]);
  for (auto [i, value] : llvm::enumerate(op.getUpdates()))
    operands.push_back(to.convertedTo(value, elementOf(i)));
  return to.result(op, "scatter", operands, attributes);
}

Visit visitIndexing(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::DynamicSliceOp>([&](shlo::DynamicSliceOp op) {
        return to.result(op, "dynamic-slice", Attributes().list("dynamic_slice_sizes", op.getSliceSizes()));
      })
      .Case<shlo::DynamicUpdateSliceOp>([&](auto op) { return to.result(op, "dynamic-update-slice"); })
      .Case<shlo::GatherOp>([&](auto op) { return gather(op, to); })
      .Case<shlo::ScatterOp>([&](auto op) { return scatter(op, to); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
