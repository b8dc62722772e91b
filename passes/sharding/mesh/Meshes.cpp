// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Meshes.cpp - Single devices by number; meshes inside of shardings; none at all ===//
// Input:   %0 = stablehlo.custom_call @f(%x) {sdy.sharding = 3 : i64} : (tensor<8xf32>) -> tensor<8xf32>
// Output:  sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]> ... {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_3, []>]>}
// Leaves alone operations with other shardings.
#include "passes/sharding/Passes.h"
#include "passes/sharding/ShardingWalk.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/calls/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_IMPORTMAXIMALSHARDINGPASS
#define GEN_PASS_DEF_INLINEMESHESPASS
#define GEN_PASS_DEF_DROPSHARDINGANDMESHPASS
#define GEN_PASS_DEF_REMOVEPROPAGATIONDEBUGINFOPASS
#include "passes/sharding/Passes.h.inc"

namespace {

struct ImportMaximalSharding : impl::ImportMaximalShardingPassBase<ImportMaximalSharding> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    module.walk([&](Operation *op) {
      auto device = op->getAttrOfType<IntegerAttr>(sdy::shardingAttrName);
      if (!device)
        return;
      std::string name = "maximal_mesh_" + std::to_string(device.getInt());
      if (!symbols.lookup(name)) {
        auto mesh = sdy::MeshOp::create(builder, module.getLoc(), name,
                                        sdy::MeshAttr::get(op->getContext(), {}, {device.getInt()}));
        symbols.insert(mesh);
        builder.setInsertionPointAfter(mesh);
      }
      // Whatever the shape: one device has all of it.
      SmallVector<sdy::TensorShardingAttr> shardings(
          op->getNumResults(), sdy::TensorShardingAttr::get(op->getContext(), FlatSymbolRefAttr::get(op->getContext(), name), {},
                                                            ArrayRef<sdy::AxisRefAttr>(), ArrayRef<sdy::AxisRefAttr>(), {}));
      op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(op->getContext(), shardings));
    });
  }
};

struct InlineMeshes : impl::InlineMeshesPassBase<InlineMeshes> {
  void runOnOperation() override {
    transformShardings(getOperation(), [](sdy::TensorShardingAttr sharding, Operation *user) {
      sdy::MeshAttr mesh = sharding.getMesh(user);
      return mesh ? withMesh(sharding, mesh) : sharding;
    });
    getOperation().walk([](Operation *op) { calls::writeMeshInPlace(op); });
    for (auto mesh : llvm::make_early_inc_range(getOperation().getOps<sdy::MeshOp>()))
      mesh.erase();
  }
};

struct DropShardingAndMesh : impl::DropShardingAndMeshPassBase<DropShardingAndMesh> {
  void runOnOperation() override {
    getOperation()->removeDiscardableAttr("sdy.parameters_shardings");
    getOperation()->removeDiscardableAttr("sdy.output_shardings");
    getOperation().walk([](Operation *op) {
      op->removeDiscardableAttr(sdy::shardingAttrName);
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function)
        return;
      auto name = StringAttr::get(op->getContext(), sdy::shardingAttrName);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, name);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(i, name);
    });
    for (auto mesh : llvm::make_early_inc_range(getOperation().getOps<sdy::MeshOp>()))
      mesh.erase();
  }
};

struct RemovePropagationDebugInfo : impl::RemovePropagationDebugInfoPassBase<RemovePropagationDebugInfo> {
  void runOnOperation() override {
    auto isDebug = [](StringRef name) {
      return name.starts_with("sdy.sharding_origin") || name.starts_with("sdy.propagation_edges") || name.starts_with("sdy.block_arg_") ||
             name.starts_with("sdy.result_sharding_origin") || name.starts_with("sdy.result_propagation_edges");
    };
    auto strip = [&](DictionaryAttr attrs) {
      NamedAttrList kept;
      for (NamedAttribute attr : attrs ? attrs.getValue() : ArrayRef<NamedAttribute>())
        if (!isDebug(attr.getName()))
          kept.push_back(attr);
      return kept.getDictionary(&getContext());
    };
    getOperation().walk([&](Operation *op) {
      for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
        if (isDebug(attr.getName()))
          op->removeDiscardableAttr(attr.getName());
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        for (unsigned i = 0; i < function.getNumArguments(); ++i)
          function.setArgAttrs(i, strip(function.getArgAttrDict(i)));
        for (unsigned i = 0; i < function.getNumResults(); ++i)
          function.setResultAttrs(i, strip(function.getResultAttrDict(i)));
      }
    });
  }
};

} // namespace
} // namespace millrace::sharding
