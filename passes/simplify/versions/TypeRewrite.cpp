// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TypeRewrite.cpp - The same operation with other types --------------===//
#include "passes/simplify/versions/TypeRewrite.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"

using namespace mlir;
namespace millrace::simplify {

FailureOr<Operation *> convertTypes(Operation *op, ValueRange operands, const TypeConverter &converter,
                                    ConversionPatternRewriter &rewriter) {
  SmallVector<Type> types;
  if (failed(converter.convertTypes(op->getResultTypes(), types)))
    return rewriter.notifyMatchFailure(op, "a result type has no conversion");
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  for (size_t i = 0, e = op->getNumRegions(); i != e; ++i)
    state.addRegion();
  Operation *converted = rewriter.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), converted->getRegions())) {
    rewriter.inlineRegionBefore(from, to, to.end());
    if (!to.empty() && failed(rewriter.convertRegionTypes(&to, converter)))
      return rewriter.notifyMatchFailure(op, "a parameter type has no conversion");
  }
  return converted;
}

LogicalResult convertAllTypes(Operation *root, const TypeConverter &types, RewritePatternSet patterns) {
  ConversionTarget target(*root->getContext());
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      return types.isSignatureLegal(function.getFunctionType()) && types.isLegal(&function.getBody());
    return types.isLegal(op) && llvm::all_of(op->getRegions(), [&](Region &region) { return types.isLegal(region.getArgumentTypes()); });
  });
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);
  populateCallOpTypeConversionPattern(patterns, types);
  populateReturnOpTypeConversionPattern(patterns, types);
  return applyFullConversion(root, target, std::move(patterns));
}

} // namespace millrace::simplify
