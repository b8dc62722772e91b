// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTripExport.cpp - sdy as text that HLO keeps -------------------===//
// Input:   %0 = sdy.sharding_constraint %x <@mesh, [{"a", ?}]> : tensor<8xf32>
// Output:  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.frontend_attributes = {xla.sdy.sharding =
//            "#sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>"}, ...}; the module's xla.sdy.meshes = "{mesh = #sdy.mesh<...>}"
// Leaves alone operations without shardings or rules.
#include "passes/sharding/exchange/RoundTrip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_ROUNDTRIPEXPORTOPSPASS
#define GEN_PASS_DEF_ROUNDTRIPEXPORTSHARDYATTRSPASS
#define GEN_PASS_DEF_EXPORTOPSPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

/// Replaces an operation that only says how its operand is to be sharded.
void replaceByShardingCall(Operation *op, sdy::TensorShardingAttr sharding) {
  OpBuilder builder(op);
  auto call = createCustomCall(builder, op->getLoc(), target::sharding, op->getResultTypes(), op->getOperand(0));
  setResultSharding(call, sharding);
  op->replaceAllUsesWith(call);
  op->erase();
}

void replaceByConstant(sdy::ConstantOp op) {
  OpBuilder builder(op);
  auto constant = stablehlo::ConstantOp::create(builder, op.getLoc(), op.getValue());
  constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.replaceAllUsesWith(constant.getResult());
  op.erase();
}

/// In the order of the program, as passes below erase.
template <typename... Ops> SmallVector<Operation *> collect(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<Ops...>(op))
      ops.push_back(op);
  });
  return ops;
}

struct RoundTripExportOps : impl::RoundTripExportOpsPassBase<RoundTripExportOps> {
  void runOnOperation() override {
    for (Operation *op : collect<sdy::ConstantOp, sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::ShardingGroupOp,
                                 sdy::PropagationBarrierOp>(getOperation()))
      llvm::TypeSwitch<Operation *>(op)
          .Case([](sdy::ConstantOp constant) { replaceByConstant(constant); })
          .Case<sdy::ShardingConstraintOp, sdy::ReshardOp>([](auto each) { replaceByShardingCall(each, each.getSharding()); })
          .Case([](sdy::ShardingGroupOp group) {
            OpBuilder builder(group);
            auto call = createCustomCall(builder, group.getLoc(), target::group, {}, group.getInput(), /*hasSideEffect=*/true);
            setFrontendAttr(call, frontend::groupId, group.getGroupIdAttr());
            group.erase();
          })
          .Case([](sdy::PropagationBarrierOp barrier) {
            OpBuilder builder(barrier);
            auto call = createCustomCall(builder, barrier.getLoc(), target::barrier, barrier->getResultTypes(), barrier.getInput(),
                                         /*hasSideEffect=*/true);
            auto direction = builder.getI32IntegerAttr(static_cast<int32_t>(barrier.getAllowedDirection()));
            setFrontendAttr(call, frontend::direction, direction);
            barrier->replaceAllUsesWith(call);
            barrier.erase();
          });
  }
};

struct ExportOps : impl::ExportOpsPassBase<ExportOps> {
  using Base::Base;
  void runOnOperation() override {
    if (!asCalls || asCopies) {
      getOperation().emitError("constraints become @Sharding calls: there is no mhlo.copy here");
      return signalPassFailure();
    }
    for (Operation *op : collect<sdy::ConstantOp, sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp,
                                 sdy::AllGatherOp, sdy::AllSliceOp, sdy::AllToAllOp, sdy::CollectivePermuteOp,
                                 sdy::ReduceScatterOp, sdy::AllReduceOp>(getOperation())) {
      if (auto constant = dyn_cast<sdy::ConstantOp>(op)) {
        replaceByConstant(constant);
      } else if (isa<sdy::PropagationBarrierOp, sdy::AllReduceOp>(op)) {
        op->replaceAllUsesWith(op->getOperands());
        op->erase();
      } else {
        bool isMark = isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op);
        replaceByShardingCall(op, op->getAttrOfType<sdy::TensorShardingAttr>(isMark ? "sharding" : "out_sharding"));
      }
    }
  }
};

struct RoundTripExportShardyAttrs : impl::RoundTripExportShardyAttrsPassBase<RoundTripExportShardyAttrs> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      exportFunction(function);
    SmallVector<NamedAttribute> meshes;
    for (auto mesh : module.getOps<sdy::MeshOp>())
      meshes.emplace_back(mesh.getSymNameAttr(), mesh.getMesh());
    if (!meshes.empty())
      setFrontendAttr(module, frontend::meshes, DictionaryAttr::get(&getContext(), meshes));
  }

  void exportFunction(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (Attribute sharding = function.getArgAttr(i, sdy::shardingAttrName)) {
        NamedAttrList attrs(function.getArgAttrDict(i));
        setFrontendAttr(attrs, frontend::sharding, sharding);
        function.setArgAttrs(i, attrs);
      }
    if (function.isExternal())
      return;
    function.walk([&](Operation *op) {
      if (op == function)
        return;
      if (auto shardings = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName))
        setFrontendAttr(op, frontend::sharding, shardings);
      if (Attribute rule = op->getDiscardableAttr(sdy::shardingRuleAttrName)) {
        setFrontendAttr(op, frontend::rule, rule);
        op->removeDiscardableAttr(sdy::shardingRuleAttrName);
      }
    });
    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    for (OpOperand &returned : terminator->getOpOperands()) {
      auto sharding = function.getResultAttrOfType<sdy::TensorShardingAttr>(returned.getOperandNumber(), sdy::shardingAttrName);
      if (!sharding)
        continue;
      Value value = returned.get();
      // Side effects keep calls apart that return one value in two shardings.
      auto call = createCustomCall(builder, value.getLoc(), target::resultSharding, value.getType(), value, /*hasSideEffect=*/true);
      setFrontendAttr(call, frontend::sharding, sdy::TensorShardingPerValueAttr::get(&getContext(), sharding));
      returned.set(call->getResult(0));
    }
  }
};

} // namespace
} // namespace millrace::sharding
