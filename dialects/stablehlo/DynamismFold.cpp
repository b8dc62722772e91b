// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismFold.cpp - Dynamic operations whose amounts are constants --===//
#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace millrace::stablehlo {
OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  if (type.isDynamicDim(getDimension()))
    return {};
  return DenseIntElementsAttr::get(RankedTensorType::get({}, IntegerType::get(getContext(), 32)),
                                   int32_t(type.getDimSize(getDimension())));
}

/// Setting a static dimension to the size that it has changes nothing.
OpFoldResult SetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  int64_t size;
  if (type == getType() && succeeded(matchInt(getSize(), size)) && size == type.getDimSize(getDimension()))
    return getOperand();
  return {};
}

} // namespace millrace::stablehlo
