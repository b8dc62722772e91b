// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NegativeZeros.cpp - Find the arrays that may hold -0.0 -------------===//
#include "passes/loops/NegativeZeros.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/pieces/Combiners.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::loops {

namespace {

bool hasNegativeZero(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return isa<FloatType>(element);
}

/// Returns true for types in which sums that round to zero are exact.
bool hasExactSmallSums(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64();
}

bool holdsNegativeZero(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return true;
  auto isNegativeZero = [](const APFloat &number) { return number.isNegZero(); };
  if (isa<FloatType>(elements.getElementType()))
    return elements.isSplat() ? elements.getSplatValue<APFloat>().isNegZero() : llvm::any_of(elements.getValues<APFloat>(), isNegativeZero);
  auto isPartNegative = [](const std::complex<APFloat> &number) { return number.real().isNegZero() || number.imag().isNegZero(); };
  return llvm::any_of(elements.getValues<std::complex<APFloat>>(), isPartNegative);
}

/// Returns true if every element of a result is an element of an operand.
bool movesElements(Operation *op) {
  return isa<SelectOp, ReshapeOp, BroadcastInDimOp, TransposeOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp, ConcatenateOp, PadOp, ReverseOp,
             MaxOp, MinOp, ClampOp, OptimizationBarrierOp>(op);
}

/// Returns true for operations whose results are positive or +0.0: squares, magnitudes, powers of e.
bool isNeverNegative(Operation *op) {
  if (!isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
    return false;
  return isa<AbsOp, ExpOp, LogisticOp>(op) || (isa<MulOp>(op) && op->getOperand(0) == op->getOperand(1));
}

bool isBranchOrLoop(Operation *op) { return isa_and_nonnull<WhileOp, IfOp, CaseOp>(op); }

} // namespace

bool NegativeZeros::add(Value value, bool isPossible) { return isPossible && hasNegativeZero(value.getType()) && possible.insert(value).second; }

bool NegativeZeros::addResults(Operation *op) {
  bool changes = false;
  if (auto loop = dyn_cast<WhileOp>(op)) {
    Block &cond = loop.getCond().front(), &body = loop.getBody().front();
    for (auto [index, init] : llvm::enumerate(loop->getOperands())) {
      bool isCarried = isPossible(init) || isPossible(body.getTerminator()->getOperand(index));
      for (Value value : {Value(loop->getResult(index)), Value(cond.getArgument(index)), Value(body.getArgument(index))})
        changes |= add(value, isCarried);
    }
    return changes;
  }
  for (OpResult result : op->getResults()) {
    auto isOf = [&](Value operand) { return isPossible(operand); };
    bool holds =
        llvm::TypeSwitch<Operation *, bool>(op)
            .Case<IfOp, CaseOp>([&](Operation *) {
              return llvm::any_of(op->getRegions(), [&](Region &region) { return isPossible(region.front().getTerminator()->getOperand(result.getResultNumber())); });
            })
            .Case([&](ConstantOp constant) { return hasNegativeZero(result.getType()) && holdsNegativeZero(constant); })
            .Case([&](IotaOp) { return false; })
            .Case([&](ConvertOp convert) { // a narrower type: small values become zeros with their sign
              Type from = getElementTypeOrSelf(convert.getOperand()), to = getElementTypeOrSelf(result);
              bool keeps = hasExactSmallSums(from) && isa<FloatType>(from) && isa<FloatType>(to) && from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth() &&
                           (from == to || to.isF32() || to.isF64());
              return !isa<IntegerType>(from) && (!keeps || isPossible(convert.getOperand()));
            })
            .Case([&](AddOp sum) { return !hasExactSmallSums(result.getType()) || (isPossible(sum.getLhs()) && isPossible(sum.getRhs())); })
            .Case([&](SubtractOp difference) { return !hasExactSmallSums(result.getType()) || isPossible(difference.getLhs()); })
            .Case([&](ScatterOp scatter) {
              if (scatter->getNumResults() != 1)
                return true;
              bool old = isPossible(scatter.getInputs()[0]), update = isPossible(scatter.getUpdates()[0]);
              Operation *combine = combinerOf(scatter.getUpdateComputation());
              Block &body = scatter.getUpdateComputation().front();
              if (combine && isa<AddOp>(combine))
                return old || !hasExactSmallSums(result.getType());
              bool isChosen = body.getTerminator()->getOperand(0) == body.getArgument(1) || (combine && isa<MaxOp, MinOp>(combine));
              return old || update || !isChosen;
            })
            .Default([&](Operation *) { return movesElements(op) ? llvm::any_of(op->getOperands(), isOf) : !isNeverNegative(op); });
    changes |= add(result, holds);
  }
  return changes;
}

void NegativeZeros::compute() {
  possible.clear();
  function.walk([&](Block *block) {
    if (!isBranchOrLoop(block->getParentOp()))
      for (Value argument : block->getArguments())
        add(argument);
  });
  // Values that a loop carries are known after another walk; more than two walks are rarely needed.
  for (bool changes = true; changes;) {
    changes = false;
    function.walk<WalkOrder::PostOrder>([&](Operation *op) { changes |= addResults(op); });
  }
}

} // namespace millrace::loops
