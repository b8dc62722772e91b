// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KeepDimensions.cpp - Reshapes that hide what is split --------------===//
// Input:   %2 = dot_general (reshape %0 : 8x4x16x2 -> 32x16x2), (reshape %1 : 8x4x2x16 -> 32x2x16), batching [0] x [0] ; reshape %2 : 8x4x16x16
// Output:  dot_general %0, %1, batching [0, 1] x [0, 1]
// Leaves alone products whose batches nothing was merged into.
#include "passes/spmd/KeepDimensions.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
namespace {

/// Nothing is said about the sharding of its results, nor about one of their dimensions by name (quantization per axis).
bool isSilent(Operation *op) {
  auto isPlain = [](Type type) { return isa<IntegerType, FloatType, ComplexType>(getElementTypeOrSelf(type)); };
  return !op->hasAttr(sdy::shardingAttrName) && !op->hasAttr("mhlo.sharding") && llvm::all_of(op->getOperandTypes(), isPlain) &&
         llvm::all_of(op->getResultTypes(), isPlain);
}

/// reshape(reshape(x)) becomes reshape(x), and one that changes nothing its operand.
void mergeReshapes(ModuleOp module) {
  SmallVector<ReshapeOp> ops;
  module.walk([&](ReshapeOp op) { ops.push_back(op); });
  for (ReshapeOp op : ops) { // in order: the one before has been merged with its own
    if (auto inner = op->getOperand(0).getDefiningOp<ReshapeOp>(); inner && isSilent(inner))
      op->setOperand(0, inner->getOperand(0));
    if (op->getOperand(0).getType() == op->getResult(0).getType() && isSilent(op))
      op->replaceAllUsesWith(op->getOperands());
  }
}

/// What nobody reads any more would be gathered all the same.
void eraseUnread(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<ReshapeOp, TransposeOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isSilent(op))
      op->erase();
}

/// The type with `sizes` instead of dimension `dim`.
RankedTensorType splitType(RankedTensorType type, int64_t dim, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return type.clone(shape);
}

/// Sizes of the dimensions that dimension `dim` of the value was merged from; one if none were.
SmallVector<int64_t> partsOf(Value value, int64_t dim) {
  int64_t size = typeOf(value).getDimSize(dim);
  if (auto transpose = value.getDefiningOp<TransposeOp>(); transpose && isSilent(transpose))
    return partsOf(transpose->getOperand(0), transpose.getPermutation()[dim]);
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape || !isSilent(reshape))
    return {size};
  int64_t before = 1, product = 1;
  for (int64_t each : typeOf(value).getShape().take_front(dim))
    before *= each;
  SmallVector<int64_t> parts;
  for (int64_t each : typeOf(reshape->getOperand(0)).getShape()) {
    if (before == 1 && product < size) {
      parts.push_back(each);
      product *= each;
    } else if (before > 1) {
      if (each == 0 || before % each != 0)
        return {size};
      before /= each;
    }
  }
  return product == size ? parts : SmallVector<int64_t>{size};
}

/// Where both were cut.
SmallVector<int64_t> commonParts(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  SmallVector<int64_t> ends, parts;
  int64_t end = 1, begin = 1;
  for (int64_t size : first)
    ends.push_back(end *= size);
  end = 1;
  for (int64_t size : second) {
    end *= size;
    if (size > 1 && llvm::is_contained(ends, end)) {
      parts.push_back(end / begin);
      begin = end;
    }
  }
  return parts;
}

/// The value with `sizes` instead of dimension `dim`.
Value split(OpBuilder &builder, Value value, int64_t dim, ArrayRef<int64_t> sizes) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || !isSilent(transpose))
    return ReshapeOp::create(builder, value.getLoc(), splitType(typeOf(value), dim, sizes), value);
  int64_t from = transpose.getPermutation()[dim], more = sizes.size() - 1;
  SmallVector<int64_t> permutation;
  for (int64_t each : transpose.getPermutation())
    for (int64_t part = 0; part < (each == from ? more + 1 : 1); ++part)
      permutation.push_back(each + part + (each > from ? more : 0));
  return TransposeOp::create(builder, value.getLoc(), splitType(typeOf(value), dim, sizes),
                             split(builder, transpose->getOperand(0), from, sizes), builder.getDenseI64ArrayAttr(permutation));
}

/// `dims` after dimension `dim` has become `count`.
SmallVector<int64_t> renumber(ArrayRef<int64_t> dims, int64_t dim, int64_t count) {
  SmallVector<int64_t> renumbered;
  for (int64_t each : dims)
    for (int64_t part = 0; part < (each == dim ? count : 1); ++part)
      renumbered.push_back(each + part + (each > dim ? count - 1 : 0));
  return renumbered;
}

/// The product with one merged batching dimension in parts; null if there is none.
DotGeneralOp splitBatch(DotGeneralOp op) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  for (auto [position, dims] : llvm::enumerate(llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))) {
    auto [lhsDim, rhsDim] = dims;
    SmallVector<int64_t> lhsParts = partsOf(op.getLhs(), lhsDim), rhsParts = partsOf(op.getRhs(), rhsDim);
    SmallVector<int64_t> parts = lhsParts.size() == 1 ? rhsParts : rhsParts.size() == 1 ? lhsParts : commonParts(lhsParts, rhsParts);
    llvm::erase(parts, 1);
    if (parts.size() < 2)
      continue;
    OpBuilder builder(op);
    int64_t count = parts.size();
    auto split = DotDimensionNumbersAttr::get(
        op.getContext(), renumber(numbers.getLhsBatchingDimensions(), lhsDim, count), renumber(numbers.getRhsBatchingDimensions(), rhsDim, count),
        renumber(numbers.getLhsContractingDimensions(), lhsDim, count), renumber(numbers.getRhsContractingDimensions(), rhsDim, count));
    Value lhs = spmd::split(builder, op.getLhs(), lhsDim, parts), rhs = spmd::split(builder, op.getRhs(), rhsDim, parts);
    RankedTensorType type = typeOf(op->getResult(0));
    auto made = DotGeneralOp::create(builder, op.getLoc(), splitType(type, position, parts), lhs, rhs, split, op.getPrecisionConfigAttr(),
                                     op.getAlgorithmAttr());
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(ReshapeOp::create(builder, op.getLoc(), type, made->getResult(0)));
    op->erase();
    return made;
  }
  return {};
}

} // namespace

void keepDimensions(ModuleOp module) {
  mergeReshapes(module);
  SmallVector<DotGeneralOp> products;
  module.walk([&](DotGeneralOp op) { products.push_back(op); });
  bool changed = false;
  for (DotGeneralOp op : products)
    for (DotGeneralOp next = op; next && isSilent(next); changed |= bool(next))
      next = splitBatch(next);
  if (changed)
    mergeReshapes(module);
  eraseUnread(module);
}

} // namespace millrace::spmd
