// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinalgBuilders.cpp - Build linalg operations on storage tensors ----===//
#include "lowering/linalg/LinalgBuilders.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;

namespace millrace::lowering {

Value emptyTensor(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [size, extent] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(extent))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType(), dynamic);
}

OpFoldResult dimSize(OpBuilder &builder, Location loc, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  return tensor::DimOp::create(builder, loc, tensor, dim).getResult();
}

SmallVector<OpFoldResult> dimSizes(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : llvm::seq(cast<RankedTensorType>(tensor.getType()).getRank()))
    sizes.push_back(dimSize(builder, loc, tensor, dim));
  return sizes;
}

Value shapeElement(OpBuilder &builder, Location loc, Value shape, int64_t position) {
  Value index = arith::ConstantIndexOp::create(builder, loc, position);
  Value element = tensor::ExtractOp::create(builder, loc, shape, index);
  if (element.getType().isIndex())
    return element;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element);
}

SmallVector<OpFoldResult> sizesFromShape(OpBuilder &builder, Location loc, RankedTensorType type, Value shape) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    sizes.push_back(ShapedType::isDynamic(extent) ? OpFoldResult(shapeElement(builder, loc, shape, dim))
                                                  : OpFoldResult(builder.getIndexAttr(extent)));
  return sizes;
}

Value castTensor(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type) {
  if (tensor.getType() == type)
    return tensor;
  return tensor::CastOp::create(builder, loc, type, tensor);
}

Value mapElements(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                  ValueRange inputs, ArrayRef<AffineMap> maps, ElementBody body) {
  Value init = emptyTensor(builder, loc, type, sizes);
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return init;
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(builder, loc, type, inputs, init, allMaps, iterators);
  // The body is built in the inserted operation, so that it can look up the enclosing module.
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  for (Value operand : generic->getOperands())
    types.push_back(getElementTypeOrSelf(operand.getType()));
  SmallVector<Location> locs(types.size(), loc);
  Block *block = builder.createBlock(&generic.getRegion(), {}, types, locs);
  Value result = body(builder, loc, block->getArguments().drop_back());
  linalg::YieldOp::create(builder, loc, result);
  return generic.getResult(0);
}

Value splatTensor(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes, Value element) {
  return mapElements(builder, loc, type, sizes, {}, {}, [&](OpBuilder &, Location, ValueRange) { return element; });
}

} // namespace millrace::lowering
