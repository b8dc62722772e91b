// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitStacks.cpp - Compute on stacked values part by part --------------===//
// Input:   %k = concatenate(reshape(%a), reshape(%b)), dim = 0 : 2x1000 ; %y = add %x, %k ; %0 = reshape(slice(%y, [0:1])) ; %1 = ...
// Output:  %0 = add (reshape (slice %x, [0:1])), %a ; %1 = ... ; no %k, %y only where it is read as a whole (concatenate(%0, %1))
//          Systems of differential equations, rotations and colours are written this way: a stack of components that the next operations slice again.
//          Part by part all of them share kernels; a stack between two kernels is stored.
// Leaves alone stacks along inner dimensions (their parts are not contiguous), those without a user that reads a part, large ones that are read as a
// whole, too, small values (they share a kernel anyway), and more parts and operations than a kernel takes.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/ProgramBlocks.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
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

  /// Without `dim` where it has one element: what is stacked has no such dimension.
  SmallVector<int64_t> shapeOf(size_t part) const {
    SmallVector<int64_t> shape(whole.getShape());
    shape[dim] = bounds[part + 1] - bounds[part];
    if (shape[dim] == 1)
      shape.erase(shape.begin() + dim);
    return shape;
  }
};

/// Stacks that are put together alike, and what is computed of them element by element.
class Group {
public:
  Group(ConcatenateOp first) : block(first->getBlock()), cut(cutOf(first)) {}

  /// Returns true if the parts of the value are contiguous.
  static bool canStart(ConcatenateOp concat) {
    auto type = typeOf(concat);
    return hasPlainNumbers(concat) && concat.getInputs().size() >= 2 && concat.getInputs().size() <= kMaxStackedParts && type.getNumElements() > kMaxUnsplitElements &&
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
    for (Operation &op : llvm::make_early_inc_range(*block)) { // makers before users
      if (!members.contains(&op))
        continue;
      OpBuilder b(&op);
      SmallVector<Value> &parts = partsOf[op.getResult(0)];
      for (size_t i = 0; i < cut.parts(); ++i)
        parts.push_back(isa<ConcatenateOp>(op) ? shaped(b, op.getOperand(i), cut.shapeOf(i)) : partOf(b, &op, i));
    }
    for (Operation *op : members)
      replaceReaders(op->getResult(0));
    // The stack, its reshapes, which would count as users, and unused parts are erased. Other stacks follow later.
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
    return classify(op) == OpRole::Elementwise && hasPlainNumbers(op) && op->getNumRegions() == 0 &&
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

  static Value shaped(OpBuilder &b, Value value, ArrayRef<int64_t> shape) {
    if (typeOf(value).getShape() == shape)
      return value;
    if (auto reshape = value.getDefiningOp<ReshapeOp>(); reshape && typeOf(reshape.getOperand()).getShape() == shape)
      return reshape.getOperand();
    return ReshapeOp::create(b, value.getLoc(), typeOf(value).clone(shape), value);
  }

  /// Part `i` of what `op` computes.
  Value partOf(OpBuilder &b, Operation *op, size_t i) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (typeOf(operand).getRank() != 0 && !mapping.contains(operand))
        mapping.map(operand, operandPart(b, operand, i));
    Operation *copy = b.clone(*op, mapping);
    copy->getResult(0).setType(typeOf(op->getResult(0)).clone(cut.shapeOf(i)));
    return copy->getResult(0);
  }

  Value operandPart(OpBuilder &b, Value value, size_t i) {
    if (auto known = partsOf.find(value); known != partsOf.end())
      return known->second[i];
    Value &part = outside[{value, i}];
    if (!part)
      part = cutOut(b, value, i);
    return part;
  }

  Value cutOut(OpBuilder &b, Value value, size_t i) {
    RankedTensorType type = typeOf(value).clone(cut.shapeOf(i));
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return ConstantOp::create(b, value.getLoc(), splat.resizeSplat(type));
    if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>(); broadcast && typeOf(broadcast.getOperand()).getRank() == 0)
      return BroadcastInDimOp::create(b, value.getLoc(), type, broadcast.getOperand(), broadcast.getBroadcastDimensionsAttr());
    return shaped(b, boxOf(b, value.getLoc(), value, Box::along(cut.whole.getShape(), cut.dim, cut.bounds[i], cut.bounds[i + 1])), cut.shapeOf(i));
  }

  /// Also where `from` is a part itself: what is stacked may have been taken apart before.
  void replace(Value from, Value to) {
    from.replaceAllUsesWith(to);
    for (auto &[value, parts] : partsOf)
      llvm::replace(parts, from, to);
    for (auto &[key, part] : outside)
      if (part == from)
        part = to;
  }

  void replaceReaders(Value whole) {
    const SmallVector<Value> &parts = partsOf.find(whole)->second;
    for (OpOperand &use : llvm::make_early_inc_range(whole.getUses())) {
      std::optional<size_t> part = partReadBy(use.getOwner());
      if (!part || members.contains(use.getOwner()))
        continue;
      auto slice = cast<SliceOp>(use.getOwner());
      OpBuilder b(slice);
      SmallVector<int64_t> shape(cut.whole.getShape());
      shape[cut.dim] = cut.bounds[*part + 1] - cut.bounds[*part];
      Value own = parts[*part];
      if (typeOf(slice).getShape() == ArrayRef(shape)) {
        // Often a reshape drops the dimension that stacking has added: no trace of both remains.
        for (Operation *user : llvm::make_early_inc_range(slice->getUsers()))
          if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && reshape.getType() == own.getType())
            replace(reshape.getResult(), own), reshape.erase();
        replace(slice.getResult(), shaped(b, own, shape));
      } else {
        Box inner = Box::of(slice);
        inner.start[cut.dim] -= cut.bounds[*part], inner.limit[cut.dim] -= cut.bounds[*part];
        replace(slice.getResult(), boxOf(b, slice.getLoc(), shaped(b, own, shape), inner));
      }
      slice.erase();
    }
    // Users of the whole value get a concatenation of the parts, created once.
    if (isa<ConcatenateOp>(whole.getDefiningOp()) || llvm::all_of(whole.getUsers(), [&](Operation *user) { return members.contains(user); }))
      return;
    OpBuilder b(whole.getContext());
    b.setInsertionPointAfter(whole.getDefiningOp());
    SmallVector<Value> stacked;
    for (auto [i, part] : llvm::enumerate(parts)) {
      SmallVector<int64_t> shape(cut.whole.getShape());
      shape[cut.dim] = cut.bounds[i + 1] - cut.bounds[i];
      stacked.push_back(shaped(b, part, shape));
    }
    Value joined = ConcatenateOp::create(b, whole.getLoc(), whole.getType(), stacked, uint64_t(cut.dim));
    whole.replaceUsesWithIf(joined, [&](OpOperand &use) { return !members.contains(use.getOwner()); });
  }

  Block *block;
  Cut cut;
  llvm::SetVector<Operation *> members;
  llvm::DenseMap<Value, SmallVector<Value>> partsOf;
  llvm::DenseMap<std::pair<Value, size_t>, Value> outside; ///< parts of operands that are no members
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
