// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorMoves.cpp - Iota, reshape and pad of any shape ---------------===//
#include "lowering/linalg/storage/TensorMoves.h"

#include "lowering/linalg/scalar/ScalarFamilies.h"
#include "lowering/linalg/scalar/ScalarOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace millrace::lowering {

Value IndexMath::value(Size size) { return getValueOrCreateConstantIndexOp(builder, loc, size); }

template <typename Op, typename Fold>
static OpFoldResult combine(OpBuilder &builder, Location loc, OpFoldResult a, OpFoldResult b, Fold fold) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(fold(*x, *y));
  return Op::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, a),
                    getValueOrCreateConstantIndexOp(builder, loc, b))
      .getResult();
}

OpFoldResult IndexMath::add(Size a, Size b) {
  return combine<arith::AddIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return x + y; });
}
OpFoldResult IndexMath::sub(Size a, Size b) {
  return combine<arith::SubIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return x - y; });
}
OpFoldResult IndexMath::mul(Size a, Size b) {
  return combine<arith::MulIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return x * y; });
}
OpFoldResult IndexMath::max(Size a, Size b) {
  return combine<arith::MaxSIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
}
OpFoldResult IndexMath::min(Size a, Size b) {
  return combine<arith::MinSIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
}
OpFoldResult IndexMath::floorDiv(Size a, Size b) {
  return combine<arith::FloorDivSIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return llvm::divideFloorSigned(x, y); });
}
OpFoldResult IndexMath::ceilDiv(Size a, Size b) {
  return combine<arith::CeilDivSIOp>(builder, loc, a, b, [](int64_t x, int64_t y) { return llvm::divideCeilSigned(x, y); });
}

Value iotaTensor(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes, int64_t dim,
                 Type element) {
  return mapElements(builder, loc, type, sizes, {}, {}, [&](OpBuilder &nested, Location bodyLoc, ValueRange) {
    ScalarBuilder b(nested, bodyLoc);
    int64_t extent = type.getDimSize(dim);
    Value index = linalg::IndexOp::create(nested, bodyLoc, dim);
    // Conversions from narrower integers are cheaper.
    bool fits32 = !ShapedType::isDynamic(extent) && extent <= INT32_MAX;
    Type from = nested.getIntegerType(fits32 ? 32 : 64);
    Value value = arith::IndexCastOp::create(nested, bodyLoc, from, index);
    Type part = element;
    if (auto complexType = dyn_cast<ComplexType>(element))
      part = complexType.getElementType();
    if (isa<FloatType>(part) && fits32 && extent <= 1 << 24) {
      value = b.sitofp(value, nested.getF32Type());
      from = nested.getF32Type();
    }
    return toStorage(nested, bodyLoc, convertScalar(b, value, from, element), element);
  });
}

/// Reshapes by tensor.collapse_shape or tensor.expand_shape; returns null if neither shape is a refinement of the other.
static Value viaReassociation(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  std::optional<SmallVector<ReassociationIndices>> groups = getReassociationIndicesForReshape(from, type);
  if (!groups)
    return {};
  if (from.getRank() > type.getRank())
    return tensor::CollapseShapeOp::create(builder, loc, type, tensor, *groups);
  return tensor::ExpandShapeOp::create(builder, loc, type, tensor, *groups);
}

Value reshapeTensor(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type, Value shape) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from == type && (!shape || type.getNumDynamicDims() <= 1)) // two open sizes may become others of the same product
    return tensor;
  if (from.hasStaticShape() && type.hasStaticShape()) {
    if (type.getNumElements() == 0)
      return emptyTensor(builder, loc, type, getAsIndexOpFoldResult(builder.getContext(), type.getShape()));
    if (from.getRank() != type.getRank())
      if (Value result = viaReassociation(builder, loc, tensor, type))
        return result;
    auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
    if (from.getRank() != 1)
      tensor = viaReassociation(builder, loc, tensor, flat);
    return type.getRank() == 1 ? tensor : viaReassociation(builder, loc, tensor, type);
  }
  if (!shape) {
    // The one unknown size is the number of elements divided by the product of the others.
    IndexMath math(builder, loc);
    OpFoldResult known = math.attr(1), count = math.attr(1);
    for (int64_t extent : type.getShape())
      if (!ShapedType::isDynamic(extent))
        known = math.mul(known, math.attr(extent));
    for (OpFoldResult size : dimSizes(builder, loc, tensor))
      count = math.mul(count, size);
    SmallVector<Value> sizes;
    for (int64_t extent : type.getShape())
      sizes.push_back(math.value(ShapedType::isDynamic(extent) ? math.floorDiv(count, math.max(known, math.attr(1)))
                                                               : math.attr(extent)));
    auto shapeType = RankedTensorType::get({type.getRank()}, builder.getIndexType());
    shape = tensor::FromElementsOp::create(builder, loc, shapeType, sizes);
  }
  return tensor::ReshapeOp::create(builder, loc, type, tensor, shape);
}

Value padTensor(OpBuilder &builder, Location loc, RankedTensorType type, Value operand, Value padding,
                ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high, ArrayRef<OpFoldResult> interior) {
  IndexMath math(builder, loc);
  // result[low + j * step] = operand[j] for all j that are inside of the result.
  SmallVector<OpFoldResult> sizes, firsts, counts, targets, steps;
  bool copiesNothing = false;
  for (auto [dim, operandSize] : llvm::enumerate(dimSizes(builder, loc, operand))) {
    OpFoldResult step = math.add(interior[dim], math.attr(1));
    OpFoldResult gaps = math.max(math.sub(operandSize, math.attr(1)), math.attr(0));
    OpFoldResult size = math.add(math.add(low[dim], high[dim]), math.add(operandSize, math.mul(gaps, interior[dim])));
    if (!type.isDynamicDim(dim))
      size = math.attr(type.getDimSize(dim));
    OpFoldResult first = math.ceilDiv(math.max(math.sub(math.attr(0), low[dim]), math.attr(0)), step);
    OpFoldResult last = math.floorDiv(math.sub(math.sub(size, math.attr(1)), low[dim]), step);
    OpFoldResult end = math.min(math.add(last, math.attr(1)), operandSize);
    OpFoldResult count = math.max(math.sub(end, first), math.attr(0));
    copiesNothing |= isConstantIntValue(count, 0);
    sizes.push_back(size);
    firsts.push_back(math.min(first, operandSize));
    counts.push_back(count);
    // If nothing is copied, the offset may be out of bounds and is clamped.
    targets.push_back(math.min(math.max(math.add(low[dim], math.mul(first, step)), math.attr(0)), size));
    steps.push_back(step);
  }
  Value element = tensor::ExtractOp::create(builder, loc, padding, ValueRange{});
  Value result = splatTensor(builder, loc, type, sizes, element);
  if (copiesNothing)
    return result;
  SmallVector<OpFoldResult> ones(type.getRank(), math.attr(1));
  Value part = operand;
  bool takesAll = llvm::all_of(llvm::zip_equal(firsts, counts, dimSizes(builder, loc, operand)), [](auto t) {
    return isConstantIntValue(std::get<0>(t), 0) && isEqualConstantIntOrValue(std::get<1>(t), std::get<2>(t));
  });
  if (!takesAll)
    part = tensor::ExtractSliceOp::create(builder, loc, operand, firsts, counts, ones);
  return tensor::InsertSliceOp::create(builder, loc, part, result, targets, counts, steps);
}

} // namespace millrace::lowering
