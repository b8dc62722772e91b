// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeDeprecatedOps.cpp - Replace deprecated operations ----------===//
// Input:   %1 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// Output:  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ..
// Leaves alone an einsum with `...` or with a letter twice in one operand; it fails, unless fail-on-unused=false.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Builders.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOLEGALIZEDEPRECATEDOPSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

struct LegalizeBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getOperand().getType()), to = cast<RankedTensorType>(op.getType());
    if (!to.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic shape");
    auto dims = llvm::to_vector(llvm::seq<int64_t>(to.getRank() - from.getRank(), to.getRank()));
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, to, op.getOperand(), rewriter.getDenseI64ArrayAttr(dims));
    return success();
  }
};

struct LegalizeCreateToken : OpRewritePattern<CreateTokenOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CreateTokenOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<AfterAllOp>(op, op.getType(), ValueRange());
    return success();
  }
};

struct LegalizeCrossReplicaSum : OpRewritePattern<CrossReplicaSumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CrossReplicaSumOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto reduce = AllReduceOp::create(rewriter, loc, op.getType(), op.getOperand(), op.getReplicaGroupsAttr(),
                                      ChannelHandleAttr(), /*use_global_device_ids=*/false);
    Type scalar = RankedTensorType::get({}, cast<ShapedType>(op.getType()).getElementType());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      Block *body = rewriter.createBlock(&reduce.getComputation(), {}, {scalar, scalar}, {loc, loc});
      Value sum = AddOp::create(rewriter, loc, body->getArgument(0), body->getArgument(1));
      ReturnOp::create(rewriter, loc, sum);
    }
    rewriter.replaceOp(op, reduce);
    return success();
  }
};

struct LegalizeDot : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    int64_t last = cast<RankedTensorType>(op.getLhs().getType()).getRank() - 1;
    auto numbers = DotDimensionNumbersAttr::get(rewriter.getContext(), {}, {}, {last}, {0});
    DictionaryAttr said = op->getDiscardableAttrDictionary(); // shardings, for one
    auto general = rewriter.replaceOpWithNewOp<DotGeneralOp>(op, op.getType(), op.getLhs(), op.getRhs(), numbers,
                                                             op.getPrecisionConfigAttr(), DotAlgorithmAttr());
    general->setDiscardableAttrs(said);
    return success();
  }
};

/// Letters of one operand or of the result. Empty optional if there is something else, or a letter twice.
std::optional<std::string> letters(StringRef text, int64_t rank) {
  std::string result;
  for (char c : text) {
    if (c == ' ')
      continue;
    if (!llvm::isAlpha(c) || result.find(c) != std::string::npos)
      return std::nullopt;
    result.push_back(c);
  }
  if (int64_t(result.size()) != rank)
    return std::nullopt;
  return result;
}

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// Sums over the dimensions of `value` whose letter is not in `keep`.
Value sumOut(PatternRewriter &rewriter, Location loc, Value value, std::string &name, StringRef keep) {
  SmallVector<int64_t> dims;
  std::string kept;
  for (auto [dim, letter] : llvm::enumerate(name)) {
    if (keep.contains(letter))
      kept.push_back(letter);
    else
      dims.push_back(dim);
  }
  name = kept;
  return dims.empty() ? value : reduceSum(rewriter, loc, value, dims);
}

/// `value` with dimensions named `from`, in the order of `to`.
Value reorder(PatternRewriter &rewriter, Location loc, Value value, StringRef from, StringRef to) {
  if (from == to)
    return value;
  SmallVector<int64_t> permutation;
  for (char letter : to)
    permutation.push_back(from.find(letter));
  return TransposeOp::create(rewriter, loc, value, rewriter.getDenseI64ArrayAttr(permutation));
}

struct LegalizeUnaryEinsum : OpRewritePattern<UnaryEinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryEinsumOp op, PatternRewriter &rewriter) const override {
    auto [inputText, outputText] = op.getEinsumConfig().split("->");
    auto input = letters(inputText, rankOf(op.getOperand())), output = letters(outputText, rankOf(op));
    if (!input || !output ||
        llvm::any_of(*output, [&](char c) { return input->find(c) == std::string::npos; }))
      return rewriter.notifyMatchFailure(op, "not a permutation and sum of distinct letters");
    Value value = sumOut(rewriter, op.getLoc(), op.getOperand(), *input, *output);
    rewriter.replaceOp(op, reorder(rewriter, op.getLoc(), value, *input, *output));
    return success();
  }
};

struct LegalizeEinsum : OpRewritePattern<EinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(EinsumOp op, PatternRewriter &rewriter) const override {
    auto [inputs, outputText] = op.getEinsumConfig().split("->");
    auto [lhsText, rhsText] = inputs.split(",");
    auto lhsName = letters(lhsText, rankOf(op.getLhs())), rhsName = letters(rhsText, rankOf(op.getRhs()));
    auto output = letters(outputText, rankOf(op));
    if (!lhsName || !rhsName || !output ||
        llvm::any_of(*output, [&](char c) { return (*lhsName + *rhsName).find(c) == std::string::npos; }))
      return rewriter.notifyMatchFailure(op, "not a product and sum of distinct letters");
    Location loc = op.getLoc();
    Value lhs = sumOut(rewriter, loc, op.getLhs(), *lhsName, *output + *rhsName);
    Value rhs = sumOut(rewriter, loc, op.getRhs(), *rhsName, *output + *lhsName);
    // A letter of both is a batch dimension if the result has it, else it is contracted.
    SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract, shape;
    std::string batchName, lhsFree, rhsFree;
    for (auto [dim, letter] : llvm::enumerate(*lhsName)) {
      size_t other = rhsName->find(letter);
      if (other == std::string::npos) {
        lhsFree.push_back(letter);
      } else if (output->find(letter) != std::string::npos) {
        batchName.push_back(letter);
        lhsBatch.push_back(dim);
        rhsBatch.push_back(other);
      } else {
        lhsContract.push_back(dim);
        rhsContract.push_back(other);
      }
    }
    for (char letter : *rhsName)
      if (lhsName->find(letter) == std::string::npos)
        rhsFree.push_back(letter);
    auto lhsType = cast<RankedTensorType>(lhs.getType()), rhsType = cast<RankedTensorType>(rhs.getType());
    std::string produced = batchName + lhsFree + rhsFree;
    for (char letter : produced) {
      size_t inLhs = lhsName->find(letter);
      shape.push_back(inLhs != std::string::npos ? lhsType.getDimSize(inLhs) : rhsType.getDimSize(rhsName->find(letter)));
    }
    auto type = RankedTensorType::get(shape, cast<ShapedType>(op.getType()).getElementType());
    auto numbers =
        DotDimensionNumbersAttr::get(rewriter.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
    Value product = DotGeneralOp::create(rewriter, loc, type, lhs, rhs, numbers, ArrayAttr(), DotAlgorithmAttr());
    rewriter.replaceOp(op, reorder(rewriter, loc, product, produced, *output));
    return success();
  }
};

/// result[b.., before.., i.., after..] = operand[b.., before.., index[b.., i..], after..] with `batch_dims` b.
struct LegalizeTorchIndexSelect : OpRewritePattern<TorchIndexSelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TorchIndexSelectOp op, PatternRewriter &rewriter) const override {
    auto operandType = cast<RankedTensorType>(op.getOperand().getType());
    auto indexType = cast<RankedTensorType>(op.getIndex().getType());
    if (!operandType.hasStaticShape() || !isa<IntegerType>(indexType.getElementType()))
      return rewriter.notifyMatchFailure(op, "dynamic operand, or index of no integer type");
    int64_t dim = op.getDim() < 0 ? op.getDim() + operandType.getRank() : op.getDim();
    int64_t batch = op.getBatchDims() < 0 ? op.getBatchDims() + indexType.getRank() : op.getBatchDims();
    if (batch > dim || batch > indexType.getRank())
      return rewriter.notifyMatchFailure(op, "a batch dimension is the selected one");
    int64_t indexDims = indexType.getRank() - batch;
    SmallVector<int64_t> sizes, offset, batching;
    for (int64_t d = 0; d != operandType.getRank(); ++d) {
      sizes.push_back(d < batch || d == dim ? 1 : operandType.getDimSize(d));
      if (d < batch)
        batching.push_back(d);
      else if (d != dim)
        offset.push_back(d < dim ? d : d - 1 + indexDims);
    }
    auto numbers = GatherDimensionNumbersAttr::get(rewriter.getContext(), offset, /*collapsedSliceDims=*/{dim},
                                                   /*operandBatchingDims=*/batching,
                                                   /*startIndicesBatchingDims=*/batching, /*startIndexMap=*/{dim},
                                                   /*indexVectorDim=*/indexType.getRank());
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), op.getOperand(), op.getIndex(), numbers,
                                          rewriter.getDenseI64ArrayAttr(sizes));
    return success();
  }
};

struct LegalizeDeprecatedOps : impl::StablehloLegalizeDeprecatedOpsPassBase<LegalizeDeprecatedOps> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    owned.add<LegalizeBroadcast, LegalizeCreateToken, LegalizeCrossReplicaSum, LegalizeDot, LegalizeEinsum,
              LegalizeTorchIndexSelect, LegalizeUnaryEinsum>(context);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      return signalPassFailure();
    if (!failOnUnused)
      return;
    getOperation().walk([&](Operation *op) {
      if (!isa<BroadcastOp, CreateTokenOp, CrossReplicaSumOp, DotOp, EinsumOp, TorchIndexSelectOp, UnaryEinsumOp>(op))
        return;
      op->emitOpError("has no form in operations that are not deprecated");
      signalPassFailure();
    });
  }
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace millrace::simplify
