// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismInfer.cpp - Result types and run-time shapes of dynamic operations -===//
#include "dialects/stablehlo/DynamismOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace millrace::stablehlo {

static LogicalResult checkDim(std::optional<Location> loc, ShapedType type, int64_t dim) {
  if (dim < 0)
    return emitOptionalError(loc, "requires non-negative dimension attribute; found (", dim, ")");
  if (dim >= type.getRank())
    return emitOptionalError(loc, "requires dimension attribute in range [0, ", type.getRank(), "); found (", dim, ")");
  return success();
}

LogicalResult GetDimensionSizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  if (failed(checkDim(loc, cast<ShapedType>(adaptor.getOperand().getType()), adaptor.getDimension())))
    return failure();
  results.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult SetDimensionSizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t dim = adaptor.getDimension();
  if (cast<RankedTensorType>(adaptor.getSize().getType()).getRank() != 0)
    return emitOptionalError(loc, "size operand should be of rank-0");
  if (failed(checkDim(loc, type, dim)))
    return failure();
  SmallVector<int64_t> shape(type.getShape()), bounds(encodingToBounds(type.getEncoding()));
  if (bounds.empty())
    bounds.assign(type.getRank(), ShapedType::kDynamic);
  // The old size of the dimension is an upper bound of the new one.
  if (isStaticDimSize(shape[dim]))
    bounds[dim] = shape[dim];
  shape[dim] = ShapedType::kDynamic;
  if (int64_t size; succeeded(matchInt(adaptor.getSize(), size)) && size == bounds[dim]) {
    shape[dim] = size;
    bounds[dim] = ShapedType::kDynamic;
  }
  Attribute encoding;
  if (llvm::any_of(bounds, isStaticDimSize))
    encoding = TypeExtensionsAttr::get(context, bounds);
  results.push_back(RankedTensorType::get(shape, type.getElementType(), encoding));
  return success();
}

//===-- Shapes at run time ------------------------------------------------===//

static LogicalResult reifyShapeOperand(Value shape, SmallVectorImpl<Value> &reified) {
  reified.push_back(shape);
  return success();
}

LogicalResult DynamicBroadcastInDimOp::reifyReturnTypeShapes(OpBuilder &, ValueRange operands,
                                                             SmallVectorImpl<Value> &reified) {
  return reifyShapeOperand(Adaptor(operands, *this).getOutputDimensions(), reified);
}
LogicalResult DynamicIotaOp::reifyReturnTypeShapes(OpBuilder &, ValueRange operands, SmallVectorImpl<Value> &reified) {
  return reifyShapeOperand(Adaptor(operands, *this).getOutputShape(), reified);
}
LogicalResult DynamicReshapeOp::reifyReturnTypeShapes(OpBuilder &, ValueRange operands,
                                                      SmallVectorImpl<Value> &reified) {
  return reifyShapeOperand(Adaptor(operands, *this).getOutputShape(), reified);
}

namespace {
/// Builds arithmetic on sizes of type index.
struct SizeBuilder {
  OpBuilder &builder;
  Location loc;
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value element(Value vector, int64_t i) {
    Value value = tensor::ExtractOp::create(builder, loc, vector, constant(i));
    return value.getType().isIndex() ? value
                                     : Value(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value));
  }
  Value dim(Value tensor, int64_t i) { return tensor::DimOp::create(builder, loc, tensor, i); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value shape(ArrayRef<Value> sizes) {
    auto type = RankedTensorType::get({int64_t(sizes.size())}, builder.getIndexType());
    return tensor::FromElementsOp::create(builder, loc, type, sizes);
  }
};
} // namespace

LogicalResult DynamicPadOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                  SmallVectorImpl<Value> &reified) {
  Adaptor adaptor(operands, *this);
  SizeBuilder b{builder, getLoc()};
  Value zero = b.constant(0), one = b.constant(1);
  SmallVector<Value> sizes;
  for (int64_t i = 0, e = cast<RankedTensorType>(getOperand().getType()).getRank(); i != e; ++i) {
    Value size = b.dim(adaptor.getOperand(), i);
    // An empty dimension has no interior padding.
    Value gaps = arith::MaxSIOp::create(builder, getLoc(), b.sub(size, one), zero);
    Value inner = b.add(size, b.mul(gaps, b.element(adaptor.getInteriorPadding(), i)));
    sizes.push_back(b.add(b.add(inner, b.element(adaptor.getEdgePaddingLow(), i)),
                          b.element(adaptor.getEdgePaddingHigh(), i)));
  }
  reified.push_back(b.shape(sizes));
  return success();
}

LogicalResult RealDynamicSliceOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                        SmallVectorImpl<Value> &reified) {
  Adaptor adaptor(operands, *this);
  SizeBuilder b{builder, getLoc()};
  SmallVector<Value> sizes;
  for (int64_t i = 0, e = cast<RankedTensorType>(getOperand().getType()).getRank(); i != e; ++i) {
    Value span = b.sub(b.element(adaptor.getLimitIndices(), i), b.element(adaptor.getStartIndices(), i));
    sizes.push_back(
        arith::CeilDivSIOp::create(builder, getLoc(), span, b.element(adaptor.getStrides(), i)));
  }
  reified.push_back(b.shape(sizes));
  return success();
}

//===-- Speculation -------------------------------------------------------===//
// These operations are speculatable only if no value that is known at run time only can contradict them.

static Speculation::Speculatability speculateWithConstants(Operation *op) {
  return speculation::speculatableIf(speculation::allOperandsStatic(op) && speculation::shapeOperandsConstant(op));
}

Speculation::Speculatability DynamicBroadcastInDimOp::getSpeculatability() { return speculateWithConstants(*this); }
Speculation::Speculatability RealDynamicSliceOp::getSpeculatability() { return speculateWithConstants(*this); }

Speculation::Speculatability DynamicIotaOp::getSpeculatability() {
  return speculation::speculatableIf(matchPattern(getOutputShape(), m_Constant()) ||
                                     int64_t(cast<ShapedType>(getType()).getNumDynamicDims()) == cast<ShapedType>(getType()).getRank());
}

Speculation::Speculatability DynamicPadOp::getSpeculatability() {
  return speculation::speculatableIf(speculation::allOperandsStatic(*this) &&
                                     matchPattern(getEdgePaddingLow(), m_Constant()) &&
                                     matchPattern(getEdgePaddingHigh(), m_Constant()) &&
                                     matchPattern(getInteriorPadding(), m_Constant()));
}

// If every dimension of the result is dynamic, no size of the program can be contradicted.
Speculation::Speculatability DynamicReshapeOp::getSpeculatability() {
  return speculation::speculatableIf(
      speculation::allDimensionsDynamic(getType()) ||
      (getOperand().getType().hasStaticShape() && matchPattern(getOutputShape(), m_Constant())));
}

// A size that is known at run time only may contradict a static dimension of the result.
Speculation::Speculatability SetDimensionSizeOp::getSpeculatability() {
  int64_t dimension = getDimension();
  bool sizeAgrees = matchPattern(getSize(), m_Constant()) || cast<ShapedType>(getType()).isDynamicDim(dimension);
  auto otherDimension = [=](int64_t dim) { return dim == dimension ? std::nullopt : std::optional<int64_t>(dim); };
  return speculation::speculatableIf(
      sizeAgrees && speculation::staticResultDimsAreStaticIn(getOperand().getType(), getType(), otherDimension));
}

} // namespace millrace::stablehlo
