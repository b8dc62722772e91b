// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GatherReads.cpp - How a gather reads its operand -------------------===//
#include "passes/fusion/codes/GatherReads.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/codes/IntegerRanges.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

Reads readsOf(GatherOp gather) {
  GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  RankedTensorType table = typeOf(gather.getOperand()), indices = typeOf(gather.getStartIndices());
  if (!numbers.getOperandBatchingDims().empty() || numbers.getStartIndexMap().size() != 1 || numbers.getCollapsedSliceDims() != numbers.getStartIndexMap() ||
      !isInteger(indices.getElementType()))
    return Reads::Otherwise;
  const int64_t dim = numbers.getStartIndexMap()[0];
  for (auto [place, size] : llvm::enumerate(gather.getSliceSizes()))
    if (size != (int64_t(place) == dim ? 1 : table.getDimSize(place)))
      return Reads::Otherwise;
  if (table.getRank() == 1)
    return Reads::Table;
  return typeOf(gather).getRank() == table.getRank() ? Reads::Rows : Reads::Otherwise;
}

int64_t dimOfIndices(GatherOp gather) {
  ArrayRef<int64_t> offsets = gather.getDimensionNumbers().getOffsetDims();
  int64_t dim = 0;
  while (llvm::is_contained(offsets, dim))
    ++dim;
  return dim;
}

} // namespace millrace::fusion
