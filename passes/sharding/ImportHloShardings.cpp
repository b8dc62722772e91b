// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportHloShardings.cpp - Strings over devices become axes of one mesh -===//
// Input:   %a: {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %b: {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
// Output:  sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]> ... %a: [{"axis_0"}, {"axis_1"}], %b: [{"axis_1"}, {}]
// Axes by name are those of the common mesh, too; values that are to be `shard_as` or `shard_like` one another become sharding groups.
// The strings of other operations become annotations of their results; those that say what axes cannot are left to the partitioner.
// Operations between @SPMDFullToShardShape and @SPMDShardToFullShape become manual computations.
// What is about other axes or devices in another order is about a mesh of its own: nothing propagates from one to the other.
// Leaves alone modules of one partition, with manual parts and several meshes, or with parts that are computed with outside of a region.
#include "passes/sharding/ManualRegions.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/RoundTrip.h"

#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_IMPORTHLOSHARDINGSPASS
#include "passes/sharding/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kAttr = "mhlo.sharding";

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
    if (!possible || !found || (hasManualRegions && (orders.size() > 1 || hasUnknown || !groups.empty())))
      return;
    // Whether what is manual are regions shows while they are made: that is tried with a copy.
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

  void rewrite(ModuleOp module) {
    module.walk([&](func::FuncOp function) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto text = function.getArgAttrOfType<StringAttr>(i, kAttr)) {
          if (!isUnknown(text))
            function.setArgAttr(i, sdy::shardingAttrName, convert(text, function.getArgumentTypes()[i]));
          function.removeArgAttr(i, StringAttr::get(&getContext(), kAttr));
        }
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (auto text = function.getResultAttrOfType<StringAttr>(i, kAttr)) {
          if (!isUnknown(text))
            function.setResultAttr(i, sdy::shardingAttrName, convert(text, function.getResultTypes()[i]));
          function.removeResultAttr(i, StringAttr::get(&getContext(), kAttr));
        }
    });
    for (auto function : module.getOps<func::FuncOp>())
      // A function may be called from a manual computation, where its values are parts.
      if (!hasManualRegions || SymbolTable::symbolKnownUseEmpty(function, module))
        function.walk([&](Operation *op) { annotateResults(op); });
    SmallVector<stablehlo::CustomCallOp> calls;
    module.walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == "Sharding" && call->hasAttr(kAttr))
        calls.push_back(call);
    });
    for (stablehlo::CustomCallOp call : calls) {
      auto text = call->getAttrOfType<StringAttr>(kAttr);
      if (auto group = groupOf(text)) {
        OpBuilder builder(call);
        sdy::ShardingGroupOp::create(builder, call.getLoc(), call->getOperand(0), builder.getI64IntegerAttr(*group));
      }
      // Where all of it is manual, nothing is left to say.
      if (!isUnknown(text) && parse(text, call->getResult(0).getType())->kind != sdy::HloSharding::Kind::Manual) {
        replaceByConstraint(call, shardingOf(call));
        continue;
      }
      call->replaceAllUsesWith(call->getOperands());
      call.erase();
    }
  }

  sdy::TensorShardingAttr shardingOf(stablehlo::CustomCallOp call) {
    return convert(call->getAttrOfType<StringAttr>(kAttr), call->getResult(0).getType(), unspecifiedDims(call));
  }

  SmallVector<StringAttr> manualAxesOf(stablehlo::CustomCallOp call) {
    Type type = call->getResult(0).getType();
    auto sharding = parse(call->getAttrOfType<StringAttr>(kAttr), type);
    SmallVector<sdy::AxisRefAttr> manual, axes;
    sdy::MeshAttr mesh = orders.front().mesh;
    if (sharding->kind == sdy::HloSharding::Kind::Manual) {
      for (sdy::MeshAxisAttr axis : mesh.getAxes())
        axes.push_back(sdy::AxisRefAttr::get(&getContext(), axis.getName(), sdy::SubAxisInfoAttr()));
    } else if (sharding->kind != sdy::HloSharding::Kind::Replicated) {
      sdy::TensorShardingAttr from = inlined(*sharding, type, manual);
      for (sdy::AxisRefAttr axis : manual)
        append(axes, axis, cast<sdy::MeshAttr>(from.getMeshOrRef()), mesh);
    }
    SmallVector<StringAttr> names;
    for (sdy::MeshAxisAttr axis : mesh.getAxes()) // in one order, to be compared
      if (llvm::any_of(axes, [&](sdy::AxisRefAttr each) { return each.getName() == axis.getName(); }))
        names.push_back(StringAttr::get(&getContext(), axis.getName()));
    return names;
  }

  /// The string, if it can be said in axes. Groups of devices that are manual count as axes, too.
  std::optional<sdy::HloSharding> parse(StringAttr text, Type type) {
    std::string error;
    auto sharding = sdy::parseHloSharding(text.getValue(), error);
    if (sharding && sharding->kind == sdy::HloSharding::Kind::Tuple && sharding->elements.size() == 1)
      sharding = sdy::HloSharding(sharding->elements[0]);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor)
      return std::nullopt;
    bool isNamed = sharding->kind == sdy::HloSharding::Kind::Named;
    if (isNamed && !sharding->axes.empty() && sharding->unreduced.empty() && sharding->manual.empty())
      return sharding;
    if (sharding->kind == sdy::HloSharding::Kind::Replicated || sharding->kind == sdy::HloSharding::Kind::Manual)
      return sharding;
    if (sharding->kind != sdy::HloSharding::Kind::Tiled || llvm::is_contained(sharding->subgroups, sdy::HloSharding::Subgroup::Unreduced))
      return std::nullopt;
    return sharding;
  }

  /// `{unknown}`, which says nothing; it may name a group.
  static bool isUnknown(StringAttr text) {
    std::string error;
    auto sharding = sdy::parseHloSharding(text.getValue(), error);
    return sharding && sharding->kind == sdy::HloSharding::Kind::Unknown;
  }
  /// N of `shard_as N` and `shard_like N`.
  static std::optional<int64_t> groupOf(StringAttr text) {
    std::string error;
    auto sharding = sdy::parseHloSharding(text.getValue(), error);
    int64_t group;
    if (!sharding || StringRef(sharding->group).rsplit(' ').second.getAsInteger(10, group))
      return std::nullopt;
    return group;
  }

  sdy::TensorShardingAttr inlined(const sdy::HloSharding &sharding, Type type, SmallVectorImpl<sdy::AxisRefAttr> &manual) {
    std::string error;
    return toSdy(sharding, cast<RankedTensorType>(type).getRank(), &getContext(), manual, error);
  }

  /// What an ordinary operation's string says of each of its tensors, nothing of its other results. Empty if that says nothing
  /// that axes could say, or of scalars only.
  SmallVector<StringAttr> textsOf(Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    StringRef callee = call ? call.getCallTargetName() : "";
    auto text = op->getAttrOfType<StringAttr>(kAttr);
    if (!text || isa<func::FuncOp>(op) || op->hasAttr(sdy::shardingAttrName) || op->getParentOfType<sdy::ManualComputationOp>() ||
        callee == target::sharding || callee == target::fullToShard || callee == target::shardToFull)
      return {};
    std::string error;
    auto sharding = sdy::parseHloSharding(text.getValue(), error);
    bool isTuple = sharding && sharding->kind == sdy::HloSharding::Kind::Tuple;
    if (!sharding || (isTuple ? sharding->elements.size() : 1) != op->getNumResults())
      return {};
    SmallVector<StringAttr> texts;
    bool saysSomething = false;
    for (OpResult result : op->getResults()) {
      auto tensor = dyn_cast<RankedTensorType>(result.getType());
      const sdy::HloSharding &one = isTuple ? sharding->elements[result.getResultNumber()] : *sharding;
      texts.push_back(tensor ? StringAttr::get(&getContext(), toString(one)) : StringAttr());
      saysSomething |= tensor && tensor.getRank() > 0;
    }
    return saysSomething ? texts : SmallVector<StringAttr>();
  }

  void considerResults(Operation *op) {
    auto before = orders;
    bool wasFound = found;
    for (auto [text, type] : llvm::zip(textsOf(op), op->getResultTypes()))
      if ((text && (isUnknown(text) || !consider(text, type))) || (hasManualRegions && orders.size() > std::max<size_t>(before.size(), 1))) {
        orders = std::move(before);
        found = wasFound;
        return;
      }
  }

  void annotateResults(Operation *op) {
    SmallVector<StringAttr> texts = textsOf(op);
    SmallVector<sdy::TensorShardingAttr> shardings;
    for (auto [text, type] : llvm::zip(texts, op->getResultTypes())) {
      if (text && !isSaidByMeshes(text, type))
        return;
      shardings.push_back(text ? convert(text, type)
                               : sdy::TensorShardingAttr::get(&getContext(), orders.front().name, ArrayRef<sdy::DimensionShardingAttr>()));
    }
    if (texts.empty())
      return;
    op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(&getContext(), shardings));
    op->removeAttr(kAttr);
  }

  /// Of a string that is not about manual parts: whether it is about one of the meshes.
  bool isSaidByMeshes(StringAttr text, Type type) {
    auto sharding = parse(text, type);
    if (!sharding || groupOf(text))
      return false;
    if (sharding->kind == sdy::HloSharding::Kind::Replicated || sharding->kind == sdy::HloSharding::Kind::Manual)
      return sharding->kind == sdy::HloSharding::Kind::Replicated;
    SmallVector<sdy::AxisRefAttr> manual;
    sdy::TensorShardingAttr attr = inlined(*sharding, type, manual);
    return attr && manual.empty() && hasAllDevices(*sharding) && cast<sdy::MeshAttr>(attr.getMeshOrRef()).getTotalSize() == devices && orderOf(attr, manual);
  }

  bool consider(StringAttr text, Type type, bool mayBeManual = false, bool mayBeInGroup = false) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (auto group = groupOf(text)) {
      // All of a group have one shape.
      if (!mayBeInGroup || !tensor || groups.try_emplace(*group, tensor.getShape()).first->second != tensor.getShape())
        return false;
    }
    if (isUnknown(text))
      return hasUnknown = bool(tensor);
    auto sharding = parse(text, type);
    if (!sharding)
      return false;
    bool isManual = sharding->kind == sdy::HloSharding::Kind::Manual;
    if ((isManual || llvm::is_contained(sharding->subgroups, sdy::HloSharding::Subgroup::Manual)) && !mayBeManual)
      return false;
    found = true;
    if (isManual || sharding->kind == sdy::HloSharding::Kind::Replicated)
      return true;
    SmallVector<sdy::AxisRefAttr> manual;
    sdy::TensorShardingAttr attr = inlined(*sharding, type, manual);
    auto mesh = attr ? cast<sdy::MeshAttr>(attr.getMeshOrRef()) : sdy::MeshAttr();
    if (!mesh || mesh.getTotalSize() != devices || !hasAllDevices(*sharding))
      return false;
    // The first mesh whose axes can be parted so that this sharding is about them, too.
    std::set<int64_t> strides = stridesOf(attr, manual, mesh);
    for (Order &order : orders) {
      std::set<int64_t> both = order.strides;
      both.insert(strides.begin(), strides.end());
      if (ArrayRef(order.ids) == mesh.getDeviceIds() && isChain(both)) {
        order.strides = std::move(both);
        return true;
      }
    }
    orders.push_back({SmallVector<int64_t>(mesh.getDeviceIds()), std::move(strides), {}, {}});
    return isChain(orders.back().strides);
  }

  /// Those of a mesh by name are not checked anywhere: each from 0 on, once. None are listed if they are in order.
  static bool hasAllDevices(const sdy::HloSharding &sharding) {
    std::vector<int64_t> ids = sharding.order.devices();
    llvm::sort(ids);
    return llvm::all_of(llvm::enumerate(ids), [](auto each) { return each.value() == int64_t(each.index()); });
  }

  /// Where axes and parts of them begin and end, in devices between neighbours along them.
  std::set<int64_t> stridesOf(sdy::TensorShardingAttr attr, ArrayRef<sdy::AxisRefAttr> manual, sdy::MeshAttr mesh) {
    std::set<int64_t> strides = {1, devices};
    int64_t stride = devices;
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      strides.insert(stride /= axis.getSize());
    auto cut = [&](sdy::AxisRefAttr axis) {
      int64_t end = strideAt(mesh, axis.getName());
      strides.insert(end / axis.getPreSize());
      strides.insert(end / (axis.getPreSize() * axis.getSize(mesh)));
    };
    attr.walkAxes(cut);
    llvm::for_each(manual, cut);
    return strides;
  }

  /// Each divides the next larger one.
  static bool isChain(const std::set<int64_t> &strides) {
    int64_t before = 1;
    for (int64_t stride : strides) {
      if (stride % before != 0)
        return false;
      before = stride;
    }
    return true;
  }

  /// Devices between neighbours along all of the axis: where it begins.
  static int64_t strideAt(sdy::MeshAttr mesh, StringRef name) {
    int64_t stride = mesh.getTotalSize();
    for (sdy::MeshAxisAttr axis : mesh.getAxes()) {
      if (axis.getName() == name)
        return stride;
      stride /= axis.getSize();
    }
    return 1;
  }

  bool consider(Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto text = function.getArgAttrOfType<StringAttr>(i, kAttr); text && !consider(text, function.getArgumentTypes()[i]))
          return false;
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (auto text = function.getResultAttrOfType<StringAttr>(i, kAttr); text && !consider(text, function.getResultTypes()[i]))
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
    auto text = call->getAttrOfType<StringAttr>(kAttr);
    return (!changesShape && callee != target::sharding) ||
           (text && call->getNumResults() == 1 &&
            consider(text, call->getResult(0).getType(), /*mayBeManual=*/true, /*mayBeInGroup=*/!changesShape));
  }

  void makeMeshes(ModuleOp module) {
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    for (Order &order : orders) {
      SmallVector<int64_t> sizes(order.strides.rbegin(), order.strides.rend());
      SmallVector<sdy::MeshAxisAttr> axes;
      for (size_t i = 1; i < sizes.size(); ++i)
        axes.push_back(sdy::MeshAxisAttr::get(&getContext(), "axis_" + std::to_string(i - 1), sizes[i - 1] / sizes[i]));
      order.mesh = sdy::MeshAttr::get(&getContext(), axes, order.ids);
      auto op = sdy::MeshOp::create(builder, module.getLoc(), "mesh", order.mesh);
      symbols.insert(op);
      order.name = FlatSymbolRefAttr::get(op.getSymNameAttr());
    }
  }

  sdy::TensorShardingAttr convert(StringAttr text, Type type, ArrayRef<int64_t> open = {}) {
    auto sharding = parse(text, type);
    int64_t rank = cast<RankedTensorType>(type).getRank();
    sdy::TensorShardingAttr from;
    SmallVector<sdy::AxisRefAttr> manual;
    if (sharding->kind == sdy::HloSharding::Kind::Tiled || sharding->kind == sdy::HloSharding::Kind::Named)
      from = inlined(*sharding, type, manual);
    const Order &order = from ? *orderOf(from, manual) : orders.front();
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (int64_t dim = 0; dim < rank; ++dim) {
      SmallVector<sdy::AxisRefAttr> axes;
      if (from)
        for (sdy::AxisRefAttr axis : from.getDimShardings()[dim].getAxes())
          append(axes, axis, cast<sdy::MeshAttr>(from.getMeshOrRef()), order.mesh);
      bool isClosed = !llvm::is_contained(open, dim) && (!from || from.getDimShardings()[dim].getIsClosed());
      dims.push_back(sdy::DimensionShardingAttr::get(&getContext(), axes, isClosed, std::nullopt));
    }
    SmallVector<sdy::AxisRefAttr> replicated;
    if (from)
      for (sdy::AxisRefAttr axis : from.getReplicatedAxes())
        append(replicated, axis, cast<sdy::MeshAttr>(from.getMeshOrRef()), order.mesh);
    llvm::sort(replicated, [&](sdy::AxisRefAttr a, sdy::AxisRefAttr b) {
      return order.mesh.getAxisPosition(a.getName()) < order.mesh.getAxisPosition(b.getName());
    });
    return sdy::TensorShardingAttr::get(&getContext(), order.name, dims, replicated, ArrayRef<sdy::AxisRefAttr>(), sdy::ReductionOp::Sum);
  }

  /// The axes of the common mesh that cover an axis of a string's own one.
  void append(SmallVectorImpl<sdy::AxisRefAttr> &axes, sdy::AxisRefAttr axis, sdy::MeshAttr from, sdy::MeshAttr mesh) {
    int64_t begin = strideAt(from, axis.getName()) / axis.getPreSize(), end = begin / axis.getSize(from);
    int64_t stride = devices;
    for (sdy::MeshAxisAttr part : mesh.getAxes()) {
      if (stride <= begin && stride > end)
        axes.push_back(sdy::AxisRefAttr::get(&getContext(), part.getName(), sdy::SubAxisInfoAttr()));
      stride /= part.getSize();
    }
  }

  int64_t devices = 1;
  bool found = false, hasManualRegions = false, hasUnknown = false;
  std::map<int64_t, ArrayRef<int64_t>> groups; ///< the shape of each
  /// One mesh: devices in the order of their numbers, or as listed.
  struct Order {
    SmallVector<int64_t> ids;
    std::set<int64_t> strides; ///< devices between neighbours along the axes, and all of them
    sdy::MeshAttr mesh;
    FlatSymbolRefAttr name;
  };
  const Order *orderOf(sdy::TensorShardingAttr attr, ArrayRef<sdy::AxisRefAttr> manual) {
    auto mesh = cast<sdy::MeshAttr>(attr.getMeshOrRef());
    std::set<int64_t> strides = stridesOf(attr, manual, mesh);
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
