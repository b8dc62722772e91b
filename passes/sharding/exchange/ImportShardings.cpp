// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportShardings.cpp - All strings of a module in axes of one mesh --===//
// Input:   %a: {mhlo.sharding = "{devices=[2,4]<=[8]}"} ... stablehlo.custom_call @f(%a) {mhlo.sharding = "{maximal device=1}"}
// Output:  sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=4]> ; sdy.mesh @single_device_1 = <[], device_ids=[1]>
//          %a: {sdy.sharding = [{"_axis_0"}, {"_axis_1"}]} ... @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@single_device_1, []>]>}
// Leaves alone calls of @Sharding and the like, but for what they say; fails where one mesh cannot say all (xla-import-hlo-shardings
// makes several, and regions).
#include "passes/sharding/mesh/CommonMesh.h"
#include "passes/sharding/exchange/RoundTrip.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_IMPORTSHARDINGSPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

using sdy::HloSharding;
using Kind = HloSharding::Kind;

int64_t rankOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() ? shaped.getRank() : 0;
}

struct ImportShardings : impl::ImportShardingsPassBase<ImportShardings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(forEach([&](Operation *op, StringAttr text, TypeRange types) { return read(op, text, types); })))
      return signalPassFailure();
    if (!named && strides.empty() && singles.empty())
      return;
    MeshAdder meshes(module);
    mesh = named ? named : meshWith(strides, "_axis_", {}, &getContext());
    meshName = meshes.add("mesh", mesh);
    for (auto &[device, name] : singles)
      name = meshes.add("single_device_", device);
    for (auto function : module.getOps<func::FuncOp>())
      rewriteSignature(function);
    module.walk([&](Operation *op) {
      auto text = op->getAttrOfType<StringAttr>(hloShardingName);
      if (!text || isa<func::FuncOp>(op))
        return;
      SmallVector<sdy::TensorShardingAttr> shardings;
      ArrayRef<HloSharding> leaves = leavesOf(text);
      for (auto [i, leaf] : llvm::enumerate(leaves))
        shardings.push_back(convert(leaf, i < op->getNumResults() ? rankOf(op->getResult(i).getType()) : 0));
      op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(&getContext(), shardings));
      op->removeAttr(hloShardingName);
    });
  }

  ArrayRef<HloSharding> leavesOf(StringAttr text) {
    const HloSharding *sharding = strings.read(text);
    return sharding->kind == Kind::Tuple ? ArrayRef<HloSharding>(sharding->elements) : ArrayRef<HloSharding>(*sharding);
  }

  template <typename Visit> LogicalResult forEach(Visit visit) {
    return failure(getOperation()
                       .walk([&](Operation *op) {
                         if (auto function = dyn_cast<func::FuncOp>(op)) {
                           for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
                             if (failed(visit(op, function.getArgAttrOfType<StringAttr>(i, hloShardingName), type)))
                               return WalkResult::interrupt();
                           for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
                             if (failed(visit(op, function.getResultAttrOfType<StringAttr>(i, hloShardingName), type)))
                               return WalkResult::interrupt();
                           return WalkResult::advance();
                         }
                         bool worked = succeeded(visit(op, op->getAttrOfType<StringAttr>(hloShardingName), op->getResultTypes()));
                         return worked ? WalkResult::advance() : WalkResult::interrupt();
                       })
                       .wasInterrupted());
  }

  LogicalResult read(Operation *op, StringAttr text, TypeRange types) {
    if (!text)
      return success();
    std::string error;
    const HloSharding *sharding = strings.read(text, &error);
    if (!sharding)
      return op->emitError("mhlo.sharding: ") << error;
    ArrayRef<HloSharding> leaves = leavesOf(text);
    if (leaves.size() != std::max<size_t>(types.size(), 1))
      return op->emitError("mhlo.sharding: expects ") << std::max<size_t>(types.size(), 1) << " shardings, but got " << leaves.size();
    for (auto [i, leaf] : llvm::enumerate(leaves)) {
      if (auto device = deviceOf(leaf))
        singles.insert({*device, {}});
      if (leaf.kind != Kind::Tiled && (leaf.kind != Kind::Named || leaf.axes.empty()))
        continue;
      SmallVector<sdy::AxisRefAttr> manual;
      auto said = toSdy(leaf, i < types.size() ? rankOf(types[i]) : 0, &getContext(), manual, error);
      if (!said)
        return op->emitError("mhlo.sharding: ") << error;
      auto own = cast<sdy::MeshAttr>(said.getMeshOrRef());
      if (leaf.kind == Kind::Named && !named)
        named = own;
      Strides here = stridesOf(said, manual, own);
      int64_t devices = strides.empty() ? own.getTotalSize() : *strides.rbegin();
      strides.insert(here.begin(), here.end());
      if (own.getTotalSize() != devices || !isChain(strides) || (leaf.kind == Kind::Tiled && !own.getDeviceIds().empty()))
        return op->emitError("mhlo.sharding: no mesh says this and what was said before: ") << toString(leaf);
    }
    return success();
  }

  /// The one that has everything.
  static std::optional<int64_t> deviceOf(const HloSharding &sharding) {
    if (sharding.kind == Kind::Maximal)
      return sharding.device;
    bool isNamed = sharding.kind == Kind::Named && sharding.axes.empty() && sharding.order.list.size() == 1;
    return isNamed ? std::optional(sharding.order.list[0]) : std::nullopt;
  }

  sdy::TensorShardingAttr convert(const HloSharding &sharding, int64_t rank) {
    if (auto device = deviceOf(sharding))
      return sdy::TensorShardingAttr::get(&getContext(), singles[*device], ArrayRef<sdy::DimensionShardingAttr>());
    if (sharding.kind == Kind::Tiled || (sharding.kind == Kind::Named && !sharding.axes.empty())) {
      SmallVector<sdy::AxisRefAttr> manual;
      std::string error;
      return sayIn(toSdy(sharding, rank, &getContext(), manual, error), meshName, mesh);
    }
    auto dim = sdy::DimensionShardingAttr::get(&getContext(), {}, /*is_closed=*/sharding.kind != Kind::Unknown, std::nullopt);
    SmallVector<sdy::AxisRefAttr> unreduced;
    if (sharding.kind == Kind::Unreduced)
      for (sdy::MeshAxisAttr axis : mesh.getAxes())
        unreduced.push_back(sdy::AxisRefAttr::get(&getContext(), axis.getName(), sdy::SubAxisInfoAttr()));
    return sdy::TensorShardingAttr::get(&getContext(), meshName, SmallVector<sdy::DimensionShardingAttr>(rank, dim),
                                        ArrayRef<sdy::AxisRefAttr>(), unreduced, sdy::ReductionOp::Sum);
  }

  void rewriteSignature(func::FuncOp function) {
    auto name = StringAttr::get(&getContext(), hloShardingName);
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (auto text = function.getArgAttrOfType<StringAttr>(i, hloShardingName)) {
        function.setArgAttr(i, sdy::shardingAttrName, convert(leavesOf(text).front(), rankOf(type)));
        function.removeArgAttr(i, name);
      }
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (auto text = function.getResultAttrOfType<StringAttr>(i, hloShardingName)) {
        function.setResultAttr(i, sdy::shardingAttrName, convert(leavesOf(text).front(), rankOf(type)));
        function.removeResultAttr(i, name);
      }
  }

  HloShardings strings;
  Strides strides;
  sdy::MeshAttr named, mesh;
  FlatSymbolRefAttr meshName;
  std::map<int64_t, FlatSymbolRefAttr> singles; ///< meshes of one device
};

} // namespace
} // namespace millrace::sharding
