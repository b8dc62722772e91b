// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardingWalk.cpp - All shardings of a module, one by one -----------===//
#include "passes/sharding/ShardingWalk.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {

void transformShardings(Operation *root, TransformSharding transform) {
  // A function comes before its operations, because the names of meshes follow this order.
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto replace = [&](Attribute attr) -> Attribute {
      if (auto one = dyn_cast_or_null<sdy::TensorShardingAttr>(attr))
        return transform(one, op);
      if (auto list = dyn_cast_or_null<sdy::TensorShardingPerValueAttr>(attr)) {
        auto changed = llvm::map_to_vector(list.getShardings(), [&](auto each) { return transform(each, op); });
        return sdy::TensorShardingPerValueAttr::get(op->getContext(), changed);
      }
      return {};
    };
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (Attribute changed = replace(function.getArgAttr(i, sdy::shardingAttrName)))
          function.setArgAttr(i, sdy::shardingAttrName, changed);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (Attribute changed = replace(function.getResultAttr(i, sdy::shardingAttrName)))
          function.setResultAttr(i, sdy::shardingAttrName, changed);
      return;
    }
    for (StringRef name : {StringRef(sdy::shardingAttrName), StringRef("sharding"), StringRef("out_sharding"),
                           StringRef("in_shardings"), StringRef("out_shardings")})
      if (name == sdy::shardingAttrName || isa<sdy::SdyDialect>(op->getDialect()))
        if (Attribute changed = replace(op->getAttr(name)))
          op->setAttr(name, changed);
  });
}

sdy::TensorShardingAttr withMesh(sdy::TensorShardingAttr sharding, Attribute meshOrRef) {
  return sdy::TensorShardingAttr::get(sharding.getContext(), meshOrRef, sharding.getDimShardings(),
                                      sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
                                      sharding.getReductionOp());
}

sdy::TensorShardingAttr withDims(sdy::TensorShardingAttr sharding, ArrayRef<sdy::DimensionShardingAttr> dims) {
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims, sharding.getReplicatedAxes(),
                                      sharding.getUnreducedAxes(), sharding.getReductionOp());
}

sdy::TensorShardingAttr withReplicated(sdy::TensorShardingAttr sharding, ArrayRef<sdy::AxisRefAttr> replicated,
                                       sdy::MeshAttr mesh) {
  SmallVector<sdy::AxisRefAttr> sorted(replicated);
  llvm::sort(sorted, [&](sdy::AxisRefAttr a, sdy::AxisRefAttr b) {
    return std::pair(mesh.getAxisPosition(a.getName()), a.getPreSize()) <
           std::pair(mesh.getAxisPosition(b.getName()), b.getPreSize());
  });
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), sharding.getDimShardings(), sorted,
                                      sharding.getUnreducedAxes(), sharding.getReductionOp());
}

sdy::MeshAttr meshOf(sdy::ManualComputationOp op) {
  for (auto list : {op.getInShardings(), op.getOutShardings()})
    if (!list.getShardings().empty())
      return list.getShardings()[0].getMesh(op);
  return {};
}

} // namespace millrace::sharding
