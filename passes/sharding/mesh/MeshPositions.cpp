// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshPositions.cpp - Where devices are along axes of a mesh ---------===//
#include "passes/sharding/mesh/MeshPositions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {

SmallVector<MeshPositions::Digit> MeshPositions::digits(AxisRefs axes) const {
  SmallVector<Digit> result;
  for (sdy::AxisRefAttr axis : axes) {
    int64_t stride = 1;
    for (sdy::MeshAxisAttr minor : mesh.getAxes().drop_front(mesh.getAxisPosition(axis.getName()) + 1))
      stride *= minor.getSize();
    int64_t size = axis.getSize(mesh);
    result.push_back({stride * (mesh.getAxisSize(axis.getName()) / (axis.getPreSize() * size)), size});
  }
  return result;
}

int64_t MeshPositions::partsAlong(AxisRefs axes) const {
  int64_t parts = 1;
  for (sdy::AxisRefAttr axis : axes)
    parts *= axis.getSize(mesh);
  return parts;
}

SmallVector<int64_t> MeshPositions::partOfDevice(AxisRefs axes) const {
  SmallVector<int64_t> parts(devices);
  auto places = digits(axes);
  for (int64_t position = 0; position < devices; ++position) {
    int64_t part = 0;
    for (Digit digit : places)
      part = part * digit.size + position / digit.stride % digit.size;
    parts[deviceAt(position)] = part;
  }
  return parts;
}

SmallVector<int64_t> MeshPositions::restOfDevice(AxisRefs axes) const {
  SmallVector<int64_t> rest(devices);
  llvm::DenseMap<int64_t, int64_t> numbers;
  auto places = digits(axes);
  for (int64_t position = 0; position < devices; ++position) {
    int64_t key = position;
    for (Digit digit : places)
      key -= position / digit.stride % digit.size * digit.stride;
    rest[deviceAt(position)] = numbers.try_emplace(key, numbers.size()).first->second;
  }
  return rest;
}

std::vector<std::vector<int64_t>> MeshPositions::groupsAlong(AxisRefs axes) const {
  int64_t parts = partsAlong(axes);
  std::vector<std::vector<int64_t>> groups(devices / parts);
  for (auto &group : groups)
    group.resize(parts);
  for (auto [device, both] : llvm::enumerate(llvm::zip_equal(restOfDevice(axes), partOfDevice(axes))))
    groups[std::get<0>(both)][std::get<1>(both)] = device;
  return groups;
}

} // namespace millrace::sharding
