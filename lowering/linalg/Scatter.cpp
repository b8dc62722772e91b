// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scatter.cpp - stablehlo.scatter to loops ---------------------------===//
// Input:   "stablehlo.scatter"(%inputs..., %indices, %updates...) ({update computation})
// Output:  scf.for over the scatter positions of %updates (row-major, sequential, hence deterministic); each reads its start
//          indices and loops over the part of its window that lies inside of %inputs:
//          result(start + w) = computation(result(start + w), update(scatter position, w))
// Elements out of bounds are skipped one by one: the window loops are clipped, no test per element. The result is updated in
// place when %inputs are dead. Leaves alone computations that are not scalar (emitScalarRegion fails).
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

struct ScatterPattern : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    auto numbers = op.getScatterDimensionNumbers();
    Region &computation = op.getUpdateComputation();
    ValueRange inputs = adaptor.getInputs(), updates = adaptor.getUpdates();
    Value indices = adaptor.getScatterIndices();
    Type indexElement = getElementTypeOrSelf(op.getScatterIndices().getType());
    size_t count = inputs.size();
    int64_t inputRank = cast<RankedTensorType>(inputs[0].getType()).getRank();
    int64_t updateRank = cast<RankedTensorType>(updates[0].getType()).getRank();
    int64_t indicesRank = cast<RankedTensorType>(indices.getType()).getRank(), vectorDim = numbers.getIndexVectorDim();
    ArrayRef<int64_t> windowDims = numbers.getUpdateWindowDims();

    SmallVector<Type> inputElements, updateElements, resultElements;
    SmallVector<Value> state;
    for (size_t i = 0; i < count; ++i) {
      inputElements.push_back(getElementTypeOrSelf(op.getInputs()[i].getType()));
      updateElements.push_back(getElementTypeOrSelf(op.getUpdates()[i].getType()));
      resultElements.push_back(getElementTypeOrSelf(computation.getArgument(i).getType()));
      state.push_back(convertTensor(l, inputs[i], inputElements[i], resultElements[i]));
    }
    SmallVector<int64_t> scatterDims, windowInputDims;
    for (int64_t d = 0; d < updateRank; ++d)
      if (!llvm::is_contained(windowDims, d))
        scatterDims.push_back(d);
    for (int64_t d = 0; d < inputRank; ++d)
      if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) && !llvm::is_contained(numbers.getInputBatchingDims(), d))
        windowInputDims.push_back(d);
    SmallVector<Value> inputSizes = l.dims(inputs[0]), updateSizes = l.dims(updates[0]), scatterSizes;
    for (int64_t d : scatterDims)
      scatterSizes.push_back(updateSizes[d]);

    bool failedBody = false;
    auto perPosition = [&](LoopBuilder &outer, ValueRange position, ValueRange carried) -> SmallVector<Value> {
      Value zero = outer.index(0);
      SmallVector<Value> start(inputRank);
      for (auto [k, d] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
        SmallVector<Value> where = llvm::to_vector(position);
        if (vectorDim < indicesRank)
          where.insert(where.begin() + vectorDim, outer.index(k));
        start[d] = outer.toIndex(outer.extract(indices, where), indexElement);
      }
      // Dimensions without a window loop must be inside as a whole.
      Value inside;
      for (int64_t d : numbers.getInsertedWindowDims()) {
        if (start[d])
          inside = outer.logicalAnd(inside, outer.compare(arith::CmpIPredicate::ult, start[d], inputSizes[d]));
        else
          start[d] = zero;
      }
      for (auto [inputDim, indicesDim] :
           llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
        start[inputDim] = position[indicesDim < vectorDim ? indicesDim : indicesDim - 1];
      // The others are clipped: 0 <= start + w < size.
      SmallVector<Value> froms, tos;
      for (auto [updateDim, inputDim] : llvm::zip(windowDims, windowInputDims)) {
        if (!start[inputDim]) {
          start[inputDim] = zero;
          froms.push_back(zero);
          tos.push_back(updateSizes[updateDim]);
          continue;
        }
        froms.push_back(outer.max(outer.sub(zero, start[inputDim]), zero));
        tos.push_back(outer.min(outer.sub(inputSizes[inputDim], start[inputDim]), updateSizes[updateDim]));
      }

      auto windows = [&](LoopBuilder &at) {
        return at.nest(froms, tos, carried, [&](LoopBuilder &in, ValueRange window, ValueRange running) {
          SmallVector<Value> from(updateRank), to = start, arguments, next;
          for (auto [d, value] : llvm::zip(scatterDims, position))
            from[d] = value;
          for (auto [updateDim, inputDim, value] : llvm::zip(windowDims, windowInputDims, window)) {
            from[updateDim] = value;
            to[inputDim] = in.add(start[inputDim], value);
          }
          for (size_t i = 0; i < count; ++i)
            arguments.push_back(toCompute(in.b, in.loc, in.extract(running[i], to), resultElements[i]));
          for (size_t i = 0; i < count; ++i) {
            Value update = toCompute(in.b, in.loc, in.extract(updates[i], from), updateElements[i]);
            arguments.push_back(convertElement(in, update, updateElements[i], resultElements[i]));
          }
          auto results = emitScalarRegion(in.b, in.loc, computation, arguments);
          if (failed(results)) {
            failedBody = true;
            return llvm::to_vector(running);
          }
          for (size_t i = 0; i < count; ++i)
            next.push_back(in.insert(toStorage(in.b, in.loc, (*results)[i], resultElements[i]), running[i], to));
          return next;
        });
      };
      if (!inside)
        return windows(outer);
      SmallVector<Type> types(carried.getTypes());
      auto guarded = scf::IfOp::create(outer.b, outer.loc, types, inside, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(outer.b);
      outer.b.setInsertionPointToStart(guarded.thenBlock());
      scf::YieldOp::create(outer.b, outer.loc, windows(outer));
      outer.b.setInsertionPointToStart(guarded.elseBlock());
      scf::YieldOp::create(outer.b, outer.loc, carried);
      return llvm::to_vector_of<Value>(guarded.getResults());
    };
    SmallVector<Value> results = l.nest(scatterSizes, state, perPosition);
    if (failedBody)
      return failure();
    for (size_t i = 0; i < count; ++i)
      results[i] = l.cast(results[i], getTypeConverter()->convertType(op.getResult(i).getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateScatterPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ScatterPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
