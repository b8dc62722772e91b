// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InlineCalls.cpp - Inline calls of small or single-use functions ----===//
// Input:   func.func @main(%a) { %0 = call @f(%a) } ; func.func private @f(%x) { ... return %y }
// Output:  func.func @main(%a) { ...; uses of %0 become %y }
// Leaves alone a large callee with several callers, called from the body of a function or of a loop of the runtime.
//===----------------------------------------------------------------------===//
#include "passes/Remarks.h"
#include "passes/calls/Passes.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace millrace::calls {
#define GEN_PASS_DEF_INLINECALLSPASS
#include "passes/calls/Passes.h.inc"

namespace {

struct InlineCalls : impl::InlineCallsPassBase<InlineCalls> {
  using InlineCallsPassBase::InlineCallsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A pass pipeline runs on many modules: a function of this module may have the address of a function of an earlier one.
    states.clear();
    callers.clear();
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      function.walk([&](func::CallOp call) { ++callers[call.getCallee()]; });
    for (func::FuncOp function : functions)
      if (failed(process(function, symbols)))
        return signalPassFailure();
    removeUnused(module);
  }

private:
  enum class State { New, Active, Done };

  /// Inlines into `function` after its callees have been processed.
  LogicalResult process(func::FuncOp function, SymbolTable &symbols) {
    State &state = states[function];
    if (state == State::Done)
      return success();
    if (state == State::Active)
      return function.emitError("calls itself: recursion cannot be compiled");
    state = State::Active;
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return call.emitError("calls the undefined function @") << call.getCallee();
      if (failed(process(callee, symbols)))
        return failure();
      if (StringRef why = whyNotInline(call, callee); !why.empty())
        remarkMissed(call, "xla-inline-calls", why);
      else
        inlineCall(call, callee);
    }
    states[function] = State::Done;
    return success();
  }

  /// Why the call stays; empty if the callee's body takes its place.
  StringRef whyNotInline(func::CallOp call, func::FuncOp callee) {
    if (!callee.getBody().hasOneBlock())
      return "the callee has several blocks";
    // Top-level operations and bodies of runtime loops can call functions; the bodies of computations inside kernels cannot.
    for (Operation *parent = call->getParentOp(); !isa<func::FuncOp>(parent); parent = parent->getParentOp())
      if (!isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(parent))
        return "";
    if (!llvm::all_of(callee.getArgumentTypes(), [](Type type) { return isa<RankedTensorType>(type); }) ||
        !llvm::all_of(callee.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); }))
      return "";
    if (callers[callee.getName()] <= 1)
      return "";
    unsigned size = 0;
    callee.walk([&](Operation *) { ++size; });
    return size < keepFrom ? "" : "the callee is large and has several callers";
  }

  static void inlineCall(func::CallOp call, func::FuncOp callee) {
    OpBuilder builder(call);
    IRMapping mapping;
    Block &body = callee.getBody().front();
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      // The location keeps both lines: that of the operation and that of the call.
      copy->walk([&](Operation *inner) { inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc())); });
    }
    SmallVector<Value> values;
    for (Value value : body.getTerminator()->getOperands())
      values.push_back(mapping.lookupOrDefault(value));
    call.replaceAllUsesWith(values);
    call.erase();
  }

  static void removeUnused(ModuleOp module) {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
        if (!function.isPrivate() || !SymbolTable::symbolKnownUseEmpty(function, module))
          continue;
        function.erase();
        changed = true;
      }
    }
  }

  llvm::DenseMap<Operation *, State> states;
  llvm::StringMap<unsigned> callers;
};

} // namespace
} // namespace millrace::calls
