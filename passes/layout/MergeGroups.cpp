// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MergeGroups.cpp - Compute group statistics on unsplit channels ------===//
// Input:   %g = reshape %x : 8x64x64x320 -> 8x64x64x32x10, elementwise operations on %g, reduce(%g) over dimensions [1, 2, 4]
// Output:  the elementwise operations on %x, reduce(%x) over dimensions [1, 2] : 8x320, reshape to 8x32x10, reduce over [2].
//          Values per group (the mean) are expanded to values per channel before they are broadcast over the images. Images so keep one shape
//          throughout, all elementwise operations share a kernel, and vectors run along all channels instead of those of one group.
//          A reshape that also merges dimensions (to 8x4096x32x10) counts as a split, too: %x and %g have a common refinement, 8x64x64x32x10.
// Leaves alone reshapes without a common refinement, splits without a reduction of whole dimensions and parts of others, reductions whose initial
// value is not neutral, narrow floats (the intermediate sums would be rounded). After a reshape that also merges, it leaves alone reductions of the
// last dimensions, whose rows fit into the cache, unless convolutions want their images in another order.
#include "passes/Remarks.h"
#include "passes/layout/Passes.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/IndexAtoms.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <set>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_MERGEGROUPSPASS
#include "passes/layout/Passes.h.inc"

namespace {

ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }

RankedTensorType withShape(Type type, ArrayRef<int64_t> shape) { return cast<RankedTensorType>(type).clone(shape); }

/// Returns `value` reshaped; `value` itself if it has that shape already.
Value reshaped(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReshapeOp::create(b, loc, withShape(value.getType(), shape), value);
}

/// Returns why the reduction must not be done in two steps; empty if it may: its initial value is neutral, or combining with it twice gives the same
/// result, and the intermediate results are not rounded to a smaller type.
StringRef whyIndivisible(ReduceOp op) {
  if (op.getInputs().size() != 1)
    return "it has several results";
  Type element = getElementTypeOrSelf(op.getInputs()[0].getType());
  if (!element.isF32() && !element.isF64() && !element.isInteger(32) && !element.isInteger(64))
    return "results between two steps would be rounded";
  constexpr StringLiteral kBody = "its body is no sum, minimum or maximum of its arguments", kInit = "its initial value is not known to be neutral";
  DenseElementsAttr init;
  if (!matchPattern(op.getInitValues()[0], m_Constant(&init)))
    return kInit;
  Operation *step = combinerOf(op.getBody());
  if (isa_and_nonnull<MaxOp, MinOp>(step))
    return "";
  if (!isa_and_nonnull<AddOp>(step))
    return kBody;
  bool isZero = matchPattern(op.getInitValues()[0], m_Zero()) || matchPattern(op.getInitValues()[0], m_AnyZeroFloat());
  return isZero ? StringRef() : StringRef(kInit);
}

/// A reduction of a split shape in two steps: first over whole merged dimensions, then over the rest.
struct Stages {
  SmallVector<int64_t> whole;   ///< merged dimensions that are reduced first
  SmallVector<int64_t> partial; ///< refined dimensions that are reduced afterwards
};

/// A split: the shapes of its operand and of its result, and the indices that both have in common.
struct Split {
  SmallVector<int64_t> merged, split, refined;
  Refinement::Groups ofMerged, ofSplit; ///< dimensions of `refined`
  bool isMerging = false;               ///< the reshape also merges dimensions

  static std::optional<Split> of(ArrayRef<int64_t> merged, ArrayRef<int64_t> split) {
    std::optional<Refinement> both = refine(merged, split);
    auto isMany = [](ArrayRef<int64_t> group) { return group.size() > 1; };
    if (!both || llvm::none_of(both->ofLeft, isMany))
      return std::nullopt;
    bool isMerging = llvm::any_of(both->ofRight, isMany);
    return Split{SmallVector<int64_t>(merged), SmallVector<int64_t>(split), both->sizes, both->ofLeft, both->ofRight, isMerging};
  }

  /// Returns null unless whole dimensions of 16 elements or more are reduced, and parts of others.
  std::optional<Stages> stagesOf(ReduceOp op) const {
    SmallVector<int64_t> reduced;
    for (int64_t dim : op.getDimensions())
      llvm::append_range(reduced, ofSplit[dim]);
    Stages stages;
    int64_t factor = 1;
    for (auto [dim, group] : llvm::enumerate(ofMerged)) {
      SmallVector<int64_t> here = llvm::filter_to_vector(group, [&](int64_t d) { return llvm::is_contained(reduced, d); });
      if (!here.empty() && here.size() == group.size()) {
        stages.whole.push_back(dim);
        factor *= merged[dim];
      } else {
        llvm::append_range(stages.partial, here);
      }
    }
    return stages.partial.empty() || factor < 16 ? std::nullopt : std::optional(stages);
  }
};

bool isOfLastDimensions(ReduceOp op) {
  int64_t first = shapeOf(op.getInputs()[0]).size() - op.getDimensions().size();
  return llvm::all_of(op.getDimensions(), [&](int64_t dim) { return dim >= first; });
}

class Merger {
public:
  explicit Merger(Block &block) : block(block) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops) {
      hasConvolution |= isa<ConvolutionOp>(op);
      if (auto reduce = dyn_cast<ReduceOp>(op); reduce && whyIndivisible(reduce).empty())
        reductions.push_back(reduce);
    }
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
  bool isWanted(const Split &split) {
    std::pair<std::vector<int64_t>, std::vector<int64_t>> shapes{{split.merged.begin(), split.merged.end()}, {split.split.begin(), split.split.end()}};
    if (wanted.count(shapes))
      return true;
    if (llvm::none_of(reductions, [&](ReduceOp op) { return shapeOf(op.getInputs()[0]) == ArrayRef(split.split) && whyNot(op, split).empty(); }))
      return false;
    wanted.insert(shapes);
    return true;
  }

  /// Lets a reshape of a split read the unsplit value; if it merges the split again, the unsplit value replaces it.
  static void cancel(ReshapeOp op) {
    ReshapeOp from = splitOf(op.getOperand());
    if (!from)
      return;
    op.getOperandMutable().assign(from.getOperand());
    if (op.getOperand().getType() != op.getType())
      return;
    op.getResult().replaceAllUsesWith(op.getOperand());
    op.erase();
  }

  static ReshapeOp splitOf(Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    return reshape && Split::of(shapeOf(reshape.getOperand()), shapeOf(value)) ? reshape : nullptr;
  }

  /// Returns `value` of the split shape in the merged shape, if that needs no pass over all its elements; else null.
  static Value mergedOf(OpBuilder &b, Value value, const Split &split) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>(); reshape && shapeOf(reshape.getOperand()) == ArrayRef(split.merged))
      return reshape.getOperand();
    RankedTensorType type = withShape(value.getType(), split.merged);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (auto number = dyn_cast<DenseElementsAttr>(constant.getValue()); number && number.isSplat())
        return ConstantOp::create(b, value.getLoc(), number.resizeSplat(type));
    auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
    if (!broadcast || cast<RankedTensorType>(broadcast.getOperand().getType()).getNumElements() * 16 > type.getNumElements())
      return {};
    // The operand without its unit dimensions is expanded to one value per channel.
    SmallVector<int64_t> sizes, dims, covered, expanded, small, places;
    for (auto [size, dim] : llvm::zip(shapeOf(broadcast.getOperand()), broadcast.getBroadcastDimensions()))
      for (int64_t d : size == 1 ? ArrayRef<int64_t>() : ArrayRef<int64_t>(split.ofSplit[dim])) {
        sizes.push_back(split.refined[d]);
        dims.push_back(d);
      }
    int64_t elements = 1;
    for (auto [dim, group] : llvm::enumerate(split.ofMerged)) {
      if (llvm::none_of(group, [&](int64_t d) { return llvm::is_contained(dims, d); }))
        continue;
      covered.push_back(dim);
      small.push_back(split.merged[dim]);
      elements *= split.merged[dim];
      llvm::append_range(expanded, group);
    }
    if (elements * 16 > type.getNumElements())
      return {};
    for (int64_t dim : dims)
      places.push_back(llvm::find(expanded, dim) - expanded.begin());
    Location loc = value.getLoc();
    SmallVector<int64_t> expandedSizes = llvm::map_to_vector(expanded, [&](int64_t d) { return split.refined[d]; });
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
    std::optional<Split> split = from ? Split::of(shapeOf(from.getOperand()), shapeOf(result)) : std::nullopt;
    if (!split || !isWanted(*split))
      return;
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(mergedOf(b, operand, *split));
      if (!operands.back())
        return remarkMissed(op, "xla-merge-groups", "one of its operands could be merged by another pass over its elements only");
    }
    Operation *merged = b.clone(*op);
    merged->setOperands(operands);
    merged->getResult(0).setType(withShape(result.getType(), split->merged));
    result.replaceAllUsesWith(reshaped(b, op->getLoc(), merged->getResult(0), shapeOf(result)));
    op->erase();
  }

  /// Returns why the reduction of a split shape stays; empty if it is done in two steps.
  StringRef whyNot(ReduceOp op, const Split &split) const {
    if (StringRef why = whyIndivisible(op); !why.empty())
      return why;
    if (split.isMerging && !hasConvolution && isOfLastDimensions(op))
      return "the elements that it combines are contiguous";
    return split.stagesOf(op) ? "" : "it does not reduce both whole dimensions of 16 elements or more and parts of others";
  }

  void divide(ReduceOp op) {
    ReshapeOp from = splitOf(op.getInputs()[0]);
    if (!from)
      return;
    Split split = *Split::of(shapeOf(from.getOperand()), shapeOf(op.getInputs()[0]));
    if (StringRef why = whyNot(op, split); !why.empty())
      return remarkMissed(op, "xla-merge-groups", why);
    Stages stages = *split.stagesOf(op);
    OpBuilder b(op);
    auto first = cast<ReduceOp>(b.clone(*op.getOperation()));
    first->setOperand(0, from.getOperand());
    first.setDimensions(stages.whole);
    SmallVector<int64_t> kept, keptSplit, rest;
    for (auto [dim, group] : llvm::enumerate(split.ofMerged)) {
      if (llvm::is_contained(stages.whole, (int64_t)dim))
        continue;
      kept.push_back(split.merged[dim]);
      for (int64_t d : group) {
        if (llvm::is_contained(stages.partial, d))
          rest.push_back(keptSplit.size());
        keptSplit.push_back(split.refined[d]);
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
    isWanted(split); // Known from now on.
    llvm::erase(reductions, op);
    op.erase();
  }

  Block &block;
  SmallVector<ReduceOp> reductions;
  bool hasConvolution = false;
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> wanted; ///< merged and split shapes
};

struct MergeGroups : impl::MergeGroupsPassBase<MergeGroups> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
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
