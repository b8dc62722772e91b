// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Speculation.cpp - Conditions under which an operation may be hoisted -===//
#include "dialects/stablehlo/Speculation.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace millrace::stablehlo::speculation {

bool allOperandsStatic(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
}

bool staticResultDimsAreStaticInInput(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return true;
  auto input = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!input || !result)
    return false;
  for (int64_t dim = 0, e = result.getRank(); dim != e; ++dim)
    if (!result.isDynamicDim(dim) && (dim >= input.getRank() || input.isDynamicDim(dim)))
      return false;
  return true;
}

bool shapeOperandsConstant(Operation *op) {
  return llvm::all_of(op->getOperands().drop_front(), [](Value operand) { return matchPattern(operand, m_Constant()); });
}

} // namespace millrace::stablehlo::speculation
