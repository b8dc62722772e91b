// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dynamism.cpp - Sizes of bounded dimensions as HLO ------------------===//
// Input:   %1 = stablehlo.set_dimension_size %0, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
// Output:  set-dimension-size.1 = f32[<=4]{0} set-dimension-size(a, n), dimensions={0}
// Leaves the other dynamic operations: HLO has bounded dimensions, but no results shaped by run-time values.
#include "lowering/hlo/Literals.h"
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

static LogicalResult getDimensionSize(shlo::GetDimensionSizeOp op, Computation &to) {
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  int64_t dimension = op.getDimension();
  if (type.isDynamicDim(dimension))
    return to.result(op, "get-dimension-size", Attributes().list("dimensions", dimension));
  auto scalar = RankedTensorType::get({}, IntegerType::get(op.getContext(), 32));
  to.bind(op, to.constant(DenseElementsAttr::get(scalar, static_cast<int32_t>(type.getDimSize(dimension)))));
  return success();
}

/// HLO's dynamic-reshape takes one scalar per dimension, and bounds for all that vary.
static LogicalResult dynamicReshape(shlo::DynamicReshapeOp op, Computation &to) {
  auto type = cast<RankedTensorType>(op.getType());
  auto bounds = dyn_cast_or_null<shlo::TypeExtensionsAttr>(type.getEncoding());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d) && (!bounds || ShapedType::isDynamic(bounds.getBounds()[d])))
      return op.emitOpError("has a result without a bound for dimension ") << d << ", which HLO cannot express";
  auto shapeType = cast<RankedTensorType>(op.getOutputShape().getType());
  Type element = shapeType.getElementType();
  if (!element.isInteger())
    return op.emitOpError("expects a shape of integers, but got ") << element;
  SmallVector<std::string> operands{to[op.getOperand()]};
  for (int64_t d = 0; d < type.getRank(); ++d) {
    std::string range = "{[" + std::to_string(d) + ":" + std::to_string(d + 1) + "]}";
    std::string one = to.add("slice", shapeText(ArrayRef<int64_t>(1), element), to[op.getOutputShape()], Attributes().add("slice", range));
    operands.push_back(to.reshape(one, {}, element));
  }
  return to.result(op, "dynamic-reshape", operands);
}

Visit visitDynamism(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::GetDimensionSizeOp>([&](auto op) { return getDimensionSize(op, to); })
      .Case<shlo::SetDimensionSizeOp>([&](shlo::SetDimensionSizeOp op) {
        return to.result(op, "set-dimension-size", Attributes().list("dimensions", op.getDimension()));
      })
      .Case<shlo::DynamicReshapeOp>([&](auto op) { return dynamicReshape(op, to); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
