// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - Branches, loops, calls, tuples as HLO ------------===//
// Input:   %1 = stablehlo.while(%i = %0) : tensor<i32> cond { .. %n .. } do { .. }     // %n from outside
// Output:  tuple.1 = (s32[], s32[]) tuple(i, n)
//          while.1 = (s32[], s32[]) while(tuple.1), condition=region.1, body=region.2
// Computations see their one parameter only, so what the regions use from outside travels with it.
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

static LogicalResult whileLoop(shlo::WhileOp op, Computation &to) {
  SmallVector<Value> captured = capturedValues(op->getRegions());
  FailureOr<std::string> condition = to.module.region(op.getCond(), Passing::Tuple, captured);
  FailureOr<std::string> body = to.module.region(op.getBody(), Passing::Tuple, captured, /*returnCaptured=*/true);
  if (failed(condition) || failed(body))
    return failure();
  SmallVector<Value> state(op.getOperands());
  llvm::append_range(state, captured);
  TypeRange types{ValueRange(state)};
  Attributes attributes;
  attributes.add("condition", *condition).add("body", *body);
  annotate(op->getDiscardableAttrDictionary(), attributes);
  std::string loop = to.add("while", shapeText(types), to.packed(to[ValueRange(state)], types), attributes);
  for (OpResult result : op->getResults())
    to.bind(result, state.size() == 1 ? loop : to.element(loop, shapeText(result.getType()), result.getResultNumber()));
  return success();
}

static LogicalResult conditional(Operation *op, Computation &to) {
  SmallVector<std::string> operands{to[op->getOperand(0)]}, branches;
  for (Region &region : op->getRegions()) {
    SmallVector<Value> captured = capturedValues(region);
    FailureOr<std::string> branch = to.module.region(region, Passing::Tuple, captured);
    if (failed(branch))
      return failure();
    branches.push_back(*branch);
    operands.push_back(to.packed(to[ValueRange(captured)], TypeRange(ValueRange(captured))));
  }
  Attributes attributes;
  if (isa<shlo::IfOp>(op))
    attributes.add("true_computation", branches[0]).add("false_computation", branches[1]);
  else
    attributes.add("branch_computations", "{" + llvm::join(branches, ", ") + "}");
  return to.result(op, "conditional", operands, attributes);
}

static LogicalResult optimizationBarrier(shlo::OptimizationBarrierOp op, Computation &to) {
  if (op->getNumOperands() == 0)
    return success();
  return to.result(op, "opt-barrier", to.packed(to[op->getOperands()], op->getOperandTypes()));
}

/// A call; what a composite is travels in attributes with the names that XLA gives them.
static LogicalResult call(Operation *op, FlatSymbolRefAttr callee, Computation &to) {
  FailureOr<std::string> computation = to.module.function(op, callee);
  if (failed(computation))
    return failure();
  Attributes attributes;
  attributes.add("to_apply", *computation);
  auto composite = dyn_cast<shlo::CompositeOp>(op);
  if (!composite)
    return to.result(op, "call", attributes);
  if (composite->getNumRegions() > 0)
    return op->emitOpError("has regions, which HLO's composite calls cannot hold");
  std::string dictionary;
  llvm::raw_string_ostream os(dictionary);
  composite.getCompositeAttributes().print(os);
  attributes.add("is_composite", "true");
  attributes.add("frontend_attributes", "{composite.attributes=" + quoteUnlessBraces(dictionary) + ",composite.name=" +
                                            quote(composite.getName()) + ",composite.version=\"" +
                                            Twine(composite.getVersion()) + "\"}");
  return to.result(op, "call", attributes);
}

Visit visitControlFlow(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::WhileOp>([&](auto op) { return whileLoop(op, to); })
      .Case<shlo::IfOp, shlo::CaseOp>([&](auto op) { return conditional(op, to); })
      .Case<shlo::OptimizationBarrierOp>([&](auto op) { return optimizationBarrier(op, to); })
      .Case<func::CallOp>([&](func::CallOp op) { return call(op, op.getCalleeAttr(), to); })
      .Case<shlo::CompositeOp>([&](shlo::CompositeOp op) { return call(op, op.getDecompositionAttr(), to); })
      .Case<shlo::TupleOp>([&](auto op) { return to.result(op, "tuple"); })
      .Case<shlo::GetTupleElementOp>([&](shlo::GetTupleElementOp op) {
        return to.result(op, "get-tuple-element", Attributes().add("index", Twine(op.getIndex())));
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
