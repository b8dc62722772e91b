// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combiners.cpp - Neutral elements of what reductions combine with ---===//
#include "passes/fusion/pieces/Combiners.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

TypedAttr neutralElement(Operation &combine, Type type) {
  Builder b(type.getContext());
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    bool isWide = type.isF32() || type.isF64();
    if (isa<AddOp>(combine) && isWide)
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<MulOp>(combine) && isWide)
      return b.getFloatAttr(type, APFloat::getOne(semantics));
    bool hasInfinity = isWide || type.isF16() || type.isBF16();
    if (isa<MaxOp, MinOp>(combine) && hasInfinity)
      return b.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/isa<MaxOp>(combine)));
    return {};
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return {};
  unsigned width = integer.getWidth();
  bool isUnsigned = integer.isUnsigned() || width == 1;
  if (isa<AddOp, OrOp, XorOp>(combine) && width > 1)
    return b.getIntegerAttr(type, APInt::getZero(width));
  if (isa<MulOp>(combine) && width > 1)
    return b.getIntegerAttr(type, APInt(width, 1));
  if (isa<AndOp>(combine) && width > 1)
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  if (isa<MaxOp>(combine) && width > 1)
    return b.getIntegerAttr(type, isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width));
  if (isa<MinOp>(combine) && width > 1)
    return b.getIntegerAttr(type, isUnsigned ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width));
  return {};
}

bool isSplat(Value value) {
  Operation *source = value.getDefiningOp();
  auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(source);
  DenseElementsAttr attr;
  return (matchPattern(value, m_Constant(&attr)) && attr.isSplat()) ||
         (broadcast && cast<RankedTensorType>(broadcast.getOperand().getType()).getRank() == 0);
}

Value splatInShape(OpBuilder &b, Value value, RankedTensorType type) {
  DenseElementsAttr attr;
  if (matchPattern(value, m_Constant(&attr)) && attr.isSplat())
    return ConstantOp::create(b, value.getLoc(), attr.resizeSplat(type));
  if (isSplat(value))
    return BroadcastInDimOp::create(b, value.getLoc(), type, value.getDefiningOp<BroadcastInDimOp>().getOperand(), b.getDenseI64ArrayAttr({}));
  return {};
}

} // namespace millrace::fusion
