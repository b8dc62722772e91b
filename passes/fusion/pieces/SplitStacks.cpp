// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitStacks.cpp - Compute on stacked values part by part --------------===//
// Input:   %k = concatenate(reshape(%a), reshape(%b)), dim = 0 : 2x1000 ; %y = add %x, %k ; %0 = reshape(slice(%y, [0:1])) ; %1 = ...
// Output:  %0 = add (reshape (slice %x, [0:1])), %a ; %1 = ... ; no %k, %y only where it is read as a whole (concatenate(%0, %1))
//          Systems of differential equations, rotations and colours are written this way: a stack of components that the next operations slice again.
//          Part by part all of them share kernels; a stack between two kernels is stored.
// Leaves alone stacks along inner dimensions (their parts are not contiguous), those without a user that reads a part, large ones that are read as a
// whole, too, small values (they share a kernel anyway), and more parts and operations than a kernel takes.
//===----------------------------------------------------------------------===//
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_SPLITSTACKSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A stack of more values is not taken apart, because the code grows by each of them. Unit: parts. Source: judgement, not measured alone; chosen in
/// commit 347f938.
constexpr size_t kMaxStackedParts = 8;
/// More would be a kernel that takes long to compile. Unit: operations after splitting. Source: judgement, not measured alone; chosen in commit
/// 347f938.
constexpr size_t kMaxOpsAfterSplit = 96;
/// A value of no more elements is tiny (FusionPolicy.cpp) and needs no help. Unit: elements. Source: judgement, not measured alone; chosen in commit
/// 347f938.
constexpr int64_t kMaxUnsplitElements = 256;
/// A value of no more elements may be stacked behind its parts, because it has not left the caches: 256 KB of f32. Unit: elements. Source: judgement,
/// not measured alone; chosen in commit 347f938.
constexpr int64_t kMaxStackedBehindElements = 64 << 10;

/// How all values of one group are cut.
struct Cut {
  RankedTensorType whole; ///< its shape
  int64_t dim;
  SmallVector<int64_t> bounds; ///< of the parts, along `dim`
  size_t parts() const { return bounds.size() - 1; }
};

/// Stacks that are put together alike, and what is computed of them element by element.
class Group {
public:
  Group(ConcatenateOp first) : block(first->getBlock()), cut(cutOf(first)) {}

  /// Returns true if the parts of the value are contiguous.
  static bool canStart(ConcatenateOp concat) {
    auto type = typeOf(concat);
    return hasVectorizableTypes(concat) && concat.getInputs().size() >= 2 && concat.getInputs().size() <= kMaxStackedParts && type.getNumElements() > kMaxUnsplitElements &&
           llvm::all_of(type.getShape().take_front(concat.getDimension()), [](int64_t size) { return size == 1; }) &&
           llvm::none_of(concat.getInputs(), [](Value part) { return typeOf(part).getNumElements() == 0; });
  }

  void grow(ConcatenateOp first) {
    SmallVector<Operation *> open{first};
    members.insert(first);
    auto add = [&](Operation *op) {
      if (op->getBlock() == block && isMember(op) && members.insert(op))
        open.push_back(op);
    };
    while (!open.empty() && members.size() <= kMaxOpsAfterSplit) {
      Operation *op = open.pop_back_val();
      for (Operation *user : op->getUsers())
        add(user);
      if (!isa<ConcatenateOp>(op))
        for (Value operand : op->getOperands())
          if (Operation *maker = operand.getDefiningOp(); maker && isa<ConcatenateOp>(maker))
            add(maker);
    }
  }

  bool contains(Operation *op) const { return members.contains(op); }

  bool pays() const {
    bool isTakenApart = false, isReadWhole = false;
    size_t computed = 0;
    for (Operation *op : members) {
      computed += !isa<ConcatenateOp>(op);
      for (Operation *user : op->getUsers()) {
        bool isPart = partReadBy(user).has_value();
        isTakenApart |= isPart;
        isReadWhole |= !isPart && !members.contains(user);
      }
    }
    return isTakenApart && computed > 0 && computed * cut.parts() <= kMaxOpsAfterSplit &&
           (!isReadWhole || cut.whole.getNumElements() <= kMaxStackedBehindElements);
  }

  void split() {
    KnownBoxes known;
    auto isFollowed = [&](Operation *op) {
      return members.contains(op) || isa<ConstantOp>(op) || (isa<BroadcastInDimOp>(op) && typeOf(op->getOperand(0)).getRank() == 0);
    };
    auto partOf = [&](OpBuilder &b, Value whole, size_t i) {
      return boxOf(b, whole.getLoc(), whole, Box::along(cut.whole.getShape(), cut.dim, cut.bounds[i], cut.bounds[i + 1]), isFollowed, &known);
    };
    for (Operation &op : llvm::make_early_inc_range(*block)) { // makers before users
      OpBuilder b(&op);
      if (auto slice = dyn_cast<SliceOp>(op); slice && members.contains(slice.getOperand().getDefiningOp())) {
        if (std::optional<size_t> part = partReadBy(slice)) {
          Box inner = Box::of(slice);
          inner.start[cut.dim] -= cut.bounds[*part], inner.limit[cut.dim] -= cut.bounds[*part];
          slice.getResult().replaceAllUsesWith(boxOf(b, slice.getLoc(), partOf(b, slice.getOperand(), *part), inner));
        }
        continue;
      }
      // Users of the whole value get a concatenation of the parts.
      auto readsWhole = [&](OpOperand &use) { return !members.contains(use.getOwner()) && !(use.getOwner()->getBlock() == block && partReadBy(use.getOwner())); };
      if (!members.contains(&op) || isa<ConcatenateOp>(op) || llvm::none_of(op.getUses(), readsWhole))
        continue;
      b.setInsertionPointAfter(&op);
      SmallVector<Value> parts;
      for (size_t i = 0; i < cut.parts(); ++i)
        parts.push_back(partOf(b, op.getResult(0), i));
      Value joined = ConcatenateOp::create(b, op.getLoc(), cut.whole.clone(typeOf(op.getResult(0)).getElementType()), parts, uint64_t(cut.dim));
      op.getResult(0).replaceUsesWithIf(joined, readsWhole);
    }
    // The stack, its slices and unused parts are erased. Other stacks follow later.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op) && (members.contains(&op) || !isa<ConcatenateOp>(op)))
        op.erase();
  }

private:
  static Cut cutOf(ConcatenateOp concat) {
    Cut cut{typeOf(concat), int64_t(concat.getDimension()), {0}};
    for (Value part : concat.getInputs())
      cut.bounds.push_back(cut.bounds.back() + typeOf(part).getDimSize(cut.dim));
    return cut;
  }

  bool isMember(Operation *op) const {
    if (auto concat = dyn_cast<ConcatenateOp>(op))
      return canStart(concat) && typeOf(concat).getShape() == cut.whole.getShape() && int64_t(concat.getDimension()) == cut.dim &&
             cutOf(concat).bounds == cut.bounds;
    return classify(op) == OpRole::Elementwise && hasVectorizableTypes(op) && op->getNumRegions() == 0 &&
           typeOf(op->getResult(0)).getShape() == cut.whole.getShape() && llvm::all_of(op->getOperands(), [&](Value operand) {
             return typeOf(operand).getRank() == 0 || typeOf(operand).getShape() == cut.whole.getShape();
           });
  }

  /// Returns the part that `user`, a slice of a member's result, is or is contained in.
  std::optional<size_t> partReadBy(Operation *user) const {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice)
      return std::nullopt;
    for (size_t i = 0; i < cut.parts(); ++i)
      if (slice.getStartIndices()[cut.dim] >= cut.bounds[i] && slice.getLimitIndices()[cut.dim] <= cut.bounds[i + 1])
        return i;
    return std::nullopt;
  }

  Block *block;
  Cut cut;
  llvm::SetVector<Operation *> members;
};

struct SplitStacks : impl::SplitStacksPassBase<SplitStacks> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      llvm::SetVector<Operation *> open;
      for (auto concat : block.getOps<ConcatenateOp>())
        if (Group::canStart(concat))
          open.insert(concat);
      while (!open.empty()) {
        auto first = cast<ConcatenateOp>(open.pop_back_val());
        Group group(first);
        group.grow(first);
        open.remove_if([&](Operation *op) { return group.contains(op); });
        if (group.pays())
          group.split();
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion
