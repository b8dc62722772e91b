// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyDiagonals.cpp - Rewrite masked sums of a diagonal as slices -===//
// Input:   reduce(select(iota 0 == iota 1, %x : tensor<8x8xf32>, 0) init: 0) applies add across dimensions = [0]
// Output:  slice [0:64:9] of reshape %x : tensor<64xf32>, added to 0 (so that a sum of -0.0 is still 0)
//          Traces and einsum("ii->i") are written this way; the elements beside the diagonal are not read any more.
// Leaves alone matrices that one chain of elementwise operations computes for this sum alone: the sum shares their kernel's loop already.
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
namespace {

bool isZero(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()) ? !matchPattern(value, m_NegZeroFloat()) : false;
}

/// Returns the two dimensions whose indices `predicate` compares, if it depends on nothing else.
std::optional<std::pair<int64_t, int64_t>> diagonalOf(Value predicate) {
  ArrayRef<int64_t> dims;
  auto broadcast = predicate.getDefiningOp<BroadcastInDimOp>();
  if (broadcast) {
    dims = broadcast.getBroadcastDimensions();
    if (cast<ShapedType>(broadcast.getOperand().getType()).getRank() != int64_t(dims.size()))
      return std::nullopt;
    predicate = broadcast.getOperand();
  }
  auto compare = predicate.getDefiningOp<CompareOp>();
  if (!compare || compare.getComparisonDirection() != ComparisonDirection::EQ)
    return std::nullopt;
  auto first = compare.getLhs().getDefiningOp<IotaOp>(), second = compare.getRhs().getDefiningOp<IotaOp>();
  if (!first || !second)
    return std::nullopt;
  int64_t p = first.getIotaDimension(), q = second.getIotaDimension();
  auto type = cast<ShapedType>(predicate.getType());
  auto element = dyn_cast<IntegerType>(cast<ShapedType>(first.getType()).getElementType());
  // The matrix must be square, and the index type must represent every index.
  if (p == q || !type.hasStaticShape() || type.getDimSize(p) != type.getDimSize(q) || !element || element.getWidth() < 16 ||
      type.getDimSize(p) > (int64_t(1) << 15))
    return std::nullopt;
  if (broadcast) {
    auto wide = cast<ShapedType>(broadcast.getType());
    p = dims[p], q = dims[q];
    if (wide.getDimSize(p) != type.getDimSize(first.getIotaDimension()) || wide.getDimSize(q) != wide.getDimSize(p))
      return std::nullopt;
  }
  return std::minmax(p, q);
}

struct SumOfDiagonal : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 1 || !isa_and_nonnull<AddOp>(combinerOf(op.getBody())))
      return rewriter.notifyMatchFailure(op, "not a sum");
    auto select = op.getInputs()[0].getDefiningOp<SelectOp>();
    auto type = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
    if (!select || !type || !type.hasStaticShape() || type.getEncoding() || !isZero(select.getOnFalse()) || !isZero(op.getInitValues()[0]))
      return rewriter.notifyMatchFailure(op, "not a select between the matrix and zeros");
    if (cast<ShapedType>(op.getResult(0).getType()).getElementType() != type.getElementType())
      return rewriter.notifyMatchFailure(op, "the sum has another element type");
    auto dims = diagonalOf(select.getPred());
    if (!dims || dims->second != dims->first + 1)
      return rewriter.notifyMatchFailure(op, "no diagonal of neighbouring dimensions");
    auto [p, q] = *dims;
    bool hasFirst = llvm::is_contained(op.getDimensions(), p), hasSecond = llvm::is_contained(op.getDimensions(), q);
    if (!hasFirst && !hasSecond)
      return rewriter.notifyMatchFailure(op, "the reduced dimension is not one of the diagonal's");
    Value x = select.getOnTrue();
    Operation *source = x.getDefiningOp();
    if (source && x.hasOneUse() && source->hasTrait<OpTrait::Elementwise>())
      return rewriter.notifyMatchFailure(op, "the matrix is computed for this sum alone");

    Location loc = op.getLoc();
    int64_t size = type.getDimSize(p);
    SmallVector<int64_t> flat(type.getShape());
    flat[p] = size * size;
    flat.erase(flat.begin() + q);
    Value diagonal = ReshapeOp::create(rewriter, loc, type.clone(flat), x);
    Box box = Box::whole(flat);
    box.strides[p] = size + 1;
    diagonal = boxOf(rewriter, loc, diagonal, box);
    SmallVector<int64_t> rest;
    for (int64_t dim : op.getDimensions())
      if (dim < p || dim > q)
        rest.push_back(dim < p ? dim : dim - 1);
    if (hasFirst && hasSecond)
      rest.push_back(p);
    llvm::sort(rest);
    if (rest.empty()) {
      Value zero = ConstantOp::create(rewriter, loc, cast<ElementsAttr>(rewriter.getZeroAttr(diagonal.getType())));
      rewriter.replaceOpWithNewOp<AddOp>(op, diagonal, zero);
      return success();
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, diagonal);
      op.setDimensions(rest);
    });
    return success();
  }
};

} // namespace

void populateDiagonalSimplifications(RewritePatternSet &patterns) { patterns.add<SumOfDiagonal>(patterns.getContext()); }

} // namespace millrace::simplify
