// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloShardingToSdy.cpp - Convert between tiles and axes of a mesh ----===//
#include "dialects/sdy/HloSharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using mlir::MLIRContext;
namespace millrace::sdy {
namespace {

/// A sub-axis: a part of dimension `dim` of a device grid: [pre, pre * size) of it.
struct SubAxis {
  size_t dim;
  int64_t pre, size;
};

AxisRefAttr reference(MLIRContext *context, const std::string &name, int64_t axisSize, int64_t pre, int64_t size) {
  auto sub = size == axisSize ? SubAxisInfoAttr() : SubAxisInfoAttr::get(context, pre, size);
  return AxisRefAttr::get(context, name, sub);
}

/// Covers tiles with the dimensions of the transposed iota, major to minor. Returns nothing if a tile does not end at the border of a part: 2x3
/// devices cannot form tiles of 3x2.
std::optional<std::vector<std::vector<SubAxis>>> splitIota(ArrayRef<int64_t> tiles, const DeviceOrder &order) {
  std::vector<std::vector<SubAxis>> result;
  size_t next = 0;
  int64_t used = 1; // the part of the current dimension that is used
  for (int64_t tile : tiles) {
    std::vector<SubAxis> &parts = result.emplace_back();
    while (tile > 1) {
      while (next < order.transpose.size() && used == order.reshape[order.transpose[next]]) {
        ++next;
        used = 1;
      }
      if (next == order.transpose.size())
        return std::nullopt;
      size_t dim = order.transpose[next];
      int64_t left = order.reshape[dim] / used, take = tile % left == 0 ? left : left % tile == 0 ? tile : 0;
      if (take == 0)
        return std::nullopt;
      parts.push_back({dim, used, take});
      used *= take;
      tile /= take;
    }
  }
  return result;
}

TensorShardingAttr namedToSdy(const HloSharding &sharding, int64_t rank, MLIRContext *context,
                              SmallVectorImpl<AxisRefAttr> &manual) {
  SmallVector<MeshAxisAttr> axes;
  for (const auto &[name, size] : sharding.axes)
    axes.push_back(MeshAxisAttr::get(context, name, size));
  std::vector<int64_t> ids = sharding.order.devices();
  auto mesh = MeshAttr::get(context, axes, is_sorted(ids) ? ArrayRef<int64_t>() : ArrayRef<int64_t>(ids));
  auto convert = [&](ArrayRef<NamedAxis> list) {
    SmallVector<AxisRefAttr> result;
    for (const NamedAxis &axis : list) {
      int64_t whole = mesh.getAxisSize(axis.name);
      result.push_back(reference(context, axis.name, whole, axis.pre, axis.size ? axis.size : whole));
    }
    return result;
  };
  SmallVector<DimensionShardingAttr> dims;
  for (const NamedDimension &dimension : sharding.dimensions)
    dims.push_back(DimensionShardingAttr::get(context, convert(dimension.axes), !dimension.open, std::nullopt));
  while (int64_t(dims.size()) < rank && sharding.dimensions.empty())
    dims.push_back(DimensionShardingAttr::get(context, {}, true, std::nullopt));
  manual = convert(sharding.manual);
  return TensorShardingAttr::get(context, mesh, dims, convert(sharding.replicated), convert(sharding.unreduced),
                                 ReductionOp::Sum);
}

} // namespace

TensorShardingAttr toSdy(const HloSharding &sharding, int64_t rank, MLIRContext *context,
                         SmallVectorImpl<AxisRefAttr> &manual, std::string &error) {
  using Kind = HloSharding::Kind;
  manual.clear();
  auto closed = [&](ArrayRef<AxisRefAttr> axes) { return DimensionShardingAttr::get(context, axes, true, std::nullopt); };
  switch (sharding.kind) {
  case Kind::Replicated:
    return TensorShardingAttr::get(context, MeshAttr::get(context, {}, {}),
                                   SmallVector<DimensionShardingAttr>(rank, closed({})));
  case Kind::Maximal:
    return TensorShardingAttr::get(context, MeshAttr::get(context, {}, sharding.device),
                                   ArrayRef<DimensionShardingAttr>());
  case Kind::Named:
    if (!sharding.dimensions.empty() && int64_t(sharding.dimensions.size()) != rank) {
      error = "expected a sharding of rank " + std::to_string(rank) + ", but got one of rank " +
              std::to_string(sharding.dimensions.size()) + ": " + toString(sharding);
      return {};
    }
    return namedToSdy(sharding, rank, context, manual);
  case Kind::Tiled:
    break;
  default:
    error = "no axes stand for " + toString(sharding);
    return {};
  }
  if (int64_t(sharding.tiles.size()) != rank + int64_t(sharding.subgroups.size())) {
    error = "expected a sharding of rank " + std::to_string(rank) + ": " + toString(sharding);
    return {};
  }
  // Axes are the dimensions of the iota if the tiles fit them, else the tiles themselves with a list of devices.
  std::vector<int64_t> sizes = sharding.order.reshape, ids;
  auto parts = sizes.empty() ? std::nullopt : splitIota(sharding.tiles, sharding.order);
  if (!parts) {
    sizes = sharding.tiles;
    ids = sharding.order.devices();
    std::vector<int64_t> sorted = ids;
    sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != int64_t(i)) {
        error = "a mesh has all devices from 0 on: " + toString(sharding);
        return {};
      }
    if (is_sorted(ids))
      ids.clear();
    parts.emplace();
    for (auto [dim, size] : enumerate(sizes)) {
      parts->emplace_back();
      if (size > 1)
        parts->back().push_back({dim, 1, size});
    }
  }
  auto name = [](size_t dim) { return "axis_" + std::to_string(dim); };
  SmallVector<MeshAxisAttr> axes;
  for (auto [dim, size] : enumerate(sizes))
    axes.push_back(MeshAxisAttr::get(context, name(dim), size));
  auto mesh = MeshAttr::get(context, axes, ids);
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> unreduced;
  for (auto [i, list] : enumerate(*parts)) {
    SmallVector<AxisRefAttr> references;
    for (SubAxis part : list)
      references.push_back(reference(context, name(part.dim), sizes[part.dim], part.pre, part.size));
    if (int64_t(i) < rank)
      dims.push_back(closed(references));
    else if (sharding.subgroups[i - rank] == HloSharding::Subgroup::Manual)
      append_range(manual, references);
    else if (sharding.subgroups[i - rank] == HloSharding::Subgroup::Unreduced)
      append_range(unreduced, references);
  }
  sort(unreduced, [&](AxisRefAttr a, AxisRefAttr b) {
    return std::tuple(mesh.getAxisPosition(a.getName()), a.getPreSize()) <
           std::tuple(mesh.getAxisPosition(b.getName()), b.getPreSize());
  });
  return TensorShardingAttr::get(context, mesh, dims, ArrayRef<AxisRefAttr>(), unreduced, ReductionOp::Sum);
}

//===-- From sdy ----------------------------------------------------------===//

namespace {

/// Cuts every axis of the mesh where a reference begins or ends, and returns the pieces in the order of the mesh.
std::vector<SubAxis> cutAxes(TensorShardingAttr sharding, MeshAttr mesh) {
  std::vector<SubAxis> pieces;
  for (auto [i, axis] : enumerate(mesh.getAxes())) {
    SmallVector<int64_t> cuts{1, axis.getSize()};
    sharding.walkAxes([&](AxisRefAttr ref) {
      if (ref.getName() == axis.getName()) {
        cuts.push_back(ref.getPreSize());
        cuts.push_back(ref.getPreSize() * ref.getSize(mesh));
      }
    });
    sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (size_t c = 0; c + 1 < cuts.size(); ++c)
      pieces.push_back({i, cuts[c], cuts[c + 1] / cuts[c]});
  }
  return pieces;
}

/// Merges dimensions that are adjacent before and after the transposition, which yields the shortest form.
void compress(DeviceOrder &order) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i + 1 < order.transpose.size() && !changed; ++i) {
      int64_t dim = order.transpose[i];
      if (order.transpose[i + 1] != dim + 1)
        continue;
      order.reshape[dim] *= order.reshape[dim + 1];
      order.reshape.erase(order.reshape.begin() + dim + 1);
      order.transpose.erase(order.transpose.begin() + i + 1);
      for (int64_t &other : order.transpose)
        other -= other > dim;
      changed = true;
    }
  }
}

} // namespace

HloSharding fromSdy(TensorShardingAttr sharding, MeshAttr mesh, ArrayRef<StringRef> manual) {
  HloSharding result;
  if (mesh.isMaximal()) {
    result.kind = HloSharding::Kind::Maximal;
    result.device = mesh.getDeviceIds()[0];
    return result;
  }
  std::vector<SubAxis> pieces = cutAxes(sharding, mesh);
  std::vector<bool> taken(pieces.size());
  DeviceOrder order;
  for (const SubAxis &piece : pieces)
    order.reshape.push_back(piece.size);
  auto take = [&](AxisRefAttr ref) {
    int64_t size = 1, position = mesh.getAxisPosition(ref.getName()), end = ref.getPreSize() * ref.getSize(mesh);
    for (auto [i, piece] : enumerate(pieces))
      if (int64_t(piece.dim) == position && piece.pre >= ref.getPreSize() && piece.pre < end && !taken[i]) {
        taken[i] = true;
        order.transpose.push_back(i);
        size *= piece.size;
      }
    return size;
  };
  result.kind = HloSharding::Kind::Tiled;
  for (DimensionShardingAttr dim : sharding.getDimShardings()) {
    result.tiles.push_back(1);
    for (AxisRefAttr axis : dim.getAxes())
      result.tiles.back() *= take(axis);
  }
  auto subgroup = [&](HloSharding::Subgroup kind, int64_t size) {
    if (size > 1) {
      result.subgroups.push_back(kind);
      result.tiles.push_back(size);
    }
  };
  int64_t manualSize = 1, unreducedSize = 1, replicatedSize = 1;
  for (StringRef axis : manual)
    if (mesh.getAxisPosition(axis) >= 0)
      manualSize *= take(AxisRefAttr::get(mesh.getContext(), axis, SubAxisInfoAttr()));
  for (AxisRefAttr axis : sharding.getUnreducedAxes())
    unreducedSize *= take(axis);
  for (auto [i, piece] : enumerate(pieces))
    if (!taken[i]) {
      order.transpose.push_back(i);
      replicatedSize *= piece.size;
    }
  int64_t devices = mesh.getTotalSize();
  if (replicatedSize == devices)
    return HloSharding();
  if (manualSize == devices || unreducedSize == devices) {
    HloSharding whole;
    whole.kind = manualSize == devices ? HloSharding::Kind::Manual : HloSharding::Kind::Unreduced;
    return whole;
  }
  subgroup(HloSharding::Subgroup::Manual, manualSize);
  subgroup(HloSharding::Subgroup::Unreduced, unreducedSize);
  subgroup(HloSharding::Subgroup::Replicated, replicatedSize);
  // Pieces of one device are redundant.
  for (size_t i = order.reshape.size(); i-- > 0;)
    if (order.reshape[i] == 1) {
      order.reshape.erase(order.reshape.begin() + i);
      erase(order.transpose, int64_t(i));
      for (int64_t &other : order.transpose)
        other -= other > int64_t(i);
    }
  compress(order);
  if (mesh.getDeviceIds().empty()) {
    result.order = order;
    return result;
  }
  for (int64_t position : order.devices())
    result.order.list.push_back(mesh.getDeviceIds()[position]);
  return result;
}

} // namespace millrace::sdy
