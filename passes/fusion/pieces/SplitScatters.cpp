// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitScatters.cpp - Split scatters of many updates to few elements --===//
// Input:   %h = scatter(%zeros : tensor<256xi32>, %i : tensor<1000000x1xi32>, %u : tensor<1000000xi32>) add
// Output:  %p = scatter(%none : tensor<8x256xi32>, %i : tensor<8x125000x1xi32>, %u : tensor<8x125000xi32>) add, dimension 0 a batch's
//          %h = reduce(%p init: %zero) applies add across dimensions = [0]
//          Threads share the parts, whose number depends on the shapes alone. An operand that is no splat is combined with the sum at the
//          end.
// Leaves alone scatters to many elements (the parts would cost as much as what they save), those whose long rows threads share,
// combiners without a neutral element, sums of narrow floats, positions that no number of parts divides.
#include "passes/fusion/pieces/Combiners.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"
#include "passes/fusion/pieces/ScatterRows.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_SPLITSCATTERSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// Scatters of fewer updates take some ten microseconds on one thread, as much as a second kernel costs. Unit: elements of the updates. Source: judgement, not
/// measured alone; commit 24d4e28 has the figures of the whole change.
constexpr int64_t kMinSplitUpdates = 16384;
/// With fewer updates, filling and reducing the parts costs more than threads save. Unit: elements of the updates per element of all parts. Source:
/// judgement, not measured alone; commit 24d4e28 has the figures of the whole change.
constexpr int64_t kMinUpdatesPerElement = 4;

/// Returns the number of parts: eight if that divides the updates; few enough that reducing the parts costs little.
int64_t partsOf(int64_t positions, int64_t updates, int64_t elements) {
  for (int64_t parts : {8, 10, 9, 7, 6, 5, 4, 3, 2})
    if (positions % parts == 0 && parts * elements * kMinUpdatesPerElement <= updates)
      return parts;
  return 0;
}

/// Returns `value` in another shape; a splat becomes another splat, without a copy.
Value inShape(OpBuilder &b, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  Value splat = splatInShape(b, value, type);
  return splat ? splat : ReshapeOp::create(b, value.getLoc(), type, value).getResult();
}

void split(ScatterOp scatter) {
  if (scatter.getInputs().size() != 1 || scatter.getUniqueIndices() || !hasVectorizableTypes(scatter))
    return;
  Value input = scatter.getInputs()[0], updates = scatter.getUpdates()[0], indices = scatter.getScatterIndices();
  auto type = cast<RankedTensorType>(input.getType()), updateType = cast<RankedTensorType>(updates.getType());
  auto numbers = scatter.getScatterDimensionNumbers();
  ArrayRef<int64_t> windowDims = numbers.getUpdateWindowDims();
  int64_t scatterRank = updateType.getRank() - windowDims.size(), vectorDim = numbers.getIndexVectorDim();
  if (scatterRank < 1 || !numbers.getInputBatchingDims().empty() || updateType.getNumElements() < kMinSplitUpdates)
    return;
  // Positions first, in the updates and in the indices.
  for (auto [place, dim] : llvm::enumerate(windowDims))
    if (dim != scatterRank + int64_t(place))
      return;
  if (vectorDim != scatterRank)
    return;
  if (!windowDims.empty() && hasSharedScatterRows(updateType.getShape().back()))
    return;
  Operation *combine = combinerOf(scatter.getUpdateComputation());
  TypedAttr neutral = combine ? neutralElement(*combine, type.getElementType()) : TypedAttr();
  if (!neutral || combine->getResult(0).getType() != RankedTensorType::get({}, type.getElementType()))
    return;
  int64_t positions = 1;
  for (int64_t size : updateType.getShape().take_front(scatterRank))
    positions *= size;
  int64_t parts = partsOf(positions, updateType.getNumElements(), type.getNumElements());
  if (!parts)
    return;

  OpBuilder b(scatter);
  Location loc = scatter.getLoc();
  auto inParts = [&](Value value) {
    SmallVector<int64_t> shape{parts, positions / parts};
    llvm::append_range(shape, cast<RankedTensorType>(value.getType()).getShape().drop_front(scatterRank));
    return inShape(b, value, shape);
  };
  auto behind = [](ArrayRef<int64_t> dims, int64_t by) { return llvm::map_to_vector(dims, [&](int64_t dim) { return dim + by; }); };
  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape, type.getShape());
  auto partsType = type.clone(shape);
  Value none = ConstantOp::create(b, loc, DenseElementsAttr::get(partsType, ArrayRef<Attribute>{neutral}));
  auto cut = ScatterDimensionNumbersAttr::get(b.getContext(), behind(windowDims, 2 - scatterRank), behind(numbers.getInsertedWindowDims(), 1), {0},
                                              {0}, behind(numbers.getScatterDimsToOperandDims(), 1), /*indexVectorDim=*/2);
  Value places = inParts(indices), values = inParts(updates);
  auto partial = ScatterOp::create(b, loc, TypeRange{partsType}, ValueRange{none}, places, ValueRange{values}, cut,
                                   scatter.getIndicesAreSortedAttr(), scatter.getUniqueIndicesAttr());
  IRMapping mapping;
  scatter.getUpdateComputation().cloneInto(&partial.getUpdateComputation(), mapping);

  auto scalar = RankedTensorType::get({}, type.getElementType());
  DenseElementsAttr start;
  bool isOne = matchPattern(input, m_Constant(&start)) && start.isSplat();
  Value init = ConstantOp::create(b, loc, isOne ? start.resizeSplat(scalar) : DenseElementsAttr::get(scalar, ArrayRef<Attribute>{neutral}));
  auto sum = ReduceOp::create(b, loc, TypeRange{type}, ValueRange{partial.getResult(0)}, ValueRange{init}, b.getDenseI64ArrayAttr({0}));
  IRMapping again;
  scatter.getUpdateComputation().cloneInto(&sum.getBody(), again);
  Value result = sum.getResult(0);
  if (!isOne) {
    OperationState state(loc, combine->getName());
    state.addOperands({input, result});
    state.addTypes(type);
    result = b.create(state)->getResult(0);
  }
  scatter.getResult(0).replaceAllUsesWith(result);
  scatter.erase();
}

struct SplitScatters : impl::SplitScattersPassBase<SplitScatters> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      for (Operation &op : llvm::make_early_inc_range(block))
        if (auto scatter = dyn_cast<ScatterOp>(op))
          split(scatter);
    });
  }
};

} // namespace
} // namespace millrace::fusion
