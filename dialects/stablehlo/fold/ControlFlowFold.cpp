// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowFold.cpp - Canonical forms of while, case, if, tuples ---===//
#include "dialects/stablehlo/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace millrace::stablehlo {
namespace {

/// Replaces `op` by the operations of `region`, which has no arguments.
LogicalResult inlineRegion(PatternRewriter &rewriter, Operation *op, Region &region) {
  Operation *terminator = region.front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  for (auto [value, result] : llvm::zip_equal(results, op->getResults()))
    if (value.getType() != result.getType())
      return rewriter.notifyMatchFailure(op, "the branch returns a more or less specific type");
  rewriter.inlineBlockBefore(&region.front(), op);
  rewriter.replaceOp(op, results);
  rewriter.eraseOp(terminator);
  return success();
}

/// Input:  case with a constant index       Output: the branch that is taken
struct CaseOfConstant : OpRewritePattern<CaseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CaseOp op, PatternRewriter &rewriter) const override {
    int64_t last = int64_t(op.getBranches().size()) - 1, index = 0;
    // With one branch the index does not matter; an index out of range selects the last branch.
    if (last != 0 && failed(matchInt(op.getIndex(), index)))
      return rewriter.notifyMatchFailure(op, "the index is no constant");
    return inlineRegion(rewriter, op, op.getBranches()[index < 0 || index > last ? last : index]);
  }
};

/// Input:  if with a constant predicate     Output: the branch that is taken
struct IfOfConstant : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    DenseIntElementsAttr pred;
    if (!matchPattern(op.getPred(), m_Constant(&pred)))
      return rewriter.notifyMatchFailure(op, "the predicate is no constant");
    return inlineRegion(rewriter, op, pred.getSplatValue<bool>() ? op.getTrueBranch() : op.getFalseBranch());
  }
};

/// Removes results of a conditional that have no uses.
template <typename OpTy>
struct DropUnusedBranchResults : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    SmallVector<unsigned> kept;
    SmallVector<Type> types;
    for (OpResult result : op->getResults())
      if (!result.use_empty()) {
        kept.push_back(result.getResultNumber());
        types.push_back(result.getType());
      }
    if (kept.size() == op->getNumResults())
      return rewriter.notifyMatchFailure(op, "all results are used");
    OperationState state(op.getLoc(), op->getName());
    state.addOperands(op->getOperands());
    state.addTypes(types);
    state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
    for (unsigned i = 0, e = op->getNumRegions(); i != e; ++i)
      state.addRegion();
    Operation *smaller = rewriter.create(state);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), smaller->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      Operation *terminator = to.front().getTerminator();
      SmallVector<Value> returned;
      for (unsigned i : kept)
        returned.push_back(terminator->getOperand(i));
      rewriter.modifyOpInPlace(terminator, [&] { terminator->setOperands(returned); });
    }
    for (auto [i, old] : llvm::enumerate(kept))
      rewriter.replaceAllUsesWith(op->getResult(old), smaller->getResult(i));
    rewriter.eraseOp(op);
    return success();
  }
};

/// Input:  while whose condition returns false       Output: its operands
struct WhileNeverRuns : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    DenseIntElementsAttr condition;
    if (!matchPattern(op.getCond().front().getTerminator()->getOperand(0), m_Constant(&condition)) ||
        condition.getSplatValue<bool>())
      return rewriter.notifyMatchFailure(op, "the condition is not constant false");
    // The condition may have effects of its own.
    for (Operation &inner : op.getCond().front().without_terminator())
      if (!isMemoryEffectFree(&inner))
        return rewriter.notifyMatchFailure(op, "the condition has side effects");
    if (op.getOperandTypes() != op.getResultTypes())
      return rewriter.notifyMatchFailure(op, "results have other types than operands");
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// Removes carried values that the body returns unchanged, or that nothing but their own update reads.
///   Input:  while(%i = %a, %n = %b) .. do { .. return %i2, %n }     Output: %n replaced by %b
struct DropUncarriedValues : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    Block &cond = op.getCond().front(), &body = op.getBody().front();
    Operation *terminator = body.getTerminator();
    unsigned count = op.getNumOperands();
    llvm::BitVector invariant(count), live = liveValues(op);
    for (unsigned i = 0; i != count; ++i) {
      Value initial = op.getOperand()[i], returned = terminator->getOperand(i);
      // The types must agree, because uses of the argument become uses of the operand.
      if ((returned == body.getArgument(i) || returned == initial) &&
          initial.getType() == body.getArgument(i).getType() && initial.getType() == cond.getArgument(i).getType() &&
          initial.getType() == op.getResult(i).getType())
        invariant.set(i);
    }
    llvm::BitVector dropped = invariant;
    for (unsigned i = 0; i != count; ++i)
      if (!live[i])
        dropped.set(i);
    if (dropped.none())
      return rewriter.notifyMatchFailure(op, "all values change and are needed");

    SmallVector<Value> operands, returned;
    SmallVector<Type> types;
    for (unsigned i = 0; i != count; ++i) {
      if (!dropped[i]) {
        operands.push_back(op.getOperand()[i]);
        types.push_back(op.getResult(i).getType());
        returned.push_back(terminator->getOperand(i));
      } else if (invariant[i]) {
        rewriter.replaceAllUsesWith(cond.getArgument(i), op.getOperand()[i]);
        rewriter.replaceAllUsesWith(body.getArgument(i), op.getOperand()[i]);
        rewriter.replaceAllUsesWith(op.getResult(i), op.getOperand()[i]);
      }
    }
    // The operands of the return may have been block arguments that were just replaced.
    returned.clear();
    for (unsigned i = 0; i != count; ++i)
      if (!dropped[i])
        returned.push_back(terminator->getOperand(i));
    rewriter.modifyOpInPlace(terminator, [&] { terminator->setOperands(returned); });
    eraseDeadUpdates(rewriter, body);
    auto smaller = WhileOp::create(rewriter, op.getLoc(), types, operands);
    smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getCond(), smaller.getCond(), smaller.getCond().end());
    rewriter.inlineRegionBefore(op.getBody(), smaller.getBody(), smaller.getBody().end());
    smaller.getCond().front().eraseArguments(dropped);
    smaller.getBody().front().eraseArguments(dropped);
    unsigned next = 0;
    for (unsigned i = 0; i != count; ++i)
      if (!dropped[i])
        rewriter.replaceAllUsesWith(op.getResult(i), smaller->getResult(next++));
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Returns the values that the condition, a used result, a side effect, or the update of a live value reads. A value that is not live must be read
  /// by pure operations of the body only, so that these can be removed.
  static llvm::BitVector liveValues(WhileOp op) {
    Block &cond = op.getCond().front(), &body = op.getBody().front();
    unsigned count = op.getNumOperands();
    llvm::BitVector live(count);
    SmallVector<Value> work;
    llvm::SmallDenseSet<Value> seen;
    auto need = [&](Value value) {
      if (seen.insert(value).second)
        work.push_back(value);
    };
    for (unsigned i = 0; i != count; ++i)
      if (!cond.getArgument(i).use_empty() || !op.getResult(i).use_empty()) {
        live.set(i);
        need(body.getTerminator()->getOperand(i));
      }
    // Most loops need all their carried values, which is usually known before the whole body has been visited.
    if (live.all())
      return live;
    for (Operation &inner : body.without_terminator())
      if (!isMemoryEffectFree(&inner))
        visitOperands(inner, need);
    while (!work.empty() && !live.all()) {
      Value value = work.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        unsigned index = argument.getArgNumber();
        if (argument.getOwner() == &body && !live[index]) {
          live.set(index);
          need(body.getTerminator()->getOperand(index));
        }
        continue;
      }
      if (Operation *def = value.getDefiningOp(); body.findAncestorOpInBlock(*def) == def)
        visitOperands(*def, need);
    }
    return live;
  }

  /// Visits the operands of `op` and of all operations inside of it.
  static void visitOperands(Operation &op, function_ref<void(Value)> visit) {
    op.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
  }

  /// Erases pure operations of `body` that only dropped arguments kept alive, users first.
  static void eraseDeadUpdates(PatternRewriter &rewriter, Block &body) {
    SmallVector<Operation *> ops = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
  }
};

} // namespace

void CaseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CaseOfConstant, DropUnusedBranchResults<CaseOp>>(context);
}
void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<IfOfConstant, DropUnusedBranchResults<IfOp>>(context);
}
void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<WhileNeverRuns, DropUncarriedValues>(context);
}

OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  if (auto tuple = getOperand().getDefiningOp<TupleOp>())
    return tuple.getVal()[getIndex()];
  return {};
}

/// A tuple of all elements of a tuple, in order, is that tuple.
OpFoldResult TupleOp::fold(FoldAdaptor) {
  if (getVal().empty())
    return {};
  Value whole;
  for (auto [index, value] : llvm::enumerate(getVal())) {
    auto element = value.getDefiningOp<GetTupleElementOp>();
    if (!element || element.getIndex() != index || (whole && element.getOperand() != whole))
      return {};
    whole = element.getOperand();
  }
  return whole.getType() == getType() ? whole : Value();
}

} // namespace millrace::stablehlo
