// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitConcatenations.cpp - Compute on concatenated values part by part -===//
// Input:   %k = concatenate %a, %b, dim = 1 : 16x1x384, 16x196x384 ; %0 = add %k, broadcast(%e : 197x384)
// Output:  one kernel: concatenate (add %a, broadcast(slice %e [0:1])), (add %b, broadcast(slice %e [1:197])): no %k in memory
//          So a class token and positions are added to patches, and the collected features of dense blocks are normalized.
// Leaves alone concatenations with several users, slices of other values, operands that are computed in place (lowering/program/Parts.cpp), short and
// small ones, results that are wider than the concatenation.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Outline.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/ProgramBlocks.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

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

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

class Join {
public:
  Join(ConcatenateOp concat, const llvm::DenseSet<Operation *> &taken) : concat(concat), taken(taken), type(typeOf(concat)), dim(concat.getDimension()) {}

  bool pays() const {
    // Somebody else's, small, or read more than once.
    if (!hasPlainNumbers(concat) || taken.contains(concat) || !concat->hasOneUse() || concat.getInputs().size() < 2 || concat.getInputs().size() > kMaxJoinedParts ||
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
    Operation *root = members.back();
    OpBuilder b(root);
    Cluster cluster;
    SmallVector<Value> parts;
    int64_t offset = 0;
    for (Value input : concat.getInputs()) {
      int64_t size = typeOf(input).getDimSize(dim);
      IRMapping mapping;
      mapping.map(concat.getResult(), own(b, input, cluster));
      for (Operation *member : members) {
        for (Value operand : member->getOperands())
          if (!mapping.contains(operand))
            mapping.map(operand, cutOut(b, operand, offset, size, cluster));
        Operation *copy = b.clone(*member, mapping);
        copy->getResult(0).setType(partOf(typeOf(member->getResult(0)), size));
        mapping.map(member->getResult(0), copy->getResult(0));
        cluster.ops.push_back(copy);
      }
      parts.push_back(mapping.lookup(root->getResult(0)));
      offset += size;
    }
    auto joined = ConcatenateOp::create(b, concat->getLoc(), root->getResult(0).getType(), parts, uint64_t(dim));
    cluster.ops.push_back(joined);
    root->getResult(0).replaceAllUsesWith(joined.getResult());
    for (Operation *member : llvm::reverse(members))
      member->erase();
    SmallVector<Value> inputs(concat.getInputs());
    concat->erase();
    for (Value input : inputs)
      if (Operation *op = input.getDefiningOp(); isa_and_nonnull<BroadcastInDimOp>(op) && op->use_empty())
        op->erase();
    return cluster;
  }

private:
  bool isMember(Operation *op, Value joined) const {
    if (op->getBlock() != concat->getBlock() || taken.contains(op) || classify(op) != OpRole::Elementwise || !hasPlainNumbers(op) ||
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
        return hasPlainNumbers(broadcast);
      return !operand.getDefiningOp(); // an argument: what is computed may want to join this kernel
    });
  }

  RankedTensorType partOf(RankedTensorType whole, int64_t size) const {
    SmallVector<int64_t> shape(whole.getShape());
    shape[dim] = size;
    return whole.clone(shape);
  }

  /// A part that only repeats elements is repeated in the kernel.
  Value own(OpBuilder &b, Value input, Cluster &cluster) const {
    auto broadcast = input.getDefiningOp<BroadcastInDimOp>();
    if (!broadcast || !input.hasOneUse() || broadcast->getBlock() != concat->getBlock() || taken.contains(broadcast) || !hasPlainNumbers(broadcast))
      return input;
    cluster.ops.push_back(b.clone(*broadcast));
    return cluster.ops.back()->getResult(0);
  }

  Value sliced(OpBuilder &b, Value value, int64_t along, int64_t offset, int64_t size, Cluster &cluster) const {
    RankedTensorType whole = typeOf(value);
    SmallVector<int64_t> start(whole.getRank(), 0), limit(whole.getShape()), steps(whole.getRank(), 1), shape(whole.getShape());
    start[along] = offset, limit[along] = offset + size, shape[along] = size;
    auto slice = SliceOp::create(b, value.getLoc(), whole.clone(shape), value, b.getDenseI64ArrayAttr(start), b.getDenseI64ArrayAttr(limit),
                                 b.getDenseI64ArrayAttr(steps));
    cluster.ops.push_back(slice);
    return slice;
  }

  /// Returns the slice of another operand that corresponds to a part.
  Value cutOut(OpBuilder &b, Value value, int64_t offset, int64_t size, Cluster &cluster) const {
    DenseElementsAttr number;
    RankedTensorType part = partOf(typeOf(value), size);
    if (matchPattern(value, m_Constant(&number)))
      return ConstantOp::create(b, value.getLoc(), number.resizeSplat(part));
    auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
    if (!broadcast)
      return sliced(b, value, dim, offset, size, cluster);
    Value source = broadcast.getOperand();
    auto along = llvm::find(broadcast.getBroadcastDimensions(), dim);
    if (along != broadcast.getBroadcastDimensions().end()) {
      int64_t at = along - broadcast.getBroadcastDimensions().begin();
      if (typeOf(source).getDimSize(at) != 1)
        source = sliced(b, source, at, offset, size, cluster);
    }
    auto repeated = BroadcastInDimOp::create(b, value.getLoc(), part, source, broadcast.getBroadcastDimensionsAttr());
    // A number that is known is no operation of the kernel's own.
    if (classify(repeated) != OpRole::Duplicated)
      cluster.ops.push_back(repeated);
    return repeated;
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
