// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReduceWindow.cpp - stablehlo.reduce_window to linalg or a scan -----===//
// Input:   %r = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 3>, padding = dense<1>}> ({add})
// Output:  fill + insert_slice of the padded input; linalg.generic over (result, window) with maps (o, w) -> (o * stride + w * d)
// Input:   window = whole dimension, padding = whole dimension - 1 on one side, as JAX writes cumsum, cummax, ...
// Output:  scf.for nest, result[i] = reducer(result[i - 1], x[i]): linear instead of quadratic
// Leaves alone (as a plain window) cumulative forms whose init value is not known to be neutral.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/reduction/Accumulate.h"
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/reduction/Windows.h"
#include "passes/calls/Cumulative.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

struct ReduceWindowPattern : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (auto cumulative = calls::cumulativeOf(op))
      return lowerScan(op, adaptor, *cumulative, classifyReducer(op.getBody()), rewriter);
    return lowerWindows(op, adaptor, rewriter);
  }

  LogicalResult lowerScan(stablehlo::ReduceWindowOp op, OpAdaptor adaptor, calls::Cumulative cumulative, Reducer reducer,
                          ConversionPatternRewriter &rewriter) const {
    LoopBuilder l(rewriter, op.getLoc());
    Value input = adaptor.getInputs()[0];
    Type inputElement = getElementTypeOrSelf(op.getInputs()[0].getType());
    Type initElement = getElementTypeOrSelf(op.getInitValues()[0].getType());
    Type resultElement = getElementTypeOrSelf(op.getBody().getArgument(0).getType());
    // Every prefix is a result and is rounded like the sum of its window, so that f16 and bf16 agree with XLA bit for bit. (An accumulator of a wider
    // type would be more accurate than programs expect.)
    Type element = resultElement;
    auto type = RankedTensorType::get(cast<RankedTensorType>(input.getType()).getShape(), storageElementType(element));
    SmallVector<Value> sizes = l.dims(input);
    Value extent = sizes[cumulative.dimension];
    Value init = toCompute(rewriter, l.loc, l.extract(adaptor.getInitValues()[0]), initElement);
    init = convertElement(l, init, initElement, element);
    int64_t d = cumulative.dimension, rank = type.getRank();

    bool failedBody = false;
    auto step = [&](LoopBuilder &in, Value accumulator, ValueRange at) {
      Value value = toCompute(in.b, in.loc, in.extract(input, at), inputElement);
      value = convertElement(in, value, inputElement, element);
      // The operands of the combination keep the order that they have in the window.
      bool isAfter = cumulative.reverse && !cumulative.reducer;
      auto next = emitReducer(in, reducer, op.getBody(), isAfter ? value : accumulator, isAfter ? accumulator : value, element);
      failedBody |= failed(next);
      return failed(next) ? accumulator : roundToElement(in.b, in.loc, (*next)[0], element);
    };
    Value result = l.empty(type, l.foldedDims(input));
    if (d == rank - 1) {
      // The most minor dimension: the running value stays in a register.
      result = l.nest(ArrayRef(sizes).drop_back(), result, [&](LoopBuilder &outer, ValueRange ivs, ValueRange carried) {
        SmallVector<Value> starts{carried[0], init};
        auto row = outer.nest(extent, starts, [&](LoopBuilder &in, ValueRange iv, ValueRange running) {
          SmallVector<Value> at(ivs);
          at.push_back(cumulative.reverse ? in.sub(in.sub(extent, in.index(1)), iv[0]) : iv[0]);
          Value next = step(in, running[1], at);
          return SmallVector<Value>{in.insert(toStorage(in.b, in.loc, next, element), running[0], at), next};
        });
        return SmallVector<Value>{row[0]};
      })[0];
    } else {
      // Any other dimension: processes whole rows; the previous row of the result is the accumulator.
      SmallVector<Value> outerSizes(sizes.begin(), sizes.begin() + d), innerSizes(sizes.begin() + d + 1, sizes.end());
      result = l.nest(outerSizes, result, [&](LoopBuilder &outer, ValueRange outerIvs, ValueRange carried) {
        auto row = [&](LoopBuilder &at, Value position, Value previous, Value into) {
          return at.nest(innerSizes, into, [&](LoopBuilder &in, ValueRange innerIvs, ValueRange running) {
            SmallVector<Value> where(outerIvs);
            where.push_back(position);
            where.append(innerIvs.begin(), innerIvs.end());
            Value accumulator = init;
            if (previous) {
              SmallVector<Value> before(where);
              before[d] = previous;
              accumulator = toCompute(in.b, in.loc, in.extract(running[0], before), element);
            }
            Value next = toStorage(in.b, in.loc, step(in, accumulator, where), element);
            return SmallVector<Value>{in.insert(next, running[0], where)};
          })[0];
        };
        Value one = outer.index(1), last = outer.sub(extent, one);
        Value first = row(outer, cumulative.reverse ? last : outer.index(0), Value(), carried[0]);
        return outer.loop(one, extent, one, first, [&](LoopBuilder &in, ValueRange iv, ValueRange running) {
          Value position = cumulative.reverse ? in.sub(last, iv[0]) : iv[0];
          Value previous = cumulative.reverse ? in.add(position, one) : in.sub(position, one);
          return SmallVector<Value>{row(in, position, previous, running[0])};
        });
      })[0];
    }
    if (failedBody)
      return failure();
    if (d > 0)
      markParallel(result, kParallelRowsAttr);
    result = convertTensor(l, result, element, resultElement);
    rewriter.replaceOp(op, l.cast(result, getTypeConverter()->convertType(op.getResult(0).getType())));
    return success();
  }

  LogicalResult lowerWindows(stablehlo::ReduceWindowOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const {
    LoopBuilder l(rewriter, op.getLoc());
    Region &region = op.getBody();
    size_t count = op.getInputs().size();
    ArrayRef<int64_t> window = op.getWindowDimensions();
    int64_t rank = window.size();
    Reducer reducer = classifyReducer(region);
    auto strides = orOnes(op.getWindowStrides(), rank), windowDilations = orOnes(op.getWindowDilations(), rank);
    auto baseDilations = orOnes(op.getBaseDilations(), rank);
    SmallVector<OpFoldResult> low, high;
    for (auto [before, after] : paddingPairs(op.getPadding(), rank)) {
      low.push_back(rewriter.getIndexAttr(before));
      high.push_back(rewriter.getIndexAttr(after));
    }

    SmallVector<Value> inputs, inits;
    SmallVector<Type> inputElements, regionElements, accElements;
    for (size_t i = 0; i < count; ++i) {
      inputElements.push_back(getElementTypeOrSelf(op.getInputs()[i].getType()));
      regionElements.push_back(getElementTypeOrSelf(region.getArgument(i).getType()));
      accElements.push_back(accumulatorType(reducer, regionElements[i]));
      Type initElement = getElementTypeOrSelf(op.getInitValues()[i].getType());
      Value init = toCompute(rewriter, l.loc, l.extract(adaptor.getInitValues()[i]), initElement);
      Value pad = toStorage(rewriter, l.loc, convertElement(l, init, initElement, inputElements[i]), inputElements[i]);
      inputs.push_back(dilateAndPad(l, adaptor.getInputs()[i], pad, low, high, baseDilations));
      SmallVector<OpFoldResult> sizes;
      for (int64_t d = 0; d < rank; ++d)
        sizes.push_back(
            windowCount(l, l.foldedDim(inputs[i], d), rewriter.getIndexAttr(window[d]), windowDilations[d], strides[d]));
      Value start = toStorage(rewriter, l.loc, convertElement(l, init, initElement, accElements[i]), accElements[i]);
      inits.push_back(l.fill(start, l.empty(sizes, storageElementType(accElements[i]))));
    }
    // A tensor of the window's shape, which is never read, defines the sizes of the window loops.
    SmallVector<OpFoldResult> windowSizes;
    for (int64_t size : window)
      windowSizes.push_back(rewriter.getIndexAttr(size));
    inputs.push_back(l.empty(windowSizes, rewriter.getI1Type()));

    SmallVector<AffineExpr> inputExprs, windowExprs, outputExprs;
    for (int64_t d = 0; d < rank; ++d) {
      AffineExpr outer = rewriter.getAffineDimExpr(d), inner = rewriter.getAffineDimExpr(rank + d);
      inputExprs.push_back(outer * strides[d] + inner * windowDilations[d]);
      windowExprs.push_back(inner);
      outputExprs.push_back(outer);
    }
    MLIRContext *context = rewriter.getContext();
    SmallVector<AffineMap> maps(count, AffineMap::get(2 * rank, 0, inputExprs, context));
    maps.push_back(AffineMap::get(2 * rank, 0, windowExprs, context));
    maps.append(count, AffineMap::get(2 * rank, 0, outputExprs, context));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators.append(rank, utils::IteratorType::reduction);

    Accumulation accumulation{reducer, region, inputElements, accElements, regionElements};
    auto results = accumulation.emit(l, inputs, inits, maps, iterators);
    if (failed(results))
      return failure();
    for (auto [result, type] : llvm::zip(*results, op->getResultTypes()))
      result = l.cast(result, getTypeConverter()->convertType(type));
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void populateReduceWindowPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReduceWindowPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
