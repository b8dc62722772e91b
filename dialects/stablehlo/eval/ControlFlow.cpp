// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - Branches, loops, calls, tuples, barriers ---------===//
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace millrace::eval {

static llvm::Error evalIf(Call &call) {
  bool taken = call.in(0).getInt(0) != 0;
  SmallVector<Value> results;
  if (llvm::Error error = call.interpreter.runRegion(call.op->getRegion(taken ? 0 : 1), {}, results, call.scope)) return error;
  call.results.append(results.begin(), results.end());
  return llvm::Error::success();
}

/// Evaluates case; an index out of range selects the last branch.
static llvm::Error evalCase(Call &call) {
  int64_t branches = call.op->getNumRegions(), index = call.in(0).getInt(0);
  if (branches == 0) return call.error("expects a branch");
  if (index < 0 || index >= branches) index = branches - 1;
  SmallVector<Value> results;
  if (llvm::Error error = call.interpreter.runRegion(call.op->getRegion(index), {}, results, call.scope)) return error;
  call.results.append(results.begin(), results.end());
  return llvm::Error::success();
}

static llvm::Error evalWhile(Call &call) {
  Body condition(call, call.op->getRegion(0)), step(call, call.op->getRegion(1));
  SmallVector<Value> state(call.operands), results;
  while (true) {
    if (llvm::Error error = condition(state, results)) return error;
    if (results.size() != 1 || !results[0].isTensor() || results[0].tensor().size() != 1) return call.error("expects one condition value");
    if (!results[0].tensor().getInt(0)) break;
    if (llvm::Error error = step(state, results)) return error;
    state.assign(results.begin(), results.end());
  }
  call.results.append(state.begin(), state.end());
  return llvm::Error::success();
}

static llvm::Error callSymbol(Call &call, StringRef attribute) {
  auto symbol = call.op->getAttrOfType<FlatSymbolRefAttr>(attribute);
  Operation *function = symbol ? SymbolTable::lookupNearestSymbolFrom(call.op, symbol) : nullptr;
  if (!function || !isa<FunctionOpInterface>(function)) return call.error("calls a function that does not exist");
  SmallVector<Value> results;
  if (llvm::Error error = call.interpreter.callFunction(function, call.operands, results, call.op)) return error;
  call.results.append(results.begin(), results.end());
  return llvm::Error::success();
}

static llvm::Error evalCall(Call &call) { return callSymbol(call, "callee"); }
static llvm::Error evalComposite(Call &call) { return callSymbol(call, "decomposition"); }

static llvm::Error evalOptimizationBarrier(Call &call) {
  call.results.append(call.operands.begin(), call.operands.end());
  return llvm::Error::success();
}

static llvm::Error evalTuple(Call &call) {
  call.push(Value::tuple(std::vector<Value>(call.operands.begin(), call.operands.end())));
  return llvm::Error::success();
}

static llvm::Error evalGetTupleElement(Call &call) {
  int64_t index = call.op->getAttrOfType<IntegerAttr>("index").getInt();
  const Value &tuple = call.operands[0];
  if (!tuple.isTuple() || index < 0 || index >= static_cast<int64_t>(tuple.elements().size())) return call.error("index is out of range");
  call.push(tuple.elements()[index]);
  return llvm::Error::success();
}

/// Returns true for annotations, which have no effect on a single simulated device, and for calls that are identities by definition.
static bool isIdentity(StringRef target) {
  return target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
         target == "annotate_device_placement" || target == "MoveToDevice" || target == "MoveToHost" ||
         target == "LayoutConstraint" || target == "PinToDevice";
}

static llvm::Error evalCustomCall(Call &call) {
  StringRef target = call.op->getAttrOfType<StringAttr>("call_target_name").getValue();
  llvm::Expected<bool> checked = evalCheckCustomCall(call, target);
  if (!checked) return checked.takeError();
  if (*checked) return llvm::Error::success();
  if (call.interpreter.options.customCall) {
    if (auto results = call.interpreter.options.customCall(call.op, call.operands)) {
      if (!*results) return results->takeError();
      call.results.append((*results)->begin(), (*results)->end());
      return llvm::Error::success();
    }
  }
  if (isIdentity(target) && call.op->getNumResults() == call.operands.size()) {
    call.results.append(call.operands.begin(), call.operands.end());
    return llvm::Error::success();
  }
  if (target == "shape_assertion") {
    if (call.numInputs() && call.operands[0].isTensor() && !call.in(0).getInt(0)) {
      auto message = call.op->getAttrOfType<StringAttr>("error_message");
      return call.error(message ? message.getValue() : "shape assertion does not hold");
    }
    return llvm::Error::success();
  }
  return call.error("the evaluator does not know the custom call target @" + target);
}

void addControlFlow(Dispatch &dispatch) {
  dispatch.add("stablehlo.if", evalIf);
  dispatch.add("stablehlo.case", evalCase);
  dispatch.add("stablehlo.while", evalWhile);
  dispatch.add("func.call", evalCall);
  dispatch.add("stablehlo.composite", evalComposite);
  dispatch.add("stablehlo.optimization_barrier", evalOptimizationBarrier);
  dispatch.add("stablehlo.tuple", evalTuple);
  dispatch.add("stablehlo.get_tuple_element", evalGetTupleElement);
  dispatch.add("stablehlo.custom_call", evalCustomCall);
}

} // namespace millrace::eval
