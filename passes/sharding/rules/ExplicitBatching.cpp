// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplicitBatching.cpp - gather and scatter that look up their own row -===//
// Input:   %i = stablehlo.iota dim = 0 : tensor<4x1xi32> ; %j = stablehlo.concatenate %i, %k, dim = 1
//          "stablehlo.gather"(%x, %j) {collapsed_slice_dims = [0], start_index_map = [0, 1]}
// Output:  "stablehlo.gather"(%x, %k) {operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]}
// Leaves alone operations that would be left without an index, and indices of too few bits, which do not count to the end.
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

/// The dimension of a constant along which the elements are 0, 1, 2, ...; none if they are not.
std::optional<int64_t> countingDimOf(DenseIntElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  if (elements.isSplat())
    return std::nullopt;
  for (int64_t dim = 0, inner = type.getNumElements(); dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim), place = 0;
    inner /= size;
    if (size != 1 && llvm::all_of(elements.getValues<APInt>(), [&](const APInt &element) { return element == uint64_t(place++ / inner % size); }))
      return dim;
  }
  return std::nullopt;
}

/// The dimension along which the elements are 0, 1, 2, ...; none if they are not.
std::optional<int64_t> countingDim(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
  if (!op || !element || !type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    // An iota of too few bits wraps around.
    int64_t dim = iota.getIotaDimension(), bits = element.getWidth();
    return bits >= 64 || type.getDimSize(dim) <= int64_t(1) << (bits - 1) ? std::optional(dim) : std::nullopt;
  }
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
      return countingDimOf(elements);
  if (Value same = unchangedOperand(op))
    return countingDim(same);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    auto from = countingDim(broadcast.getOperand());
    if (!from)
      return std::nullopt;
    int64_t to = broadcast.getBroadcastDimensions()[*from];
    bool whole = cast<RankedTensorType>(broadcast.getOperand().getType()).getDimSize(*from) == type.getDimSize(to);
    return whole ? std::optional(to) : std::nullopt;
  }
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
    // Only dimensions of one element come or go.
    auto from = countingDim(reshape.getOperand());
    ArrayRef<int64_t> before = cast<RankedTensorType>(reshape.getOperand().getType()).getShape(), after = type.getShape();
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

/// `map`: which operand dimension each index is for; `collapsed`: dimensions of which slices have one element and no place; `batch` and
/// `batchOfIndices`: the batching dimensions that there are.
std::optional<Batching> findBatching(Value operand, Value indices, ArrayRef<int64_t> map, ArrayRef<int64_t> collapsed, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> batchOfIndices, int64_t vectorDim) {
  auto join = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!join || int64_t(join.getDimension()) != vectorDim || !type || !type.hasStaticShape())
    return std::nullopt;
  Batching result;
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [dim, dimOfIndices] : llvm::zip_equal(batch, batchOfIndices))
    pairs.push_back({dim, dimOfIndices});
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
  if (pairs.size() == batch.size() || result.rest.empty())
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
    auto found = findBatching(gather.getOperand(), gather.getStartIndices(), numbers.getStartIndexMap(), numbers.getCollapsedSliceDims(),
                              numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims(), numbers.getIndexVectorDim());
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
  auto found = findBatching(scatter.getInputs()[0], scatter.getScatterIndices(), numbers.getScatterDimsToOperandDims(),
                            numbers.getInsertedWindowDims(), numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims(),
                            numbers.getIndexVectorDim());
  if (!found)
    return false;
  op->setOperand(scatter.getInputs().size(), joined(builder, op, found->rest, numbers.getIndexVectorDim()));
  scatter.setScatterDimensionNumbersAttr(stablehlo::ScatterDimensionNumbersAttr::get(op->getContext(), numbers.getUpdateWindowDims(),
                                                                                     found->collapsed, found->operandDims, found->indicesDims,
                                                                                     found->map, numbers.getIndexVectorDim()));
  return true;
}

} // namespace millrace::sharding
