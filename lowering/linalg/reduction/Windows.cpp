// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Windows.cpp - Padding and dilation of window operations ------------===//
// Input:   a tensor, the padding value, amounts and dilations
// Output:  linalg.fill of the padded extent and one tensor.insert_slice of the (cut) input into it
// Leaves alone an input that needs neither.
#include "lowering/linalg/reduction/Windows.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace millrace::lowering {

SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> values, size_t rank) {
  if (!values || values->empty())
    return SmallVector<int64_t>(rank, 1);
  return SmallVector<int64_t>(*values);
}

SmallVector<std::pair<int64_t, int64_t>> paddingPairs(std::optional<DenseIntElementsAttr> padding, size_t rank) {
  SmallVector<std::pair<int64_t, int64_t>> pairs(rank, {0, 0});
  if (!padding)
    return pairs;
  auto values = llvm::to_vector(padding->getValues<APInt>());
  for (size_t d = 0; d < rank && 2 * d + 1 < values.size(); ++d)
    pairs[d] = {values[2 * d].getSExtValue(), values[2 * d + 1].getSExtValue()};
  return pairs;
}

/// Returns ceil(value / divisor) for a non-negative value.
static Value ceilDiv(LoopBuilder &l, Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  if (auto constant = getConstantIntValue(OpFoldResult(value)))
    return l.index((*constant + divisor - 1) / divisor);
  return arith::DivUIOp::create(l.b, l.loc, l.add(value, l.index(divisor - 1)), l.index(divisor));
}

Value dilateAndPad(LoopBuilder &l, Value input, Value padValue, ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high,
                   ArrayRef<int64_t> dilation) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  auto isZero = [](OpFoldResult value) { return getConstantIntValue(value) == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) && llvm::all_of(dilation, [](int64_t d) { return d == 1; }))
    return input;

  SmallVector<OpFoldResult> sizes, sourceOffsets, sourceSizes, targetOffsets, targetStrides;
  bool isCut = false;
  for (int64_t d = 0; d < rank; ++d) {
    Value zero = l.index(0), one = l.index(1);
    Value extent = l.dim(input, d), lowValue = l.value(low[d]), highValue = l.value(high[d]);
    // An empty dimension stays empty when it is dilated.
    Value spread = l.add(l.mul(l.sub(extent, one), l.index(dilation[d])), one);
    if (auto constant = getConstantIntValue(OpFoldResult(extent)))
      spread = *constant == 0 ? zero : spread;
    else
      spread = l.select(l.compare(arith::CmpIPredicate::eq, extent, zero), zero, spread);
    Value size = l.max(l.add(l.add(spread, lowValue), highValue), zero);
    // Source elements [first, end) are inside of the result: 0 <= low + i * dilation < size.
    Value first = l.min(ceilDiv(l, l.max(l.sub(zero, lowValue), zero), dilation[d]), extent);
    Value end = l.max(l.min(ceilDiv(l, l.max(l.sub(size, lowValue), zero), dilation[d]), extent), first);
    sizes.push_back(getAsOpFoldResult(size));
    // The offset of an empty slice must be in bounds, too.
    auto inside = [&](Value offset, Value extent) { return l.min(offset, l.max(l.sub(extent, one), zero)); };
    sourceOffsets.push_back(getAsOpFoldResult(inside(first, extent)));
    sourceSizes.push_back(getAsOpFoldResult(l.sub(end, first)));
    targetOffsets.push_back(getAsOpFoldResult(inside(l.max(l.add(lowValue, l.mul(first, l.index(dilation[d]))), zero), size)));
    targetStrides.push_back(l.b.getIndexAttr(dilation[d]));
    isCut |= getConstantIntValue(sourceOffsets.back()) != 0 || getConstantIntValue(low[d]).value_or(-1) < 0 ||
             getConstantIntValue(high[d]).value_or(-1) < 0;
  }
  Value source = input;
  if (isCut) {
    SmallVector<OpFoldResult> ones(rank, l.b.getIndexAttr(1));
    source = tensor::ExtractSliceOp::create(l.b, l.loc, input, sourceOffsets, sourceSizes, ones);
  } else {
    sourceSizes = l.foldedDims(input);
  }
  Value filled = l.fill(padValue, l.empty(sizes, type.getElementType()));
  return tensor::InsertSliceOp::create(l.b, l.loc, source, filled, targetOffsets, sourceSizes, targetStrides);
}

OpFoldResult windowCount(LoopBuilder &l, OpFoldResult size, OpFoldResult window, int64_t windowDilation, int64_t stride) {
  auto staticSize = getConstantIntValue(size), staticWindow = getConstantIntValue(window);
  if (staticSize && staticWindow) {
    int64_t extent = *staticWindow == 0 ? 0 : (*staticWindow - 1) * windowDilation + 1;
    return l.b.getIndexAttr(*staticSize == 0 || extent > *staticSize ? 0 : (*staticSize - extent) / stride + 1);
  }
  Value zero = l.index(0), one = l.index(1), sizeValue = l.value(size);
  Value extent = l.add(l.mul(l.sub(l.value(window), one), l.index(windowDilation)), one);
  Value room = l.sub(sizeValue, extent);
  Value count = l.add(arith::DivSIOp::create(l.b, l.loc, l.max(room, zero), l.index(stride)), one);
  return l.select(l.compare(arith::CmpIPredicate::slt, room, zero), zero, count);
}

} // namespace millrace::lowering
