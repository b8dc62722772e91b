// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MergeGroups.cpp - Compute group statistics on unsplit channels ------===//
// Input:   %g = reshape %x : 8x64x64x320 -> 8x64x64x32x10, elementwise operations on %g, reduce(%g) over dimensions [1, 2, 4]
// Output:  the elementwise operations on %x, reduce(%x) over dimensions [1, 2] : 8x320, reshape to 8x32x10, reduce over [2].
//          Values per group (the mean) are expanded to values per channel before they are broadcast over the images. Images so keep one shape
//          throughout, all elementwise operations share a kernel, and vectors run along all channels instead of those of one group.
// Leaves alone splits without a reduction of whole dimensions and parts of others, reductions whose initial value is not neutral, narrow floats
// (the intermediate sums would be rounded).
#include "passes/Remarks.h"
#include "passes/layout/Groups.h"
#include "passes/layout/Passes.h"

#include "passes/fusion/FusionPolicy.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <set>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_MERGEGROUPSPASS
#include "passes/layout/Passes.h.inc"

namespace {

std::optional<Stages> stagesOf(ReduceOp op, ArrayRef<int64_t> merged) {
  return layout::stagesOf(op.getDimensions(), shapeOf(op.getInputs()[0]), merged);
}

class Merger {
public:
  explicit Merger(Block &block) : block(block) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops)
      if (auto reduce = dyn_cast<ReduceOp>(op); reduce && isDivisible(reduce))
        reductions.push_back(reduce);
    const bool isIdle = reductions.empty();
    for (Operation *op : ops)
      if (auto reduce = dyn_cast<ReduceOp>(op))
        divide(reduce);
      else if (isIdle)
        continue;
      else if (auto reshape = dyn_cast<ReshapeOp>(op))
        cancel(reshape);
      else if (fusion::classify(op) == fusion::OpRole::Elementwise)
        merge(op);
  }

private:
  /// Returns true if some reduction gains from computing on the merged shape.
  bool isWanted(ArrayRef<int64_t> merged, ArrayRef<int64_t> split) {
    std::pair<std::vector<int64_t>, std::vector<int64_t>> shapes{merged.vec(), split.vec()};
    if (wanted.count(shapes))
      return true;
    if (llvm::none_of(reductions, [&](ReduceOp op) { return shapeOf(op.getInputs()[0]) == split && stagesOf(op, merged); }))
      return false;
    wanted.insert(shapes);
    return true;
  }

  /// Replaces reshapes that merge a split again by the unsplit value.
  static void cancel(ReshapeOp op) {
    ReshapeOp from = splitOf(op.getOperand());
    if (!from || from.getOperand().getType() != op.getType())
      return;
    op.getResult().replaceAllUsesWith(from.getOperand());
    op.erase();
  }

  static ReshapeOp splitOf(Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    return reshape && shapeOf(reshape.getOperand()).size() < shapeOf(value).size() ? reshape : nullptr;
  }

  /// Returns `value` of the split shape in the merged shape, if that needs no pass over all its elements; else null.
  Value mergedOf(OpBuilder &b, Value value, ArrayRef<int64_t> merged, const Groups &groups) {
    if (auto reshape = splitOf(value); reshape && shapeOf(reshape.getOperand()) == merged)
      return reshape.getOperand();
    RankedTensorType type = withShape(value.getType(), merged);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (auto number = dyn_cast<DenseElementsAttr>(constant.getValue()); number && number.isSplat())
        return ConstantOp::create(b, value.getLoc(), number.resizeSplat(type));
    auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
    if (!broadcast || cast<RankedTensorType>(broadcast.getOperand().getType()).getNumElements() * 16 > type.getNumElements())
      return {};
    // The operand without its unit dimensions is expanded to one value per channel.
    ArrayRef<int64_t> split = shapeOf(value);
    SmallVector<int64_t> sizes, dims, covered, expanded, small, places;
    for (auto [size, dim] : llvm::zip(shapeOf(broadcast.getOperand()), broadcast.getBroadcastDimensions()))
      if (size != 1) {
        sizes.push_back(size);
        dims.push_back(dim);
      }
    int64_t elements = 1;
    for (auto [dim, group] : llvm::enumerate(groups)) {
      if (llvm::none_of(group, [&](int64_t d) { return llvm::is_contained(dims, d); }))
        continue;
      covered.push_back(dim);
      small.push_back(merged[dim]);
      elements *= merged[dim];
      llvm::append_range(expanded, group);
    }
    if (elements * 16 > type.getNumElements())
      return {};
    for (int64_t dim : dims)
      places.push_back(llvm::find(expanded, dim) - expanded.begin());
    Location loc = value.getLoc();
    SmallVector<int64_t> expandedSizes = llvm::map_to_vector(expanded, [&](int64_t d) { return split[d]; });
    Value one = reshaped(b, loc, broadcast.getOperand(), sizes);
    if (sizes != expandedSizes)
      one = BroadcastInDimOp::create(b, loc, withShape(one.getType(), expandedSizes), one, b.getDenseI64ArrayAttr(places));
    else if (!llvm::is_sorted(places))
      return {};
    one = reshaped(b, loc, one, small);
    return BroadcastInDimOp::create(b, loc, type, one, b.getDenseI64ArrayAttr(covered));
  }

  /// Moves the elementwise operation in front of the split.
  void merge(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0)
      return;
    Value result = op->getResult(0);
    ReshapeOp from;
    for (Value operand : op->getOperands()) {
      if (shapeOf(operand) != shapeOf(result))
        return;
      if (!from)
        from = splitOf(operand);
    }
    if (!from || !isWanted(shapeOf(from.getOperand()), shapeOf(result)))
      return;
    ArrayRef<int64_t> merged = shapeOf(from.getOperand());
    std::optional<Groups> groups = groupsOf(merged, shapeOf(result));
    if (!groups)
      return;
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(mergedOf(b, operand, merged, *groups));
      if (!operands.back())
        return remarkMissed(op, "xla-merge-groups", "one of its operands could be merged by another pass over its elements only");
    }
    result.replaceAllUsesWith(reshaped(b, op->getLoc(), computedOn(b, op, operands, merged), shapeOf(result)));
    op->erase();
  }

  /// Returns why the reduction of a split shape stays; empty if it is done in two steps.
  static StringRef whyNot(ReduceOp op, ArrayRef<int64_t> merged) {
    if (StringRef why = whyIndivisible(op); !why.empty())
      return why;
    if (!groupsOf(merged, shapeOf(op.getInputs()[0])))
      return "the reshape before it does not only divide dimensions";
    return stagesOf(op, merged) ? "" : "it does not reduce both whole dimensions of 16 elements or more and parts of others";
  }

  void divide(ReduceOp op) {
    ReshapeOp from = splitOf(op.getInputs()[0]);
    if (!from)
      return;
    ArrayRef<int64_t> merged = shapeOf(from.getOperand()), split = shapeOf(op.getInputs()[0]);
    if (StringRef why = whyNot(op, merged); !why.empty())
      return remarkMissed(op, "xla-merge-groups", why);
    std::optional<Stages> stages = stagesOf(op, merged);
    Groups groups = *groupsOf(merged, split);
    OpBuilder b(op);
    auto first = cast<ReduceOp>(b.clone(*op.getOperation()));
    first->setOperand(0, from.getOperand());
    first.setDimensions(stages->whole);
    SmallVector<int64_t> kept, keptSplit, rest;
    for (auto [dim, group] : llvm::enumerate(groups)) {
      if (llvm::is_contained(stages->whole, (int64_t)dim))
        continue;
      kept.push_back(merged[dim]);
      for (int64_t d : group) {
        if (llvm::is_contained(op.getDimensions(), d))
          rest.push_back(keptSplit.size());
        keptSplit.push_back(split[d]);
      }
    }
    first.getResult(0).setType(withShape(op.getResult(0).getType(), kept));
    auto second = cast<ReduceOp>(b.clone(*op.getOperation()));
    second->setOperand(0, reshaped(b, op.getLoc(), first.getResult(0), keptSplit));
    second->moveBefore(op);
    second.setDimensions(rest);
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(keptSplit))
      if (!llvm::is_contained(rest, (int64_t)dim))
        shape.push_back(size);
    second.getResult(0).setType(withShape(op.getResult(0).getType(), shape));
    Value result = reshaped(b, op.getLoc(), second.getResult(0), shapeOf(op.getResult(0)));
    op.getResult(0).replaceAllUsesWith(result);
    isWanted(merged, split); // Known from now on.
    llvm::erase(reductions, op);
    op.erase();
  }

  Block &block;
  SmallVector<ReduceOp> reductions;
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> wanted; ///< merged and split shapes
};

struct MergeGroups : impl::MergeGroupsPassBase<MergeGroups> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      refineReshapes(*block);
      Merger(*block).run();
      // An unused reshape would still count as a user of its operand, which fusion would then store.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (isa<ReshapeOp>(op) && op.use_empty())
          op.erase();
    });
  }
};

} // namespace
} // namespace millrace::layout
