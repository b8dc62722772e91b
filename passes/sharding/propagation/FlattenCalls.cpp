// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FlattenCalls.cpp - A function for every call, and back -------------===//
// Input:   call @f ... call @f                          func.func private @f
// Output:  call @f ... call @f_0                        func.func private @f   func.func private @f_0 {sdy.original_func_name = "f"}
// Leaves alone functions that are called once. In reverse: copies with equal bodies are merged.
#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_FLATTENCALLGRAPHPASS
#define GEN_PASS_DEF_UNFLATTENCALLGRAPHPASS
#define GEN_PASS_DEF_INSERTFUNCCALLRESHARDSPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

constexpr llvm::StringLiteral originalNameAttr = "sdy.original_func_name";

StringRef originalName(func::FuncOp function) {
  auto name = function->getAttrOfType<StringAttr>(originalNameAttr);
  return name ? name.getValue() : function.getName();
}

SmallVector<func::CallOp> callsIn(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  return calls;
}

/// Returns the functions without callers.
SmallVector<func::FuncOp> roots(ModuleOp module) {
  llvm::DenseSet<StringRef> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  SmallVector<func::FuncOp> result;
  for (auto function : module.getOps<func::FuncOp>())
    if (!called.contains(function.getName()))
      result.push_back(function);
  return result;
}

struct FlattenCallGraph : impl::FlattenCallGraphPassBase<FlattenCallGraph> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::DenseSet<Operation *> taken;
    for (func::FuncOp root : roots(getOperation()))
      visit(root, symbols, taken);
  }

  void visit(func::FuncOp caller, SymbolTable &symbols, llvm::DenseSet<Operation *> &taken) {
    for (func::CallOp call : callsIn(caller)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        continue;
      if (taken.insert(callee).second)
        visit(callee, symbols, taken);
      else
        call.setCallee(copy(callee, symbols).getName());
    }
  }

  /// Clones `function` and the functions that it calls. Calls are not recursive, because the verifier of portable artifacts refuses recursion.
  func::FuncOp copy(func::FuncOp function, SymbolTable &symbols) {
    func::FuncOp made = function.clone();
    made->setAttr(originalNameAttr, StringAttr::get(&getContext(), originalName(function)));
    for (func::CallOp call : callsIn(made))
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()); callee && !callee.isExternal())
        call.setCallee(copy(callee, symbols).getName());
    symbols.insert(made);
    return made;
  }
};

/// Returns the shardings of the function's arguments and results.
SmallVector<Attribute> signature(func::FuncOp function) {
  SmallVector<Attribute> result;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    result.push_back(function.getArgAttr(i, sdy::shardingAttrName));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    result.push_back(function.getResultAttr(i, sdy::shardingAttrName));
  return result;
}

struct UnflattenCallGraph : impl::UnflattenCallGraphPassBase<UnflattenCallGraph> {
  using Base::Base;
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    // The functions that are kept: for each original function, one per signature; with dedupFunctionsFully, one per caller.
    llvm::MapVector<std::pair<StringRef, Operation *>, SmallVector<func::FuncOp>> kept;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    if (!dedupFunctionsFully)
      for (func::FuncOp function : functions)
        representative(kept[{originalName(function), nullptr}], function);
    for (func::FuncOp caller : functions)
      for (func::CallOp call : callsIn(caller)) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee || callee.isExternal())
          continue;
        Operation *owner = dedupFunctionsFully ? caller.getOperation() : nullptr;
        call.setCallee(representative(kept[{originalName(callee), owner}], callee).getName());
      }
    // Copies without callers are erased, callers first.
    for (bool changed = true; changed;) {
      changed = false;
      for (func::FuncOp root : roots(getOperation()))
        if (root.isPrivate() && (root->hasAttr(originalNameAttr) || wasCopied(root))) {
          symbols.erase(root);
          changed = true;
        }
    }
  }

  /// Returns true if another function is a copy of `function`, so that calls may have moved to the copy.
  bool wasCopied(func::FuncOp function) {
    return llvm::any_of(getOperation().getOps<func::FuncOp>(), [&](func::FuncOp other) {
      return other != function && other->hasAttr(originalNameAttr) && originalName(other) == function.getName();
    });
  }

  func::FuncOp representative(SmallVectorImpl<func::FuncOp> &kept, func::FuncOp function) {
    for (func::FuncOp each : kept)
      if (dedupFunctionsFully || signature(each) == signature(function))
        return each;
    kept.push_back(function);
    return function;
  }
};

struct InsertFuncCallReshards : impl::InsertFuncCallReshardsPassBase<InsertFuncCallReshards> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      auto list = call->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
      if (!callee || !list || list.getShardings().size() != call.getNumResults())
        return;
      OpBuilder builder(call);
      builder.setInsertionPointAfter(call);
      SmallVector<sdy::TensorShardingAttr> shardings(list.getShardings());
      for (auto [i, result] : llvm::enumerate(call.getResults())) {
        auto made = callee.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
        if (!made || made == shardings[i] || !isa<RankedTensorType>(result.getType()))
          continue;
        auto moved = sdy::ReshardOp::create(builder, call.getLoc(), result.getType(), result, shardings[i]);
        result.replaceAllUsesExcept(moved.getResult(), moved);
        shardings[i] = made;
      }
      call->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(&getContext(), shardings));
    });
  }
};

} // namespace
} // namespace millrace::sharding
