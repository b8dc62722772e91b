// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyContraction.cpp - Transposes absorbed by reductions and contractions -===//
#include "passes/simplify/rewrites/SimplifyPatterns.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/simplify/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
namespace {

/// Input:  dot_general(transpose(a), b)      Output: dot_general(a, b), dimensions renumbered
/// Leaves alone a transpose that changes the order of the dimensions that the result keeps.
struct DotOfTranspose : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    SmallVector<int64_t> lhsBatch(numbers.getLhsBatchingDimensions()), rhsBatch(numbers.getRhsBatchingDimensions());
    SmallVector<int64_t> lhsContract(numbers.getLhsContractingDimensions()),
        rhsContract(numbers.getRhsContractingDimensions());
    Value lhs = op.getLhs(), rhs = op.getRhs();
    bool changed = absorb(lhs, lhsBatch, lhsContract);
    changed |= absorb(rhs, rhsBatch, rhsContract);
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no transpose that leaves the result in order");
    auto renumbered =
        DotDimensionNumbersAttr::get(rewriter.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
    auto dot = DotGeneralOp::create(rewriter, op.getLoc(), op.getType(), lhs, rhs, renumbered,
                                    op.getPrecisionConfigAttr(), op.getAlgorithmAttr());
    dot->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, dot);
    return success();
  }

private:
  static bool absorb(Value &value, SmallVectorImpl<int64_t> &batch, SmallVectorImpl<int64_t> &contract) {
    auto transpose = value.getDefiningOp<TransposeOp>();
    if (!transpose || isa<quant::QuantizedType>(cast<ShapedType>(value.getType()).getElementType()))
      return false;
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> kept;
    for (int64_t dim = 0, e = permutation.size(); dim != e; ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
        kept.push_back(permutation[dim]);
    if (!llvm::is_sorted(kept))
      return false;
    for (SmallVectorImpl<int64_t> *dims : {&batch, &contract})
      for (int64_t &dim : *dims)
        dim = permutation[dim];
    value = transpose.getOperand();
    return true;
  }
};

/// Input:  dot_general(a, broadcast_in_dim(b)), where all batching dimensions of the second operand are broadcast dimensions
/// Output: dot_general(a, b) without batching dimensions: one contraction with all rows of a, and no copies of b
/// Leaves alone contractions whose result would be transposed, and those with a batching dimension that the second operand has itself.
struct DotOfBroadcast : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    ArrayRef<int64_t> lhsBatch = numbers.getLhsBatchingDimensions(), rhsBatch = numbers.getRhsBatchingDimensions();
    auto repeated = op.getRhs().getDefiningOp<BroadcastInDimOp>();
    auto type = dyn_cast<RankedTensorType>(op.getRhs().getType());
    if (rhsBatch.empty() || !repeated || !type || !type.hasStaticShape() || isa<quant::QuantizedType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "no batching dimension, no broadcast, dynamic or quantized");
    if (llvm::any_of(rhsBatch, [&](int64_t dim) { return llvm::is_contained(repeated.getBroadcastDimensions(), dim); }))
      return rewriter.notifyMatchFailure(op, "a batching dimension that is not a broadcast dimension");
    // The dimensions of the result are the batching dimensions, then those that the first operand keeps.
    SmallVector<int64_t> kept(lhsBatch);
    for (int64_t dim = 0, e = cast<ShapedType>(op.getLhs().getType()).getRank(); dim != e; ++dim)
      if (!llvm::is_contained(lhsBatch, dim) && !llvm::is_contained(numbers.getLhsContractingDimensions(), dim))
        kept.push_back(dim);
    if (!llvm::is_sorted(kept))
      return rewriter.notifyMatchFailure(op, "the result would be transposed");

    auto without = [&](int64_t dim) { return dim - llvm::count_if(rhsBatch, [&](int64_t gone) { return gone < dim; }); };
    SmallVector<int64_t> shape, dims, contract;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(rhsBatch, dim))
        shape.push_back(size);
    for (int64_t dim : repeated.getBroadcastDimensions())
      dims.push_back(without(dim));
    for (int64_t dim : numbers.getRhsContractingDimensions())
      contract.push_back(without(dim));
    Value once = BroadcastInDimOp::create(rewriter, repeated.getLoc(), type.clone(shape), repeated.getOperand(), dims);
    auto flat = DotDimensionNumbersAttr::get(rewriter.getContext(), ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                                             numbers.getLhsContractingDimensions(), contract);
    auto dot = DotGeneralOp::create(rewriter, op.getLoc(), op.getType(), op.getLhs(), once, flat,
                                    op.getPrecisionConfigAttr(), op.getAlgorithmAttr());
    dot->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, dot);
    return success();
  }
};

/// Input:  dot_general(q : 12x1x64, multiply(transpose(reshape(broadcast_in_dim(k : 4x1000x64) : 4x3x1000x64) : 12x1000x64), scalar))
/// Output: reshape(dot_general(reshape(q) : 4x3x64, transpose(multiply(k, scalar)))): heads that share keys become rows of one contraction, and the
///         keys, or values, are neither repeated nor transposed in memory
/// Leaves alone several rows per head, which the attention emitter recognizes, and a single group, whose contraction has no batching dimension.
struct DotOfSharedHeads : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    auto lhs = dyn_cast<RankedTensorType>(op.getLhs().getType()), rhs = dyn_cast<RankedTensorType>(op.getRhs().getType());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!lhs || !rhs || !type || !lhs.hasStaticShape() || !rhs.hasStaticShape() || lhs.getRank() != 3 || rhs.getRank() != 3 || lhs.getDimSize(1) != 1 || type.getEncoding())
      return rewriter.notifyMatchFailure(op, "not one row per head");
    if (numbers.getLhsBatchingDimensions() != ArrayRef<int64_t>{0} || numbers.getRhsBatchingDimensions() != ArrayRef<int64_t>{0} ||
        numbers.getLhsContractingDimensions() != ArrayRef<int64_t>{2} || isa<quant::QuantizedType>(rhs.getElementType()))
      return rewriter.notifyMatchFailure(op, "heads are not the first dimension, or quantized");
    // The search goes from the operand back to the broadcast: transposes within a head and multiplications by a scalar commute with the broadcast.
    SmallVector<Operation *> between;
    Value value = op.getRhs();
    SplatElementsAttr number;
    for (Operation *maker = value.getDefiningOp(); maker && maker->hasOneUse(); maker = value.getDefiningOp()) {
      auto transpose = dyn_cast<TransposeOp>(maker);
      if (!(transpose && transpose.getPermutation()[0] == 0) && !(isa<MulOp>(maker) && matchPattern(maker->getOperand(1), m_Constant(&number))))
        break;
      between.push_back(maker);
      value = maker->getOperand(0);
    }
    auto reshape = value.getDefiningOp<ReshapeOp>();
    auto repeated = reshape ? reshape.getOperand().getDefiningOp<BroadcastInDimOp>() : BroadcastInDimOp();
    if (!repeated || !reshape->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no broadcast");
    auto merged = cast<RankedTensorType>(reshape.getType()), whole = cast<RankedTensorType>(repeated.getType()), once = cast<RankedTensorType>(repeated.getOperand().getType());
    // Unit dimensions are ignored; what is left are the groups of heads, the heads of a group, and two dimensions within a head.
    SmallVector<int64_t> sizes, places;
    for (auto [dim, size] : llvm::enumerate(whole.getShape()))
      if (size != 1)
        sizes.push_back(size), places.push_back(dim);
    int64_t inner = (int64_t)sizes.size() - 2, heads = inner < 2 ? 0 : sizes[inner - 1];
    if (heads == 0 || merged.getRank() != 3 || merged.getShape().drop_front() != ArrayRef(sizes).drop_front(inner))
      return rewriter.notifyMatchFailure(op, "not heads of a group");
    SmallVector<int64_t> kept;
    for (auto [dim, size] : llvm::zip(repeated.getBroadcastDimensions(), once.getShape()))
      if (size != 1)
        kept.push_back(dim);
    int64_t groups = merged.getDimSize(0) / heads;
    places.erase(places.begin() + inner - 1);
    if (kept != places)
      return rewriter.notifyMatchFailure(op, "a dimension other than the heads is broadcast");

    Location loc = op.getLoc();
    Value factor = ReshapeOp::create(rewriter, loc, merged.clone({groups, sizes[inner], sizes[inner + 1]}), repeated.getOperand());
    // Multiplications by scalars come first, so that the contraction's kernel reads the transposed operand in place.
    for (Operation *step : llvm::reverse(between))
      if (auto product = dyn_cast<MulOp>(step); product && matchPattern(product->getOperand(1), m_Constant(&number)))
        factor = MulOp::create(rewriter, loc, factor, ConstantOp::create(rewriter, loc, number.resizeSplat(cast<ShapedType>(factor.getType()))));
    for (Operation *step : llvm::reverse(between))
      if (auto transpose = dyn_cast<TransposeOp>(step))
        factor = TransposeOp::create(rewriter, loc, rhs.clone({groups, transpose.getType().getDimSize(1), transpose.getType().getDimSize(2)}), factor, transpose.getPermutation());
    Value rows = ReshapeOp::create(rewriter, loc, lhs.clone({groups, heads, lhs.getDimSize(2)}), op.getLhs());
    auto dot = DotGeneralOp::create(rewriter, loc, type.clone({groups, heads, type.getDimSize(2)}), rows, factor, numbers, op.getPrecisionConfigAttr(), op.getAlgorithmAttr());
    dot->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, dot);
    return success();
  }
};

/// Input:  dot_general(a, b) that contracts nothing, and perhaps a transpose behind it
/// Output: multiply(broadcast_in_dim(a), broadcast_in_dim(b)), in the order of the transpose: it is fused as elementwise operations are
/// Leaves alone contractions that convert their operands, that name an algorithm, and those of i1.
struct DotWithoutContraction : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!numbers.getLhsContractingDimensions().empty() || op.getAlgorithm() || !type || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "a contracted dimension, an algorithm, or a dynamic shape");
    Type element = type.getElementType();
    bool isNumber = isa<FloatType>(element) || (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() > 1);
    auto lhs = dyn_cast<RankedTensorType>(op.getLhs().getType()), rhs = dyn_cast<RankedTensorType>(op.getRhs().getType());
    if (!isNumber || !lhs || !rhs || !lhs.hasStaticShape() || !rhs.hasStaticShape() || lhs.getElementType() != element || rhs.getElementType() != element)
      return rewriter.notifyMatchFailure(op, "other types than the result's, or dynamic");
    // The dimensions of the result are the batching dimensions, the rest of the first operand's, then the rest of the second operand's.
    int64_t next = numbers.getLhsBatchingDimensions().size();
    auto places = [&](RankedTensorType operand, ArrayRef<int64_t> batch) {
      SmallVector<int64_t> found(operand.getRank());
      for (auto [place, dim] : llvm::enumerate(batch))
        found[dim] = place;
      for (int64_t dim = 0; dim != operand.getRank(); ++dim)
        if (!llvm::is_contained(batch, dim))
          found[dim] = next++;
      return found;
    };
    SmallVector<int64_t> left = places(lhs, numbers.getLhsBatchingDimensions()), right = places(rhs, numbers.getRhsBatchingDimensions());
    auto transpose = op->hasOneUse() ? dyn_cast<TransposeOp>(*op->user_begin()) : TransposeOp();
    if (transpose) {
      SmallVector<int64_t> inverse(type.getRank());
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
        inverse[from] = to;
      for (SmallVector<int64_t> *dims : {&left, &right})
        for (int64_t &dim : *dims)
          dim = inverse[dim];
      type = cast<RankedTensorType>(transpose.getType());
      rewriter.setInsertionPoint(transpose);
    }
    auto spread = [&](Value operand, SmallVector<int64_t> &dims) -> Value {
      auto from = cast<RankedTensorType>(operand.getType());
      if (!llvm::is_sorted(dims)) { // a broadcast keeps the order
        SmallVector<int64_t> order(llvm::to_vector(llvm::seq<int64_t>(0, from.getRank()))), shape;
        llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
        for (int64_t dim : order)
          shape.push_back(from.getDimSize(dim));
        llvm::sort(dims);
        operand = TransposeOp::create(rewriter, op.getLoc(), from.clone(shape), operand, order);
      }
      return BroadcastInDimOp::create(rewriter, op.getLoc(), type, operand, dims);
    };
    Value product = MulOp::create(rewriter, op.getLoc(), spread(op.getLhs(), left), spread(op.getRhs(), right));
    rewriter.replaceOp(transpose ? transpose.getOperation() : op.getOperation(), product);
    if (transpose)
      rewriter.eraseOp(op);
    return success();
  }
};

/// Returns the scalar, as a tensor of rank 0, whose broadcast `value` is; null if `value` is not a broadcast of a scalar.
Value splatScalar(OpBuilder &b, Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    return cast<ShapedType>(broadcast.getOperand().getType()).getRank() == 0 ? broadcast.getOperand() : Value();
  SplatElementsAttr number;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !matchPattern(value, m_Constant(&number)))
    return {};
  return ConstantOp::create(b, value.getLoc(), number.resizeSplat(RankedTensorType::get({}, type.getElementType())));
}

/// Input:  dot_general(a, b), where a is a broadcast of a scalar   // ones: the gradient of a loss that is a sum
/// Output: broadcast_in_dim(reduce of multiply(a's scalar, b) along the contracted dimensions); likewise where b is the broadcast
/// Sums of bf16 and f16 are computed in f32, as a contraction computes them.
/// Leaves alone contractions without contracted dimensions, algorithms, dynamic shapes, results whose dimensions would be transposed.
struct DotOfSplat : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    auto type = dyn_cast<RankedTensorType>(op.getType()), lhs = dyn_cast<RankedTensorType>(op.getLhs().getType()), rhs = dyn_cast<RankedTensorType>(op.getRhs().getType());
    if (numbers.getLhsContractingDimensions().empty() || op.getAlgorithm() || !type || !lhs || !rhs || !type.hasStaticShape() || !lhs.hasStaticShape() || !rhs.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "no contracted dimension, an algorithm, or a dynamic shape");
    Type element = type.getElementType(), factors = lhs.getElementType(), sums = element.isBF16() || element.isF16() ? rewriter.getF32Type() : element;
    bool isFloat = (sums.isF32() || sums.isF64()) && (factors == sums || factors.isBF16() || factors.isF16());
    bool isInteger = isa<IntegerType>(sums) && isa<IntegerType>(factors) && factors.getIntOrFloatBitWidth() > 1 && factors.getIntOrFloatBitWidth() <= sums.getIntOrFloatBitWidth();
    if (!(isFloat || isInteger) || rhs.getElementType() != factors || type.getEncoding() || lhs.getEncoding() || rhs.getEncoding())
      return rewriter.notifyMatchFailure(op, "element types that are not supported for operands or sums");
    int64_t batches = numbers.getLhsBatchingDimensions().size(), lhsKept = lhs.getRank() - batches - numbers.getLhsContractingDimensions().size();
    for (bool isLeft : {true, false}) {
      Value other = isLeft ? op.getRhs() : op.getLhs();
      ArrayRef<int64_t> batch = isLeft ? numbers.getRhsBatchingDimensions() : numbers.getLhsBatchingDimensions();
      ArrayRef<int64_t> contract = isLeft ? numbers.getRhsContractingDimensions() : numbers.getLhsContractingDimensions();
      // `dims` are the dimensions of the result that belong to those that `other` keeps: a broadcast does not change their order.
      SmallVector<int64_t> dims;
      int64_t next = isLeft ? batches + lhsKept : batches;
      for (int64_t dim = 0, rank = cast<RankedTensorType>(other.getType()).getRank(); dim != rank; ++dim)
        if (const auto *place = llvm::find(batch, dim); place != batch.end())
          dims.push_back(place - batch.begin());
        else if (!llvm::is_contained(contract, dim))
          dims.push_back(next++);
      if (!llvm::is_sorted(dims))
        continue;
      Value number = splatScalar(rewriter, isLeft ? op.getLhs() : op.getRhs());
      if (!number)
        continue;
      Location loc = op.getLoc();
      Value terms = convertTo(rewriter, loc, other, sums);
      if (!matchPattern(number, m_OneFloat()) && !matchPattern(number, m_One()))
        terms = MulOp::create(rewriter, loc, terms, BroadcastInDimOp::create(rewriter, loc, terms.getType(), convertTo(rewriter, loc, number, sums), ArrayRef<int64_t>()));
      Value sum = convertTo(rewriter, loc, reduceSum(rewriter, loc, terms, contract), element);
      rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, type, sum, dims);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand that is a broadcast of a scalar, or the result would be transposed");
  }
};

/// Input:  transpose(dot_general(g, x))   // 128x64, 128x512 contracted along their rows, as jax.grad writes a weight's gradient: 64x512 -> 512x64
/// Output: dot_general(x, g)
/// Leaves alone a contraction with other users, and one whose second operand would have to be packed along its rows instead of its columns:
/// transposing the operand costs as much as transposing the result.
struct TransposeOfDot : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getOperand().getDefiningOp<DotGeneralOp>();
    if (!dot || !dot->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no contraction, or one with other users");
    auto lhs = dyn_cast<RankedTensorType>(dot.getLhs().getType()), rhs = dyn_cast<RankedTensorType>(dot.getRhs().getType());
    if (!lhs || !rhs || isa<quant::QuantizedType>(lhs.getElementType()) || isa<quant::QuantizedType>(rhs.getElementType()) || dot.getAlgorithmAttr())
      return rewriter.notifyMatchFailure(op, "unranked, quantized, or an algorithm that names its sides");
    DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
    ArrayRef<int64_t> lhsContract = numbers.getLhsContractingDimensions(), rhsContract = numbers.getRhsContractingDimensions();
    ArrayRef<int64_t> lhsBatch = numbers.getLhsBatchingDimensions(), rhsBatch = numbers.getRhsBatchingDimensions();
    int64_t batches = lhsBatch.size(), rank = op.getPermutation().size();
    int64_t lhsKept = lhs.getRank() - batches - lhsContract.size(), rhsKept = rank - batches - lhsKept;
    // Batching dimensions may come in any order, as long as they come first.
    SmallVector<int64_t> lhsOrder, rhsOrder, turned;
    for (int64_t dim : op.getPermutation().take_front(batches)) {
      if (dim >= batches)
        return rewriter.notifyMatchFailure(op, "a batching dimension would not be among the first dimensions");
      lhsOrder.push_back(lhsBatch[dim]);
      rhsOrder.push_back(rhsBatch[dim]);
    }
    for (int64_t dim = 0; dim != rhsKept; ++dim)
      turned.push_back(batches + lhsKept + dim);
    for (int64_t dim = 0; dim != lhsKept; ++dim)
      turned.push_back(batches + dim);
    if (lhsKept == 0 || rhsKept == 0 || op.getPermutation().drop_front(batches) != ArrayRef(turned))
      return rewriter.notifyMatchFailure(op, "the dimensions of the two operands do not swap as two blocks");
    auto alongRows = [](RankedTensorType type, ArrayRef<int64_t> contract) { return llvm::is_contained(contract, type.getRank() - 1); };
    if (alongRows(lhs, lhsContract) && !alongRows(rhs, rhsContract))
      return rewriter.notifyMatchFailure(op, "the second operand would be packed along its rows");
    auto swapped = DotDimensionNumbersAttr::get(rewriter.getContext(), rhsOrder, lhsOrder, rhsContract, lhsContract);
    ArrayAttr precision = dot.getPrecisionConfigAttr();
    if (precision && precision.size() == 2)
      precision = rewriter.getArrayAttr({precision[1], precision[0]});
    rewriter.setInsertionPoint(dot);
    auto other = DotGeneralOp::create(rewriter, dot.getLoc(), op.getType(), dot.getRhs(), dot.getLhs(), swapped, precision, nullptr);
    other->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, other);
    rewriter.eraseOp(dot);
    return success();
  }
};

/// Input:  reduce(transpose(x))       Output: reduce(x), dimensions renumbered
/// Leaves alone a transpose that changes the order of the dimensions that stay.
struct ReduceOfTranspose : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 1)
      return rewriter.notifyMatchFailure(op, "several inputs");
    auto transpose = op.getInputs()[0].getDefiningOp<TransposeOp>();
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "no transpose");
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> kept, reduced;
    for (int64_t dim = 0, e = permutation.size(); dim != e; ++dim)
      (llvm::is_contained(op.getDimensions(), dim) ? reduced : kept).push_back(permutation[dim]);
    if (!llvm::is_sorted(kept))
      return rewriter.notifyMatchFailure(op, "the result would be transposed");
    llvm::sort(reduced);
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, transpose.getOperand());
      op.setDimensions(reduced);
    });
    return success();
  }
};

/// Input:  convolution(x, transpose(k))      Output: convolution(x, k), dimensions renumbered; x likewise
struct ConvolutionOfTranspose : OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<TransposeOp>(), rhs = op.getRhs().getDefiningOp<TransposeOp>();
    if ((!lhs && !rhs) || isa<quant::QuantizedType>(cast<ShapedType>(op.getLhs().getType()).getElementType()))
      return rewriter.notifyMatchFailure(op, "no transpose, or quantized");
    ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
    auto source = [](TransposeOp transpose, int64_t dim) { return transpose ? transpose.getPermutation()[dim] : dim; };
    auto sources = [&](TransposeOp transpose, ArrayRef<int64_t> from) {
      SmallVector<int64_t> to;
      for (int64_t dim : from)
        to.push_back(source(transpose, dim));
      return to;
    };
    auto renumbered = ConvDimensionNumbersAttr::get(
        rewriter.getContext(), source(lhs, dims.getInputBatchDimension()), source(lhs, dims.getInputFeatureDimension()),
        sources(lhs, dims.getInputSpatialDimensions()), source(rhs, dims.getKernelInputFeatureDimension()),
        source(rhs, dims.getKernelOutputFeatureDimension()), sources(rhs, dims.getKernelSpatialDimensions()),
        dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions());
    rewriter.modifyOpInPlace(op, [&] {
      if (lhs)
        op->setOperand(0, lhs.getOperand());
      if (rhs)
        op->setOperand(1, rhs.getOperand());
      op.setDimensionNumbersAttr(renumbered);
    });
    return success();
  }
};

/// Input:  convolution(x, reverse(k)) along the window      Output: convolution(x, k) with a reversed window
struct ConvolutionOfReverse : OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    auto reverse = op.getRhs().getDefiningOp<ReverseOp>();
    ArrayRef<int64_t> window = op.getDimensionNumbers().getKernelSpatialDimensions();
    if (!reverse || isa<quant::QuantizedType>(cast<ShapedType>(op.getLhs().getType()).getElementType()) ||
        !cast<ShapedType>(reverse.getType()).hasStaticShape() ||
        !llvm::all_of(reverse.getDimensions(), [&](int64_t dim) { return llvm::is_contained(window, dim); }))
      return rewriter.notifyMatchFailure(op, "no reversed window, quantized, or dynamic");
    SmallVector<bool> reversal(window.size(), false);
    if (auto given = op.getWindowReversal())
      reversal.assign(given->begin(), given->end());
    for (auto [flag, dim] : llvm::zip(reversal, window))
      flag ^= llvm::is_contained(reverse.getDimensions(), dim);
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(1, reverse.getOperand());
      op.setWindowReversalAttr(rewriter.getDenseBoolArrayAttr(reversal));
    });
    return success();
  }
};

} // namespace

void populateContractionSimplifications(RewritePatternSet &patterns) {
  patterns.add<ConvolutionOfReverse, ConvolutionOfTranspose, DotOfSplat, DotOfBroadcast, DotOfSharedHeads, DotOfTranspose, DotWithoutContraction,
               ReduceOfTranspose, TransposeOfDot>(patterns.getContext());
}

} // namespace millrace::simplify
