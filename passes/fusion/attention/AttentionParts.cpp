// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionParts.cpp - Shared matching of attention and its gradients -----===//
#include "passes/fusion/attention/AttentionPattern.h"

#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/plan/Outline.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion::attention {

Operation *Copies::make(Operation *op, OpBuilder &builder) {
  Operation *copy = builder.clone(*op);
  made.push_back({op, copy});
  return copy;
}

void Copies::undo() {
  for (auto [op, copy] : llvm::reverse(made)) {
    copy->replaceAllUsesWith(op);
    copy->erase();
  }
  made.clear();
}

bool isRowOperation(Operation *op) {
  OpRole role = classify(op);
  return role == OpRole::Elementwise || role == OpRole::Broadcast || role == OpRole::Reduction || isa<ReshapeOp, TransposeOp>(op);
}

unsigned sumsIn(DotGeneralOp dot) {
  auto type = dyn_cast<FloatType>(dot.getType().getElementType());
  return type ? std::max(32u, type.getWidth()) : 0;
}

SmallVector<int64_t> freeDimensions(DotGeneralOp dot, bool isLhs) {
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batch = isLhs ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> contracted = isLhs ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
  int64_t rank = cast<RankedTensorType>((isLhs ? dot.getLhs() : dot.getRhs()).getType()).getRank();
  return llvm::filter_to_vector(llvm::seq<int64_t>(0, rank),
                                [&](int64_t dim) { return !llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim); });
}

int64_t freeElements(DotGeneralOp dot, bool isLhs) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>((isLhs ? dot.getLhs() : dot.getRhs()).getType()).getShape();
  int64_t elements = 1;
  for (int64_t dim : freeDimensions(dot, isLhs))
    elements *= shape[dim];
  return elements;
}

bool haveTiles(DotGeneralOp scores, DotGeneralOp product) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scores.getLhs().getType()).getShape();
  int64_t depth = 1;
  for (int64_t dim : scores.getDotDimensionNumbers().getLhsContractingDimensions())
    depth *= shape[dim];
  return sumsIn(scores) && sumsIn(scores) == sumsIn(product) && depth > 1 && depth <= kMaxHeadElements &&
         freeElements(scores, true) >= kMinQueryRows && freeElements(scores, false) >= kMinKeys;
}

bool isSplat(Value value) {
  Operation *op = value.getDefiningOp();
  auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op);
  return op && ((isa<ConstantOp>(op) && classify(op) == OpRole::Duplicated) ||
                (broadcast && cast<RankedTensorType>(broadcast.getOperand().getType()).getNumElements() == 1 && hasVectorizableTypes(op)));
}

/// Returns true for a broadcast, and for a value that is computed elementwise from iota and splats. Looks at no more than `steps` operations, because
/// random bits are such a value, and their operands are shared so much that a walk over all paths would take exponential time.
static bool isCheap(Operation *op, unsigned &steps) {
  if (steps == 0)
    return false;
  --steps;
  if (classify(op) == OpRole::Broadcast)
    return true;
  return (classify(op) == OpRole::Elementwise || isa<ReshapeOp>(op)) && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *source = operand.getDefiningOp();
           return source && (classify(source) == OpRole::Duplicated || isSplat(operand) ||
                             ((classify(source) == OpRole::Elementwise || isa<ReshapeOp>(source)) && isCheap(source, steps)));
         });
}

void joinMasks(Members &members, llvm::function_ref<bool(Operation *)> isProduct, Copies &copies, unsigned mostOps) {
  SmallVector<Operation *> list(members.begin(), members.end());
  while (!list.empty()) {
    Operation *user = list.pop_back_val();
    if (isProduct(user))
      continue;
    for (OpOperand &operand : user->getOpOperands()) {
      Operation *source = operand.get().getDefiningOp();
      if (!source || members.contains(source) || source->getBlock() != user->getBlock() || !hasVectorizableTypes(source) || members.size() > mostOps)
        continue;
      if (unsigned steps = kMaxAttentionOps; !isCheap(source, steps))
        continue;
      if (llvm::any_of(source->getUsers(), [&](Operation *other) { return other != user; })) {
        OpBuilder builder(user);
        source = copies.make(source, builder);
        operand.set(source->getResult(0));
      }
      members.insert(source);
      list.push_back(source);
    }
  }
}

void joinFollowers(Members &members, Operation *last) {
  for (Operation *root = last; root->hasOneUse();) {
    Operation *user = *root->getUsers().begin();
    if (user->getBlock() != last->getBlock() || !isa<TransposeOp, ConvertOp>(user) || !hasVectorizableTypes(user))
      break;
    members.insert(user);
    root = user;
  }
}

std::optional<Cluster> checkedCluster(const Members &members, const KernelCheck &isAttention) {
  Cluster cluster;
  cluster.ops.assign(members.begin(), members.end());
  cluster.isAttention = true;
  llvm::sort(cluster.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (!isAttention)
    return cluster;
  func::FuncOp function = outlineCluster(cluster, "attention").function;
  bool passes = isAttention(function);
  function->erase();
  return passes ? std::optional(cluster) : std::nullopt;
}

} // namespace millrace::fusion::attention
