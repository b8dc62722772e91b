// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NarrowSums.cpp - Sums with arrays that are almost zero are updates -===//
// Input:   while(%a) do { %f = dynamic_update_slice 0, %u, %i ; %r = add %a, %f ; return %r }
// Output:  while(%a) do { %w = dynamic_slice %a, %i ; %v = add %w, %u ; %r = dynamic_update_slice %a, %v, %i ; return %r }
// Input:   %f = scatter 0, %i, %u ; %r = add %a, %f      where no element is written twice
// Output:  %r = scatter %a, %i, %u by add
// So it is with other operations and the numbers that are neutral for them. The gradient of a loop that reads elements of arrays adds such an array in
// each of its turns. Leaves alone sums outside of loops, sums with +0.0 of arrays that can hold -0.0, which would become +0.0, and arrays that
// are made anew in every turn.
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/Combiners.h"
#include "passes/fusion/ScalarLoop.h"
#include "passes/loops/ArrayUpdates.h"
#include "passes/loops/NegativeZeros.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_NARROWSUMSPASS
#include "passes/loops/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool hasPlainType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && !type.getEncoding();
}

/// The computation returns the update.
bool replaces(ScatterOp op) { return op.getUpdateComputation().front().getTerminator()->getOperand(0) == op.getUpdateComputation().front().getArgument(1); }

/// Every element is written once at most.
bool isOnce(ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  RankedTensorType indices = typeOf(op.getScatterIndices());
  for (int64_t d = 0; d < indices.getRank(); ++d)
    if (d != numbers.getIndexVectorDim() && indices.getDimSize(d) != 1 && !llvm::is_contained(numbers.getScatterIndicesBatchingDims(), d))
      return op.getUniqueIndices();
  return true;
}

/// An array that is one number but for a window.
struct Sparse {
  Operation *update = nullptr; ///< dynamic_update_slice or scatter
  Attribute fill;

  static Sparse of(Value value, Operation *combine) {
    Operation *op = value.getDefiningOp();
    DenseElementsAttr fill;
    bool isUpdate = isa_and_nonnull<DynamicUpdateSliceOp, ScatterOp>(op) && op->getNumResults() == 1 && llvm::all_of(op->getOperands(), hasPlainType) &&
                    matchPattern(op->getOperand(0), m_Constant(&fill)) && fill.isSplat();
    if (!isUpdate)
      return {};
    auto scatter = dyn_cast<ScatterOp>(op);
    Value window = scatter ? scatter.getUpdates()[0] : cast<DynamicUpdateSliceOp>(op).getUpdate();
    Type element = typeOf(value).getElementType();
    if (typeOf(window).getNumElements() >= typeOf(value).getNumElements() || typeOf(window).getElementType() != element)
      return {};
    if (scatter) {
      Block &body = scatter.getUpdateComputation().front();
      Operation *inner = fusion::combinerOf(scatter.getUpdateComputation());
      bool isKnown = replaces(scatter) || (inner && isa<AddOp>(inner) && isa<AddOp>(combine));
      if (!isKnown || !isOnce(scatter) || llvm::any_of(body.getArgumentTypes(), [&](Type type) { return getElementTypeOrSelf(type) != element; }))
        return {};
    }
    return {op, fill.getSplatValue<Attribute>()};
  }
};

/// Combining with `fill` leaves numbers as they are; all but -0.0 if `butNegativeZero` is set.
bool isNeutral(Attribute fill, Operation *combine, bool isRight, bool &butNegativeZero) {
  butNegativeZero = false;
  Type type = getElementTypeOrSelf(combine->getResult(0));
  SmallVector<APFloat, 2> parts;
  if (auto number = dyn_cast<FloatAttr>(fill))
    parts.push_back(number.getValue());
  else if (auto pair = dyn_cast<ArrayAttr>(fill); pair && isa<ComplexType>(type))
    for (Attribute part : pair)
      parts.push_back(cast<FloatAttr>(part).getValue());
  bool isZero = !parts.empty() && llvm::all_of(parts, [](const APFloat &part) { return part.isZero(); });
  if (isa<AddOp>(combine) && isZero) {
    butNegativeZero = llvm::any_of(parts, [](const APFloat &part) { return !part.isNegative(); });
    return true;
  }
  if (isa<SubtractOp>(combine))
    return isRight && (parts.empty() ? matchPattern(fill, m_Zero()) : llvm::all_of(parts, [](const APFloat &part) { return part.isPosZero(); }));
  return isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(combine) && fusion::neutralNumber(*combine, type) == fill;
}

/// `value` is a version of an array that `block`, which is in a loop, does not make anew.
bool livesOn(Value value, Block *block) {
  Value first = firstVersion(value, block);
  return first && (isa<BlockArgument>(first) ? first.getParentBlock() == block || !isa<WhileOp>(block->getParentOp()) : isa<IfOp, CaseOp>(block->getParentOp()));
}

struct NarrowSums : impl::NarrowSumsPassBase<NarrowSums> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      bool isSum = isa<AddOp, SubtractOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(op) && op->getParentOfType<WhileOp>() &&
                   isa<WhileOp, IfOp, CaseOp>(op->getParentOp()) && hasPlainType(op->getResult(0)) && !fusion::isFewScalars(op->getResult(0).getType()) &&
                   op->getOperand(0).getType() == op->getResult(0).getType() && op->getOperand(1).getType() == op->getResult(0).getType();
      if (isSum && llvm::any_of(op->getOperands(), [&](Value operand) { return Sparse::of(operand, op).update; }))
        sums.push_back(op);
    });
    if (sums.empty())
      return;
    NegativeZeros zeros(getOperation());
    for (Operation *sum : sums) // in order: the next one may add to what this one becomes
      narrow(sum, zeros);
  }

  static void narrow(Operation *sum, const NegativeZeros &zeros) {
    for (unsigned side : {1, 0}) {
      Value array = sum->getOperand(1 - side);
      Sparse sparse = Sparse::of(sum->getOperand(side), sum);
      bool butNegativeZero;
      if (!sparse.update || !isNeutral(sparse.fill, sum, side == 1, butNegativeZero) || !livesOn(array, sum->getBlock()))
        continue;
      if (butNegativeZero && zeros.isPossible(array)) {
        remark::missed(sum->getLoc(), remark::RemarkOpts::name("not-narrowed").category("xla-narrow-sums"))
            << "the array can hold -0.0, of which the sum makes +0.0";
        continue;
      }
      Value updated = make(sum, array, sparse.update, side);
      sum->getResult(0).replaceAllUsesWith(updated);
      sum->erase();
      if (sparse.update->use_empty())
        sparse.update->erase();
      return;
    }
  }

  /// `array`, combined with what `update` writes, where it writes.
  static Value make(Operation *sum, Value array, Operation *update, unsigned side) {
    OpBuilder b(sum);
    Location loc = sum->getLoc();
    auto combine = [&](Value now, Value with) {
      IRMapping mapping;
      mapping.map(sum->getOperand(1 - side), now);
      mapping.map(sum->getOperand(side), with);
      Operation *clone = b.clone(*sum, mapping);
      clone->getResult(0).setType(now.getType());
      return clone->getResult(0);
    };
    if (auto slice = dyn_cast<DynamicUpdateSliceOp>(update)) {
      Value now = DynamicSliceOp::create(b, loc, slice.getUpdate().getType(), array, slice.getStartIndices(),
                                         b.getDenseI64ArrayAttr(typeOf(slice.getUpdate()).getShape()));
      return DynamicUpdateSliceOp::create(b, loc, array.getType(), array, combine(now, slice.getUpdate()), slice.getStartIndices());
    }
    auto scatter = cast<ScatterOp>(update);
    auto made = ScatterOp::create(b, loc, TypeRange{array.getType()}, ValueRange{array}, scatter.getScatterIndices(), scatter.getUpdates(),
                                  scatter.getScatterDimensionNumbersAttr(), scatter.getIndicesAreSortedAttr(), scatter.getUniqueIndicesAttr());
    Block &body = made.getUpdateComputation().emplaceBlock();
    auto scalar = RankedTensorType::get({}, typeOf(array).getElementType());
    body.addArguments({scalar, scalar}, {loc, loc});
    b.setInsertionPointToStart(&body);
    ReturnOp::create(b, loc, combine(body.getArgument(0), body.getArgument(1)));
    return made->getResult(0);
  }
};

} // namespace
} // namespace millrace::loops
