// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarLoop.cpp - Loops that can be one kernel ----------------------===//
#include "passes/fusion/ScalarLoop.h"

#include "passes/fusion/FusionPolicy.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// Scalars that the code of one loop may compute; more is not worth the time to compile it.
constexpr int64_t kMaxCode = 2048;

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
  /// `value` is a carried array at the start of the iteration, or an update of it.
  static bool isUpdateOf(Value value, Value carried) {
    while (value != carried) {
      if (auto update = value.getDefiningOp<DynamicUpdateSliceOp>())
        value = update.getOperand();
      else if (auto scatter = value.getDefiningOp<ScatterOp>())
        value = scatter.getInputs()[cast<OpResult>(value).getResultNumber()];
      else if (auto loop = value.getDefiningOp<WhileOp>())
        value = loop->getOperand(cast<OpResult>(value).getResultNumber());
      else
        return false;
    }
    return true;
  }

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
      if (!isArray(type) || !isUpdateOf(yield->getOperand(i), body.getArgument(i)) ||
          !updatesInOrder(cond.getArgument(i)) || !updatesInOrder(body.getArgument(i)))
        return false;
    }
    return true;
  }

  /// At most one operation makes a new value of the array, after all others have read it.
  static bool updatesInOrder(Value array) {
    Block *block = array.getParentBlock();
    Operation *update = nullptr;
    for (Operation *user : array.getUsers())
      if (isa<DynamicUpdateSliceOp, ScatterOp, WhileOp>(user) || user->hasTrait<OpTrait::IsTerminator>()) {
        if (update || user->getBlock() != block)
          return false;
        update = user;
      }
    return llvm::all_of(array.getUsers(), [&](Operation *user) {
      Operation *here = block->findAncestorOpInBlock(*user);
      return user == update || !update || here->isBeforeInBlock(update);
    });
  }

  bool region(Region &region, bool canUpdate) {
    if (!llvm::hasSingleElement(region))
      return false;
    for (Operation &op : region.front()) {
      for (Value result : op.getResults())
        if (auto tensor = dyn_cast<RankedTensorType>(result.getType()))
          code += isFewScalars(tensor) ? tensor.getNumElements() : 1;
      if (code > kMaxCode || !accepts(&op, canUpdate))
        return false;
    }
    return true;
  }

  /// Computations on scalars: reducers and the like.
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
    if (auto loop = dyn_cast<WhileOp>(op)) {
      for (auto [operand, result] : llvm::zip_equal(loop->getOperands(), loop->getResults()))
        if (!isFewScalars(operand.getType()) && (!canUpdate || !canChange(operand, result)))
          return false;
      return accepts(loop);
    }
    if (!allFew(operands) || !allFew(op->getResultTypes()))
      return false;
    // The same bits as another type; between widths, elements would be parts of others.
    if (auto cast = dyn_cast<BitcastConvertOp>(op))
      return mlir::cast<ShapedType>(cast.getOperand().getType()).getShape() == mlir::cast<ShapedType>(cast.getType()).getShape();
    if (isa<IfOp, CaseOp>(op))
      return llvm::all_of(op->getRegions(), [&](Region &inner) { return region(inner, /*canUpdate=*/false); });
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return isScalarRegion(reduce.getBody());
    return isa<IotaOp, ReshapeOp, BroadcastInDimOp, SliceOp, ConcatenateOp, TransposeOp, ReverseOp, OptimizationBarrierOp>(op) ||
           classify(op) == OpRole::Elementwise;
  }

  /// The array is carried by a loop, so that its memory may change, and `next`, its new value, is too.
  static bool canChange(Value array, Value next) {
    auto root = [](Value value) {
      while (Operation *op = value.getDefiningOp()) {
        if (!isa<DynamicUpdateSliceOp, ScatterOp, WhileOp>(op))
          return Value();
        value = op->getOperand(cast<OpResult>(value).getResultNumber());
      }
      return value;
    };
    Value carried = root(array);
    auto argument = dyn_cast_or_null<BlockArgument>(carried);
    // Of this block: in a nested region, the array would be changed although the region returns nothing of it.
    return isArray(array.getType()) && argument && isa<WhileOp>(argument.getOwner()->getParentOp()) &&
           argument.getOwner() == next.getParentBlock() && updatesInOrder(next);
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
