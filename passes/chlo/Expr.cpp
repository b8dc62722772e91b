// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Expr.cpp - Formulas that build StableHLO ---------------------------===//
#include "passes/chlo/Expr.h"
#include "passes/chlo/Passes.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
namespace millrace::chlo {

Value constantLike(OpBuilder &builder, Location loc, Attribute value, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  Type elementType = isa<TypedAttr>(value) ? cast<TypedAttr>(value).getType() : type.getElementType();
  auto build = [&](ArrayRef<int64_t> shape) -> Value {
    auto constantType = RankedTensorType::get(shape, elementType);
    return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(constantType, value));
  };
  if (type.hasStaticShape())
    return build(type.getShape());
  Value scalar = build({}), shape = shape::ShapeOfOp::create(builder, loc, like);
  return stablehlo::DynamicBroadcastInDimOp::create(builder, loc, type.clone(elementType), scalar, shape,
                                                    builder.getDenseI64ArrayAttr({}));
}

Expr Expr::constant(APFloat number) const {
  bool inexact;
  number.convert(getSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return with(constantLike(*builder, loc, FloatAttr::get(getElementType(), number), value));
}

Expr Expr::constant(double number) const {
  if (isa<FloatType>(getElementType()))
    return constant(APFloat(number));
  unsigned width = getElementType().getIntOrFloatBitWidth();
  APInt bits(width, static_cast<int64_t>(number), /*isSigned=*/true, /*implicitTrunc=*/true);
  return with(constantLike(*builder, loc, IntegerAttr::get(getElementType(), bits), value));
}

Expr Expr::convert(Type elementType) const {
  if (elementType == getElementType())
    return *this;
  return with(stablehlo::ConvertOp::create(*builder, loc, value, elementType));
}

Expr Expr::compare(stablehlo::ComparisonDirection direction, Expr rhs) const {
  return with(stablehlo::CompareOp::create(*builder, loc, value, rhs.value, direction));
}

Expr multiplyAdd(Expr a, Expr b, Expr c) {
  Expr product = a * b, sum = product + c;
  for (Expr part : {product, sum})
    part.get().getDefiningOp()->setAttr(kMayFuseAttr, a.getBuilder().getUnitAttr());
  return sum;
}

Expr polynomial(Expr x, ArrayRef<double> coefficients) {
  Expr sum = x.constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = multiplyAdd(sum, x, x.constant(coefficient));
  return sum;
}

Value castTo(OpBuilder &builder, Location loc, Value result, Type type) {
  if (result.getType() == type)
    return result;
  return tensor::CastOp::create(builder, loc, type, result);
}

} // namespace millrace::chlo
