// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectAndScatter.cpp - stablehlo.select_and_scatter to loops -------===//
// Input:   "stablehlo.select_and_scatter"(%x, %source, %init) ({select}, {scatter}), one window of %x per element of %source
// Output:  %r = linalg.fill(%init); for every source element: scan its window, keep the position that `select` prefers (the
//          first one wins ties as `select` decides), then %r[position] = scatter(%r[position], source)
// Elements of the window outside of %x are not candidates. Sources are visited in row-major order.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/reduction/Windows.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

struct SelectAndScatterPattern : OpConversionPattern<stablehlo::SelectAndScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SelectAndScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Value operand = adaptor.getOperand(), source = adaptor.getSource();
    int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    Type operandElement = getElementTypeOrSelf(op.getOperand().getType());
    Type sourceElement = getElementTypeOrSelf(op.getSource().getType());
    Type initElement = getElementTypeOrSelf(op.getInitValue().getType());
    Type resultElement = getElementTypeOrSelf(op.getScatter().getArgument(0).getType());
    SmallVector<int64_t> window = orOnes(op.getWindowDimensions(), rank), strides = orOnes(op.getWindowStrides(), rank);
    auto padding = paddingPairs(op.getPadding(), rank);

    auto resultType = RankedTensorType::get(cast<RankedTensorType>(operand.getType()).getShape(),
                                            storageElementType(resultElement));
    Value init = toCompute(rewriter, l.loc, l.extract(adaptor.getInitValue()), initElement);
    init = toStorage(rewriter, l.loc, convertElement(l, init, initElement, resultElement), resultElement);
    Value result = l.fill(init, l.empty(resultType, l.foldedDims(operand)));
    SmallVector<Value> operandSizes = l.dims(operand), windowSizes;
    for (int64_t size : window)
      windowSizes.push_back(l.index(size));

    bool failedBody = false;
    auto perSource = [&](LoopBuilder &outer, ValueRange at, ValueRange carried) -> SmallVector<Value> {
      Value zero = outer.index(0);
      SmallVector<Value> starts;
      for (int64_t d = 0; d < rank; ++d)
        starts.push_back(outer.sub(outer.mul(at[d], outer.index(strides[d])), outer.index(padding[d].first)));
      // The loop carries whether an element was found, the selected value, and its position.
      SmallVector<Value> state{arith::ConstantIntOp::create(outer.b, outer.loc, 0, 1)};
      state.push_back(outer.zero(getElementTypeOrSelf(operand.getType())));
      state.append(rank, zero);
      auto chosen = outer.nest(windowSizes, state, [&](LoopBuilder &in, ValueRange offsets, ValueRange best) {
        SmallVector<Value> position, safe;
        Value inside;
        for (int64_t d = 0; d < rank; ++d) {
          Value p = in.add(starts[d], offsets[d]);
          position.push_back(p);
          // One unsigned comparison covers both bounds.
          inside = in.logicalAnd(inside, in.compare(arith::CmpIPredicate::ult, p, operandSizes[d]));
        }
        if (!inside)
          inside = arith::ConstantIntOp::create(in.b, in.loc, 1, 1);
        SmallVector<Type> types(ValueRange(best).getTypes());
        auto guarded = scf::IfOp::create(in.b, in.loc, types, inside, /*withElseRegion=*/true);
        {
          OpBuilder::InsertionGuard guard(in.b);
          in.b.setInsertionPointToStart(guarded.thenBlock());
          Value candidate = in.extract(operand, position);
          auto prefers = emitScalarRegion(in.b, in.loc, op.getSelect(),
                                          ValueRange{toCompute(in.b, in.loc, best[1], operandElement),
                                                     toCompute(in.b, in.loc, candidate, operandElement)});
          failedBody |= failed(prefers);
          SmallVector<Value> next = llvm::to_vector(best);
          if (succeeded(prefers)) {
            // The old value is kept only if there is one and `select` prefers it.
            Value keep = in.logicalAnd(best[0], (*prefers)[0]);
            next[0] = arith::ConstantIntOp::create(in.b, in.loc, 1, 1);
            next[1] = in.select(keep, best[1], candidate);
            for (int64_t d = 0; d < rank; ++d)
              next[2 + d] = in.select(keep, best[2 + d], position[d]);
          }
          scf::YieldOp::create(in.b, in.loc, next);
          in.b.setInsertionPointToStart(guarded.elseBlock());
          scf::YieldOp::create(in.b, in.loc, best);
        }
        return llvm::to_vector_of<Value>(guarded.getResults());
      });

      auto guarded = scf::IfOp::create(outer.b, outer.loc, carried[0].getType(), chosen[0], /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(outer.b);
      outer.b.setInsertionPointToStart(guarded.thenBlock());
      ValueRange position = ValueRange(chosen).drop_front(2);
      Value old = toCompute(outer.b, outer.loc, outer.extract(carried[0], position), resultElement);
      Value update = toCompute(outer.b, outer.loc, outer.extract(source, at), sourceElement);
      update = convertElement(outer, update, sourceElement, resultElement);
      auto scattered = emitScalarRegion(outer.b, outer.loc, op.getScatter(), ValueRange{old, update});
      failedBody |= failed(scattered);
      Value next = carried[0];
      if (succeeded(scattered))
        next = outer.insert(toStorage(outer.b, outer.loc, (*scattered)[0], resultElement), next, position);
      scf::YieldOp::create(outer.b, outer.loc, next);
      outer.b.setInsertionPointToStart(guarded.elseBlock());
      scf::YieldOp::create(outer.b, outer.loc, carried[0]);
      return {guarded.getResult(0)};
    };
    result = l.nest(l.dims(source), result, perSource)[0];
    if (failedBody)
      return failure();
    rewriter.replaceOp(op, l.cast(result, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void populateSelectAndScatterPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SelectAndScatterPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
