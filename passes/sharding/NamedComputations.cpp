// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NamedComputations.cpp - Calls as regions, and back -----------------===//
// Input:   %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
// Output:  %1 = sdy.named_computation<"f">(%0) (%arg1: tensor<8xf32>) { ... sdy.return %2 } : ...
// Leaves alone calls of functions without a body.
#include "passes/sharding/Passes.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_IMPORTFUNCCALLSPASS
#define GEN_PASS_DEF_EXPORTNAMEDCOMPUTATIONSPASS
#include "passes/sharding/Passes.h.inc"

namespace {

/// Shardings of arguments or results; null if none has one.
template <typename Get> sdy::TensorShardingPerValueAttr listOf(MLIRContext *context, TypeRange types, Get get) {
  Attribute mesh;
  for (unsigned i = 0; i < types.size(); ++i)
    if (sdy::TensorShardingAttr sharding = get(i))
      mesh = mesh ? mesh : sharding.getMeshOrRef();
  if (!mesh)
    return {};
  SmallVector<sdy::TensorShardingAttr> list;
  auto open = sdy::DimensionShardingAttr::get(context, {}, false, std::nullopt);
  for (auto [i, type] : llvm::enumerate(types)) {
    auto shaped = dyn_cast<ShapedType>(type);
    sdy::TensorShardingAttr sharding = get(i);
    SmallVector<sdy::DimensionShardingAttr> dims(shaped ? shaped.getRank() : 0, open);
    list.push_back(sharding ? sharding : sdy::TensorShardingAttr::get(context, mesh, dims));
  }
  return sdy::TensorShardingPerValueAttr::get(context, list);
}

bool saysUninlineable(func::CallOp call) {
  auto frontend = call->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  auto inlineable = frontend ? frontend.getAs<StringAttr>("inlineable") : StringAttr();
  return inlineable && inlineable.getValue() == "false";
}

struct ImportFuncCalls : impl::ImportFuncCallsPassBase<ImportFuncCalls> {
  using ImportFuncCallsPassBase::ImportFuncCallsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<func::CallOp> calls;
    // Callees first, so that what is copied into callers has no calls any more.
    llvm::SmallPtrSet<Operation *, 8> seen;
    bool cyclic = false;
    std::function<void(func::FuncOp, int)> visit = [&](func::FuncOp function, int depth) {
      cyclic |= depth > 1000;
      if (cyclic || !seen.insert(function).second)
        return;
      function.walk([&](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (callee && !callee.isExternal()) {
          visit(callee, depth + 1);
          if (!onlyUninlineable || saysUninlineable(call))
            calls.push_back(call);
        }
      });
    };
    for (auto function : module.getOps<func::FuncOp>())
      visit(function, 0);
    for (func::CallOp call : calls)
      convert(call, symbols.lookup<func::FuncOp>(call.getCallee()));
    llvm::SmallPtrSet<Operation *, 8> unused;
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, module))
        function.erase();
  }

  void convert(func::CallOp call, func::FuncOp callee) {
    OpBuilder builder(call);
    auto in = listOf(&getContext(), callee.getArgumentTypes(), [&](unsigned i) {
      return callee.getArgAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
    });
    auto out = listOf(&getContext(), callee.getResultTypes(), [&](unsigned i) {
      auto own = sdy::getSharding(call.getResult(i));
      return own ? own : callee.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
    });
    OperationState state(call.getLoc(), sdy::NamedComputationOp::getOperationName(), call.getOperands(), call.getResultTypes());
    state.addAttribute("name", builder.getStringAttr(call.getCallee()));
    if (in)
      state.addAttribute("in_shardings", in);
    if (out)
      state.addAttribute("out_shardings", out);
    Region *region = state.addRegion();
    IRMapping mapping;
    callee.getBody().cloneInto(region, mapping);
    Operation *terminator = region->front().getTerminator();
    builder.setInsertionPoint(terminator);
    sdy::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
    terminator->erase();
    builder.setInsertionPoint(call);
    Operation *computation = builder.create(state);
    for (NamedAttribute attr : call->getDiscardableAttrs())
      if (attr.getName() != sdy::shardingAttrName)
        computation->setDiscardableAttr(attr.getName(), attr.getValue());
    call->replaceAllUsesWith(computation);
    call->erase();
  }
};

struct ExportNamedComputations : impl::ExportNamedComputationsPassBase<ExportNamedComputations> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<sdy::NamedComputationOp> ops;
    module.walk([&](sdy::NamedComputationOp op) { ops.push_back(op); });
    for (sdy::NamedComputationOp op : ops) {
      OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
      auto type = builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
      auto function = func::FuncOp::create(builder, op.getLoc(), op.getName(), type);
      function.setPrivate();
      symbols.insert(function); // renames it where the name is taken
      function.getBody().takeBody(op.getBody());
      Operation *terminator = function.getBody().front().getTerminator();
      builder.setInsertionPoint(terminator);
      func::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
      terminator->erase();
      if (auto in = op.getInShardings())
        for (auto [i, sharding] : llvm::enumerate(in->getShardings()))
          function.setArgAttr(i, sdy::shardingAttrName, sharding);
      builder.setInsertionPoint(op);
      auto call = func::CallOp::create(builder, op.getLoc(), function, op->getOperands());
      call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      if (auto out = op.getOutShardings()) {
        for (auto [i, sharding] : llvm::enumerate(out->getShardings()))
          function.setResultAttr(i, sdy::shardingAttrName, sharding);
        call->setAttr(sdy::shardingAttrName, *out);
      }
      op->replaceAllUsesWith(call);
      op->erase();
    }
  }
};

} // namespace
} // namespace millrace::sharding
