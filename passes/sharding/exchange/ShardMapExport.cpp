// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardMapExport.cpp - Manual computations as GSPMD writes them ------===//
// Input:   %0 = sdy.manual_computation(%x) in_shardings=[S] out_shardings=[T] manual_axes={"a"} (%arg1) { %2 = stablehlo.sine %arg1 ... }
// Output:  %0 = custom_call @Sharding(%x) {S}            %1 = custom_call @SPMDFullToShardShape(%0) {manual}
//          %2 = stablehlo.sine %1 {manual}
//          %3 = custom_call @Sharding(%2) {manual}       %4 = custom_call @SPMDShardToFullShape(%3) {T}
// Leaves alone what is inside of operations' regions, but for loops and branches.
#include "passes/sharding/exchange/RoundTrip.h"

#include "passes/sharding/ShardingWalk.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_SHARDMAPEXPORTPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

/// Every dimension whole and closed.
sdy::TensorShardingAttr whole(MLIRContext *context, Attribute mesh, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  auto closed = sdy::DimensionShardingAttr::get(context, {}, /*is_closed=*/true, std::nullopt);
  return sdy::TensorShardingAttr::get(context, mesh, SmallVector<sdy::DimensionShardingAttr>(shaped ? shaped.getRank() : 0, closed));
}

/// How a value is sharded within what is manual anyway.
sdy::TensorShardingAttr without(sdy::TensorShardingAttr sharding, ArrayRef<StringAttr> manual) {
  auto keep = [&](ArrayRef<sdy::AxisRefAttr> axes) {
    SmallVector<sdy::AxisRefAttr> kept;
    for (sdy::AxisRefAttr axis : axes)
      if (llvm::none_of(manual, [&](StringAttr name) { return name.getValue() == axis.getName(); }))
        kept.push_back(axis);
    return kept;
  };
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(sdy::DimensionShardingAttr::get(dim.getContext(), keep(dim.getAxes()), dim.getIsClosed(), std::nullopt));
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims, keep(sharding.getReplicatedAxes()),
                                      keep(sharding.getUnreducedAxes()), sharding.getReductionOp());
}

struct ShardMapExport : impl::ShardMapExportPassBase<ShardMapExport> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<sdy::ManualComputationOp> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](sdy::ManualComputationOp op) { ops.push_back(op); });
    // From outside in: what is manual outside is marked on the operation, and manual inside as well.
    for (sdy::ManualComputationOp op : ops)
      convert(op);
  }

  void mark(Operation *op, ArrayRef<StringAttr> axes) {
    if (!axes.empty())
      op->setAttr(frontend::manualAxes, sdy::ManualAxesAttr::get(&getContext(), axes));
  }

  /// Everything in the block is manual along `axes`.
  void markBlock(Block &block, Attribute mesh, ArrayRef<StringAttr> axes) {
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      mark(&op, axes);
      if (isa<sdy::ManualComputationOp>(op))
        continue;
      // Over another mesh only what says nothing, or one device of all, which has no meaning here.
      auto list = op.getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
      if (!list || llvm::any_of(list.getShardings(), [&](auto each) { return each.getMeshOrRef() != mesh; })) {
        SmallVector<sdy::TensorShardingAttr> shardings;
        for (Type type : op.getResultTypes())
          shardings.push_back(whole(&getContext(), mesh, type));
        if (shardings.empty())
          shardings.push_back(whole(&getContext(), mesh, NoneType::get(&getContext())));
        op.setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(&getContext(), shardings));
      }
      if (auto call = dyn_cast<func::CallOp>(op))
        markFunction(call, mesh, axes);
      if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
        for (Region &region : op.getRegions())
          for (Block &nested : region)
            markBlock(nested, mesh, axes);
    }
  }

  /// So is the function that is called, which has to be for this call alone.
  void markFunction(func::CallOp call, Attribute mesh, ArrayRef<StringAttr> axes) {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!function || function.isExternal() || !marked.insert(function).second)
      return;
    auto manual = sdy::ManualAxesAttr::get(&getContext(), axes);
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      if (!function.getArgAttr(i, sdy::shardingAttrName))
        function.setArgAttr(i, sdy::shardingAttrName, whole(&getContext(), mesh, type));
      function.setArgAttr(i, frontend::manualAxes, manual);
    }
    for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      if (!function.getResultAttr(i, sdy::shardingAttrName))
        function.setResultAttr(i, sdy::shardingAttrName, whole(&getContext(), mesh, type));
      function.setResultAttr(i, frontend::manualAxes, manual);
    }
    markBlock(function.getBody().front(), mesh, axes);
  }

  void convert(sdy::ManualComputationOp op) {
    auto outerAttr = op->getAttrOfType<sdy::ManualAxesAttr>(frontend::manualAxes);
    SmallVector<StringAttr> outer(outerAttr ? outerAttr.getValue() : ArrayRef<StringAttr>()), inner(outer);
    llvm::append_range(inner, op.getManualAxes());
    Attribute mesh;
    for (auto list : {op.getInShardings(), op.getOutShardings()})
      if (!mesh && !list.getShardings().empty())
        mesh = list.getShardings()[0].getMeshOrRef();
    Block &body = op.getBody().front();
    if (mesh && !inner.empty())
      markBlock(body, mesh, inner);
    Operation *terminator = body.getTerminator();
    OpBuilder builder(op);
    // `value` in `sharding`, as it is `at` the place where `axes` are manual.
    auto call = [&](StringRef name, Type type, Value value, sdy::TensorShardingAttr sharding, ArrayRef<StringAttr> axes) -> Value {
      auto made = createCustomCall(builder, op.getLoc(), name, type, value);
      setResultSharding(made, without(sharding, axes));
      mark(made, axes);
      return made->getResult(0);
    };
    bool isErased = eraseEmpty && op.getManualAxes().empty(); // parts are the whole
    SmallVector<Value> local, global;
    for (auto [value, type, sharding] :
         llvm::zip_equal(op->getOperands(), body.getArgumentTypes(), op.getInShardings().getShardings())) {
      if (!isa<ShapedType>(type)) { // a token is nowhere
        local.push_back(value);
        continue;
      }
      Value placed = call(target::sharding, value.getType(), value, sharding, outer);
      local.push_back(isErased ? placed : call(target::fullToShard, type, placed, sharding, inner));
    }
    for (auto [argument, value] : llvm::zip_equal(body.getArguments(), local))
      argument.replaceAllUsesWith(value);
    op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
    for (auto [value, result, sharding] :
         llvm::zip_equal(terminator->getOperands(), op->getResults(), op.getOutShardings().getShardings())) {
      if (!isa<ShapedType>(result.getType())) {
        global.push_back(value);
        continue;
      }
      Value placed = call(target::sharding, value.getType(), value, sharding, inner);
      global.push_back(isErased ? placed : call(target::shardToFull, result.getType(), placed, sharding, outer));
    }
    op->replaceAllUsesWith(global);
    terminator->erase();
    op.erase();
  }

  llvm::SmallPtrSet<Operation *, 4> marked;
};

} // namespace
} // namespace millrace::sharding
