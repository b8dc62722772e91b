// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshGroups.cpp - Replica groups as axes of a mesh -------------------===//
#include "dialects/stablehlo/verify/MeshGroups.h"

using namespace mlir;

namespace millrace::stablehlo {
namespace {

/// A piece of an axis, which is cut at the borders of the sub-axes in use.
struct SubAxis {
  int64_t size;
  bool grouped;
  size_t order; ///< position among the axes of the groups
  int64_t stride = 0;
};

/// Returns the pieces of `axis`, from the outermost on. Returns false if a sub-axis does not divide it.
bool cut(MeshAxisAttr axis, ArrayAttr refs, SmallVectorImpl<SubAxis> &parts) {
  struct Used {
    int64_t before, size;
    size_t order;
  };
  SmallVector<Used> used;
  for (auto [order, attr] : llvm::enumerate(refs)) {
    auto ref = cast<AxisRefAttr>(attr);
    if (ref.getName() != axis.getName())
      continue;
    if (auto sub = ref.getSubAxisInfo())
      used.push_back({sub.getPreSize(), sub.getSize(), order});
    else
      used.push_back({1, axis.getSize(), order});
  }
  llvm::sort(used, [](const Used &a, const Used &b) { return a.before < b.before; });
  int64_t done = 1;
  for (auto [before, size, order] : used) {
    if (before < done || before % done || size <= 0 || axis.getSize() % (before * size))
      return false;
    if (before > done)
      parts.push_back({before / done, false, 0});
    parts.push_back({size, true, order});
    done = before * size;
  }
  if (axis.getSize() > done)
    parts.push_back({axis.getSize() / done, false, 0});
  return true;
}

/// Returns all sums of one multiple of each part's stride, the last part fastest.
SmallVector<int64_t> offsets(ArrayRef<SubAxis> parts) {
  SmallVector<int64_t> result = {0};
  for (const SubAxis &part : parts) {
    SmallVector<int64_t> longer;
    for (int64_t base : result)
      for (int64_t i = 0; i < part.size; ++i)
        longer.push_back(base + i * part.stride);
    result = std::move(longer);
  }
  return result;
}

} // namespace

LogicalResult groupsOfMesh(ReplicaGroupMeshAxesAttr attr, SmallVectorImpl<SmallVector<int64_t>> &groups,
                           std::string &why) {
  auto mesh = dyn_cast<MeshAttr>(attr.getMesh());
  if (!mesh) {
    why = "expects the mesh of replica groups in place, not by name";
    return failure();
  }
  if (!llvm::all_of(attr.getAxes(), llvm::IsaPred<AxisRefAttr>)) {
    why = "expects the axes of replica groups to be #stablehlo.axis_ref";
    return failure();
  }
  SmallVector<SubAxis> parts;
  for (Attribute axis : mesh.getAxes())
    if (!cut(cast<MeshAxisAttr>(axis), attr.getAxes(), parts)) {
      why = "a sub-axis does not fit its axis";
      return failure();
    }
  int64_t stride = 1;
  for (SubAxis &part : llvm::reverse(parts)) {
    part.stride = stride;
    stride *= part.size;
  }
  SmallVector<SubAxis> inner, outer;
  for (const SubAxis &part : parts)
    (part.grouped ? inner : outer).push_back(part);
  llvm::sort(inner, [](const SubAxis &a, const SubAxis &b) { return a.order < b.order; });
  SmallVector<int64_t> ids;
  if (DenseIntElementsAttr deviceIds = mesh.getDeviceIds())
    for (const APInt &id : deviceIds.getValues<APInt>())
      ids.push_back(id.getSExtValue());
  SmallVector<int64_t> within = offsets(inner);
  for (int64_t base : offsets(outer)) {
    SmallVector<int64_t> &group = groups.emplace_back();
    for (int64_t offset : within) {
      int64_t device = base + offset;
      group.push_back(device < int64_t(ids.size()) ? ids[device] : device);
    }
  }
  return success();
}

} // namespace millrace::stablehlo
