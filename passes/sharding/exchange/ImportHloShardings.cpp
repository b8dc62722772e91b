// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportHloShardings.cpp - Strings over devices become axes of one mesh -===//
// Input:   %a: {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %b: {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
// Output:  sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]> ... %a: [{"axis_0"}, {"axis_1"}], %b: [{"axis_1"}, {}]
// Axes by name are those of the common mesh, too; values that are to be `shard_as` or `shard_like` one another become sharding groups.
// Values on one device get a mesh of that device.
// Strings of other operations become annotations of their results; strings that axes cannot express are left to the partitioner.
// Operations between @SPMDFullToShardShape and @SPMDShardToFullShape become manual computations.
// Strings with other axes, or devices in another order, get a mesh of their own: shardings do not propagate between meshes.
// Leaves alone modules of one partition, with manual parts and several meshes, or with shards that are used outside of a region.
#include "passes/sharding/mesh/CommonMesh.h"
#include "passes/sharding/propagation/ManualRegions.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/exchange/RoundTrip.h"

#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_IMPORTHLOSHARDINGSPASS
#include "passes/sharding/Passes.h.inc"

namespace {

using sdy::HloSharding;
using Kind = HloSharding::Kind;

struct ImportHloShardings : impl::ImportHloShardingsPassBase<ImportHloShardings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto count = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
    if (!count || count.getInt() <= 1)
      return;
    devices = count.getInt();
    // First everything is read: either all strings are about meshes, or nothing is changed.
    bool possible = true;
    module.walk([&](Operation *op) { possible = possible && consider(op); });
    module.walk([&](Operation *op) { considerResults(op); });
    if (orders.empty())
      orders.push_back({{}, {1, devices}, {}, {}});
    // The inside of manual computations would be about several.
    if (!possible || !found || (hasManualRegions && (orders.size() > 1 || hasUnknown || !groups.empty() || !singles.empty())))
      return;
    // Whether the manual operations form regions is only known after the conversion: it is tried with a copy.
    OwningOpRef<ModuleOp> copy = hasManualRegions ? OwningOpRef<ModuleOp>(module.clone()) : nullptr;
    if (copy) {
      makeMeshes(*copy);
      if (failed(makeRegions(*copy)))
        return;
    }
    makeMeshes(module);
    if (copy && failed(makeRegions(module)))
      return signalPassFailure();
    rewrite(module);
  }

  //===-- Reading ---------------------------------------------------------===//

  static bool isWhole(const HloSharding &sharding) { return sharding.kind == Kind::Replicated || sharding.kind == Kind::Manual; }

  /// Returns true if axes can express the sharding of a tensor. Groups of manual devices count as axes, too.
  static bool isSayable(const HloSharding &sharding) {
    return isWhole(sharding) || sharding.kind == Kind::Maximal || sharding.kind == Kind::Unreduced || sharding.kind == Kind::Tiled ||
           (sharding.kind == Kind::Named && !sharding.axes.empty());
  }

  static bool saysManual(const HloSharding &sharding) {
    return sharding.kind == Kind::Manual || llvm::is_contained(sharding.subgroups, HloSharding::Subgroup::Manual) || !sharding.manual.empty();
  }

  sdy::TensorShardingAttr inlined(const HloSharding &sharding, Type type, SmallVectorImpl<sdy::AxisRefAttr> &manual) {
    std::string error;
    return toSdy(sharding, cast<RankedTensorType>(type).getRank(), &getContext(), manual, error);
  }

  /// Those of a mesh by name are not checked anywhere: each from 0 on, once. None are listed if they are in order.
  static bool hasAllDevices(const HloSharding &sharding) {
    std::vector<int64_t> ids = sharding.order.devices();
    llvm::sort(ids);
    return llvm::all_of(llvm::enumerate(ids), [](auto each) { return each.value() == int64_t(each.index()); });
  }

  bool consider(const HloSharding *sharding, Type type, bool mayBeManual = false) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor)
      return false;
    if (auto group = groupOf(*sharding))
      // All of a group have one shape.
      if (groups.try_emplace(*group, tensor.getShape()).first->second != tensor.getShape())
        return false;
    found |= groupOf(*sharding).has_value();
    if (sharding->kind == Kind::Unknown)
      return hasUnknown = true;
    if (!isSayable(*sharding) || (saysManual(*sharding) && !mayBeManual))
      return false;
    found = true;
    if (isWhole(*sharding) || sharding->kind == Kind::Unreduced)
      return true;
    if (sharding->kind == Kind::Maximal) {
      singles.insert({sharding->device, {}});
      return sharding->device >= 0 && sharding->device < devices;
    }
    SmallVector<sdy::AxisRefAttr> manual;
    sdy::TensorShardingAttr attr = inlined(*sharding, type, manual);
    auto mesh = attr ? cast<sdy::MeshAttr>(attr.getMeshOrRef()) : sdy::MeshAttr();
    if (!mesh || mesh.getTotalSize() != devices || !hasAllDevices(*sharding))
      return false;
    // The first mesh whose axes can be parted so that this sharding is about them, too.
    Strides strides = stridesOf(attr, manual, mesh);
    for (Order &order : orders) {
      Strides both = order.strides;
      both.insert(strides.begin(), strides.end());
      if (ArrayRef(order.ids) == mesh.getDeviceIds() && isChain(both)) {
        order.strides = std::move(both);
        return true;
      }
    }
    orders.push_back({SmallVector<int64_t>(mesh.getDeviceIds()), std::move(strides), {}, {}});
    return isChain(orders.back().strides);
  }

  bool consider(Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto text = function.getArgAttrOfType<StringAttr>(i, hloShardingName);
            text && !consider(strings.read(text), function.getArgumentTypes()[i]))
          return false;
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (auto text = function.getResultAttrOfType<StringAttr>(i, hloShardingName);
            text && !consider(strings.read(text), function.getResultTypes()[i]))
          return false;
      return true;
    }
    // Both forms in one program have two meshes.
    if (isa<sdy::SdyDialect>(op->getDialect()))
      return isa<sdy::ConstantOp>(op);
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    if (!call)
      return true;
    StringRef callee = call.getCallTargetName();
    if (callee.starts_with("xla.sdy."))
      return false;
    bool changesShape = callee == target::fullToShard || callee == target::shardToFull;
    hasManualRegions |= changesShape;
    if (!changesShape && callee != target::sharding)
      return true;
    const HloSharding *sharding = strings.read(call->getAttrOfType<StringAttr>(hloShardingName));
    return sharding && call->getNumResults() == 1 && !(changesShape && (groupOf(*sharding) || sharding->kind == Kind::Maximal)) &&
           consider(sharding, call->getResult(0).getType(), /*mayBeManual=*/true);
  }

  /// Returns the sharding of each result that is a tensor by an ordinary operation's string, null for others. Empty if axes cannot express it, or if
  /// all results are scalars.
  SmallVector<const HloSharding *> ofResults(Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    StringRef callee = call ? call.getCallTargetName() : "";
    auto text = op->getAttrOfType<StringAttr>(hloShardingName);
    if (!text || isa<func::FuncOp>(op) || op->hasAttr(sdy::shardingAttrName) || op->getParentOfType<sdy::ManualComputationOp>() ||
        callee == target::sharding || callee == target::fullToShard || callee == target::shardToFull)
      return {};
    const HloSharding *sharding = strings.read(text);
    bool isTuple = sharding && sharding->kind == Kind::Tuple;
    if (!sharding || (isTuple ? sharding->elements.size() : 1) != op->getNumResults())
      return {};
    SmallVector<const HloSharding *> said;
    bool saysSomething = false;
    for (OpResult result : op->getResults()) {
      auto tensor = dyn_cast<RankedTensorType>(result.getType());
      const HloSharding *one = isTuple ? &sharding->elements[result.getResultNumber()] : sharding;
      said.push_back(tensor ? one : nullptr);
      saysSomething |= tensor && tensor.getRank() > 0;
    }
    return saysSomething ? said : SmallVector<const HloSharding *>();
  }

  void considerResults(Operation *op) {
    auto before = orders;
    auto groupsBefore = groups;
    bool wasFound = found, wasUnknown = hasUnknown;
    for (auto [one, type] : llvm::zip(ofResults(op), op->getResultTypes())) {
      if (!one)
        continue;
      // Nobody but the partitioner knows operations of one device.
      bool isGroup = groupOf(*one).has_value(), saysNothing = one->kind == Kind::Unknown && !isGroup;
      if (saysNothing || one->kind == Kind::Maximal || !consider(one, type) ||
          (hasManualRegions && (isGroup || orders.size() > std::max<size_t>(before.size(), 1)))) {
        orders = std::move(before);
        groups = std::move(groupsBefore);
        found = wasFound;
        hasUnknown = wasUnknown;
        return;
      }
    }
  }

  /// Of a string that is not about manual parts: whether it is about one of the meshes.
  bool isSaidByMeshes(const HloSharding &sharding, Type type) {
    if (auto group = groupOf(sharding)) {
      auto known = groups.find(*group);
      if (known == groups.end() || known->second != cast<RankedTensorType>(type).getShape())
        return false;
      if (sharding.kind == Kind::Unknown)
        return true;
    }
    if (!isSayable(sharding) || isWhole(sharding) || sharding.kind == Kind::Maximal || sharding.kind == Kind::Unreduced)
      return sharding.kind == Kind::Replicated || sharding.kind == Kind::Unreduced;
    SmallVector<sdy::AxisRefAttr> manual;
    sdy::TensorShardingAttr attr = inlined(sharding, type, manual);
    return attr && manual.empty() && hasAllDevices(sharding) && cast<sdy::MeshAttr>(attr.getMeshOrRef()).getTotalSize() == devices && orderOf(attr, manual);
  }

  //===-- Writing ---------------------------------------------------------===//

  void makeMeshes(ModuleOp module) {
    MeshAdder meshes(module);
    for (Order &order : orders) {
      order.mesh = meshWith(order.strides, "axis_", order.ids, &getContext());
      order.name = meshes.add("mesh", order.mesh);
    }
    for (auto &[device, name] : singles)
      name = meshes.add("maximal_mesh_", device);
  }

  sdy::TensorShardingAttr convert(const HloSharding &sharding, Type type, ArrayRef<int64_t> open = {}) {
    if (sharding.kind == Kind::Maximal)
      return sdy::TensorShardingAttr::get(&getContext(), singles[sharding.device], ArrayRef<sdy::DimensionShardingAttr>());
    sdy::TensorShardingAttr said;
    SmallVector<sdy::AxisRefAttr> manual;
    if (isWhole(sharding) || sharding.kind == Kind::Unreduced) {
      auto closed = sdy::DimensionShardingAttr::get(&getContext(), {}, /*is_closed=*/true, std::nullopt);
      SmallVector<sdy::AxisRefAttr> unreduced;
      if (sharding.kind == Kind::Unreduced)
        for (sdy::MeshAxisAttr axis : orders.front().mesh.getAxes())
          unreduced.push_back(sdy::AxisRefAttr::get(&getContext(), axis.getName(), sdy::SubAxisInfoAttr()));
      said = sdy::TensorShardingAttr::get(&getContext(), orders.front().name,
                                          SmallVector<sdy::DimensionShardingAttr>(cast<RankedTensorType>(type).getRank(), closed),
                                          ArrayRef<sdy::AxisRefAttr>(), unreduced, sdy::ReductionOp::Sum);
    } else {
      said = inlined(sharding, type, manual);
      const Order &order = *orderOf(said, manual);
      said = sayIn(said, order.name, order.mesh);
    }
    if (open.empty())
      return said;
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (auto [i, dim] : llvm::enumerate(said.getDimShardings()))
      dims.push_back(sdy::DimensionShardingAttr::get(&getContext(), dim.getAxes(), dim.getIsClosed() && !llvm::is_contained(open, int64_t(i)),
                                                     dim.getPriority()));
    return sdy::TensorShardingAttr::get(&getContext(), said.getMeshOrRef(), dims, said.getReplicatedAxes(), said.getUnreducedAxes(),
                                        said.getReductionOp());
  }

  sdy::TensorShardingAttr shardingOf(stablehlo::CustomCallOp call) {
    return convert(*strings.read(call->getAttrOfType<StringAttr>(hloShardingName)), call->getResult(0).getType(), unspecifiedDims(call));
  }

  SmallVector<StringAttr> manualAxesOf(stablehlo::CustomCallOp call) {
    Type type = call->getResult(0).getType();
    const HloSharding &sharding = *strings.read(call->getAttrOfType<StringAttr>(hloShardingName));
    SmallVector<sdy::AxisRefAttr> manual, axes;
    sdy::MeshAttr mesh = orders.front().mesh;
    if (sharding.kind == Kind::Manual) {
      for (sdy::MeshAxisAttr axis : mesh.getAxes())
        axes.push_back(sdy::AxisRefAttr::get(&getContext(), axis.getName(), sdy::SubAxisInfoAttr()));
    } else if (sharding.kind != Kind::Replicated) {
      sdy::TensorShardingAttr from = inlined(sharding, type, manual);
      for (sdy::AxisRefAttr axis : manual)
        appendIn(axes, axis, cast<sdy::MeshAttr>(from.getMeshOrRef()), mesh);
    }
    SmallVector<StringAttr> names;
    for (sdy::MeshAxisAttr axis : mesh.getAxes()) // in one order, to be compared
      if (llvm::any_of(axes, [&](sdy::AxisRefAttr each) { return each.getName() == axis.getName(); }))
        names.push_back(StringAttr::get(&getContext(), axis.getName()));
    return names;
  }

  LogicalResult makeRegions(ModuleOp module) {
    auto sharding = [&](stablehlo::CustomCallOp call) { return shardingOf(call); };
    auto manualAxes = [&](stablehlo::CustomCallOp call) { return manualAxesOf(call); };
    auto whole = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      auto closed = sdy::DimensionShardingAttr::get(&getContext(), {}, /*is_closed=*/true, std::nullopt);
      return sdy::TensorShardingAttr::get(&getContext(), orders.front().name,
                                          SmallVector<sdy::DimensionShardingAttr>(tensor ? tensor.getRank() : 0, closed));
    };
    return makeManualComputations(module, {.sharding = sharding, .manualAxes = manualAxes, .whole = whole, .mesh = orders.front().mesh});
  }

  void addToGroup(Value value, const HloSharding &sharding, OpBuilder &builder) {
    if (auto group = groupOf(sharding))
      sdy::ShardingGroupOp::create(builder, value.getLoc(), value, builder.getI64IntegerAttr(*group));
  }

  void rewriteSignature(func::FuncOp function) {
    Block *body = function.isExternal() ? nullptr : &function.getBody().front();
    auto said = [&](StringAttr text, Type type, function_ref<Value()> value, OpBuilder builder) {
      const HloSharding &sharding = *strings.read(text);
      if (body)
        addToGroup(value(), sharding, builder);
      return sharding.kind == Kind::Unknown ? sdy::TensorShardingAttr() : convert(sharding, type);
    };
    auto name = StringAttr::get(&getContext(), hloShardingName);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto text = function.getArgAttrOfType<StringAttr>(i, hloShardingName)) {
        OpBuilder builder = body ? OpBuilder::atBlockBegin(body) : OpBuilder(&getContext());
        if (auto sharding = said(text, function.getArgumentTypes()[i], [&] { return function.getArgument(i); }, builder))
          function.setArgAttr(i, sdy::shardingAttrName, sharding);
        function.removeArgAttr(i, name);
      }
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto text = function.getResultAttrOfType<StringAttr>(i, hloShardingName)) {
        OpBuilder builder = body ? OpBuilder(body->getTerminator()) : OpBuilder(&getContext());
        if (auto sharding = said(text, function.getResultTypes()[i], [&] { return body->getTerminator()->getOperand(i); }, builder))
          function.setResultAttr(i, sdy::shardingAttrName, sharding);
        function.removeResultAttr(i, name);
      }
  }

  void annotateResults(Operation *op) {
    SmallVector<const HloSharding *> said = ofResults(op);
    SmallVector<sdy::TensorShardingAttr> shardings;
    bool saysAxes = false;
    for (auto [one, type] : llvm::zip(said, op->getResultTypes())) {
      if (one && !isSaidByMeshes(*one, type))
        return;
      // A group says nothing of axes itself.
      bool isOpen = one && one->kind == Kind::Unknown;
      auto open = sdy::DimensionShardingAttr::get(&getContext(), {}, /*is_closed=*/false, std::nullopt);
      int64_t rank = isOpen ? cast<RankedTensorType>(type).getRank() : 0;
      shardings.push_back(one && !isOpen ? convert(*one, type)
                                         : sdy::TensorShardingAttr::get(&getContext(), orders.front().name,
                                                                        SmallVector<sdy::DimensionShardingAttr>(rank, open)));
      saysAxes |= one && !isOpen;
    }
    if (said.empty())
      return;
    if (saysAxes)
      op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(&getContext(), shardings));
    op->removeAttr(hloShardingName);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(op);
    for (auto [one, result] : llvm::zip(said, op->getResults()))
      if (one)
        addToGroup(result, *one, builder);
  }

  void rewrite(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      rewriteSignature(function);
    for (auto function : module.getOps<func::FuncOp>())
      // A function may be called from a manual computation, where its values are parts.
      if (!hasManualRegions || SymbolTable::symbolKnownUseEmpty(function, module))
        function.walk([&](Operation *op) { annotateResults(op); });
    SmallVector<stablehlo::CustomCallOp> calls;
    module.walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == target::sharding && call->hasAttr(hloShardingName))
        calls.push_back(call);
    });
    for (stablehlo::CustomCallOp call : calls) {
      const HloSharding &sharding = *strings.read(call->getAttrOfType<StringAttr>(hloShardingName));
      OpBuilder builder(call);
      addToGroup(call->getOperand(0), sharding, builder);
      // Where all of it is manual, nothing is left to say.
      if (sharding.kind != Kind::Unknown && sharding.kind != Kind::Manual) {
        replaceByConstraint(call, shardingOf(call));
        continue;
      }
      call->replaceAllUsesWith(call->getOperands());
      call.erase();
    }
  }

  int64_t devices = 1;
  bool found = false, hasManualRegions = false, hasUnknown = false;
  HloShardings strings;
  std::map<int64_t, ArrayRef<int64_t>> groups;       ///< the shape of each
  std::map<int64_t, FlatSymbolRefAttr> singles;      ///< meshes of one device
  /// One mesh: devices in the order of their numbers, or as listed.
  struct Order {
    SmallVector<int64_t> ids;
    Strides strides;
    sdy::MeshAttr mesh;
    FlatSymbolRefAttr name;
  };
  const Order *orderOf(sdy::TensorShardingAttr attr, ArrayRef<sdy::AxisRefAttr> manual) {
    auto mesh = cast<sdy::MeshAttr>(attr.getMeshOrRef());
    Strides strides = stridesOf(attr, manual, mesh);
    const Order *found = llvm::find_if(orders, [&](const Order &each) {
      return ArrayRef(each.ids) == mesh.getDeviceIds() &&
             std::includes(each.strides.begin(), each.strides.end(), strides.begin(), strides.end());
    });
    return found == orders.end() ? nullptr : found;
  }
  SmallVector<Order, 1> orders;
};

} // namespace
} // namespace millrace::sharding
