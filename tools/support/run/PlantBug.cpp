// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlantBug.cpp - Deliberate miscompilations for testing the fuzzer ---===//
// Input:   %2 = stablehlo.add %0, %1        Output with family elementwise:   %2 = stablehlo.subtract %0, %1
// Leaves alone everything after the first operation that could be changed.
#include "tools/support/run/PlantBug.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace millrace::tools {
namespace {

/// Replaces `op` by an operation with the same operands, attributes and types but another name.
bool rename(Operation *op, StringRef name) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(), op->getResultTypes(), op->getAttrs());
  Operation *wrong = builder.create(state);
  op->replaceAllUsesWith(wrong);
  op->erase();
  return true;
}

/// Replaces the reduction in the region of an operation by another one.
bool spoilRegion(Operation *op) {
  for (Region &region : op->getRegions())
    for (Operation &inner : llvm::make_early_inc_range(region.front())) {
      StringRef other = llvm::StringSwitch<StringRef>(inner.getName().getStringRef())
                            .Case("stablehlo.add", "stablehlo.maximum")
                            .Case("stablehlo.maximum", "stablehlo.minimum")
                            .Case("stablehlo.minimum", "stablehlo.maximum")
                            .Case("stablehlo.and", "stablehlo.or")
                            .Case("stablehlo.or", "stablehlo.and")
                            .Default("");
      if (!other.empty())
        return rename(&inner, other);
      if (auto compare = dyn_cast<stablehlo::CompareOp>(inner)) {
        bool less = compare.getComparisonDirection() == stablehlo::ComparisonDirection::LT;
        compare.setComparisonDirection(less ? stablehlo::ComparisonDirection::GT : stablehlo::ComparisonDirection::LT);
        return true;
      }
    }
  return false;
}

bool spoilElementwise(Operation *op) {
  StringRef other = llvm::StringSwitch<StringRef>(op->getName().getStringRef())
                        .Case("stablehlo.add", "stablehlo.subtract")
                        .Case("stablehlo.subtract", "stablehlo.add")
                        .Case("stablehlo.maximum", "stablehlo.minimum")
                        .Case("stablehlo.minimum", "stablehlo.maximum")
                        .Case("stablehlo.and", "stablehlo.or")
                        .Case("stablehlo.or", "stablehlo.xor")
                        .Case("stablehlo.floor", "stablehlo.ceil")
                        .Default("");
  return !other.empty() && rename(op, other);
}

bool spoilDataMovement(Operation *op) {
  OpBuilder builder(op);
  if (auto reverse = dyn_cast<stablehlo::ReverseOp>(op)) {
    if (reverse.getDimensions().empty())
      return false;
    reverse.setDimensions({});
    return true;
  }
  if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
    SmallVector<int64_t> low(pad.getEdgePaddingLow()), high(pad.getEdgePaddingHigh());
    if (low == high)
      return false;
    pad.setEdgePaddingLow(high);
    pad.setEdgePaddingHigh(low);
    return true;
  }
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    unsigned last = op->getNumOperands() - 1;
    Value a = op->getOperand(0), b = op->getOperand(last);
    if (a == b)
      return false;
    op->setOperand(0, b);
    op->setOperand(last, a);
    return true;
  }
  return false;
}

/// Replaces the first index of a dynamic slice or update by 0, or the computation of a scatter by another one.
bool spoilIndexing(Operation *op) {
  unsigned first = isa<stablehlo::DynamicSliceOp>(op) ? 1 : isa<stablehlo::DynamicUpdateSliceOp>(op) ? 2 : 0;
  if (first == 0)
    return isa<stablehlo::ScatterOp>(op) && spoilRegion(op);
  if (op->getNumOperands() <= first)
    return false;
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op->getOperand(first).getType());
  auto zero = DenseElementsAttr::get(type, APInt(type.getElementTypeBitWidth(), 0));
  op->setOperand(first, stablehlo::ConstantOp::create(builder, op->getLoc(), zero));
  return true;
}

/// Reverses the left operand along its last dimension.
bool spoilContraction(Operation *op) {
  if (!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, stablehlo::DotOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || type.getRank() == 0 || type.getShape().back() < 2)
    return false;
  OpBuilder builder(op);
  int64_t last = type.getRank() - 1;
  OperationState state(op->getLoc(), "stablehlo.reverse", {op->getOperand(0)}, {type},
                       {builder.getNamedAttr("dimensions", builder.getDenseI64ArrayAttr({last}))});
  op->setOperand(0, builder.create(state)->getResult(0));
  return true;
}

bool spoilControlFlow(Operation *op) {
  if (isa<stablehlo::WhileOp>(op))
    return spoilRegion(op);
  if (!isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return false;
  Region kept;
  kept.takeBody(op->getRegion(0));
  op->getRegion(0).takeBody(op->getRegion(1));
  op->getRegion(1).takeBody(kept);
  return true;
}

} // namespace

bool plantBug(ModuleOp module, StringRef family) {
  auto spoil = llvm::StringSwitch<bool (*)(Operation *)>(family)
                   .Case("elementwise", spoilElementwise)
                   .Case("data_movement", spoilDataMovement)
                   .Case("indexing", spoilIndexing)
                   .Case("contraction", spoilContraction)
                   .Case("reduction", [](Operation *op) {
                     return isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::SortOp>(op) && spoilRegion(op);
                   })
                   .Case("control_flow", spoilControlFlow)
                   .Default(nullptr);
  if (!spoil)
    return false;
  // Only operations of a function's own block are changed, because the body of a reduction belongs to the reduction.
  WalkResult result = module.walk([&](Operation *op) {
    return isa<FunctionOpInterface>(op->getParentOp() ? op->getParentOp() : op) && spoil(op) ? WalkResult::interrupt()
                                                                                              : WalkResult::advance();
  });
  return result.wasInterrupted();
}

} // namespace millrace::tools
