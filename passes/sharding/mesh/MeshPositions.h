// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshPositions.h - Where devices are along axes of a mesh -----------===//
#pragma once

#include "dialects/sdy/Dialect.h"

#include <vector>

namespace millrace::sharding {

using AxisRefs = llvm::ArrayRef<sdy::AxisRefAttr>;

/// Numbers shards along lists of axes or sub-axes, major to minor. Devices have the numbers that programs use: the mesh's device_ids map positions to
/// devices.
class MeshPositions {
public:
  explicit MeshPositions(sdy::MeshAttr mesh) : mesh(mesh), devices(mesh.getTotalSize()) {}

  int64_t deviceCount() const { return devices; }
  /// Into how many parts the axes cut.
  int64_t partsAlong(AxisRefs axes) const;
  /// The part of each device.
  llvm::SmallVector<int64_t> partOfDevice(AxisRefs axes) const;
  /// Devices that differ along `axes` only, in the order of their parts.
  std::vector<std::vector<int64_t>> groupsAlong(AxisRefs axes) const;
  /// The devices' positions apart from `axes`, counted without gaps.
  llvm::SmallVector<int64_t> restOfDevice(AxisRefs axes) const;

private:
  struct Digit {
    int64_t stride, size;
  };
  llvm::SmallVector<Digit> digits(AxisRefs axes) const;
  int64_t deviceAt(int64_t position) const {
    return mesh.getDeviceIds().empty() ? position : mesh.getDeviceIds()[position];
  }

  sdy::MeshAttr mesh;
  int64_t devices;
};

} // namespace millrace::sharding
