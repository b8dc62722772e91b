// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportHloShardings.cpp - Strings over devices become axes of one mesh -===//
// Input:   %a: {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %b: {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
// Output:  sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]> ... %a: [{"axis_0"}, {"axis_1"}], %b: [{"axis_1"}, {}]
// Leaves alone modules of one partition, with manual regions, or with lists of devices that no mesh has in common.
#include "passes/sharding/Passes.h"
#include "passes/sharding/RoundTrip.h"

#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
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
    // First everything is read: either all strings are about one mesh, or nothing is changed.
    bool possible = true;
    strides = {1, devices};
    module.walk([&](Operation *op) { possible = possible && consider(op); });
    if (!possible || !found || !makeMesh())
      return;
    module.walk([&](func::FuncOp function) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto text = function.getArgAttrOfType<StringAttr>(i, kAttr)) {
          function.setArgAttr(i, sdy::shardingAttrName, convert(text, function.getArgumentTypes()[i]));
          function.removeArgAttr(i, StringAttr::get(&getContext(), kAttr));
        }
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (auto text = function.getResultAttrOfType<StringAttr>(i, kAttr)) {
          function.setResultAttr(i, sdy::shardingAttrName, convert(text, function.getResultTypes()[i]));
          function.removeResultAttr(i, StringAttr::get(&getContext(), kAttr));
        }
    });
    SmallVector<stablehlo::CustomCallOp> calls;
    module.walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == "Sharding" && call->hasAttr(kAttr))
        calls.push_back(call);
    });
    for (stablehlo::CustomCallOp call : calls) {
      OpBuilder builder(call);
      auto sharding = convert(call->getAttrOfType<StringAttr>(kAttr), call->getResult(0).getType(), unspecifiedDims(call));
      auto constraint = sdy::ShardingConstraintOp::create(builder, call.getLoc(), call->getResult(0).getType(),
                                                          call->getOperand(0), sharding);
      call->getResult(0).replaceAllUsesWith(constraint.getResult());
      call.erase();
    }
  }

  /// The string, if it can be said in axes.
  std::optional<sdy::HloSharding> parse(StringAttr text, Type type) {
    std::string error;
    auto sharding = sdy::parseHloSharding(text.getValue(), error);
    if (sharding && sharding->kind == sdy::HloSharding::Kind::Tuple && sharding->elements.size() == 1)
      sharding = sdy::HloSharding(sharding->elements[0]);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor || !sharding->group.empty())
      return std::nullopt;
    if (sharding->kind == sdy::HloSharding::Kind::Replicated)
      return sharding;
    bool plain = llvm::all_of(sharding->subgroups, [](auto kind) { return kind == sdy::HloSharding::Subgroup::Replicated; });
    if (sharding->kind != sdy::HloSharding::Kind::Tiled || !plain)
      return std::nullopt;
    return sharding;
  }

  sdy::TensorShardingAttr inlined(const sdy::HloSharding &sharding, Type type) {
    SmallVector<sdy::AxisRefAttr> manual;
    std::string error;
    return toSdy(sharding, cast<RankedTensorType>(type).getRank(), &getContext(), manual, error);
  }

  bool consider(StringAttr text, Type type) {
    auto sharding = parse(text, type);
    if (!sharding)
      return false;
    found = true;
    if (sharding->kind == sdy::HloSharding::Kind::Replicated)
      return true;
    sdy::TensorShardingAttr attr = inlined(*sharding, type);
    auto mesh = attr ? cast<sdy::MeshAttr>(attr.getMeshOrRef()) : sdy::MeshAttr();
    if (!mesh || mesh.getTotalSize() != devices)
      return false;
    // Lists that are no transposed iota must be the same list.
    SmallVector<int64_t> list(mesh.getDeviceIds());
    if (ids && *ids != list)
      return false;
    ids = list;
    int64_t stride = devices;
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      strides.insert(stride /= axis.getSize());
    attr.walkAxes([&](sdy::AxisRefAttr axis) {
      int64_t end = strideAt(mesh, axis.getName());
      strides.insert(end / axis.getPreSize());
      strides.insert(end / (axis.getPreSize() * axis.getSize(mesh)));
    });
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
    StringRef target = call.getCallTargetName();
    if (target.starts_with("SPMD") || target.starts_with("xla.sdy."))
      return false;
    auto text = call->getAttrOfType<StringAttr>(kAttr);
    return target != "Sharding" || (text && call->getNumResults() == 1 && consider(text, call->getResult(0).getType()));
  }

  bool makeMesh() {
    SmallVector<int64_t> order(strides.rbegin(), strides.rend());
    SmallVector<sdy::MeshAxisAttr> axes;
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i - 1] % order[i] != 0)
        return false;
      axes.push_back(sdy::MeshAxisAttr::get(&getContext(), "axis_" + std::to_string(i - 1), order[i - 1] / order[i]));
    }
    if (ids && !ids->empty() && axes.size() != strides.size() - 1)
      return false;
    mesh = sdy::MeshAttr::get(&getContext(), axes, ids ? ArrayRef<int64_t>(*ids) : ArrayRef<int64_t>());
    SymbolTable symbols(getOperation());
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    auto op = sdy::MeshOp::create(builder, getOperation().getLoc(), "mesh", mesh);
    symbols.insert(op);
    name = FlatSymbolRefAttr::get(op.getSymNameAttr());
    return true;
  }

  sdy::TensorShardingAttr convert(StringAttr text, Type type, ArrayRef<int64_t> open = {}) {
    auto sharding = parse(text, type);
    int64_t rank = cast<RankedTensorType>(type).getRank();
    sdy::TensorShardingAttr from;
    if (sharding->kind != sdy::HloSharding::Kind::Replicated)
      from = inlined(*sharding, type);
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (int64_t dim = 0; dim < rank; ++dim) {
      SmallVector<sdy::AxisRefAttr> axes;
      if (from)
        for (sdy::AxisRefAttr axis : from.getDimShardings()[dim].getAxes())
          append(axes, axis, cast<sdy::MeshAttr>(from.getMeshOrRef()));
      dims.push_back(sdy::DimensionShardingAttr::get(&getContext(), axes, !llvm::is_contained(open, dim), std::nullopt));
    }
    return sdy::TensorShardingAttr::get(&getContext(), name, dims);
  }

  /// The axes of the common mesh that cover an axis of a string's own one.
  void append(SmallVectorImpl<sdy::AxisRefAttr> &axes, sdy::AxisRefAttr axis, sdy::MeshAttr from) {
    int64_t begin = strideAt(from, axis.getName()) / axis.getPreSize(), end = begin / axis.getSize(from);
    int64_t stride = devices;
    for (sdy::MeshAxisAttr part : mesh.getAxes()) {
      if (stride <= begin && stride > end)
        axes.push_back(sdy::AxisRefAttr::get(&getContext(), part.getName(), sdy::SubAxisInfoAttr()));
      stride /= part.getSize();
    }
  }

  int64_t devices = 1;
  bool found = false;
  std::set<int64_t> strides;
  std::optional<SmallVector<int64_t>> ids;
  sdy::MeshAttr mesh;
  FlatSymbolRefAttr name;
};

} // namespace
} // namespace millrace::sharding
