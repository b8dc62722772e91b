// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Canonicalize.cpp - Remove and combine changes of shardings ---------===//
// Input:   %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]>
//          %2 = sdy.all_slice [{"x"}] %1 out_sharding=<@mesh, [{"x"}]>
// Output:  %2 = sdy.reduce_scatter [{"x"}] %0 out_sharding=<@mesh, [{"x"}]>
// Leaves alone collectives without users, except all_to_all: only operations that are replaced here are removed here.
#include "dialects/sdy/Ops.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sdy {
namespace {

using AxisRefs = ArrayRef<AxisRefAttr>;

bool isEmpty(ArrayRef<AxisRefListAttr> lists) {
  return llvm::all_of(lists, [](AxisRefListAttr list) { return list.getValue().empty(); });
}

/// Returns true if the shards are the same on the same devices. Axes that propagation may add are ignored.
bool isSame(TensorShardingAttr a, TensorShardingAttr b) {
  return a && b && a.getMeshOrRef() == b.getMeshOrRef() && a.getUnreducedAxes() == b.getUnreducedAxes() &&
         llvm::equal(a.getDimShardings(), b.getDimShardings(),
                     [](DimensionShardingAttr x, DimensionShardingAttr y) { return x.getAxes() == y.getAxes(); });
}

//===-- Operations that move no data ----------------------------------------===//

LogicalResult dropIf(bool isNothing, Operation *op, PatternRewriter &rewriter) {
  if (!isNothing)
    return rewriter.notifyMatchFailure(op, "data moves");
  rewriter.replaceOp(op, op->getOperand(0));
  return success();
}

LogicalResult dropNoop(AllGatherOp op, PatternRewriter &rewriter) { return dropIf(isEmpty(op.getGatheringAxes()), op, rewriter); }
LogicalResult dropNoop(AllReduceOp op, PatternRewriter &rewriter) {
  return dropIf(op.getReductionAxes().empty(), op, rewriter);
}
LogicalResult dropNoop(ReduceScatterOp op, PatternRewriter &rewriter) {
  return dropIf(isEmpty(op.getReduceScatterAxes()), op, rewriter);
}
LogicalResult dropNoop(CollectivePermuteOp op, PatternRewriter &rewriter) {
  return dropIf(isSame(getSharding(op.getTensor()), op.getOutSharding()), op, rewriter);
}
LogicalResult dropNoop(AllSliceOp op, PatternRewriter &rewriter) {
  if (auto gather = op.getTensor().getDefiningOp<AllGatherOp>();
      gather && gather.getGatheringAxes() == op.getSlicingAxes()) {
    rewriter.replaceOp(op, gather.getTensor());
    return success();
  }
  return dropIf(isEmpty(op.getSlicingAxes()), op, rewriter);
}

//===-- Pairs of operations -------------------------------------------------===//

/// Replaces the all_reduce of a value that was made unreduced by the original value, gathered if needed.
LogicalResult undoUnreduced(AllReduceOp op, PatternRewriter &rewriter) {
  Operation *inner = op.getTensor().getDefiningOp();
  if (auto replicated = dyn_cast_or_null<ReplicatedToUnreducedOp>(inner);
      replicated && replicated.getAxes() == op.getReductionAxes() &&
      replicated.getOutSharding().getReductionOp() == op.getKind()) {
    rewriter.replaceOp(op, replicated.getTensor());
    return success();
  }
  auto sharded = dyn_cast_or_null<ShardedToUnreducedOp>(inner);
  if (!sharded || sharded.getOutSharding().getReductionOp() != op.getKind())
    return rewriter.notifyMatchFailure(op, "its operand was not made unreduced");
  SmallVector<AxisRefAttr> axes;
  for (AxisRefListAttr list : sharded.getAxes())
    llvm::append_range(axes, list.getValue());
  AxisRefs summed = op.getReductionAxes();
  if (!std::is_permutation(axes.begin(), axes.end(), summed.begin(), summed.end()))
    return rewriter.notifyMatchFailure(op, "other axes");
  rewriter.replaceOpWithNewOp<AllGatherOp>(op, op.getType(), sharded.getTensor(), sharded.getAxesAttr(), op.getOutSharding());
  return success();
}

/// Replaces all_reduce followed by all_slice over the same axes (and others) by reduce_scatter (followed by all_slice over the others).
LogicalResult fuseReduceScatter(AllSliceOp op, PatternRewriter &rewriter) {
  auto reduce = op.getTensor().getDefiningOp<AllReduceOp>();
  if (!reduce)
    return rewriter.notifyMatchFailure(op, "its operand is no all_reduce");
  for (Operation *user : reduce->getUsers()) {
    auto slice = dyn_cast<AllSliceOp>(user);
    if (!slice || slice.getSlicingAxes() != op.getSlicingAxes())
      return rewriter.notifyMatchFailure(op, "somebody else needs more of the all_reduce");
    if (slice->getBlock() != op->getBlock() || slice->isBeforeInBlock(op))
      return rewriter.notifyMatchFailure(op, "the first all_slice is the one to look at");
  }
  // An axis cannot occur in two dimensions, because a sharding contains each axis once.
  MeshAttr mesh = op.getOutSharding().getMesh(op);
  TensorShardingAttr before = getSharding(reduce.getTensor());
  SmallVector<AxisRefAttr> left(reduce.getReductionAxes());
  SmallVector<AxisRefListAttr> scattered, sliced;
  SmallVector<DimensionShardingAttr> dims;
  for (auto [dim, list] : llvm::enumerate(op.getSlicingAxes())) {
    AxisRefs axes = list.getValue();
    AxisRefs first = axes.take_while([&](AxisRefAttr axis) { return llvm::is_contained(left, axis); });
    for (AxisRefAttr axis : first)
      llvm::erase(left, axis);
    scattered.push_back(AxisRefListAttr::get(op.getContext(), first));
    sliced.push_back(AxisRefListAttr::get(op.getContext(), axes.drop_front(first.size())));
    AxisRefs old = before ? before.getDimShardings()[dim].getAxes() : AxisRefs();
    dims.push_back(DimensionShardingAttr::get(op.getContext(), appendAxes(old, first, mesh), true, std::nullopt));
  }
  if (!left.empty())
    return rewriter.notifyMatchFailure(op, "not all axes of the all_reduce are sliced by");
  TensorShardingAttr out = op.getOutSharding();
  auto between = TensorShardingAttr::get(op.getContext(), out.getMeshOrRef(), dims, out.getReplicatedAxes(),
                                         out.getUnreducedAxes(), out.getReductionOp());
  Value value = ReduceScatterOp::create(rewriter, reduce.getLoc(), op.getType(), reduce.getTensor(),
                                        ListOfAxisRefListsAttr::get(op.getContext(), scattered), reduce.getKind(),
                                        isEmpty(sliced) ? out : between);
  if (!isEmpty(sliced))
    value = AllSliceOp::create(rewriter, op.getLoc(), op.getType(), value,
                               ListOfAxisRefListsAttr::get(op.getContext(), sliced), out);
  for (Operation *user : llvm::make_early_inc_range(reduce->getUsers()))
    rewriter.replaceOp(user, value);
  rewriter.eraseOp(reduce);
  return success();
}

LogicalResult fuseAllToAll(AllToAllOp op, PatternRewriter &rewriter) {
  if (op.use_empty()) {
    rewriter.eraseOp(op);
    return success();
  }
  auto inner = op.getTensor().getDefiningOp<AllToAllOp>();
  if (!inner || !inner->hasOneUse())
    return rewriter.notifyMatchFailure(op, "no single-use inner all_to_all");
  SmallVector<AllToAllParamAttr> params(inner.getParams());
  for (AllToAllParamAttr param : op.getParams()) {
    for (AllToAllParamAttr other : inner.getParams())
      for (int64_t dim : {other.getSrcDim(), other.getTgtDim()})
        if (dim == param.getSrcDim() || dim == param.getTgtDim())
          return rewriter.notifyMatchFailure(op, "both change one dimension");
    params.push_back(param);
  }
  llvm::sort(params, [](AllToAllParamAttr a, AllToAllParamAttr b) { return a.getSrcDim() < b.getSrcDim(); });
  rewriter.replaceOpWithNewOp<AllToAllOp>(op, op.getType(), inner.getTensor(),
                                          AllToAllParamListAttr::get(op.getContext(), params), op.getOutSharding());
  return success();
}

LogicalResult fuseReshards(ReshardOp op, PatternRewriter &rewriter) {
  if (auto inner = op.getInput().getDefiningOp<ReshardOp>(); inner && inner->hasOneUse()) {
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
    return success();
  }
  for (Operation *user : op.getInput().getUsers())
    if (auto other = dyn_cast<ReshardOp>(user); other && other != op && other.getSharding() == op.getSharding() &&
                                                other->getBlock() == op->getBlock() && other->isBeforeInBlock(op)) {
      rewriter.replaceOp(op, other);
      return success();
    }
  return rewriter.notifyMatchFailure(op, "no reshard before it");
}

LogicalResult dropRepeated(ShardingGroupOp op, PatternRewriter &rewriter) {
  for (Operation *user : op.getInput().getUsers())
    if (auto other = dyn_cast<ShardingGroupOp>(user); other && other != op && other.getGroupId() == op.getGroupId() &&
                                                      other->getBlock() == op->getBlock() && other->isBeforeInBlock(op)) {
      rewriter.eraseOp(op);
      return success();
    }
  return rewriter.notifyMatchFailure(op, "no other of the group before it");
}

//===-- Manual computations -----------------------------------------------===//

LogicalResult dropUnusedInputs(ManualComputationOp op, PatternRewriter &rewriter) {
  llvm::BitVector unused(op.getNumOperands());
  SmallVector<TensorShardingAttr> kept;
  for (BlockArgument argument : op.getBody().getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
    else
      kept.push_back(op.getInShardings().getShardings()[argument.getArgNumber()]);
  if (unused.none())
    return rewriter.notifyMatchFailure(op, "every argument is used");
  rewriter.modifyOpInPlace(op, [&] {
    op->eraseOperands(unused);
    op.getBody().front().eraseArguments(unused);
    op.setInShardingsAttr(TensorShardingPerValueAttr::get(op.getContext(), kept));
  });
  return success();
}

/// Returns true if every device along the manual axes computes the same as one device without manual axes would.
bool isSameOnAllDevices(Operation &op) {
  StringRef name = op.getName().getStringRef();
  return isPure(&op) && !op.hasAttr("channel_handle") && !op.hasAttr("replica_groups") && name != "stablehlo.partition_id" &&
         name != "stablehlo.replica_id";
}

/// Inlines the body if each manual axis has one device, or if the axes shard nothing and the body does not refer to them.
LogicalResult inlineTrivial(ManualComputationOp op, PatternRewriter &rewriter) {
  Block &body = op.getBody().front();
  auto mayStay = [&](StringAttr axis) {
    bool isUsed = false;
    int64_t size = 1;
    for (auto list : {op.getInShardings(), op.getOutShardings()})
      for (TensorShardingAttr sharding : list.getShardings()) {
        if (MeshAttr mesh = sharding.getMesh(op); mesh && !mesh.isMaximal())
          size = std::max(size, mesh.getAxisSize(axis.getValue()));
        sharding.walkAxes([&](AxisRefAttr used) { isUsed |= used.getName() == axis.getValue(); });
      }
    return size > 1 && (isUsed || !llvm::all_of(body, isSameOnAllDevices));
  };
  if (llvm::any_of(op.getManualAxes(), mayStay))
    return rewriter.notifyMatchFailure(op, "devices along a manual axis may differ");
  Operation *terminator = body.getTerminator();
  rewriter.inlineBlockBefore(&body, op, op.getOperands());
  // A value that the region returned may be an argument, which has been replaced by an operand.
  SmallVector<Value> results(terminator->getOperands());
  rewriter.eraseOp(terminator);
  rewriter.replaceOp(op, results);
  return success();
}

} // namespace

void populateCollectivePatterns(RewritePatternSet &patterns) {
  patterns.add(+[](AllGatherOp op, PatternRewriter &rewriter) { return dropNoop(op, rewriter); });
  patterns.add(+[](AllReduceOp op, PatternRewriter &rewriter) { return dropNoop(op, rewriter); });
  patterns.add(+[](AllSliceOp op, PatternRewriter &rewriter) { return dropNoop(op, rewriter); });
  patterns.add(+[](ReduceScatterOp op, PatternRewriter &rewriter) { return dropNoop(op, rewriter); });
  patterns.add(+[](CollectivePermuteOp op, PatternRewriter &rewriter) { return dropNoop(op, rewriter); });
  patterns.add(undoUnreduced).add(fuseReduceScatter).add(fuseAllToAll).add(fuseReshards);
}

void SdyDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  populateCollectivePatterns(patterns);
  patterns.add(dropRepeated).add(dropUnusedInputs).add(inlineTrivial);
}

} // namespace millrace::sdy
