// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplicitBatching.cpp - gather and scatter that look up their own row -===//
// Input:   %i = stablehlo.iota dim = 0 : tensor<4x1xi32> ; %j = stablehlo.concatenate %i, %k, dim = 1
//          "stablehlo.gather"(%x, %j) {collapsed_slice_dims = [0], start_index_map = [0, 1]}
// Output:  "stablehlo.gather"(%x, %k) {operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]}
// Leaves alone operations that have batching dimensions, and those that would be left without an index.
#include "passes/sharding/rules/ExplicitBatching.h"

#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_EXPLICITGATHERSCATTERBATCHINGPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

bool isEvery(Value value, int64_t number) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    return isEvery(broadcast.getOperand(), number);
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  return dense && dense.isSplat() && dense.getSplatValue<APInt>().getSExtValue() == number;
}

/// The operand that an operation on integers hands on as it is, given that it is not negative; null if there is none. Both clients count
/// negative indices from the end, and PyTorch's arange has a start and a step.
Value unchangedOperand(Operation *op) {
  if (!op || op->getNumResults() != 1 || !isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return {};
  if (isa<stablehlo::AddOp, stablehlo::MulOp>(op))
    for (unsigned side : {0u, 1u})
      if (isEvery(op->getOperand(1 - side), isa<stablehlo::MulOp>(op)))
        return op->getOperand(side);
  if (isa<stablehlo::ConvertOp>(op)) {
    auto from = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getOperand(0).getType()));
    auto to = cast<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
    return from && std::min(from.getWidth(), to.getWidth()) >= 32 ? op->getOperand(0) : Value();
  }
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    bool isNegative = compare && compare.getComparisonDirection() == stablehlo::ComparisonDirection::LT &&
                      compare.getLhs() == select.getOnFalse() && isEvery(compare.getRhs(), 0);
    return isNegative ? select.getOnFalse() : Value();
  }
  return {};
}

/// The dimension along which the elements are 0, 1, 2, ...; none if they are not.
std::optional<int64_t> countingDim(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_or_null<stablehlo::IotaOp>(op))
    return int64_t(iota.getIotaDimension());
  if (Value same = unchangedOperand(op))
    return countingDim(same);
  if (auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
    auto from = countingDim(broadcast.getOperand());
    if (!from)
      return std::nullopt;
    int64_t to = broadcast.getBroadcastDimensions()[*from];
    bool whole = cast<RankedTensorType>(broadcast.getOperand().getType()).getDimSize(*from) ==
                 cast<RankedTensorType>(broadcast.getType()).getDimSize(to);
    return whole ? std::optional(to) : std::nullopt;
  }
  if (auto reshape = dyn_cast_or_null<stablehlo::ReshapeOp>(op)) {
    // Only dimensions of one element come or go.
    auto from = countingDim(reshape.getOperand());
    ArrayRef<int64_t> before = cast<RankedTensorType>(reshape.getOperand().getType()).getShape();
    ArrayRef<int64_t> after = cast<RankedTensorType>(reshape.getType()).getShape();
    auto isLarge = [](int64_t size) { return size != 1; };
    if (!from || before[*from] == 1 ||
        !llvm::equal(llvm::make_filter_range(before, isLarge), llvm::make_filter_range(after, isLarge)))
      return std::nullopt;
    int64_t rank = llvm::count_if(before.take_front(*from), isLarge);
    for (auto [dim, size] : llvm::enumerate(after))
      if (isLarge(size) && rank-- == 0)
        return int64_t(dim);
  }
  return std::nullopt;
}

/// The changes of the dimension numbers.
struct Batching {
  SmallVector<int64_t> collapsed, operandDims, indicesDims, map;
  SmallVector<Value> rest; ///< indices without those that count
};

/// `map`: which operand dimension each index is for; `collapsed`: dimensions of which slices have one element and no place.
std::optional<Batching> findBatching(Value operand, Value indices, ArrayRef<int64_t> map, ArrayRef<int64_t> collapsed,
                                     int64_t vectorDim) {
  auto join = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!join || int64_t(join.getDimension()) != vectorDim || !type || !type.hasStaticShape())
    return std::nullopt;
  Batching result;
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  int64_t position = 0;
  for (Value part : join.getInputs()) {
    auto shape = cast<RankedTensorType>(part.getType()).getShape();
    int64_t width = shape[vectorDim];
    auto dim = width == 1 ? countingDim(part) : std::nullopt;
    // The first element of the only one is no batch.
    bool fits = dim && *dim != vectorDim && llvm::is_contained(collapsed, map[position]) &&
                type.getDimSize(map[position]) == shape[*dim] &&
                llvm::none_of(pairs, [&](auto pair) { return pair.second == *dim; });
    if (fits) {
      pairs.push_back({map[position], *dim});
    } else {
      result.rest.push_back(part);
      llvm::append_range(result.map, map.slice(position, width));
    }
    position += width;
  }
  if (pairs.empty() || result.rest.empty())
    return std::nullopt;
  llvm::sort(pairs);
  for (auto [operandDim, indicesDim] : pairs) {
    result.operandDims.push_back(operandDim);
    result.indicesDims.push_back(indicesDim);
  }
  for (int64_t dim : collapsed)
    if (!llvm::is_contained(result.operandDims, dim))
      result.collapsed.push_back(dim);
  return result;
}

Value joined(OpBuilder &builder, Operation *op, ArrayRef<Value> parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  return stablehlo::ConcatenateOp::create(builder, op->getLoc(), parts, uint64_t(dim));
}

struct ExplicitBatching : impl::ExplicitGatherScatterBatchingPassBase<ExplicitBatching> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) { makeBatchingExplicit(op); });
  }
};

} // namespace

bool makeBatchingExplicit(Operation *op) {
  OpBuilder builder(op);
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    auto numbers = gather.getDimensionNumbers();
    if (!numbers.getOperandBatchingDims().empty())
      return false;
    auto found = findBatching(gather.getOperand(), gather.getStartIndices(), numbers.getStartIndexMap(), numbers.getCollapsedSliceDims(),
                              numbers.getIndexVectorDim());
    if (!found)
      return false;
    op->setOperand(1, joined(builder, op, found->rest, numbers.getIndexVectorDim()));
    gather.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(op->getContext(), numbers.getOffsetDims(), found->collapsed,
                                                                              found->operandDims, found->indicesDims, found->map,
                                                                              numbers.getIndexVectorDim()));
    return true;
  }
  auto scatter = dyn_cast<stablehlo::ScatterOp>(op);
  if (!scatter)
    return false;
  auto numbers = scatter.getScatterDimensionNumbers();
  if (!numbers.getInputBatchingDims().empty())
    return false;
  auto found = findBatching(scatter.getInputs()[0], scatter.getScatterIndices(), numbers.getScatterDimsToOperandDims(),
                            numbers.getInsertedWindowDims(), numbers.getIndexVectorDim());
  if (!found)
    return false;
  op->setOperand(scatter.getInputs().size(), joined(builder, op, found->rest, numbers.getIndexVectorDim()));
  scatter.setScatterDimensionNumbersAttr(stablehlo::ScatterDimensionNumbersAttr::get(op->getContext(), numbers.getUpdateWindowDims(),
                                                                                     found->collapsed, found->operandDims, found->indicesDims,
                                                                                     found->map, numbers.getIndexVectorDim()));
  return true;
}

} // namespace millrace::sharding
