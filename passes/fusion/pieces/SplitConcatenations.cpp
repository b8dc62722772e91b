// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitConcatenations.cpp - Compute on concatenated values part by part -===//
// Input:   %k = concatenate %a, %b, dim = 1 : 16x1x384, 16x196x384 ; %0 = add %k, broadcast(%e : 197x384)
// Output:  one kernel: concatenate (add %a, broadcast(slice %e [0:1])), (add %b, broadcast(slice %e [1:197])): no %k in memory
//          So a class token and positions are added to patches, and the collected features of dense blocks are normalized.
// Leaves alone concatenations with several users, slices of other values, operands that are computed in place (lowering/program/Parts.cpp), short and
// small ones, results that are wider than the concatenation.
//===----------------------------------------------------------------------===//
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/plan/Outline.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

#include <utility>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_SPLITCONCATENATIONSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A concatenation of more parts is not computed part by part, because the code grows by each of them. Unit: parts. Source: judgement, not measured
/// alone; commit f452c80 has the figures of the whole change.
constexpr size_t kMaxJoinedParts = 8;
/// More would be a kernel that takes long to compile. Unit: operations of all parts. Source: judgement, not measured alone; commit f452c80 has the
/// figures of the whole change.
constexpr size_t kMaxOpsOfAllParts = 48;
/// Shorter pieces of a row are not worth separate loops. Unit: contiguous elements. Source: judgement, not measured alone; commit f452c80 has the
/// figures of the whole change.
constexpr int64_t kMinPieceElements = 64;
/// A smaller value stays in the nearest cache, where another pass over it costs little. Unit: elements. Source: judgement, not measured alone; commit
/// f452c80 has the figures of the whole change.
constexpr int64_t kMinJoinedElements = 4096;

class Join {
public:
  Join(ConcatenateOp concat, const llvm::DenseSet<Operation *> &taken) : concat(concat), taken(taken), type(typeOf(concat)), dim(concat.getDimension()) {}

  bool pays() const {
    // Somebody else's, small, or read more than once.
    if (!hasVectorizableTypes(concat) || taken.contains(concat) || !concat->hasOneUse() || concat.getInputs().size() < 2 || concat.getInputs().size() > kMaxJoinedParts ||
        type.getNumElements() < kMinJoinedElements)
      return false;
    int64_t inner = 1, outer = 1;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != dim)
        (d < dim ? outer : inner) *= type.getDimSize(d);
    if (inner < kMinPieceElements)
      return false;
    // The concatenation's own kernel reads slices of other values in place.
    auto isPart = [](Value value) { return isa_and_nonnull<SliceOp, ReverseOp, ConcatenateOp>(value.getDefiningOp()); };
    for (Value input : concat.getInputs()) {
      Operation *op = input.getDefiningOp();
      if (isPart(input) || (op && llvm::any_of(op->getOperands(), isPart)))
        return false;
    }
    // Parts of a range are written where they belong.
    return outer > 1 || llvm::none_of(concat.getInputs(), [](Value part) { return part.getDefiningOp(); });
  }

  /// The operations behind the concatenation, each of which is read by the next one only.
  bool follow() {
    Value value = concat.getResult();
    while (value.hasOneUse()) {
      Operation *next = *value.user_begin();
      if (!isMember(next, value))
        break;
      members.push_back(next);
      value = next->getResult(0);
    }
    return !members.empty() && members.size() * concat.getInputs().size() <= kMaxOpsOfAllParts &&
           typeOf(value).getElementTypeBitWidth() <= type.getElementTypeBitWidth();
  }

  Cluster split() {
    Operation *root = members.back(), *before = root->getPrevNode();
    OpBuilder b(root);
    Cluster cluster;
    // A part that only repeats elements is repeated in the kernel.
    for (Value input : concat.getInputs())
      if (auto broadcast = input.getDefiningOp<BroadcastInDimOp>(); broadcast && input.hasOneUse() && broadcast->getBlock() == concat->getBlock() &&
          !taken.contains(broadcast) && hasVectorizableTypes(broadcast) && classify(broadcast) != OpRole::Duplicated)
        cluster.ops.push_back(broadcast);
    auto isFollowed = [&](Operation *op) { return op == concat || isa<BroadcastInDimOp, ConstantOp>(op) || llvm::is_contained(members, op); };
    SmallVector<Value> parts;
    int64_t offset = 0;
    for (Value input : concat.getInputs()) {
      int64_t begin = std::exchange(offset, offset + typeOf(input).getDimSize(dim));
      parts.push_back(boxOf(b, root->getLoc(), root->getResult(0), Box::along(type.getShape(), dim, begin, offset), isFollowed));
    }
    auto joined = ConcatenateOp::create(b, concat->getLoc(), root->getResult(0).getType(), parts, uint64_t(dim));
    root->getResult(0).replaceAllUsesWith(joined.getResult());
    for (Operation *op = before->getNextNode(); op != root; op = op->getNextNode())
      if (classify(op) != OpRole::Duplicated) // a number that is known is no operation of the kernel's own
        cluster.ops.push_back(op);
    for (Operation *member : llvm::reverse(members))
      member->erase();
    concat->erase();
    return cluster;
  }

private:
  bool isMember(Operation *op, Value joined) const {
    if (op->getBlock() != concat->getBlock() || taken.contains(op) || classify(op) != OpRole::Elementwise || !hasVectorizableTypes(op) ||
        op->getNumRegions() != 0 || op->getNumResults() != 1 || typeOf(op->getResult(0)).getShape() != type.getShape())
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      if (operand == joined)
        return true;
      if (typeOf(operand).getShape() != type.getShape())
        return false;
      DenseElementsAttr number;
      if (auto constant = operand.getDefiningOp<ConstantOp>())
        return matchPattern(operand, m_Constant(&number)) && number.isSplat();
      if (auto broadcast = operand.getDefiningOp<BroadcastInDimOp>())
        return hasVectorizableTypes(broadcast);
      return !operand.getDefiningOp(); // an argument: what is computed may want to join this kernel
    });
  }

  mutable ConcatenateOp concat; // handles have no const accessors
  const llvm::DenseSet<Operation *> &taken;
  RankedTensorType type;
  int64_t dim;
  SmallVector<Operation *> members;
};

struct SplitConcatenations : impl::SplitConcatenationsPassBase<SplitConcatenations> {
  void runOnOperation() override {
    KernelOutliner outliner(getOperation());
    forEachProgramBlock(getOperation(), [&](Block &block) { outliner.outline(splitIn(block)); });
  }

  static std::vector<Cluster> splitIn(Block &block) {
    std::vector<Cluster> found;
    llvm::DenseSet<Operation *> taken;
    SmallVector<ConcatenateOp> concats(block.getOps<ConcatenateOp>());
    for (ConcatenateOp concat : concats) {
      Join join(concat, taken);
      if (!join.pays() || !join.follow())
        continue;
      found.push_back(join.split());
      taken.insert(found.back().ops.begin(), found.back().ops.end());
    }
    return found;
  }
};

} // namespace
} // namespace millrace::fusion
