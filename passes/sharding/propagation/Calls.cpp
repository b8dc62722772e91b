// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calls.cpp - Shardings between functions and their calls ------------===//
// Input:   %0 = call @f(%x) ... func.func private @f(%x: T) -> (T {sdy.sharding = S})
// Output:  %0 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[S]>}
// Leaves alone calls that say themselves how their results are sharded.
#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_PROPAGATESHARDINGFROMFUNCTOCALLPASS
#define GEN_PASS_DEF_PROPAGATETOFUNCRESULTSPASS
#define GEN_PASS_DEF_PREORDERFUNCSPASS
#include "passes/sharding/Passes.h.inc"
#define GEN_PASS_DEF_PROPAGATEUNREDUCEDACROSSCALLBOUNDARIESPASS
#define GEN_PASS_DEF_PROPAGATECALLSHARDINGTOFUNCRESULTSPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

struct PropagateShardingFromFuncToCall : impl::PropagateShardingFromFuncToCallPassBase<PropagateShardingFromFuncToCall> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || call->hasAttr(sdy::shardingAttrName))
        return;
      SmallVector<sdy::TensorShardingAttr> shardings;
      Attribute mesh;
      for (unsigned i = 0; i < callee.getNumResults(); ++i) {
        shardings.push_back(callee.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName));
        if (shardings.back() && !mesh)
          mesh = shardings.back().getMeshOrRef();
      }
      if (!mesh)
        return;
      // About the others nothing is said.
      for (auto [sharding, type] : llvm::zip_equal(shardings, call->getResultTypes()))
        if (!sharding) {
          auto shaped = dyn_cast<ShapedType>(type);
          auto open = sdy::DimensionShardingAttr::get(call.getContext(), {}, /*is_closed=*/false, std::nullopt);
          sharding = sdy::TensorShardingAttr::get(call.getContext(), mesh,
                                                  SmallVector<sdy::DimensionShardingAttr>(shaped ? shaped.getRank() : 0, open),
                                                  ArrayRef<sdy::AxisRefAttr>(), ArrayRef<sdy::AxisRefAttr>(), {});
        }
      call->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(call.getContext(), shardings));
    });
  }
};

struct PropagateToFuncResults : impl::PropagateToFuncResultsPassBase<PropagateToFuncResults> {
  void runOnOperation() override {
    auto functions = getOperation().getOps<func::FuncOp>();
    bool isAlone = llvm::hasSingleElement(functions); // the program, whatever its name
    for (func::FuncOp function : functions) {
      if (isAlone || function.isExternal() || function.getName() == "main")
        continue;
      for (auto [i, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
        if (sdy::TensorShardingAttr sharding = sdy::getSharding(value))
          function.setResultAttr(i, sdy::shardingAttrName, sharding);
        else
          function.removeResultAttr(i, StringAttr::get(&getContext(), sdy::shardingAttrName));
    }
  }
};

struct PropagateCallShardingToFuncResults
    : impl::PropagateCallShardingToFuncResultsPassBase<PropagateCallShardingToFuncResults> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      for (auto [i, result] : llvm::enumerate(call.getResults())) {
        if (!callee)
          break;
        if (sdy::TensorShardingAttr sharding = sdy::getSharding(result))
          callee.setResultAttr(i, sdy::shardingAttrName, sharding);
        else
          callee.removeResultAttr(i, StringAttr::get(&getContext(), sdy::shardingAttrName));
      }
    });
  }
};

/// `old`, or anything, with the unreduced axes of `from`: none of these splits a dimension. Null if there is nothing to say.
sdy::TensorShardingAttr withUnreducedOf(sdy::TensorShardingAttr from, sdy::TensorShardingAttr old) {
  if (!from || from.getUnreducedAxes().empty() || (old && (old.getMeshOrRef() != from.getMeshOrRef() || old.getRank() != from.getRank())))
    return {};
  if (!old)
    old = fullyOpen(from.getMeshOrRef(), from.getRank());
  auto splits = [&](sdy::AxisRefAttr axis) {
    return llvm::none_of(from.getUnreducedAxes(), [&](sdy::AxisRefAttr each) { return each.getName() == axis.getName(); });
  };
  auto dims = llvm::map_to_vector(old.getDimShardings(), [&](sdy::DimensionShardingAttr dim) {
    SmallVector<sdy::AxisRefAttr> axes(llvm::make_filter_range(dim.getAxes(), splits));
    return sdy::DimensionShardingAttr::get(dim.getContext(), axes, dim.getIsClosed(), axes.empty() && dim.getIsClosed() ? std::nullopt : dim.getPriority());
  });
  SmallVector<sdy::AxisRefAttr> replicated(llvm::make_filter_range(old.getReplicatedAxes(), splits));
  return sdy::TensorShardingAttr::get(old.getContext(), old.getMeshOrRef(), dims, replicated, from.getUnreducedAxes(), from.getReductionOp());
}

struct PropagateUnreducedAcrossCallBoundaries
    : impl::PropagateUnreducedAcrossCallBoundariesPassBase<PropagateUnreducedAcrossCallBoundaries> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto resultOf = [](func::FuncOp function, unsigned i) {
      return function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (auto [i, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
        if (auto sharding = withUnreducedOf(sdy::getSharding(value), resultOf(function, i)))
          function.setResultAttr(i, sdy::shardingAttrName, sharding);
    }
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    getOperation().walk([&](func::CallOp call) {
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        calls.push_back({call, callee});
    });
    for (auto [call, callee] : calls)
      for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
        auto old = callee.getArgAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName);
        if (auto sharding = withUnreducedOf(sdy::getSharding(operand), old))
          callee.setArgAttr(i, sdy::shardingAttrName, sharding);
      }
    for (auto [call, callee] : calls)
      for (auto [i, result] : llvm::enumerate(call.getResults()))
        if (auto sharding = withUnreducedOf(resultOf(callee, i), sdy::getSharding(result)))
          setSharding(result, sharding);
  }
};

struct PreOrderFuncs : impl::PreOrderFuncsPassBase<PreOrderFuncs> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::SetVector<Operation *> order;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    llvm::SmallPtrSet<Operation *, 8> called;
    for (func::FuncOp function : functions)
      function.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          called.insert(callee);
      });
    std::function<void(func::FuncOp)> visit = [&](func::FuncOp function) {
      if (!order.insert(function))
        return;
      function.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          visit(callee);
      });
    };
    for (func::FuncOp function : functions)
      if (!called.contains(function))
        visit(function);
    for (func::FuncOp function : functions)
      visit(function);
    for (Operation *function : order)
      function->moveBefore(getOperation().getBody(), getOperation().getBody()->end());
  }
};

} // namespace
} // namespace millrace::sharding
