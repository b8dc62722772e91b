// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NamedComputations.cpp - Calls as regions, and back -----------------===//
// Input:   %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
// Output:  %1 = sdy.named_computation<"f">(%0) (%arg1: tensor<8xf32>) { ... sdy.return %2 } : ...
// Leaves alone calls of functions without a body; in reverse, computations of one name with different bodies.
#include "passes/sharding/Passes.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

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
    if (!dataFlowEdges)
      return;
    for (BlockArgument argument : computation->getRegion(0).getArguments())
      addEdge(argument, in ? in.getShardings()[argument.getArgNumber()] : sdy::TensorShardingAttr());
    for (OpResult result : computation->getResults())
      addEdge(result, out ? out.getShardings()[result.getResultNumber()] : sdy::TensorShardingAttr());
  }

  static void addEdge(Value value, sdy::TensorShardingAttr sharding) {
    auto type = dyn_cast<ShapedType>(value.getType());
    if (!type || !type.hasStaticShape())
      return;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto edge = sdy::DataFlowEdgeOp::create(builder, value.getLoc(), value.getType(), value, sharding);
    value.replaceAllUsesExcept(edge, edge);
  }
};

struct ExportNamedComputations : impl::ExportNamedComputationsPassBase<ExportNamedComputations> {
  using ExportNamedComputationsPassBase::ExportNamedComputationsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<sdy::NamedComputationOp> ops, others;
    module.walk([&](sdy::NamedComputationOp op) { ops.push_back(op); });
    llvm::StringMap<sdy::NamedComputationOp> usual;
    if (dedupFunctionsFully)
      usual = usualOnes(ops);
    llvm::StringMap<func::FuncOp> made;
    for (sdy::NamedComputationOp op : ops) {
      std::string name = op.getName().str();
      if (dedupFunctionsFully && usual.lookup(name) != op)
        others.push_back(op);
      else
        made[name] = outline(op, symbols);
    }
    for (sdy::NamedComputationOp op : others)
      if (!callInstead(op, made.lookup(op.getName())))
        outline(op, symbols);
  }

  /// Of each name, the first that is sharded like most.
  static llvm::StringMap<sdy::NamedComputationOp> usualOnes(ArrayRef<sdy::NamedComputationOp> ops) {
    auto keyOf = [](sdy::NamedComputationOp op) {
      return std::tuple(op.getNameAttr(), op->getAttr("in_shardings"), op->getAttr("out_shardings"));
    };
    llvm::DenseMap<std::tuple<Attribute, Attribute, Attribute>, int> counts;
    for (sdy::NamedComputationOp op : ops)
      ++counts[keyOf(op)];
    llvm::StringMap<sdy::NamedComputationOp> usual;
    for (sdy::NamedComputationOp op : ops) {
      sdy::NamedComputationOp &best = usual[op.getName()];
      if (!best || counts[keyOf(op)] > counts[keyOf(best)])
        best = op;
    }
    return usual;
  }

  static void endAsFunction(Region &body) {
    Operation *terminator = body.front().getTerminator();
    OpBuilder builder(terminator);
    func::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
    terminator->erase();
  }

  func::FuncOp outline(sdy::NamedComputationOp op, SymbolTable &symbols) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto type = builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    auto function = func::FuncOp::create(builder, op.getLoc(), op.getName(), type);
    function.setPrivate();
    symbols.insert(function); // renames it where the name is taken
    function.getBody().takeBody(op.getBody());
    if (isa<sdy::ReturnOp>(function.getBody().front().getTerminator()))
      endAsFunction(function.getBody());
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
    return function;
  }

  /// Calls `function` in place of `op`, whose body may differ in shardings only; false if it is another one.
  bool callInstead(sdy::NamedComputationOp op, func::FuncOp function) {
    endAsFunction(op.getBody());
    using Equivalence = OperationEquivalence;
    if (!function || function.getFunctionType() != FunctionType::get(&getContext(), op->getOperandTypes(), op->getResultTypes()) ||
        !Equivalence::isRegionEquivalentTo(&op.getBody(), &function.getBody(),
                                           Equivalence::IgnoreLocations | Equivalence::IgnoreDiscardableAttrs))
      return false;
    OpBuilder builder(op);
    auto reshard = [&](Value value, sdy::TensorShardingAttr from, sdy::TensorShardingAttr to) -> Value {
      if (!to || from == to || !isa<RankedTensorType>(value.getType()))
        return value;
      return sdy::ReshardOp::create(builder, op.getLoc(), value.getType(), value, to);
    };
    auto pick = [](std::optional<sdy::TensorShardingPerValueAttr> list, unsigned i) {
      return list ? list->getShardings()[i] : sdy::TensorShardingAttr();
    };
    SmallVector<Value> operands, results;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(reshard(operand, pick(op.getInShardings(), i),
                                 function.getArgAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName)));
    auto call = func::CallOp::create(builder, op.getLoc(), function, operands);
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto made = listOf(&getContext(), call.getResultTypes(), [&](unsigned i) {
      return function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
    });
    if (made)
      call->setAttr(sdy::shardingAttrName, made);
    for (auto [i, result] : llvm::enumerate(call.getResults()))
      results.push_back(reshard(result, pick(made, i), pick(op.getOutShardings(), i)));
    op->replaceAllUsesWith(results);
    op->erase();
    return true;
  }
};

} // namespace
} // namespace millrace::sharding
