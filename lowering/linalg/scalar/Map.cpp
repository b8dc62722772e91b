// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Map.cpp - stablehlo.map to linalg ----------------------------------===//
// Input:   "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({...scalar computation...})
// Output:  one linalg.generic with identity maps and the inlined computation
// Leaves alone computations that are not scalar (emitScalarRegion fails).
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

struct MapPattern : OpConversionPattern<stablehlo::MapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::MapOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Type resultElement = getElementTypeOrSelf(op.getType());
    Value init = l.empty(type, l.foldedDims(adaptor.getInputs()[0]));
    SmallVector<AffineMap> maps(adaptor.getInputs().size() + 1, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    bool failedBody = false;
    auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
      SmallVector<Value> values;
      for (auto [arg, input] : llvm::zip(args.drop_back(), op.getInputs()))
        values.push_back(toCompute(b, loc, arg, getElementTypeOrSelf(input.getType())));
      auto results = emitScalarRegion(b, loc, op.getComputation(), values);
      failedBody = failed(results);
      if (succeeded(results))
        linalg::YieldOp::create(b, loc, toStorage(b, loc, (*results)[0], resultElement));
    };
    auto generic = linalg::GenericOp::create(rewriter, l.loc, TypeRange{type}, adaptor.getInputs(), ValueRange{init}, maps,
                                             iterators, body);
    if (failedBody)
      return failure();
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

} // namespace

void populateMapPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MapPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
