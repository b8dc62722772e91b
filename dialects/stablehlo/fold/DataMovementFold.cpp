// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementFold.cpp - Cheap folds of data movement ops ------------===//
// Folds identities, splats and reshaped constants; the evaluator folds other constants.
#include "dialects/stablehlo/DataMovementOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace millrace::stablehlo {

/// Returns the splat `attr` with the static shape of `type`, or null.
static Attribute splatOfType(Attribute attr, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attr);
  auto shaped = cast<RankedTensorType>(type);
  if (!splat || !shaped.hasStaticShape() || splat.getElementType() != shaped.getElementType())
    return {};
  return splat.resizeSplat(shaped);
}

static bool isIota(ArrayRef<int64_t> values) {
  return llvm::all_of(llvm::enumerate(values),
                      [](auto it) { return static_cast<int64_t>(it.index()) == it.value(); });
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return splatOfType(adaptor.getOperand(), getType());
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && isIota(getBroadcastDimensions()))
    return getOperand();
  return splatOfType(adaptor.getOperand(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto type = cast<RankedTensorType>(getType());
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand());
  if (elements && type.hasStaticShape() && elements.getElementType() == type.getElementType())
    return elements.reshape(type);
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && isIota(getPermutation()))
    return getOperand();
  return splatOfType(adaptor.getOperand(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  auto operand = cast<RankedTensorType>(getOperand().getType());
  // A slice of the full static size is the operand.
  if (operand == getType() && operand.hasStaticShape())
    return getOperand();
  return splatOfType(adaptor.getOperand(), getType());
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  auto isZero = [](int64_t padding) { return padding == 0; };
  if (getOperand().getType() == getType() && llvm::all_of(getEdgePaddingLow(), isZero) &&
      llvm::all_of(getEdgePaddingHigh(), isZero) && llvm::all_of(getInteriorPadding(), isZero))
    return getOperand();
  auto operand = dyn_cast_or_null<SplatElementsAttr>(adaptor.getOperand());
  auto padding = dyn_cast_or_null<SplatElementsAttr>(adaptor.getPaddingValue());
  if (operand && padding && operand.getSplatValue<Attribute>() == padding.getSplatValue<Attribute>())
    return splatOfType(operand, getType());
  return {};
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  // Operands that are equal splats.
  Attribute first = adaptor.getInputs().empty() ? Attribute() : adaptor.getInputs().front();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(first);
  if (!splat)
    return {};
  for (Attribute attr : adaptor.getInputs()) {
    auto other = dyn_cast_or_null<SplatElementsAttr>(attr);
    if (!other || other.getSplatValue<Attribute>() != splat.getSplatValue<Attribute>())
      return {};
  }
  return splatOfType(splat, getType());
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  auto operand = cast<RankedTensorType>(getOperand().getType());
  // A reverse along dimensions of size one is the identity.
  if (operand == getType() && llvm::all_of(getDimensions(), [&](int64_t d) { return operand.getDimSize(d) == 1; }))
    return getOperand();
  return splatOfType(adaptor.getOperand(), getType());
}

//===-- Canonicalization --------------------------------------------------===//

namespace {
/// Replaces an iota along a dimension of size one by zero.
struct IotaOfUnitDimension : OpRewritePattern<IotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IotaOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.getDimSize(op.getIotaDimension()) != 1)
      return rewriter.notifyMatchFailure(op, "dimension is not of size one");
    Type elementType = type.getElementType();
    if (isa<quant::QuantizedType>(elementType))
      return rewriter.notifyMatchFailure(op, "quantized");
    DenseElementsAttr zero;
    if (auto complex = dyn_cast<ComplexType>(elementType)) {
      APFloat part = APFloat::getZero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
      zero = DenseElementsAttr::get(type, std::complex<APFloat>(part, part));
    } else if (auto floating = dyn_cast<FloatType>(elementType)) {
      zero = DenseElementsAttr::get(type, rewriter.getFloatAttr(floating, 0.0).getValue());
    } else {
      zero = DenseElementsAttr::get(type, APInt::getZero(elementType.getIntOrFloatBitWidth()));
    }
    rewriter.replaceOpWithNewOp<ConstantOp>(op, zero);
    return success();
  }
};

/// broadcast_in_dim(broadcast_in_dim(x)) -> broadcast_in_dim(x)
struct ComposeBroadcasts : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getBroadcastDimensions())
      dims.push_back(op.getBroadcastDimensions()[dim]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims);
    return success();
  }
};

/// reshape(reshape(x)) -> reshape(x)
struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

/// transpose(transpose(x)) -> transpose(x)
struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<TransposeOp>();
    // If the inner transpose has another user, merging would not remove it.
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "operand is not a transpose with one user");
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getOperand(),
                                             rewriter.getDenseI64ArrayAttr(permutation));
    return success();
  }
};

/// Removes operands without elements, and merges a concatenate into its only user, a concatenate along the same dimension.
struct FlattenConcatenate : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatenateOp op, PatternRewriter &rewriter) const override {
    int64_t dim = op.getDimension();
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<ConcatenateOp>();
      if (inner && static_cast<int64_t>(inner.getDimension()) == dim && inner->hasOneUse())
        llvm::append_range(inputs, inner.getInputs());
      else if (cast<RankedTensorType>(input.getType()).getDimSize(dim) != 0)
        inputs.push_back(input);
    }
    if (inputs.empty() || llvm::equal(inputs, op.getInputs()))
      return rewriter.notifyMatchFailure(op, "no empty or nested operand");
    rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), inputs, dim);
    return success();
  }
};
} // namespace

bool BroadcastInDimOp::isSimpleBroadcast() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), result = cast<RankedTensorType>(getType());
  return operand.hasStaticShape() && result.hasStaticShape() &&
         operand.getNumElements() == result.getNumElements();
}

void IotaOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<IotaOfUnitDimension>(context);
}
void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<ComposeBroadcasts>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<ComposeReshapes>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<ComposeTransposes>(context);
}
void ConcatenateOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<FlattenConcatenate>(context);
}

} // namespace millrace::stablehlo
