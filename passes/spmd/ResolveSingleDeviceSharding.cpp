// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResolveSingleDeviceSharding.cpp - Broadcast results of one device ---===//
// Input:   sdy.mesh @one = <[], device_ids=[1]>
//          %1 = stablehlo.add %0, %0 {[<@one, []>]}
// Output:  %a = stablehlo.add %0, %0 ; %1 = "stablehlo.collective_broadcast"(%a) {replica_groups = dense<[[1, 0, 2, 3]]>}
// Leaves alone modules without another mesh: there is one device only.
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/spmd/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::spmd {
#define GEN_PASS_DEF_RESOLVESINGLEDEVICESHARDINGPASS
#include "passes/spmd/Passes.h.inc"

namespace {

/// Returns the number of devices of the module's meshes; all meshes with axes have the same number.
int64_t deviceCount(ModuleOp module) {
  int64_t devices = 1;
  for (auto mesh : module.getOps<sdy::MeshOp>())
    devices = std::max(devices, mesh.getMesh().getTotalSize());
  return devices;
}

/// Returns the device of an operation whose results are all on one device; nullopt for other operations.
std::optional<int64_t> deviceOf(Operation *op) {
  auto list = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
  std::optional<int64_t> device;
  for (sdy::TensorShardingAttr sharding : list ? list.getShardings() : ArrayRef<sdy::TensorShardingAttr>()) {
    sdy::MeshAttr mesh = sharding.getMesh(op);
    if (!mesh || !mesh.isMaximal() || (device && *device != mesh.getDeviceIds()[0]))
      return std::nullopt;
    device = mesh.getDeviceIds()[0];
  }
  return device;
}

struct ResolveSingleDeviceSharding : impl::ResolveSingleDeviceShardingPassBase<ResolveSingleDeviceSharding> {
  using Base::Base;
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    int64_t devices = deviceCount(module);
    int64_t channels = 0;
    getOperation().walk([&](Operation *op) {
      if (auto handle = op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle"))
        channels = std::max<int64_t>(channels, handle.getHandle());
    });
    getOperation().walk([&](Operation *op) {
      auto device = deviceOf(op);
      if (!device || devices == 1)
        return;
      op->removeAttr(sdy::shardingAttrName);
      if (*device >= devices) {
        op->emitOpError("is on device ") << *device << ", but meshes have " << devices << " devices";
        return signalPassFailure();
      }
      OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      SmallVector<int64_t> group{*device};
      for (int64_t other = 0; other < devices; ++other)
        if (other != *device)
          group.push_back(other);
      auto groups = DenseIntElementsAttr::get(RankedTensorType::get({1, devices}, builder.getI64Type()), group);
      bool byReplica = replicaCount > 1 && partitionCount <= 1;
      for (OpResult result : op->getResults()) {
        if (!isa<RankedTensorType>(result.getType()))
          continue;
        auto channel = byReplica ? stablehlo::ChannelHandleAttr() : stablehlo::ChannelHandleAttr::get(op->getContext(), ++channels, 1);
        auto sent = stablehlo::CollectiveBroadcastOp::create(builder, op->getLoc(), result.getType(), result, groups, channel);
        result.replaceAllUsesExcept(sent->getResult(0), sent);
      }
    });
  }
};

} // namespace
} // namespace millrace::spmd
