// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TranslateMesh.cpp - Axes of a mesh under other names ---------------===//
// Input:   sdy.mesh @mesh = <["a"=2]> ... #sdy.sharding<@mesh, [{"a"}]>                    // axis-names=data
// Output:  sdy.mesh @mesh = <["data"=2]> ... #sdy.sharding<@mesh, [{"data"}]>
// Leaves alone shardings over other meshes.
#include "passes/sharding/ProgramPasses.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_TRANSLATEMESHPASS
#include "passes/sharding/ProgramPasses.h.inc"

namespace {

struct TranslateMesh : impl::TranslateMeshPassBase<TranslateMesh> {
  using Base::Base;
  void runOnOperation() override {
    auto op = SymbolTable(getOperation()).lookup<sdy::MeshOp>(oldMeshName);
    if (!op || axisNames.size() != op.getMesh().getAxes().size()) {
      getOperation().emitError("expects a mesh @")
          << oldMeshName << " with " << axisNames.size() << " axes, but there is " << (op ? "one with another number" : "none");
      return signalPassFailure();
    }
    sdy::MeshAttr before = op.getMesh();
    SmallVector<sdy::MeshAxisAttr> axes;
    for (auto [axis, name] : llvm::zip_equal(before.getAxes(), axisNames))
      axes.push_back(sdy::MeshAxisAttr::get(&getContext(), name, axis.getSize()));
    sdy::MeshAttr after = sdy::MeshAttr::getChecked([&] { return op.emitError(); }, &getContext(), ArrayRef(axes), before.getDeviceIds());
    if (!after)
      return signalPassFailure();
    auto rename = [&](ArrayRef<sdy::AxisRefAttr> refs) {
      SmallVector<sdy::AxisRefAttr> result;
      for (sdy::AxisRefAttr ref : refs)
        result.push_back(sdy::AxisRefAttr::get(&getContext(), axes[before.getAxisPosition(ref.getName())].getName(), ref.getSubAxisInfo()));
      return result;
    };
    auto name = FlatSymbolRefAttr::get(op.getSymNameAttr());
    transformShardings(getOperation(), [&](sdy::TensorShardingAttr sharding, Operation *) {
      if (sharding.getMeshOrRef() != name)
        return sharding;
      SmallVector<sdy::DimensionShardingAttr> dims;
      for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
        dims.push_back(sdy::DimensionShardingAttr::get(&getContext(), rename(dim.getAxes()), dim.getIsClosed(), dim.getPriority()));
      return sdy::TensorShardingAttr::get(&getContext(), name, dims, rename(sharding.getReplicatedAxes()),
                                          rename(sharding.getUnreducedAxes()), sharding.getReductionOp());
    });
    getOperation().walk([&](sdy::ManualComputationOp manual) {
      auto shardings = llvm::concat<const sdy::TensorShardingAttr>(manual.getInShardings().getShardings(),
                                                                   manual.getOutShardings().getShardings());
      if (llvm::none_of(shardings, [&](sdy::TensorShardingAttr each) { return each.getMeshOrRef() == name; }))
        return;
      SmallVector<StringAttr> manualAxes;
      for (StringAttr axis : manual.getManualAxes())
        manualAxes.push_back(StringAttr::get(&getContext(), axes[before.getAxisPosition(axis.getValue())].getName()));
      manual.setManualAxesAttr(sdy::ManualAxesAttr::get(&getContext(), manualAxes));
    });
    op.setMeshAttr(after);
  }
};

} // namespace
} // namespace millrace::sharding
