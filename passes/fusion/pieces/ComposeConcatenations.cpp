// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComposeConcatenations.cpp - Parts of a concatenation are parts of its operands -===//
// Input:   %a = concatenate(slice(%x, 3:9), slice(%x, 0:3)), dim = 0 ; %b = concatenate(slice(%a, [5:8]), slice(%a, [0:5])), dim = 1
// Output:  %b = concatenate(concatenate(slice(%x, ...), slice(%x, ...)), concatenate(...)): four slices of %x, without %a
//          Rolls, mirrored and replicated padding along several dimensions are written this way, one dimension after the other.
// Leaves alone a concatenation with users other than concatenations, or one that would become many slices.
//===----------------------------------------------------------------------===//
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/TensorTypes.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_COMPOSECONCATENATIONSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A concatenation with more pieces is not taken apart, because the code grows by each of them. Unit: pieces times readers. Source: judgement, not
/// measured alone.
constexpr size_t kMaxPieces = 16;

/// A broadcast that repeats elements along dimensions of size one and moves nothing; null for everything else.
BroadcastInDimOp repeatOf(Operation *op) {
  auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op);
  if (!broadcast || !hasVectorizableTypes(broadcast) || typeOf(broadcast.getOperand()).getRank() != typeOf(broadcast.getResult()).getRank() ||
      !llvm::equal(broadcast.getBroadcastDimensions(), llvm::seq<int64_t>(0, typeOf(broadcast.getResult()).getRank())))
    return {};
  return broadcast;
}

Value repeat(OpBuilder &b, Location loc, Value value, RankedTensorType type) {
  if (type == value.getType())
    return value;
  return BroadcastInDimOp::create(b, loc, type, value, b.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))));
}

/// `value` reversed: of a concatenation the operands are.
Value reversed(OpBuilder &b, Value value, ArrayRef<int64_t> dims) {
  if (auto inner = value.getDefiningOp<ReverseOp>()) {
    SmallVector<int64_t> once;
    for (int64_t d = 0; d < typeOf(value).getRank(); ++d)
      if (llvm::is_contained(dims, d) != llvm::is_contained(inner.getDimensions(), d))
        once.push_back(d);
    return once.empty() ? inner.getOperand() : reversed(b, inner.getOperand(), once);
  }
  if (auto concat = value.getDefiningOp<ConcatenateOp>()) {
    SmallVector<Value> parts;
    for (Value input : concat.getInputs())
      parts.push_back(reversed(b, input, dims));
    if (llvm::is_contained(dims, int64_t(concat.getDimension())))
      std::reverse(parts.begin(), parts.end());
    return ConcatenateOp::create(b, value.getLoc(), value.getType(), parts, concat.getDimension());
  }
  return ReverseOp::create(b, value.getLoc(), value, b.getDenseI64ArrayAttr(dims));
}

/// `value` repeated so that it has `type`: of a concatenation along a dimension of that size the operands are.
Value repeated(OpBuilder &b, Value value, RankedTensorType type) {
  if (BroadcastInDimOp inner = repeatOf(value.getDefiningOp()))
    return repeated(b, inner.getOperand(), type);
  auto concat = value.getDefiningOp<ConcatenateOp>();
  if (!concat || typeOf(value).getDimSize(concat.getDimension()) != type.getDimSize(concat.getDimension()))
    return repeat(b, value.getLoc(), value, type);
  SmallVector<Value> parts;
  for (Value input : concat.getInputs()) {
    SmallVector<int64_t> shape(type.getShape());
    shape[concat.getDimension()] = typeOf(input).getDimSize(concat.getDimension());
    parts.push_back(repeated(b, input, type.clone(shape)));
  }
  return ConcatenateOp::create(b, value.getLoc(), type, parts, concat.getDimension());
}

/// The concatenation that alone reads `value`, perhaps reversed or repeated; null if there is none.
ConcatenateOp onlyReader(Value value) {
  if (!value.hasOneUse())
    return {};
  Operation *user = *value.getUsers().begin();
  if (isa<ReverseOp>(user) || repeatOf(user))
    return user->hasOneUse() ? dyn_cast<ConcatenateOp>(*user->getUsers().begin()) : ConcatenateOp();
  return dyn_cast<ConcatenateOp>(user);
}

/// The number of values that are read to make `value`, 0 if some of them are computed for this.
size_t countPieces(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<SliceOp>(op))
    return 1;
  if (auto reverse = dyn_cast<ReverseOp>(op))
    return countPieces(reverse.getOperand());
  if (BroadcastInDimOp broadcast = repeatOf(op); broadcast && broadcast.getOperand().getDefiningOp<SliceOp>())
    return 1;
  auto concat = dyn_cast<ConcatenateOp>(op);
  if (!concat) {
    OpRole role = classify(op);
    return role != OpRole::Elementwise && role != OpRole::Duplicated && role != OpRole::Broadcast;
  }
  size_t sum = 0;
  for (Value input : concat.getInputs()) {
    size_t pieces = countPieces(input);
    if (!pieces)
      return 0;
    sum += pieces;
  }
  return sum;
}

void compose(ConcatenateOp concat) {
  if (!hasVectorizableTypes(concat) || concat->use_empty())
    return;
  SmallVector<SliceOp> slices;
  size_t others = 0;
  for (Operation *user : concat->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (slice && onlyReader(slice))
      slices.push_back(slice);
    else if (isa<ConcatenateOp>(user))
      ++others;
    else
      return;
  }
  size_t pieces = countPieces(concat);
  if (slices.empty() || others > 1 || pieces == 0 || pieces * (slices.size() + others) > kMaxPieces)
    return;
  for (SliceOp slice : slices) {
    OpBuilder b(slice);
    Value part = boxOf(b, slice.getLoc(), concat, Box::of(slice),
                       [](Operation *op) { return isa<SliceOp, ReverseOp, ConcatenateOp>(op) || repeatOf(op); });
    if (auto reverse = dyn_cast<ReverseOp>(*slice->getUsers().begin())) {
      b.setInsertionPoint(reverse);
      reverse.getResult().replaceAllUsesWith(reversed(b, part, reverse.getDimensions()));
      reverse.erase();
    } else if (BroadcastInDimOp broadcast = repeatOf(*slice->getUsers().begin())) {
      b.setInsertionPoint(broadcast);
      broadcast.getResult().replaceAllUsesWith(repeated(b, part, typeOf(broadcast.getResult())));
      broadcast.erase();
    } else {
      slice.getResult().replaceAllUsesWith(part);
    }
    slice.erase();
  }
}

struct ComposeConcatenations : impl::ComposeConcatenationsPassBase<ComposeConcatenations> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      SmallVector<ConcatenateOp> found(block.getOps<ConcatenateOp>());
      for (ConcatenateOp concat : found)
        compose(concat);
    });
  }
};

} // namespace
} // namespace millrace::fusion
