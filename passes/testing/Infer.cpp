// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Infer.cpp - Inferred types and shapes as text -----------------------===//
// Input:   %1 = "hlo_test_infer.get_return_types"(%0) : (T) -> T
// Output:  %1 = "hlo_test_infer.return_types"(%0) {types0 = tensor<...>} : (T) -> T
// Leaves alone test operations whose operand's definition infers nothing.
//===----------------------------------------------------------------------===//
#include "passes/testing/Passes.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace millrace::testing {
#define GEN_PASS_DEF_HLOTESTINFERPASS
#include "passes/testing/Passes.h.inc"

namespace {

/// Replaces a test operation by the result of a query of the operation that defines its operand.
using Answer = LogicalResult (*)(PatternRewriter &, Operation *question, Operation *asked);

struct AnswerPattern : RewritePattern {
  AnswerPattern(MLIRContext *context, StringRef question, Answer answer)
      : RewritePattern(question, 1, context), answer(answer) {}
  LogicalResult matchAndRewrite(Operation *question, PatternRewriter &rewriter) const override {
    Operation *asked = question->getNumOperands() == 1 ? question->getOperand(0).getDefiningOp() : nullptr;
    if (!asked)
      return rewriter.notifyMatchFailure(question, "expects the result of an operation as its only operand");
    return answer(rewriter, question, asked);
  }
  Answer answer;
};

/// Replaces `question` with an operation `name` that carries `types`.
void replaceWithTypes(PatternRewriter &rewriter, Operation *question, StringRef name, ArrayRef<Type> types) {
  OperationState state(question->getLoc(), name, question->getOperands(), question->getResultTypes(), question->getAttrs());
  for (auto [i, type] : llvm::enumerate(types))
    state.addAttribute(("types" + Twine(i)).str(), TypeAttr::get(type));
  rewriter.replaceOp(question, rewriter.create(state));
}

LogicalResult answerTypes(PatternRewriter &rewriter, Operation *question, Operation *asked) {
  auto op = dyn_cast<InferTypeOpInterface>(asked);
  SmallVector<Type> types;
  if (!op || failed(op.inferReturnTypes(asked->getContext(), asked->getLoc(), asked->getOperands(),
                                        asked->getAttrDictionary(), asked->getPropertiesStorage(), asked->getRegions(),
                                        types)))
    return rewriter.notifyMatchFailure(question, "no types are inferred");
  replaceWithTypes(rewriter, question, "hlo_test_infer.return_types", types);
  return success();
}

LogicalResult answerComponents(PatternRewriter &rewriter, Operation *question, Operation *asked) {
  auto op = dyn_cast<InferShapedTypeOpInterface>(asked);
  SmallVector<ShapedTypeComponents> components;
  if (!op || failed(op.inferReturnTypeComponents(asked->getContext(), asked->getLoc(), asked->getOperands(),
                                                 asked->getAttrDictionary(), asked->getPropertiesStorage(),
                                                 asked->getRegions(), components)))
    return rewriter.notifyMatchFailure(question, "no components are inferred");
  // Elements of type index represent an element type that is not inferred.
  SmallVector<Type> types;
  for (const ShapedTypeComponents &part : components) {
    Type element = part.getElementType() ? part.getElementType() : rewriter.getIndexType();
    types.push_back(part.hasRank() ? Type(RankedTensorType::get(part.getDims(), element, part.getAttribute()))
                                   : Type(UnrankedTensorType::get(element)));
  }
  replaceWithTypes(rewriter, question, "hlo_test_infer.return_type_components", types);
  return success();
}

LogicalResult answerShapes(PatternRewriter &rewriter, Operation *question, Operation *asked) {
  auto op = dyn_cast<InferShapedTypeOpInterface>(asked);
  SmallVector<Value> shapes;
  if (!op || failed(op.reifyReturnTypeShapes(rewriter, asked->getOperands(), shapes)) ||
      shapes.size() != question->getNumResults())
    return rewriter.notifyMatchFailure(question, "no shapes are reified");
  rewriter.replaceOp(question, shapes);
  return success();
}

struct HloTestInfer : impl::HloTestInferPassBase<HloTestInfer> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AnswerPattern>(&getContext(), "hlo_test_infer.get_return_types", answerTypes);
    patterns.add<AnswerPattern>(&getContext(), "hlo_test_infer.get_return_type_components", answerComponents);
    patterns.add<AnswerPattern>(&getContext(), "hlo_test_infer.reify_return_type_shapes", answerShapes);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace millrace::testing
