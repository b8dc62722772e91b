// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CommonMesh.cpp - Strings about the same devices, in axes that they have in common -===//
#include "passes/sharding/mesh/CommonMesh.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {

const sdy::HloSharding *HloShardings::read(StringAttr text, std::string *error) {
  if (!text)
    return nullptr;
  auto [it, isNew] = known.try_emplace(text);
  std::string reason;
  if (isNew || (!it->second && error)) {
    auto sharding = sdy::parseHloSharding(text.getValue(), reason);
    bool isOne = sharding && sharding->kind == sdy::HloSharding::Kind::Tuple && sharding->elements.size() == 1;
    if (sharding)
      it->second = std::make_shared<const sdy::HloSharding>(isOne ? sdy::HloSharding(sharding->elements[0]) : *sharding);
  }
  if (error)
    *error = reason;
  return it->second.get();
}

std::optional<int64_t> groupOf(const sdy::HloSharding &sharding) {
  int64_t group;
  if (StringRef(sharding.group).rsplit(' ').second.getAsInteger(10, group))
    return std::nullopt;
  return group;
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

Strides stridesOf(sdy::TensorShardingAttr sharding, ArrayRef<sdy::AxisRefAttr> manual, sdy::MeshAttr mesh) {
  int64_t stride = mesh.getTotalSize();
  Strides strides = {1, stride};
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    strides.insert(stride /= axis.getSize());
  auto cut = [&](sdy::AxisRefAttr axis) {
    int64_t begin = strideAt(mesh, axis.getName());
    strides.insert(begin / axis.getPreSize());
    strides.insert(begin / (axis.getPreSize() * axis.getSize(mesh)));
  };
  sharding.walkAxes(cut);
  llvm::for_each(manual, cut);
  return strides;
}

bool isChain(const Strides &strides) {
  int64_t before = 1;
  for (int64_t stride : strides) {
    if (stride % before != 0)
      return false;
    before = stride;
  }
  return true;
}

sdy::MeshAttr meshWith(const Strides &strides, StringRef prefix, ArrayRef<int64_t> devices, MLIRContext *context) {
  SmallVector<int64_t> sizes(strides.rbegin(), strides.rend());
  SmallVector<sdy::MeshAxisAttr> axes;
  for (size_t i = 1; i < sizes.size(); ++i)
    axes.push_back(sdy::MeshAxisAttr::get(context, (prefix + Twine(i - 1)).str(), sizes[i - 1] / sizes[i]));
  return sdy::MeshAttr::get(context, axes, devices);
}

void appendIn(SmallVectorImpl<sdy::AxisRefAttr> &axes, sdy::AxisRefAttr axis, sdy::MeshAttr from, sdy::MeshAttr mesh) {
  int64_t begin = strideAt(from, axis.getName()) / axis.getPreSize(), end = begin / axis.getSize(from);
  int64_t first = mesh.getTotalSize();
  for (sdy::MeshAxisAttr each : mesh.getAxes()) {
    int64_t last = first / each.getSize(), partBegin = std::min(first, begin), partEnd = std::max(last, end);
    if (partBegin > partEnd) {
      int64_t pre = first / partBegin, size = partBegin / partEnd;
      // Two parts that meet are one.
      if (!axes.empty() && axes.back().getName() == each.getName() && axes.back().getPreSize() * axes.back().getSize(mesh) == pre) {
        pre = axes.back().getPreSize();
        size *= axes.pop_back_val().getSize(mesh);
      }
      auto part = size == each.getSize() ? sdy::SubAxisInfoAttr() : sdy::SubAxisInfoAttr::get(mesh.getContext(), pre, size);
      axes.push_back(sdy::AxisRefAttr::get(mesh.getContext(), each.getName(), part));
    }
    first = last;
  }
}

sdy::TensorShardingAttr sayIn(sdy::TensorShardingAttr sharding, FlatSymbolRefAttr name, sdy::MeshAttr mesh) {
  auto from = cast<sdy::MeshAttr>(sharding.getMeshOrRef());
  auto convert = [&](ArrayRef<sdy::AxisRefAttr> list) {
    SmallVector<sdy::AxisRefAttr> axes;
    for (sdy::AxisRefAttr axis : list)
      appendIn(axes, axis, from, mesh);
    return axes;
  };
  auto inOrder = [&](ArrayRef<sdy::AxisRefAttr> list) {
    SmallVector<sdy::AxisRefAttr> axes = convert(list);
    llvm::sort(axes, [&](sdy::AxisRefAttr a, sdy::AxisRefAttr b) {
      auto key = [&](sdy::AxisRefAttr axis) { return std::tuple(mesh.getAxisPosition(axis.getName()), axis.getPreSize()); };
      return key(a) < key(b);
    });
    return axes;
  };
  auto dims = llvm::map_to_vector(sharding.getDimShardings(), [&](sdy::DimensionShardingAttr dim) {
    return sdy::DimensionShardingAttr::get(dim.getContext(), convert(dim.getAxes()), dim.getIsClosed(), dim.getPriority());
  });
  return sdy::TensorShardingAttr::get(sharding.getContext(), name, dims, inOrder(sharding.getReplicatedAxes()),
                                      inOrder(sharding.getUnreducedAxes()), sharding.getReductionOp());
}

MeshAdder::MeshAdder(ModuleOp module) : symbols(module), builder(OpBuilder::atBlockBegin(module.getBody())) {}

FlatSymbolRefAttr MeshAdder::add(StringRef name, sdy::MeshAttr mesh) {
  auto op = sdy::MeshOp::create(builder, symbols.getOp()->getLoc(), name, mesh);
  symbols.insert(op);
  return FlatSymbolRefAttr::get(op.getSymNameAttr());
}

FlatSymbolRefAttr MeshAdder::add(StringRef name, int64_t device) {
  return add((name + Twine(device)).str(), sdy::MeshAttr::get(builder.getContext(), {}, device));
}

} // namespace millrace::sharding
