// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectTopK.cpp - Replace sorts of which a prefix is used by top-k ---===//
// Input:   %s:2 = stablehlo.sort(%x, iota) by x descending; stablehlo.slice %s#0 [0:10]; stablehlo.slice %s#1 [0:10]
// Output:  %0:2 = stablehlo.custom_call @millrace_top_k(%x) {largest = true, ...}   // one pass over the elements
// A sort whose positions are unused may have lost that operand: the call computes the positions nevertheless.
// Leaves alone sorts of which more than a quarter is used, short ones (one kernel sorts them), sorts along another dimension than the last, and
// comparators that read other operands than the first.
//===----------------------------------------------------------------------===//
#include "passes/Remarks.h"
#include "passes/calls/Passes.h"
#include "passes/calls/SortOrder.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
#define GEN_PASS_DEF_SELECTTOPKPASS
#include "passes/calls/Passes.h.inc"

namespace {

/// Shorter lines are sorted as a whole. Unit: elements of a line. Source: judgement, not measured alone; commit 3965a8d has the figures of the whole
/// change.
constexpr int64_t kMinSelectedLine = 8;
/// A few lines that are shorter are sorted by one kernel. Unit: elements of a line. Source: judgement, not measured alone; commit 3965a8d has the
/// figures of the whole change.
constexpr int64_t kMaxShortSort = 512;
/// At most so many elements in short lines are sorted by one kernel. Unit: elements. Source: judgement, not measured alone; commit 3965a8d has the
/// figures of the whole change.
constexpr int64_t kMaxElementsOfShortSorts = 4096;

/// Returns the number of leading elements that all users slice off; nothing if a user reads other elements.
std::optional<int64_t> takenPrefix(SortOp sort) {
  std::optional<int64_t> count;
  for (Operation *user : sort->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice)
      return std::nullopt;
    auto type = cast<RankedTensorType>(slice.getOperand().getType());
    int64_t last = type.getRank() - 1, taken = slice.getLimitIndices()[last];
    for (int64_t d = 0; d <= last; ++d)
      if (slice.getStartIndices()[d] != 0 || slice.getStrides()[d] != 1 ||
          (d != last && slice.getLimitIndices()[d] != type.getDimSize(d)))
        return std::nullopt;
    if (count && *count != taken)
      return std::nullopt;
    count = taken;
  }
  return count;
}

struct SelectTopK : impl::SelectTopKPassBase<SelectTopK> {
  void runOnOperation() override {
    SmallVector<SortOp> sorts;
    getOperation().walk([&](SortOp op) { sorts.push_back(op); });
    for (SortOp op : sorts)
      select(op);
  }

  /// Why the sort stays; empty if the first few elements are selected.
  static std::string whyNot(SortOp op) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    if (op->getNumOperands() > 2)
      return "it has more operands than keys and positions";
    if (!type.hasStaticShape())
      return "sizes are not known";
    if (!hasOrderedBits(type.getElementType()))
      return "the bits of its elements do not have the elements' order";
    int64_t last = type.getRank() - 1, size = type.getDimSize(last);
    if (int64_t(op.getDimension()) != last)
      return "it is not along the last dimension";
    if (size < kMinSelectedLine || (size < kMaxShortSort && type.getNumElements() <= kMaxElementsOfShortSorts))
      return "a kernel sorts lines of " + std::to_string(size) + " elements at once";
    if (size > std::numeric_limits<int32_t>::max())
      return "positions do not fit into 32 bits";
    if (op->getNumOperands() == 2) {
      // Equal elements keep their order because their positions are compared; the sort need not be stable.
      Type position = getElementTypeOrSelf(op->getOperand(1).getType());
      if (!(position.isSignlessInteger(32) || position.isSignlessInteger(64)) || !countsUp(op->getOperand(1), last))
        return "its second operand is no count of positions";
    }
    std::optional<SmallVector<OrderKey>> order = orderOf(op.getComparator().front());
    if (!order || order->size() != 1 || order->front().operand != 0)
      return "its comparator is no order of the first operand alone";
    std::optional<int64_t> count = takenPrefix(op);
    if (!count)
      return "its users do not all take the same number of first elements";
    return *count * 4 > size ? std::to_string(*count) + " of " + std::to_string(size) + " elements are used, more than a quarter" : "";
  }

  static void select(SortOp op) {
    if (std::string why = whyNot(op); !why.empty())
      return remarkMissed(op, "xla-select-top-k", why);
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    bool hasPositions = op->getNumOperands() == 2;
    int64_t last = type.getRank() - 1;
    Type position = hasPositions ? getElementTypeOrSelf(op->getOperand(1).getType()) : IntegerType::get(op.getContext(), 32);
    std::optional<SmallVector<OrderKey>> order = orderOf(op.getComparator().front());
    std::optional<int64_t> count = takenPrefix(op);
    SmallVector<int64_t> shape(type.getShape());
    shape[last] = *count;
    OpBuilder builder(op);
    NamedAttribute config[] = {builder.getNamedAttr("largest", builder.getBoolAttr(order->front().descending)),
                               builder.getNamedAttr("total_order", builder.getBoolAttr(order->front().total))};
    NamedAttribute attributes[] = {builder.getNamedAttr("call_target_name", builder.getStringAttr("millrace_top_k")),
                                   builder.getNamedAttr("has_side_effect", builder.getBoolAttr(false)),
                                   builder.getNamedAttr("mhlo.backend_config", builder.getDictionaryAttr(config))};
    SmallVector<Type> results = {RankedTensorType::get(shape, type.getElementType()),
                                 RankedTensorType::get(shape, position)};
    auto call = CustomCallOp::create(builder, op.getLoc(), results, op->getOperand(0), attributes);
    for (auto [sorted, selected] : llvm::zip(op->getResults(), call->getResults()))
      for (Operation *slice : llvm::make_early_inc_range(sorted.getUsers())) {
        slice->getResult(0).replaceAllUsesWith(selected);
        slice->erase();
      }
    Operation *counting = hasPositions ? op->getOperand(1).getDefiningOp() : nullptr;
    op.erase();
    if (counting && counting->use_empty())
      counting->erase();
  }
};

} // namespace
} // namespace millrace::calls
