// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Builders.cpp - Small pieces of StableHLO that several passes build -===//
#include "passes/simplify/Builders.h"

#include "dialects/stablehlo/Ops.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

static APFloat roundTo(FloatType type, double value) {
  APFloat result(value);
  bool losesInfo;
  result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return result;
}

DenseElementsAttr splat(ShapedType type, double value) {
  Type element = type.getElementType();
  if (auto floating = dyn_cast<FloatType>(element))
    return DenseElementsAttr::get(type, roundTo(floating, value));
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto part = cast<FloatType>(complex.getElementType());
    return DenseElementsAttr::get(type, std::complex<APFloat>(roundTo(part, value), roundTo(part, 0)));
  }
  auto integer = cast<IntegerType>(element);
  APInt bits(integer.getWidth(), uint64_t(int64_t(value)), /*isSigned=*/value < 0, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(type, bits);
}

Value splatConstant(OpBuilder &builder, Location loc, ShapedType type, double value) {
  return ConstantOp::create(builder, loc, splat(type, value));
}

Value scalarConstant(OpBuilder &builder, Location loc, Type elementType, double value) {
  return splatConstant(builder, loc, RankedTensorType::get({}, elementType), value);
}

Value shapeOf(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type i32 = builder.getI32Type();
  if (type.hasStaticShape()) {
    SmallVector<int32_t> sizes(type.getShape().begin(), type.getShape().end());
    return ConstantOp::create(
        builder, loc, DenseElementsAttr::get(RankedTensorType::get({type.getRank()}, i32), ArrayRef<int32_t>(sizes)));
  }
  auto one = RankedTensorType::get({1}, i32);
  SmallVector<Value> parts;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      parts.push_back(splatConstant(builder, loc, one, type.getDimSize(dim)));
      continue;
    }
    Value size = GetDimensionSizeOp::create(builder, loc, value, dim);
    parts.push_back(ReshapeOp::create(builder, loc, one, size));
  }
  if (parts.size() == 1)
    return parts[0];
  return ConcatenateOp::create(builder, loc, RankedTensorType::get({type.getRank()}, i32), parts, 0);
}

Value broadcastLike(OpBuilder &builder, Location loc, Value value, Value like, ArrayRef<int64_t> dims) {
  auto likeType = cast<RankedTensorType>(like.getType());
  auto type = RankedTensorType::get(likeType.getShape(), cast<ShapedType>(value.getType()).getElementType(),
                                    likeType.getEncoding());
  if (type == value.getType())
    return value;
  if (type.hasStaticShape())
    return BroadcastInDimOp::create(builder, loc, type, value, builder.getDenseI64ArrayAttr(dims));
  return DynamicBroadcastInDimOp::create(builder, loc, type, value, shapeOf(builder, loc, like),
                                         builder.getDenseI64ArrayAttr(dims));
}

Value constantLike(OpBuilder &builder, Location loc, Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  if (type.hasStaticShape())
    return splatConstant(builder, loc, type, value);
  return broadcastLike(builder, loc, scalarConstant(builder, loc, type.getElementType(), value), like, {});
}

Value reduceSum(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> dims) {
  Type element = cast<ShapedType>(value.getType()).getElementType();
  Value zero = scalarConstant(builder, loc, element, 0);
  auto reduce = ReduceOp::create(builder, loc, ValueRange(value), ValueRange(zero), builder.getDenseI64ArrayAttr(dims),
                                 TypeRange(element));
  OpBuilder::InsertionGuard guard(builder);
  Type scalar = RankedTensorType::get({}, element);
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value sum = AddOp::create(builder, loc, body->getArgument(0), body->getArgument(1));
  ReturnOp::create(builder, loc, sum);
  return reduce.getResult(0);
}

Value convertTo(OpBuilder &builder, Location loc, Value value, Type elementType) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  return ConvertOp::create(builder, loc, type.clone(elementType), value);
}

} // namespace millrace::simplify
