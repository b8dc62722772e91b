// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - while, case, if and tuples in kernels -------------===//
// Input:   %r = stablehlo.while(%i = %a) : tensor<i32> cond {...} do {...}
// Output:  scf.while on storage tensors; case and if become scf.if; tuples are replaced by their elements
// Leaves alone custom_call and composite.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

using stablehlo::CaseOp;
using stablehlo::GetTupleElementOp;
using stablehlo::IfOp;
using stablehlo::OptimizationBarrierOp;
using stablehlo::ReturnOp;
using stablehlo::TupleOp;
using stablehlo::WhileOp;

SmallVector<Value> flatten(ArrayRef<ValueRange> values) {
  SmallVector<Value> result;
  for (ValueRange range : values)
    llvm::append_range(result, range);
  return result;
}

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  /// Returns the storage types of all results, and sets `counts` to the number of types per result.
  FailureOr<SmallVector<Type>> resultTypes(Op op, SmallVector<unsigned> &counts) const {
    SmallVector<Type> types;
    for (Type type : op->getResultTypes()) {
      size_t before = types.size();
      if (failed(this->getTypeConverter()->convertType(type, types)))
        return failure();
      counts.push_back(types.size() - before);
    }
    return types;
  }

  static void replace(Op op, ValueRange values, ArrayRef<unsigned> counts, ConversionPatternRewriter &rewriter) {
    SmallVector<ValueRange> groups;
    for (unsigned count : counts) {
      groups.push_back(values.take_front(count));
      values = values.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, groups);
  }

  LogicalResult moveRegion(Region &from, Region &to, ConversionPatternRewriter &rewriter) const {
    rewriter.inlineRegionBefore(from, to, to.end());
    return rewriter.convertRegionTypes(&to, *this->getTypeConverter());
  }
};

Value scalarOf(OpBuilder &builder, Location loc, Value tensor) {
  return tensor::ExtractOp::create(builder, loc, tensor, ValueRange{});
}

struct WhilePattern : Pattern<WhileOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(WhileOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<unsigned> counts;
    auto types = resultTypes(op, counts);
    if (failed(types))
      return rewriter.notifyMatchFailure(op, "result without storage type");
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), *types, flatten(adaptor.getOperands()));
    if (failed(moveRegion(op.getCond(), loop.getBefore(), rewriter)) ||
        failed(moveRegion(op.getBody(), loop.getAfter(), rewriter)))
      return failure();
    replace(op, loop.getResults(), counts, rewriter);
    return success();
  }
};

struct IfPattern : Pattern<IfOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(IfOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<unsigned> counts;
    auto types = resultTypes(op, counts);
    if (failed(types))
      return rewriter.notifyMatchFailure(op, "result without storage type");
    Value predicate = scalarOf(rewriter, op.getLoc(), adaptor.getPred().front());
    auto ifOp = scf::IfOp::create(rewriter, op.getLoc(), *types, predicate, /*addThenBlock=*/false, /*addElseBlock=*/false);
    if (failed(moveRegion(op.getTrueBranch(), ifOp.getThenRegion(), rewriter)) ||
        failed(moveRegion(op.getFalseBranch(), ifOp.getElseRegion(), rewriter)))
      return failure();
    replace(op, ifOp.getResults(), counts, rewriter);
    return success();
  }
};

struct CasePattern : Pattern<CaseOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(CaseOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<unsigned> counts;
    auto types = resultTypes(op, counts);
    if (failed(types))
      return rewriter.notifyMatchFailure(op, "result without storage type");
    Location loc = op.getLoc();
    Value index = scalarOf(rewriter, loc, adaptor.getIndex().front());
    index = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), index);
    MutableArrayRef<Region> branches = op.getBranches();
    if (branches.size() == 1) {
      auto only = scf::ExecuteRegionOp::create(rewriter, loc, *types);
      if (failed(moveRegion(branches.front(), only.getRegion(), rewriter)))
        return failure();
      replace(op, only.getResults(), counts, rewriter);
      return success();
    }
    FailureOr<scf::IfOp> chosen = choose(branches, 0, index, *types, loc, rewriter);
    if (failed(chosen))
      return failure();
    rewriter.setInsertionPointAfter(*chosen);
    replace(op, chosen->getResults(), counts, rewriter);
    return success();
  }

private:
  /// Emits two or more branches, the first of which has the number `first`, as a tree of scf.if. The last branch is also taken for every index out of
  /// range. scf.index_switch is not used, because MLIR's bufferization does not know that its result is one of the tensors that its branches yield,
  /// and lets a scatter into the result overwrite an argument.
  FailureOr<scf::IfOp> choose(MutableArrayRef<Region> branches, int64_t first, Value index, TypeRange types, Location loc,
                              ConversionPatternRewriter &rewriter) const {
    int64_t half = branches.size() / 2;
    Value bound = arith::ConstantIndexOp::create(rewriter, loc, first + half);
    Value isLower = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, index, bound);
    auto ifOp = scf::IfOp::create(rewriter, loc, types, isLower, /*addThenBlock=*/false, /*addElseBlock=*/false);
    auto fill = [&](MutableArrayRef<Region> part, int64_t from, Region &into) -> LogicalResult {
      if (part.size() == 1)
        return moveRegion(part.front(), into, rewriter);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&into);
      FailureOr<scf::IfOp> inner = choose(part, from, index, types, loc, rewriter);
      if (failed(inner))
        return failure();
      rewriter.setInsertionPointToEnd(&into.front());
      scf::YieldOp::create(rewriter, loc, inner->getResults());
      return success();
    };
    if (failed(fill(branches.take_front(half), first, ifOp.getThenRegion())) ||
        failed(fill(branches.drop_front(half), first + half, ifOp.getElseRegion())))
      return failure();
    return ifOp;
  }
};

/// Converts the terminator of a region that was moved into an scf operation.
struct ReturnPattern : Pattern<ReturnOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(ReturnOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values = flatten(adaptor.getOperands());
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent); loop && op->getParentRegion() == &loop.getBefore()) {
      Value goesOn = scalarOf(rewriter, op.getLoc(), values.front());
      rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, goesOn, op->getBlock()->getArguments());
      return success();
    }
    if (!isa<scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp>(parent))
      return rewriter.notifyMatchFailure(op, "not in a control flow region");
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
    return success();
  }
};

struct BarrierPattern : Pattern<OptimizationBarrierOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(OptimizationBarrierOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, adaptor.getOperands());
    return success();
  }
};

struct TuplePattern : Pattern<TupleOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(TupleOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> leaves = flatten(adaptor.getOperands());
    rewriter.replaceOpWithMultiple(op, {ValueRange(leaves)});
    return success();
  }
};

struct GetTupleElementPattern : Pattern<GetTupleElementOp> {
  using Pattern::Pattern;
  LogicalResult matchAndRewrite(GetTupleElementOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<unsigned> counts;
    for (Type part : cast<TupleType>(op.getOperand().getType()).getTypes()) {
      SmallVector<Type> leaves;
      if (failed(getTypeConverter()->convertType(part, leaves)))
        return failure();
      counts.push_back(leaves.size());
    }
    ValueRange leaves = adaptor.getOperands().front();
    unsigned index = op.getIndex(), begin = 0;
    for (unsigned i = 0; i < index; ++i)
      begin += counts[i];
    rewriter.replaceOpWithMultiple(op, {leaves.slice(begin, counts[index])});
    return success();
  }
};

} // namespace

void populateControlFlowPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BarrierPattern, CasePattern, GetTupleElementPattern, IfPattern, ReturnPattern, TuplePattern, WhilePattern>(
      converter, patterns.getContext());
  populateScalarLoopPatterns(converter, patterns);
}

} // namespace millrace::lowering
