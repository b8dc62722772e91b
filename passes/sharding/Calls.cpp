// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calls.cpp - Shardings between functions and their calls ------------===//
// Input:   %0 = call @f(%x) ... func.func private @f(%x: T) -> (T {sdy.sharding = S})
// Output:  %0 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[S]>}
// Leaves alone calls that say themselves how their results are sharded.
#include "passes/sharding/Passes.h"

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
