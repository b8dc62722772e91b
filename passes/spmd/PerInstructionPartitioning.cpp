// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PerInstructionPartitioning.cpp - Single operations of the program on parts -===//
// Input:   %1 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, ...)
// Output:  %1 = sdy.manual_computation(%x, %y) in_shardings=[...] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a, %b) {
//            %2 = stablehlo.dot %a, %b : (tensor<4x4xf32>, ...) ; sdy.return %2 }
// To find out which operation a partitioner does wrong: the filter says which are selected.
// Leaves alone operations without shardings, over several meshes, or whose parts do not divide them, and what is about sharding itself.
#include "passes/spmd/Passes.h"

#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::spmd {
#define GEN_PASS_DEF_PERINSTRUCTIONPARTITIONINGPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// The filter `selectLow=2,selectHigh=5,func=f,dot,add`: bounds of the operations' numbers, functions, substrings of operations' names; an empty
/// filter selects all operations.
struct Filter {
  int64_t low = 0, high = std::numeric_limits<int64_t>::max();
  SmallVector<StringRef> functions, names;

  bool read(StringRef text, std::string &error) {
    SmallVector<StringRef> words;
    text.trim(" '\"").split(words, ',', -1, /*KeepEmpty=*/false);
    for (StringRef word : words) {
      word = word.trim();
      bool isLow = word.consume_front("selectLow=");
      if (isLow || word.consume_front("selectHigh=")) {
        if (word.getAsInteger(10, isLow ? low : high)) {
          error = "expects a number, but got '" + word.str() + "'";
          return false;
        }
      } else if (word.consume_front("func=")) {
        functions.push_back(word);
      } else {
        names.push_back(word);
      }
    }
    return true;
  }
  bool selects(Operation *op, StringRef function, int64_t number) const {
    StringRef name = op->getName().getStringRef();
    return number >= low && number <= high && (functions.empty() || llvm::is_contained(functions, function)) &&
           (names.empty() || llvm::any_of(names, [&](StringRef part) { return name.contains(part); }));
  }
};

bool isSplit(Value value) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  return sharding && (!sharding.getUnreducedAxes().empty() ||
                      llvm::any_of(sharding.getDimShardings(), [](auto dim) { return !dim.getAxes().empty(); }));
}

/// Returns true for operations that a partitioner has to rewrite.
bool isCandidate(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>() ||
      isa<sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp, sdy::ManualComputationOp, sdy::PropagationBarrierOp, sdy::ReplicatedToUnreducedOp,
          sdy::ShardedToUnreducedOp, sdy::ShardingConstraintOp, sdy::ShardingGroupOp>(op))
    return false;
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && call.getCallTargetName() == "Sharding")
    return false;
  return llvm::any_of(op.getOperands(), isSplit) || llvm::any_of(op.getResults(), isSplit);
}

struct PerInstructionPartitioning : impl::PerInstructionPartitioningPassBase<PerInstructionPartitioning> {
  using Base::Base;

  void runOnOperation() override {
    Filter selected;
    std::string error;
    if (!selected.read(filter, error)) {
      getOperation().emitError("filter: ") << error;
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    int64_t number = 0;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        for (Operation &op : function.getBody().front())
          if (isCandidate(op) && selected.selects(&op, function.getName(), number++))
            ops.push_back(&op);
    for (Operation *op : ops)
      if (failed(partition(op)))
        return signalPassFailure();
  }

  sdy::TensorShardingAttr shardingOf(Value value, Attribute mesh) {
    if (sdy::TensorShardingAttr sharding = sdy::getSharding(value))
      return sharding;
    auto shaped = dyn_cast<ShapedType>(value.getType());
    auto closed = sdy::DimensionShardingAttr::get(&getContext(), {}, /*is_closed=*/true, std::nullopt);
    return sdy::TensorShardingAttr::get(&getContext(), mesh, SmallVector<sdy::DimensionShardingAttr>(shaped ? shaped.getRank() : 0, closed));
  }

  LogicalResult partition(Operation *op) {
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end()), captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    SmallVector<Value> inputs(op->getOperands());
    for (Value value : captured)
      if (!operands.contains(value))
        inputs.push_back(value);
    // All shardings are over one mesh.
    Attribute meshRef;
    sdy::MeshAttr mesh;
    for (Value value : llvm::concat<Value>(inputs, SmallVector<Value>(op->getResults())))
      if (sdy::TensorShardingAttr sharding = sdy::getSharding(value)) {
        if (mesh && sharding.getMesh(op) != mesh) {
          op->emitRemark("not partitioned: it is about several meshes");
          return success();
        }
        mesh = sharding.getMesh(op);
        meshRef = sharding.getMeshOrRef();
      }
    if (!mesh || mesh.isMaximal())
      return success();
    SmallVector<sdy::TensorShardingAttr> in, out;
    for (Value value : inputs)
      in.push_back(shardingOf(value, meshRef));
    for (Value value : op->getResults())
      out.push_back(shardingOf(value, meshRef));
    auto isDivided = [&](Value value, sdy::TensorShardingAttr sharding) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      return !tensor || llvm::all_of(llvm::zip(tensor.getShape(), sharding.getDimShardings()), [&](auto pair) {
        return std::get<0>(pair) % std::get<1>(pair).getShardedSize(mesh) == 0;
      });
    };
    if (!llvm::all_of(llvm::zip(inputs, in), [&](auto pair) { return isDivided(std::get<0>(pair), std::get<1>(pair)); }) ||
        !llvm::all_of(llvm::zip(op->getResults(), out), [&](auto pair) { return isDivided(std::get<0>(pair), std::get<1>(pair)); })) {
      op->emitRemark("not partitioned: parts do not divide it");
      return success();
    }
    OwningOpRef<ModuleOp> alone = outline(op, inputs, in, out);
    PassManager pm(&getContext());
    // Reshards make incompatible operands and pending sums explicit first.
    sharding::InsertExplicitReshardsPassOptions reshards;
    reshards.everywhere = true;
    pm.addNestedPass<func::FuncOp>(sharding::createInsertExplicitReshardsPass(reshards));
    ResolvePermutationFactorsPassOptions resolve;
    resolve.haloExchange = haloExchange;
    resolve.replicaCount = replicaCount;
    resolve.partitionCount = partitionCount;
    pm.addPass(createResolvePermutationFactorsPass(resolve));
    pm.addNestedPass<func::FuncOp>(sharding::createReshardToCollectivesPass());
    pm.addNestedPass<func::FuncOp>(sharding::createOptimizeCollectivesPass());
    pm.addPass(createPadForDivisibilityPass());
    ConvertGlobalToLocalPassOptions convert;
    convert.replicaCount = replicaCount;
    convert.partitionCount = partitionCount;
    convert.meshAxesGroups = true;
    pm.addPass(createConvertGlobalToLocalPass(convert));
    if (failed(pm.run(*alone)))
      return op->emitError("cannot be partitioned on its own");
    alone->walk([](Operation *inside) { inside->removeAttr(sdy::shardingAttrName); });
    bringIn(op, *alone, inputs, in, out, mesh);
    return success();
  }

  /// Returns a module with a function @main that contains the operation, and with its callees.
  OwningOpRef<ModuleOp> outline(Operation *op, ArrayRef<Value> inputs, ArrayRef<sdy::TensorShardingAttr> in, ArrayRef<sdy::TensorShardingAttr> out) {
    OwningOpRef<ModuleOp> made = ModuleOp::create(op->getLoc());
    OpBuilder builder = OpBuilder::atBlockEnd(made->getBody());
    for (auto mesh : getOperation().getOps<sdy::MeshOp>())
      builder.clone(*mesh);
    auto function = func::FuncOp::create(builder, op->getLoc(), "main", builder.getFunctionType(TypeRange(ValueRange(inputs)), op->getResultTypes()));
    for (auto [i, sharding] : llvm::enumerate(in))
      function.setArgAttr(i, sdy::shardingAttrName, sharding);
    for (auto [i, sharding] : llvm::enumerate(out))
      function.setResultAttr(i, sdy::shardingAttrName, sharding);
    Block *body = function.addEntryBlock();
    IRMapping mapping;
    for (auto [value, argument] : llvm::zip_equal(inputs, body->getArguments()))
      mapping.map(value, argument);
    builder.setInsertionPointToStart(body);
    Operation *copy = builder.clone(*op, mapping);
    func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
    SymbolTable from(getOperation()), to(*made);
    builder.setInsertionPointToEnd(made->getBody());
    std::function<void(Operation *)> addCallees = [&](Operation *caller) {
      caller->walk([&](func::CallOp call) {
        auto callee = from.lookup<func::FuncOp>(call.getCallee());
        if (!callee || to.lookup(call.getCallee()))
          return;
        auto copied = cast<func::FuncOp>(builder.clone(*callee));
        to.insert(copied);
        addCallees(copied);
      });
    };
    addCallees(copy);
    return made;
  }

  /// Replaces the operation by the partitioned one; functions that it calls get unique names.
  void bringIn(Operation *op, ModuleOp alone, ArrayRef<Value> inputs, ArrayRef<sdy::TensorShardingAttr> in, ArrayRef<sdy::TensorShardingAttr> out,
               sdy::MeshAttr mesh) {
    SymbolTable symbols(getOperation());
    auto main = alone.lookupSymbol<func::FuncOp>("main");
    SmallVector<func::FuncOp> callees;
    for (auto function : alone.getOps<func::FuncOp>())
      if (function != main)
        callees.push_back(function);
    llvm::StringMap<StringAttr> renamed;
    for (func::FuncOp callee : callees) {
      std::string before = callee.getName().str();
      callee->remove();
      for (unsigned i = 0; i < callee.getNumArguments(); ++i)
        callee.removeArgAttr(i, StringAttr::get(&getContext(), sdy::shardingAttrName));
      for (unsigned i = 0; i < callee.getNumResults(); ++i)
        callee.removeResultAttr(i, StringAttr::get(&getContext(), sdy::shardingAttrName));
      renamed[before] = symbols.insert(callee);
    }
    auto rename = [&](Operation *root) {
      root->walk([&](func::CallOp call) {
        if (StringAttr name = renamed.lookup(call.getCallee()))
          call.setCallee(name.getValue());
      });
    };
    rename(main);
    llvm::for_each(callees, rename);
    OpBuilder builder(op);
    SmallVector<StringAttr> axes;
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      axes.push_back(StringAttr::get(&getContext(), axis.getName()));
    auto manual = sdy::ManualComputationOp::create(builder, op->getLoc(), op->getResultTypes(), inputs,
                                                   sdy::TensorShardingPerValueAttr::get(&getContext(), in),
                                                   sdy::TensorShardingPerValueAttr::get(&getContext(), out),
                                                   sdy::ManualAxesAttr::get(&getContext(), axes));
    manual.getBody().takeBody(main.getBody());
    Operation *end = manual.getBody().front().getTerminator();
    builder.setInsertionPoint(end);
    sdy::ReturnOp::create(builder, end->getLoc(), end->getOperands());
    end->erase();
    op->replaceAllUsesWith(manual->getResults());
    op->erase();
  }
};

} // namespace
} // namespace millrace::spmd
