// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionFold.cpp - Canonical forms of reduce, sort, map -----------===//
#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace millrace::stablehlo {
namespace {

/// Returns true if `value` stays the same while `region` runs.
bool isDefinedOutside(Value value, Region &region) { return !region.isAncestor(value.getParentRegion()); }

/// Input:  reduce over no dimensions                        Output: its inputs
/// The body never runs; leaves alone a reduction that changes the type.
struct ReduceOverNothing : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (!op.getDimensions().empty())
      return rewriter.notifyMatchFailure(op, "reduces dimensions");
    if (op.getInputs().getTypes() != op.getResultTypes())
      return rewriter.notifyMatchFailure(op, "the reduction changes the type");
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
};

/// Input:  a reduce of which some results are unused        Output: a reduce of the others
/// Leaves alone a body in which a used result depends on an unused input.
struct DropUnusedReduceResults : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    size_t count = op.getInputs().size();
    Block &block = op.getBody().front();
    SmallVector<unsigned> kept;
    llvm::SmallDenseSet<Operation *> needed;
    SmallVector<Value> work;
    for (size_t i = 0; i != count; ++i)
      if (!op.getResult(i).use_empty()) {
        kept.push_back(i);
        work.push_back(block.getTerminator()->getOperand(i));
      }
    if (kept.size() == count || kept.empty())
      return rewriter.notifyMatchFailure(op, "nothing unused, or dead");
    // Everything that the kept results depend on in the body.
    llvm::SmallDenseSet<unsigned> arguments;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() == &block)
          arguments.insert(argument.getArgNumber());
        continue;
      }
      Operation *def = value.getDefiningOp();
      if (def->getBlock() != &block || !needed.insert(def).second)
        continue;
      if (def->getNumRegions() != 0)
        return rewriter.notifyMatchFailure(op, "the body has nested regions");
      llvm::append_range(work, def->getOperands());
    }
    for (unsigned argument : arguments)
      if (!llvm::is_contained(kept, argument % count))
        return rewriter.notifyMatchFailure(op, "a used result depends on an unused input");
    for (Operation &inner : block.without_terminator())
      if (!needed.contains(&inner) && !isMemoryEffectFree(&inner))
        return rewriter.notifyMatchFailure(op, "the body has side effects");

    SmallVector<Value> inputs, inits, returned;
    SmallVector<Type> types;
    for (unsigned i : kept) {
      inputs.push_back(op.getInputs()[i]);
      inits.push_back(op.getInitValues()[i]);
      types.push_back(op.getResult(i).getType());
    }
    auto reduced = ReduceOp::create(rewriter, op.getLoc(), types, inputs, inits, op.getDimensionsAttr());
    reduced->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    Block *body = rewriter.createBlock(&reduced.getBody());
    IRMapping mapping;
    for (size_t offset : {size_t(0), count})
      for (unsigned i : kept) {
        BlockArgument old = block.getArgument(offset + i);
        mapping.map(old, body->addArgument(old.getType(), old.getLoc()));
      }
    for (Operation &inner : block.without_terminator())
      if (needed.contains(&inner))
        rewriter.clone(inner, mapping);
    for (unsigned i : kept)
      returned.push_back(mapping.lookupOrDefault(block.getTerminator()->getOperand(i)));
    ReturnOp::create(rewriter, block.getTerminator()->getLoc(), returned);
    SmallVector<Value> replacements(count);
    for (auto [i, old] : llvm::enumerate(kept))
      replacements[old] = reduced->getResult(i);
    for (size_t i = 0; i != count; ++i)
      if (replacements[i])
        rewriter.replaceAllUsesWith(op.getResult(i), replacements[i]);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Input:  sort along the dimension -1                      Output: sort along the dimension rank - 1
struct NormalizeSortDimension : OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const override {
    int64_t dimension = op.getDimension(), rank = cast<RankedTensorType>(op.getInputs()[0].getType()).getRank();
    if (dimension >= 0)
      return rewriter.notifyMatchFailure(op, "already counted from the front");
    rewriter.modifyOpInPlace(op, [&] { op.setDimension(dimension + rank); });
    return success();
  }
};

/// Input:  a sort of which some results are unused          Output: a sort of the others
/// Leaves alone operands that the comparator reads.
struct DropUnusedSortResults : OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getComparator().front();
    SmallVector<unsigned> kept;
    for (unsigned i = 0, e = op.getNumOperands(); i != e; ++i)
      if (!op.getResult(i).use_empty() || !block.getArgument(2 * i).use_empty() ||
          !block.getArgument(2 * i + 1).use_empty())
        kept.push_back(i);
    if (kept.size() == op.getNumOperands() || kept.empty())
      return rewriter.notifyMatchFailure(op, "nothing unused, or dead");
    SmallVector<Value> inputs;
    for (unsigned i : kept)
      inputs.push_back(op.getInputs()[i]);
    auto sorted = SortOp::create(rewriter, op.getLoc(), ValueRange(inputs).getTypes(), inputs, op.getDimensionAttr(),
                                 op.getIsStableAttr());
    sorted->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getComparator(), sorted.getComparator(), sorted.getComparator().end());
    Block &body = sorted.getComparator().front();
    for (unsigned i = op.getNumOperands(); i-- != 0;)
      if (!llvm::is_contained(kept, i))
        body.eraseArguments(2 * i, 2);
    for (auto [i, old] : llvm::enumerate(kept))
      rewriter.replaceAllUsesWith(op.getResult(old), sorted->getResult(i));
    rewriter.eraseOp(op);
    return success();
  }
};

/// Input:  map whose computation returns a value from outside or an argument    Output: that value, broadcast
struct MapOfConstantOrArgument : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getComputation().front();
    if (!llvm::hasSingleElement(block))
      return rewriter.notifyMatchFailure(op, "the computation computes");
    Value value = block.getTerminator()->getOperand(0);
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &block) {
      Value input = op.getInputs()[argument.getArgNumber()];
      if (input.getType() != op.getType())
        return rewriter.notifyMatchFailure(op, "the input has another type");
      rewriter.replaceOp(op, input);
      return success();
    }
    if (!isDefinedOutside(value, op.getComputation()) || !cast<ShapedType>(op.getType()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "not a value from outside, or of dynamic shape");
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), value, rewriter.getDenseI64ArrayAttr({}));
    return success();
  }
};

} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReduceOverNothing, DropUnusedReduceResults>(context);
}
void SortOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<NormalizeSortDimension, DropUnusedSortResults>(context);
}
void MapOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MapOfConstantOrArgument>(context);
}

} // namespace millrace::stablehlo
