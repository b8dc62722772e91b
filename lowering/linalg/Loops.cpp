// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loops.cpp - Helpers for lowerings to loops --------------------------===//
// Input:   indices, tensors and reducer regions
// Output:  arith on indices (folded where constant), destination tensors, scf.for nests over tensors
// Leaves alone the loop bodies, which the callers emit.
#include "lowering/linalg/Loops.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace millrace::lowering {

static std::optional<int64_t> known(Value value) { return getConstantIntValue(OpFoldResult(value)); }

Value LoopBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value LoopBuilder::add(Value lhs, Value rhs) {
  auto l = known(lhs), r = known(rhs);
  if (l && r)
    return index(*l + *r);
  if (l && *l == 0)
    return rhs;
  if (r && *r == 0)
    return lhs;
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value LoopBuilder::sub(Value lhs, Value rhs) {
  auto l = known(lhs), r = known(rhs);
  if (l && r)
    return index(*l - *r);
  if (r && *r == 0)
    return lhs;
  return arith::SubIOp::create(b, loc, lhs, rhs);
}

Value LoopBuilder::mul(Value lhs, Value rhs) {
  auto l = known(lhs), r = known(rhs);
  if (l && r)
    return index(*l * *r);
  if (l && *l == 1)
    return rhs;
  if (r && *r == 1)
    return lhs;
  return arith::MulIOp::create(b, loc, lhs, rhs);
}

Value LoopBuilder::min(Value lhs, Value rhs) {
  auto l = known(lhs), r = known(rhs);
  if (l && r)
    return index(std::min(*l, *r));
  return arith::MinSIOp::create(b, loc, lhs, rhs);
}

Value LoopBuilder::max(Value lhs, Value rhs) {
  auto l = known(lhs), r = known(rhs);
  if (l && r)
    return index(std::max(*l, *r));
  return arith::MaxSIOp::create(b, loc, lhs, rhs);
}

Value LoopBuilder::clamp(Value value, Value low, Value high) { return min(max(value, low), high); }

Value LoopBuilder::compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
}

Value LoopBuilder::logicalAnd(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::AndIOp::create(b, loc, lhs, rhs);
}

Value LoopBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return arith::SelectOp::create(b, loc, condition, onTrue, onFalse);
}

Value LoopBuilder::value(OpFoldResult folded) { return getValueOrCreateConstantIndexOp(b, loc, folded); }

OpFoldResult LoopBuilder::foldedDim(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  return tensor::DimOp::create(b, loc, tensor, dim).getResult();
}

Value LoopBuilder::dim(Value tensor, int64_t dim) { return value(foldedDim(tensor, dim)); }

SmallVector<Value> LoopBuilder::dims(Value tensor) {
  SmallVector<Value> sizes;
  for (int64_t d = 0, rank = mlir::cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d)
    sizes.push_back(dim(tensor, d));
  return sizes;
}

SmallVector<OpFoldResult> LoopBuilder::foldedDims(Value tensor) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0, rank = mlir::cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d)
    sizes.push_back(foldedDim(tensor, d));
  return sizes;
}

Value LoopBuilder::empty(ArrayRef<OpFoldResult> sizes, Type elementType) {
  // A size that is a constant operation is replaced by an attribute.
  SmallVector<OpFoldResult> folded(sizes);
  for (OpFoldResult &size : folded)
    if (auto constant = getConstantIntValue(size))
      size = b.getIndexAttr(*constant);
  return tensor::EmptyOp::create(b, loc, folded, elementType);
}

Value LoopBuilder::empty(RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(d))
      dynamic.push_back(value(size));
  return tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType(), dynamic);
}

Value LoopBuilder::scratch(ArrayRef<OpFoldResult> sizes, Type elementType) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return scratch(RankedTensorType::get(shape, elementType), sizes);
}

Value LoopBuilder::scratch(RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(d))
      dynamic.push_back(value(size));
  return bufferization::AllocTensorOp::create(b, loc, type, dynamic);
}

Value LoopBuilder::zero(Type storageElement) {
  if (auto complexType = dyn_cast<ComplexType>(storageElement)) {
    Value part = zero(complexType.getElementType());
    return complex::CreateOp::create(b, loc, complexType, part, part);
  }
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(storageElement));
}

Value LoopBuilder::fill(Value scalar, Value tensor) {
  return linalg::FillOp::create(b, loc, ValueRange{scalar}, ValueRange{tensor}).getResult(0);
}

Value LoopBuilder::cast(Value tensor, Type type) {
  return tensor.getType() == type ? tensor : tensor::CastOp::create(b, loc, type, tensor).getResult();
}

Value LoopBuilder::extract(Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

Value LoopBuilder::insert(Value scalar, Value tensor, ValueRange indices) {
  return tensor::InsertOp::create(b, loc, scalar, tensor, indices);
}

Value LoopBuilder::toIndex(Value storage, Type elementType) {
  if (storage.getType().isIndex())
    return storage;
  if (!isUnsignedElement(elementType))
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), storage);
  if (elementType.getIntOrFloatBitWidth() == 64) {
    Value most = arith::ConstantIntOp::create(b, loc, storage.getType(), std::numeric_limits<int64_t>::max());
    storage = arith::MinUIOp::create(b, loc, storage, most);
  }
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), storage);
}

SmallVector<Value> LoopBuilder::nest(ValueRange sizes, ValueRange inits, Body body) {
  SmallVector<Value> froms;
  if (!sizes.empty())
    froms.assign(sizes.size(), index(0));
  return nest(froms, sizes, inits, body);
}

SmallVector<Value> LoopBuilder::nest(ValueRange froms, ValueRange tos, ValueRange inits, Body body) {
  SmallVector<Value> steps;
  if (!tos.empty())
    steps.assign(tos.size(), index(1));
  auto inner = [&](OpBuilder &builder, Location at, ValueRange ivs, ValueRange carried) -> scf::ValueVector {
    LoopBuilder l(builder, at);
    auto next = body(l, ivs, carried);
    return scf::ValueVector(next.begin(), next.end());
  };
  scf::LoopNest loops = scf::buildLoopNest(b, loc, froms, tos, steps, inits, inner);
  return SmallVector<Value>(loops.results.begin(), loops.results.end());
}

SmallVector<Value> LoopBuilder::loop(Value from, Value to, Value step, ValueRange inits, Body body) {
  auto inner = [&](OpBuilder &builder, Location at, Value iv, ValueRange carried) {
    LoopBuilder l(builder, at);
    scf::YieldOp::create(builder, at, body(l, ValueRange{iv}, carried));
  };
  return llvm::to_vector_of<Value>(scf::ForOp::create(b, loc, from, to, step, inits, inner).getResults());
}

Value convertElement(LoopBuilder &l, Value compute, Type from, Type to) {
  OpBuilder &b = l.b;
  Location loc = l.loc;
  if (auto complexTo = dyn_cast<ComplexType>(to)) {
    Type part = complexTo.getElementType();
    Value re, im;
    if (auto complexFrom = dyn_cast<ComplexType>(from)) {
      if (from == to)
        return compute;
      re = convertElement(l, complex::ReOp::create(b, loc, compute), complexFrom.getElementType(), part);
      im = convertElement(l, complex::ImOp::create(b, loc, compute), complexFrom.getElementType(), part);
    } else {
      re = convertElement(l, compute, from, part);
      im = l.zero(part);
    }
    return complex::CreateOp::create(b, loc, complexTo, re, im);
  }
  Type have = compute.getType(), want = computeElementType(to);
  if (auto wantFloat = dyn_cast<FloatType>(want)) {
    if (auto haveFloat = dyn_cast<FloatType>(have)) {
      if (have == want)
        return compute;
      if (haveFloat.getWidth() < wantFloat.getWidth())
        return arith::ExtFOp::create(b, loc, want, compute);
      if (haveFloat.getWidth() > wantFloat.getWidth())
        return arith::TruncFOp::create(b, loc, want, compute);
      // f16 and bf16 are converted to each other through f32.
      Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), compute);
      return arith::TruncFOp::create(b, loc, want, wide);
    }
    if (isUnsignedElement(from))
      return arith::UIToFPOp::create(b, loc, want, compute);
    return arith::SIToFPOp::create(b, loc, want, compute);
  }
  assert(isa<IntegerType>(have) && isa<IntegerType>(want) && "no lowering converts a float to an integer here");
  unsigned haveWidth = have.getIntOrFloatBitWidth(), wantWidth = want.getIntOrFloatBitWidth();
  if (haveWidth > wantWidth)
    return arith::TruncIOp::create(b, loc, want, compute);
  if (haveWidth == wantWidth)
    return compute;
  if (isUnsignedElement(from))
    return arith::ExtUIOp::create(b, loc, want, compute);
  return arith::ExtSIOp::create(b, loc, want, compute);
}

Value convertTensor(LoopBuilder &l, Value tensor, Type from, Type to) {
  if (from == to)
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = storageElementType(to);
  Value init = l.empty(RankedTensorType::get(type.getShape(), element), l.foldedDims(tensor));
  AffineMap map = l.b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    LoopBuilder inner(b, loc);
    Value value = convertElement(inner, toCompute(b, loc, args[0], from), from, to);
    linalg::YieldOp::create(b, loc, toStorage(b, loc, value, to));
  };
  return linalg::GenericOp::create(l.b, l.loc, init.getType(), tensor, init, ArrayRef<AffineMap>{map, map}, iterators, body)
      .getResult(0);
}

Reducer classifyReducer(Region &region) {
  Operation *op = stablehlo::combinerOf(region);
  if (!op)
    return Reducer::Other;
  return llvm::TypeSwitch<Operation *, Reducer>(op)
      .Case<stablehlo::AddOp>([](auto) { return Reducer::Add; })
      .Case<stablehlo::MulOp>([](auto) { return Reducer::Multiply; })
      .Case<stablehlo::MinOp>([](auto) { return Reducer::Minimum; })
      .Case<stablehlo::MaxOp>([](auto) { return Reducer::Maximum; })
      .Case<stablehlo::AndOp>([](auto) { return Reducer::And; })
      .Case<stablehlo::OrOp>([](auto) { return Reducer::Or; })
      .Default([](Operation *) { return Reducer::Other; });
}

Type accumulatorType(Reducer reducer, Type elementType) {
  if ((reducer == Reducer::Add || reducer == Reducer::Multiply) && (elementType.isF16() || elementType.isBF16()))
    return Float32Type::get(elementType.getContext());
  return elementType;
}

Value addElements(LoopBuilder &l, Value lhs, Value rhs, Type elementType) {
  if (isa<ComplexType>(elementType))
    return complex::AddOp::create(l.b, l.loc, lhs, rhs);
  if (isa<FloatType>(elementType))
    return arith::AddFOp::create(l.b, l.loc, lhs, rhs);
  if (elementType.isInteger(1))
    return arith::OrIOp::create(l.b, l.loc, lhs, rhs);
  return arith::AddIOp::create(l.b, l.loc, lhs, rhs);
}

Value multiplyElements(LoopBuilder &l, Value lhs, Value rhs, Type elementType) {
  if (isa<ComplexType>(elementType))
    return complex::MulOp::create(l.b, l.loc, lhs, rhs);
  if (isa<FloatType>(elementType))
    return arith::MulFOp::create(l.b, l.loc, lhs, rhs);
  if (elementType.isInteger(1))
    return arith::AndIOp::create(l.b, l.loc, lhs, rhs);
  return arith::MulIOp::create(l.b, l.loc, lhs, rhs);
}

FailureOr<SmallVector<Value>> emitReducer(LoopBuilder &l, Reducer reducer, Region &region, ValueRange accumulators,
                                          ValueRange values, ArrayRef<Type> accElements) {
  if (accElements[0] != getElementTypeOrSelf(region.getArgument(0).getType()))
    return SmallVector<Value>{reducer == Reducer::Add ? addElements(l, accumulators[0], values[0], accElements[0])
                                                      : multiplyElements(l, accumulators[0], values[0], accElements[0])};
  SmallVector<Value> arguments = llvm::to_vector(accumulators);
  llvm::append_range(arguments, values);
  return emitScalarRegion(l.b, l.loc, region, arguments);
}

} // namespace millrace::lowering
