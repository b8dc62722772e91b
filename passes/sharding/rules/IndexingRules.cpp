// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingRules.cpp - Rules of gather, scatter and dynamic slices ----===//
#include "passes/sharding/rules/OpRules.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
namespace {

/// A common form of gather and scatter: `slices` contains slices of `input` at the positions `indices`.
struct Slicing {
  bool isScatter;
  bool adds; ///< devices that scatter some of the updates have what can be combined
  ArrayRef<int64_t> input, slices, indices;
  ArrayRef<int64_t> windowDims, collapsedDims, inputBatching, indicesBatching;
  int64_t indexVectorDim;
  /// Dimensions in input, indices and slices.
  llvm::function_ref<void(int64_t, int64_t, int64_t, int64_t size, FactorKind, bool blocked)> add;
};

void addWindowDim(const Slicing &s, int64_t inputDim, int64_t sliceDim) {
  int64_t size = s.input[inputDim], sliceSize = s.slices[sliceDim];
  if (size == sliceSize) {
    s.add(inputDim, kNoDim, sliceDim, size, FactorKind::PassThrough, false);
  } else if (s.isScatter) {
    // A window reaches into parts of several devices.
    s.add(inputDim, kNoDim, kNoDim, size, FactorKind::NeedReplication, false);
    s.add(kNoDim, kNoDim, sliceDim, sliceSize, FactorKind::NeedReplication, false);
  } else if (sliceSize == 1) {
    // One device has the element, the others contribute zero.
    s.add(inputDim, kNoDim, kNoDim, size, FactorKind::Reduction, false);
    s.add(kNoDim, kNoDim, sliceDim, sliceSize, FactorKind::NeedReplication, false);
  } else {
    s.add(inputDim, kNoDim, sliceDim, size, FactorKind::NeedReplication, true);
  }
}

void addSlicing(const Slicing &s) {
  int64_t inputDim = 0, position = 0;
  for (int64_t sliceDim = 0; sliceDim < int64_t(s.slices.size()); ++sliceDim) {
    if (llvm::is_contained(s.windowDims, sliceDim)) {
      while (llvm::is_contained(s.collapsedDims, inputDim) || llvm::is_contained(s.inputBatching, inputDim))
        ++inputDim;
      addWindowDim(s, inputDim++, sliceDim);
      continue;
    }
    int64_t indicesDim = position < s.indexVectorDim ? position : position + 1;
    ++position;
    const int64_t *batch = llvm::find(s.indicesBatching, indicesDim);
    bool isBatch = batch != s.indicesBatching.end();
    FactorKind kind = s.adds ? FactorKind::Reduction : FactorKind::NeedReplication;
    s.add(isBatch ? s.inputBatching[batch - s.indicesBatching.begin()] : kNoDim, indicesDim, sliceDim,
          s.slices[sliceDim], s.isScatter && !isBatch ? kind : FactorKind::PassThrough, false);
  }
  // One device has the element that a gather wants, if there are several.
  for (int64_t dim : s.collapsedDims)
    s.add(dim, kNoDim, kNoDim, s.input[dim],
          s.isScatter          ? FactorKind::PassThrough
          : s.input[dim] == 1 ? FactorKind::NeedReplication
                               : FactorKind::Reduction,
          false);
  if (s.indexVectorDim < int64_t(s.indices.size()))
    s.add(kNoDim, s.indexVectorDim, kNoDim, s.indices[s.indexVectorDim], FactorKind::NeedReplication, false);
}

Rule gatherRule(GatherOp op) {
  RuleBuilder builder = detail::builderFor(op);
  auto numbers = op.getDimensionNumbers();
  addSlicing({false, false, shapeOf(op.getOperand()), shapeOf(op.getResult()), shapeOf(op.getStartIndices()),
              numbers.getOffsetDims(), numbers.getCollapsedSliceDims(), numbers.getOperandBatchingDims(),
              numbers.getStartIndicesBatchingDims(), numbers.getIndexVectorDim(),
              [&](int64_t input, int64_t indices, int64_t slices, int64_t size, FactorKind kind, bool blocked) {
                builder.add({input, indices}, {slices}, size, kind, blocked);
              }});
  return builder.build();
}

/// Updates are combined with what is there by one operation whose order does not matter.
bool combines(ScatterOp op) {
  Operation *combine = combinerOf(op.getUpdateComputation());
  if (!combine)
    return false;
  bool isBool = getElementTypeOrSelf(combine->getResult(0).getType()).isInteger(1);
  return isa<AddOp, MulOp, MaxOp, MinOp>(combine) || (isBool && isa<AndOp, OrOp>(combine));
}

Rule scatterRule(ScatterOp op) {
  RuleBuilder builder = detail::builderFor(op);
  auto numbers = op.getScatterDimensionNumbers();
  size_t inputs = op.getInputs().size();
  addSlicing({true, combines(op), shapeOf(op.getInputs()[0]), shapeOf(op.getUpdates()[0]), shapeOf(op.getScatterIndices()),
              numbers.getUpdateWindowDims(), numbers.getInsertedWindowDims(), numbers.getInputBatchingDims(),
              numbers.getScatterIndicesBatchingDims(), numbers.getIndexVectorDim(),
              [&](int64_t input, int64_t indices, int64_t slices, int64_t size, FactorKind kind, bool blocked) {
                SmallVector<int64_t> in(inputs, input), out(inputs, input);
                in.push_back(indices);
                in.append(inputs, slices);
                builder.add(in, out, size, kind, blocked);
              }});
  return builder.build();
}

Rule dynamicUpdateSliceRule(DynamicUpdateSliceOp op) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> operand = shapeOf(op.getOperand()), update = shapeOf(op.getUpdate());
  SmallVector<int64_t> dims(op->getNumOperands(), kNoDim);
  for (auto [dim, size] : llvm::enumerate(operand)) {
    dims[0] = dim;
    dims[1] = size == update[dim] ? int64_t(dim) : kNoDim;
    builder.add(dims, {int64_t(dim)}, size);
    if (size == update[dim])
      continue;
    // Everybody has the update and writes what falls into its part.
    dims[0] = kNoDim;
    dims[1] = dim;
    builder.add(dims, {kNoDim}, update[dim], FactorKind::NeedReplication);
  }
  return builder.build();
}

} // namespace

std::optional<Rule> detail::indexingRule(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Rule>>(op)
      .Case([](GatherOp each) { return gatherRule(each); })
      .Case([](ScatterOp each) { return scatterRule(each); })
      .Case([](DynamicUpdateSliceOp each) { return dynamicUpdateSliceRule(each); })
      .Case([](DynamicSliceOp each) {
        return builderFor(each)
            .addPointwiseUnlessDifferent(shapeOf(each.getOperand()), shapeOf(each.getResult()),
                                         FactorKind::NeedReplication, /*blocked=*/true)
            .build();
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace millrace::sharding
