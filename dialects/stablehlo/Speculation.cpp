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

bool staticResultDimsAreStaticIn(Type inputType, Type resultType,
                                 llvm::function_ref<std::optional<int64_t>(int64_t)> inputDim) {
  auto input = dyn_cast<RankedTensorType>(inputType);
  auto result = dyn_cast<RankedTensorType>(resultType);
  if (!input || !result)
    return false;
  for (int64_t dim = 0, e = result.getRank(); dim != e; ++dim) {
    std::optional<int64_t> source = inputDim(dim);
    if (source && !result.isDynamicDim(dim) && (*source >= input.getRank() || input.isDynamicDim(*source)))
      return false;
  }
  return true;
}

bool staticResultDimsAreStaticInInput(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return true;
  return staticResultDimsAreStaticIn(op->getOperand(0).getType(), op->getResult(0).getType(),
                                     [](int64_t dim) { return dim; });
}

bool allDimensionsDynamic(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.hasRank() && int64_t(shaped.getNumDynamicDims()) == shaped.getRank();
}

bool shapeOperandsConstant(Operation *op) {
  return llvm::all_of(op->getOperands().drop_front(), [](Value operand) { return matchPattern(operand, m_Constant()); });
}

} // namespace millrace::stablehlo::speculation
