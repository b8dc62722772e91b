// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DedupMeshes.cpp - One mesh for the same devices --------------------===//
// Input:   sdy.mesh @m = <["a"=2, "b"=4]>   sdy.mesh @n = <["x"=8]>   #sdy.sharding<@n, [{"x"}, {}]>
// Output:  sdy.mesh @m = <["a"=2, "b"=4]>                             #sdy.sharding<@m, [{"a", "b"}, {}]>
// Leaves alone meshes whose axes end where those of the other mesh cannot be cut.
#include "passes/sharding/exchange/RoundTrip.h"

#include "passes/sharding/ShardingWalk.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_DEDUPMESHESPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

using AxisRefs = SmallVector<sdy::AxisRefAttr>;

/// [pre, pre * size) of an axis; none of all of it.
sdy::AxisRefAttr part(sdy::MeshAxisAttr axis, int64_t pre, int64_t size) {
  auto sub = size == axis.getSize() ? sdy::SubAxisInfoAttr() : sdy::SubAxisInfoAttr::get(axis.getContext(), pre, size);
  return sdy::AxisRefAttr::get(axis.getContext(), axis.getName(), sub);
}

/// Axes of one mesh in those of another over the same devices.
struct AxisMap {
  StringAttr name;
  sdy::MeshAttr mesh;
  llvm::StringMap<AxisRefs> axes; ///< axes of one device have no entry

  /// Walks both lists of axes, major to minor; false where neither remaining size divides the other.
  bool build(sdy::MeshAttr from) {
    SmallVector<sdy::MeshAxisAttr> left(mesh.getAxes());
    int64_t pre = 1; // how much of the first axis left is taken
    for (sdy::MeshAxisAttr axis : from.getAxes())
      for (int64_t open = axis.getSize(); open > 1;) {
        while (!left.empty() && pre == left.front().getSize()) {
          left.erase(left.begin());
          pre = 1;
        }
        if (left.empty())
          return false;
        int64_t free = left.front().getSize() / pre, taken = std::min(free, open);
        if (std::max(free, open) % taken != 0)
          return false;
        axes[axis.getName()].push_back(part(left.front(), pre, taken));
        pre *= taken;
        open /= taken;
      }
    return true;
  }

  /// The same devices, or nothing if they are no whole parts of axes.
  std::optional<AxisRefs> translate(ArrayRef<sdy::AxisRefAttr> refs, sdy::MeshAttr from) const {
    AxisRefs result;
    for (sdy::AxisRefAttr ref : refs) {
      auto found = axes.find(ref.getName());
      if (found == axes.end())
        continue;
      int64_t begin = ref.getPreSize(), end = begin * ref.getSize(from), at = 1;
      AxisRefs parts;
      for (sdy::AxisRefAttr piece : found->second) {
        int64_t size = piece.getSize(mesh), low = std::max(at, begin), high = std::min(at * size, end);
        if (low < high) {
          if (low % at != 0 || (at * size) % high != 0 || high % low != 0)
            return std::nullopt;
          sdy::MeshAxisAttr axis = mesh.getAxes()[mesh.getAxisPosition(piece.getName())];
          parts.push_back(part(axis, piece.getPreSize() * (low / at), high / low));
        }
        at *= size;
      }
      result = sdy::appendAxes(result, parts, mesh);
    }
    return result;
  }

  sdy::TensorShardingAttr translate(sdy::TensorShardingAttr sharding, sdy::MeshAttr from) const {
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
      std::optional<AxisRefs> refs = translate(dim.getAxes(), from);
      if (!refs)
        return {};
      bool says = !refs->empty() || !dim.getIsClosed(); // a priority of nothing is none
      dims.push_back(sdy::DimensionShardingAttr::get(dim.getContext(), *refs, dim.getIsClosed(), says ? dim.getPriority() : std::nullopt));
    }
    auto replicated = translate(sharding.getReplicatedAxes(), from), unreduced = translate(sharding.getUnreducedAxes(), from);
    if (!replicated || !unreduced)
      return {};
    return sdy::TensorShardingAttr::get(sharding.getContext(), FlatSymbolRefAttr::get(name), dims, *replicated, *unreduced,
                                        sharding.getReductionOp());
  }

  /// Manual axes are whole; nothing if they would not be.
  std::optional<SmallVector<StringAttr>> translateManual(ArrayRef<StringAttr> names, sdy::MeshAttr from) const {
    AxisRefs refs;
    for (StringAttr axis : names)
      refs.push_back(sdy::AxisRefAttr::get(axis.getContext(), axis.getValue(), sdy::SubAxisInfoAttr()));
    std::optional<AxisRefs> translated = translate(refs, from);
    if (!translated || llvm::any_of(*translated, [](sdy::AxisRefAttr ref) { return bool(ref.getSubAxisInfo()); }))
      return std::nullopt;
    return llvm::map_to_vector(*translated, [](sdy::AxisRefAttr ref) { return StringAttr::get(ref.getContext(), ref.getName()); });
  }
};

struct DedupMeshes : impl::DedupMeshesPassBase<DedupMeshes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::map<std::pair<int64_t, std::vector<int64_t>>, sdy::MeshOp> kept;
    auto keyOf = [](sdy::MeshAttr mesh) {
      // A mesh without axes is not one with axes of one device.
      return std::pair(mesh.getAxes().empty() ? -1 : mesh.getTotalSize(), std::vector<int64_t>(mesh.getDeviceIds()));
    };
    auto rank = [](sdy::MeshOp op) {
      ArrayRef<sdy::MeshAxisAttr> axes = op.getMesh().getAxes();
      bool isNamed = axes.empty() || !axes.front().getName().starts_with("_");
      return std::pair(isNamed, llvm::count_if(axes, [](sdy::MeshAxisAttr axis) { return axis.getSize() > 1; }));
    };
    for (auto op : module.getOps<sdy::MeshOp>()) {
      auto [entry, isNew] = kept.try_emplace(keyOf(op.getMesh()), op);
      if (!isNew && rank(op) > rank(entry->second))
        entry->second = op;
    }
    for (auto op : module.getOps<sdy::MeshOp>()) {
      sdy::MeshOp other = kept.at(keyOf(op.getMesh()));
      AxisMap map{other.getSymNameAttr(), other.getMesh(), {}};
      if (op != other && map.build(op.getMesh()))
        maps.insert({op.getSymName(), std::move(map)});
    }
    keepThoseInNeed(module);
    module.walk([&](sdy::ManualComputationOp op) {
      if (AxisMap *map = mapOf(meshNameOf(op)))
        op.setManualAxesAttr(sdy::ManualAxesAttr::get(&getContext(), *map->translateManual(op.getManualAxes(), meshOf(op))));
    });
    transformShardings(module, [&](sdy::TensorShardingAttr sharding, Operation *user) {
      AxisMap *map = mapOf(sharding.getMeshOrRef());
      return map ? map->translate(sharding, sharding.getMesh(user)) : sharding;
    });
    for (auto op : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      if (maps.count(op.getSymName()))
        op.erase();
  }

  AxisMap *mapOf(Attribute meshOrRef) {
    auto name = dyn_cast_or_null<FlatSymbolRefAttr>(meshOrRef);
    auto found = name ? maps.find(name.getValue()) : maps.end();
    return found == maps.end() ? nullptr : &found->second;
  }

  static Attribute meshNameOf(sdy::ManualComputationOp op) {
    for (auto list : {op.getInShardings(), op.getOutShardings()})
      if (!list.getShardings().empty())
        return list.getShardings()[0].getMeshOrRef();
    return {};
  }

  /// Meshes of which something cannot be said in the other's axes.
  void keepThoseInNeed(ModuleOp module) {
    transformShardings(module, [&](sdy::TensorShardingAttr sharding, Operation *user) {
      if (AxisMap *map = mapOf(sharding.getMeshOrRef()); map && !map->translate(sharding, sharding.getMesh(user)))
        maps.erase(cast<FlatSymbolRefAttr>(sharding.getMeshOrRef()).getValue());
      return sharding;
    });
    module.walk([&](sdy::ManualComputationOp op) {
      Attribute name = meshNameOf(op);
      if (AxisMap *map = mapOf(name); map && !map->translateManual(op.getManualAxes(), meshOf(op)))
        maps.erase(cast<FlatSymbolRefAttr>(name).getValue());
    });
  }

  llvm::StringMap<AxisMap> maps;
};

} // namespace
} // namespace millrace::sharding
