// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportMeshes.cpp - Names of meshes, axes of one device, manual axes -===//
// Input:   #sdy.sharding<mesh<["x"=2, "y"=1]>, [{"x"}, {"y"}]>
// Output:  sdy.mesh @mesh = <["x"=2]> ... #sdy.sharding<@mesh, [{"x"}, {}]>
// Leaves alone meshes with a name that no other mesh equals.
#include "passes/sharding/Passes.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_LIFTINLINEDMESHESPASS
#define GEN_PASS_DEF_REMOVESIZEONEAXESPASS
#define GEN_PASS_DEF_MANUALAXESCLEANUPPASS
#include "passes/sharding/Passes.h.inc"

namespace {

struct LiftInlinedMeshes : impl::LiftInlinedMeshesPassBase<LiftInlinedMeshes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    DenseMap<sdy::MeshAttr, StringAttr> names;
    SmallVector<sdy::MeshOp> doubles;
    for (auto mesh : module.getOps<sdy::MeshOp>())
      if (!names.try_emplace(mesh.getMesh(), mesh.getSymNameAttr()).second)
        doubles.push_back(mesh);
    // First those that have names: others may get the names that become free.
    transformShardings(module, [&](sdy::TensorShardingAttr sharding, Operation *user) {
      StringAttr name = names.lookup(sharding.getMesh(user));
      return name ? withMesh(sharding, FlatSymbolRefAttr::get(name)) : sharding;
    });
    for (sdy::MeshOp mesh : doubles)
      symbols.erase(mesh);
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    for (auto mesh : module.getOps<sdy::MeshOp>())
      builder.setInsertionPointAfter(mesh);
    auto nameOf = [&](sdy::MeshAttr mesh) {
      StringAttr &name = names[mesh];
      if (name)
        return name;
      std::string free = mesh.isMaximal() ? "maximal_mesh_" + std::to_string(mesh.getDeviceIds()[0]) : "mesh";
      for (int i = 0; symbols.lookup(free); ++i)
        free = "mesh_" + std::to_string(i);
      auto op = sdy::MeshOp::create(builder, module.getLoc(), free, mesh);
      // The table puts an operation that is in no block yet at the end.
      op->remove();
      symbols.insert(op, builder.getInsertionPoint());
      builder.setInsertionPointAfter(op);
      return name = op.getSymNameAttr();
    };
    transformShardings(module, [&](sdy::TensorShardingAttr sharding, Operation *user) {
      sdy::MeshAttr mesh = sharding.getMesh(user);
      return mesh ? withMesh(sharding, FlatSymbolRefAttr::get(nameOf(mesh))) : sharding;
    });
  }
};

struct RemoveSizeOneAxes : impl::RemoveSizeOneAxesPassBase<RemoveSizeOneAxes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Two parts of an axis may meet once what stood between them is gone.
    auto keep = [&](ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh) {
      SmallVector<sdy::AxisRefAttr> kept;
      for (sdy::AxisRefAttr axis : axes) {
        if (axis.getSize(mesh) == 1)
          continue;
        if (kept.empty() || kept.back().getName() != axis.getName() || !kept.back().getSubAxisInfo() || !axis.getSubAxisInfo() ||
            kept.back().getPreSize() * kept.back().getSize(mesh) != axis.getPreSize()) {
          kept.push_back(axis);
          continue;
        }
        int64_t pre = kept.back().getPreSize(), size = kept.back().getSize(mesh) * axis.getSize(mesh);
        bool isAll = size == mesh.getAxisSize(axis.getName());
        kept.back() = sdy::AxisRefAttr::get(axis.getContext(), axis.getName(),
                                            isAll ? sdy::SubAxisInfoAttr() : sdy::SubAxisInfoAttr::get(axis.getContext(), pre, size));
      }
      return kept;
    };
    transformShardings(module, [&](sdy::TensorShardingAttr sharding, Operation *user) {
      sdy::MeshAttr mesh = sharding.getMesh(user);
      if (!mesh)
        return sharding;
      SmallVector<sdy::DimensionShardingAttr> dims;
      for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
        SmallVector<sdy::AxisRefAttr> axes = keep(dim.getAxes(), mesh);
        auto priority = axes.empty() && dim.getIsClosed() ? std::nullopt : dim.getPriority();
        dims.push_back(sdy::DimensionShardingAttr::get(dim.getContext(), axes, dim.getIsClosed(), priority));
      }
      return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims, keep(sharding.getReplicatedAxes(), mesh),
                                          keep(sharding.getUnreducedAxes(), mesh), sharding.getReductionOp());
    });
  }
};

/// Returns true if the sharding does not say where the value is: its mesh has no axes, and is no single device either.
bool isNowhere(sdy::TensorShardingAttr sharding, Operation *user) {
  sdy::MeshAttr mesh = sharding.getMesh(user);
  return mesh && mesh.getAxes().empty() && !mesh.isMaximal();
}

struct ManualAxesCleanup : impl::ManualAxesCleanupPassBase<ManualAxesCleanup> {
  void runOnOperation() override {
    getOperation().walk([&](sdy::ManualComputationOp op) {
      // Over a mesh without axes: a copy on every device of the mesh that others name.
      sdy::TensorShardingAttr placed;
      for (auto list : {op.getInShardings(), op.getOutShardings()})
        for (sdy::TensorShardingAttr each : list.getShardings())
          if (!placed || isNowhere(placed, op))
            placed = each;
      sdy::MeshAttr mesh = placed ? placed.getMesh(op) : sdy::MeshAttr();
      if (!mesh)
        return;
      SmallVector<StringAttr> axes(op.getManualAxes());
      llvm::sort(axes, [&](StringAttr a, StringAttr b) {
        return mesh.getAxisPosition(a.getValue()) < mesh.getAxisPosition(b.getValue());
      });
      op.setManualAxesAttr(sdy::ManualAxesAttr::get(op.getContext(), axes));
      auto complete = [&](sdy::TensorShardingPerValueAttr list, TypeRange types) {
        SmallVector<sdy::TensorShardingAttr> result;
        for (auto [named, type] : llvm::zip_equal(list.getShardings(), types)) {
          sdy::TensorShardingAttr sharding = named;
          if (!isa<ShapedType>(type)) { // a token is nowhere
            result.push_back(sharding);
            continue;
          }
          if (isNowhere(sharding, op))
            sharding = sdy::TensorShardingAttr::get(op.getContext(), placed.getMeshOrRef(), sharding.getDimShardings());
          SmallVector<sdy::AxisRefAttr> replicated(sharding.getReplicatedAxes());
          for (StringAttr axis : axes) {
            bool used = false;
            sharding.walkAxes([&](sdy::AxisRefAttr other) { used |= other.getName() == axis.getValue(); });
            if (!used && sharding.getMesh(op).getAxisSize(axis.getValue()))
              replicated.push_back(sdy::AxisRefAttr::get(op.getContext(), axis.getValue(), sdy::SubAxisInfoAttr()));
          }
          result.push_back(withReplicated(sharding, replicated, sharding.getMesh(op)));
        }
        return sdy::TensorShardingPerValueAttr::get(op.getContext(), result);
      };
      op.setInShardingsAttr(complete(op.getInShardings(), op->getOperandTypes()));
      op.setOutShardingsAttr(complete(op.getOutShardings(), op->getResultTypes()));
    });
  }
};

} // namespace
} // namespace millrace::sharding
