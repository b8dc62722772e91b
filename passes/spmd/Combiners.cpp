// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiners.cpp - Computations whose summands may be combined in parts ===//
#include "passes/spmd/Combiners.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Combiner.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

DenseElementsAttr neutralElement(Operation *combine, RankedTensorType type) {
  Type element = type.getElementType();
  bool greatest = isa<MinOp>(combine), least = isa<MaxOp>(combine);
  if (auto kind = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = kind.getFloatSemantics();
    APFloat value = APFloat::getZero(semantics);
    if (greatest || least) {
      if (!APFloat::semanticsHasInf(semantics))
        return {};
      value = APFloat::getInf(semantics, least);
    } else if (isa<MulOp>(combine)) {
      value = APFloat(semantics, 1);
    }
    return DenseElementsAttr::get(type, value);
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return {};
  unsigned width = integer.getWidth();
  bool isUnsigned = integer.isUnsigned() || width == 1;
  APInt value = APInt::getZero(width);
  if (greatest)
    value = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  else if (least)
    value = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  else if (isa<MulOp>(combine))
    value = APInt(width, 1);
  else if (isa<AndOp>(combine))
    value = APInt::getAllOnes(width);
  return DenseElementsAttr::get(type, value);
}

bool isNeutral(Value init, Operation *combine) {
  DenseElementsAttr value;
  if (auto constant = init.getDefiningOp<sdy::ConstantOp>()) // constants are sdy.constant while shardings propagate
    value = dyn_cast<DenseElementsAttr>(constant.getValue());
  else
    matchPattern(init, m_Constant(&value));
  return value && value == neutralElement(combine, cast<RankedTensorType>(init.getType()));
}

Operation *combinerOf(Region &computation) {
  Operation *combine = stablehlo::combinerOf(computation);
  bool known = isa_and_nonnull<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp>(combine) &&
               neutralElement(combine, cast<RankedTensorType>(computation.getArgument(0).getType()));
  return known ? combine : nullptr;
}

Operation *combinerOf(ReduceOp reduce) {
  return reduce && reduce.getInputs().size() == 1 ? combinerOf(reduce.getBody()) : nullptr;
}

Operation *combinerOf(ScatterOp scatter) {
  return scatter && scatter.getInputs().size() == 1 ? combinerOf(scatter.getUpdateComputation()) : nullptr;
}

} // namespace millrace::spmd
