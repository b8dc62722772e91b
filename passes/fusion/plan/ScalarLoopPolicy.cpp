// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarLoopPolicy.cpp - Loops that can be one kernel ----------------===//
#include "passes/fusion/plan/ScalarLoopPolicy.h"

#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/loops/ArrayUpdates.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// Scalars that the code of one loop may compute; more is not worth the time to compile it. Unit: scalars. Source: judgement, not measured alone;
/// commit 4b4b198 has the figures of the whole change.
constexpr int64_t kMaxLoopScalars = 2048;

bool isNumber(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return isa<IntegerType, FloatType>(element);
}

/// A tensor in memory.
bool isArray(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isNumber(tensor.getElementType()) && tensor.getNumElements() > kMaxScalars;
}

bool allFew(TypeRange types) { return llvm::all_of(types, isFewScalars); }

class Checker {
public:
  bool accepts(WhileOp loop) {
    if (!carriesWell(loop))
      return false;
    return region(loop.getCond(), /*canUpdate=*/false) && region(loop.getBody(), /*canUpdate=*/true);
  }

private:
  bool carriesWell(WhileOp loop) {
    Block &cond = loop.getCond().front(), &body = loop.getBody().front();
    Operation *yield = body.getTerminator();
    if (yield->getNumOperands() != loop->getNumOperands())
      return false;
    for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
      Type type = loop->getOperand(i).getType();
      if (type != loop->getResult(i).getType() || type != body.getArgument(i).getType() || type != cond.getArgument(i).getType())
        return false;
      if (isFewScalars(type))
        continue;
      if (!isArray(type) || loops::firstVersion(yield->getOperand(i), &body) != body.getArgument(i) ||
          !updatesInOrder(cond.getArgument(i), &cond) || !updatesInOrder(body.getArgument(i), &body))
        return false;
    }
    return true;
  }

  /// At most one operation of `block` makes one new value of the array, after all others have read it; so in its branches.
  static bool updatesInOrder(Value array, Block *block) {
    Operation *update = nullptr;
    SmallVector<Operation *> readers;
    for (Operation *user : array.getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!here)
        continue;
      bool isUpdate = here->hasTrait<OpTrait::IsTerminator>() || isa<WhileOp>(user) || loops::updates(here, array);
      if (!isUpdate) {
        readers.push_back(here);
        continue;
      }
      bool isBranch = isa<IfOp, CaseOp>(here);
      if ((update && update != here) || (!isBranch && (here != user || llvm::count(here->getOperands(), array) != 1)))
        return false;
      update = here;
    }
    if (!update)
      return true;
    if (!llvm::all_of(readers, [&](Operation *reader) { return reader->isBeforeInBlock(update); }))
      return false;
    if (!isa<IfOp, CaseOp>(update))
      return true;
    return llvm::count_if(update->getResults(), [&](Value next) { return loops::updatedValue(next) == array; }) == 1 &&
           llvm::all_of(update->getRegions(), [&](Region &branch) { return updatesInOrder(array, &branch.front()); });
  }

  bool region(Region &region, bool canUpdate) {
    if (!llvm::hasSingleElement(region))
      return false;
    for (Operation &op : region.front()) {
      for (Value result : op.getResults())
        if (auto tensor = dyn_cast<RankedTensorType>(result.getType()))
          code += isFewScalars(tensor) ? tensor.getNumElements() : 1;
      if (code > kMaxLoopScalars || !accepts(&op, canUpdate))
        return false;
    }
    return true;
  }

  /// Returns true if all operations of the region compute scalars, as those of reducers do.
  static bool isScalarRegion(Region &region) {
    return llvm::hasSingleElement(region) && llvm::all_of(region.front(), [](Operation &op) {
             auto isScalar = [](Type type) { return isFewScalars(type) && cast<RankedTensorType>(type).getRank() == 0; };
             return llvm::all_of(op.getOperandTypes(), isScalar) && llvm::all_of(op.getResultTypes(), isScalar) &&
                    (isa<ConstantOp>(op) || op.hasTrait<OpTrait::IsTerminator>() || classify(&op) == OpRole::Elementwise);
           });
  }

  bool accepts(Operation *op, bool canUpdate) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return llvm::all_of(op->getOperandTypes(), [&](Type type) { return isFewScalars(type) || (canUpdate && isArray(type)); });
    TypeRange operands(op->getOperandTypes());
    if (auto constant = dyn_cast<ConstantOp>(op))
      return isFewScalars(constant.getType()) && isa<DenseElementsAttr>(constant.getValue());
    if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
      if (!allFew(operands.drop_front()))
        return false;
      return isFewScalars(update.getType()) || (canUpdate && canChange(update.getOperand(), update.getResult()));
    }
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return canUpdate && scatter.getInputs().size() == 1 && allFew(operands.drop_front()) &&
             canChange(scatter.getInputs()[0], scatter->getResult(0)) && isScalarRegion(scatter.getUpdateComputation());
    if (isa<DynamicSliceOp, GatherOp>(op))
      return (isFewScalars(operands[0]) ? !isa<GatherOp>(op) : isArray(operands[0])) && allFew(operands.drop_front()) &&
             allFew(op->getResultTypes());
    if (isa<SliceOp>(op) && isArray(operands[0]))
      return allFew(op->getResultTypes());
    if (auto loop = dyn_cast<WhileOp>(op)) {
      for (auto [operand, result] : llvm::zip_equal(loop->getOperands(), loop->getResults()))
        if (!isFewScalars(operand.getType()) && (!canUpdate || !canChange(operand, result)))
          return false;
      return accepts(loop);
    }
    if (isa<IfOp, CaseOp>(op)) {
      for (Value result : op->getResults())
        if (!isFewScalars(result.getType()) && (!canUpdate || !isArray(result.getType()) || !canChange(loops::updatedValue(result), result)))
          return false;
      return allFew(operands) && llvm::all_of(op->getRegions(), [&](Region &inner) { return region(inner, canUpdate); });
    }
    if (!allFew(operands) || !allFew(op->getResultTypes()))
      return false;
    // A bitcast keeps the number of elements only between types of equal widths.
    if (auto cast = dyn_cast<BitcastConvertOp>(op))
      return mlir::cast<ShapedType>(cast.getOperand().getType()).getShape() == mlir::cast<ShapedType>(cast.getType()).getShape();
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return isScalarRegion(reduce.getBody());
    return isa<IotaOp, ReshapeOp, BroadcastInDimOp, SliceOp, ConcatenateOp, TransposeOp, ReverseOp, OptimizationBarrierOp>(op) ||
           classify(op) == OpRole::Elementwise;
  }

  /// The array is carried by a loop, or what branches make of one that is, so that its memory may change, and `next`, its new value, is too.
  static bool canChange(Value array, Value next) {
    Block *block = next.getParentBlock();
    Operation *parent = block->getParentOp();
    Value first = loops::firstVersion(array, block);
    if (!array || !isArray(array.getType()) || !first || !updatesInOrder(next, block))
      return false;
    if (auto argument = dyn_cast<BlockArgument>(first); argument && argument.getOwner() == block)
      return isa<WhileOp>(parent);
    // From outside: changed although the region returns nothing of it, unless it is a branch that does.
    return isa<IfOp, CaseOp>(parent) && loops::updates(parent, first);
  }

  int64_t code = 0;
};

} // namespace

bool isFewScalars(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isNumber(tensor.getElementType()) && tensor.getNumElements() <= kMaxScalars &&
         tensor.getNumElements() > 0;
}

bool isScalarLoop(WhileOp loop) {
  for (Value operand : loop->getOperands())
    if (!isFewScalars(operand.getType()) && !isArray(operand.getType()))
      return false;
  return Checker().accepts(loop);
}

} // namespace millrace::fusion
