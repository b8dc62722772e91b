// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloSharding.h - The strings of `mhlo.sharding` as plain data -------===//
// There are three notations of a sharding: tiles with a list of devices, tiles with a compressed list (`<=[2,4]T(1,0)`), and axes of a named mesh.
// XLA calls them V1, V2 and V3.
#pragma once
#include "dialects/sdy/Dialect.h"
#include <optional>
#include <string>
#include <vector>

namespace millrace::sdy {

/// A list of devices: explicit, or 0, 1, 2, ... reshaped to `reshape`, transposed by `transpose` and flattened.
struct DeviceOrder {
  std::vector<int64_t> list;
  std::vector<int64_t> reshape, transpose;

  std::vector<int64_t> devices() const;
  bool operator==(const DeviceOrder &) const = default;
};

/// `'x'` or `'x':(2)4` in a named sharding.
struct NamedAxis {
  std::string name;
  int64_t pre = 1, size = 0; ///< size 0 means the whole axis
  bool operator==(const NamedAxis &) const = default;
};
struct NamedDimension {
  std::vector<NamedAxis> axes;
  bool open = false;
  bool operator==(const NamedDimension &) const = default;
};

struct HloSharding {
  enum class Kind { Replicated, Maximal, Manual, Unknown, Unreduced, Tiled, Named, Tuple };
  enum class Subgroup { Replicated, Manual, Unreduced };

  Kind kind = Kind::Replicated;
  int64_t device = 0; ///< of Maximal: the device that holds the whole tensor

  /// Of Tiled: the number of shards per dimension of the tensor, then the sizes of the groups of devices that hold the same tile.
  /// The device at position (t0, t1, ..., g0, ...) of `order`, row-major, holds tile (t0, t1, ...).
  std::vector<int64_t> tiles;
  std::vector<Subgroup> subgroups;
  DeviceOrder order; ///< of Tiled and Named

  /// Named.
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<NamedDimension> dimensions;
  std::vector<NamedAxis> replicated, unreduced, manual;

  std::vector<HloSharding> elements; ///< Tuple

  /// The number of `shard_as N` or `shard_like N`; metadata is kept as text.
  std::string group, metadata;

  bool operator==(const HloSharding &) const = default;
};

/// Parses a sharding. Returns null, with the reason and its position in `error`, if `text` is not a sharding.
std::optional<HloSharding> parseHloSharding(llvm::StringRef text, std::string &error);
std::string toString(const HloSharding &sharding);
/// Returns the bytes of XLA's OpSharding message, in which PJRT clients expect shardings. Named shardings have no such form and must be converted to
/// tiles before.
std::string toOpShardingProto(const HloSharding &sharding);

/// Converts tiles to axes: a sharding with an inlined mesh whose axes are derived from the device order. Manual axes cannot be a part of it and are
/// returned in `manual`. Returns null, with the reason in `error`, for shardings that sdy cannot express for a tensor of this rank.
TensorShardingAttr toSdy(const HloSharding &sharding, int64_t rank, mlir::MLIRContext *context,
                         llvm::SmallVectorImpl<AxisRefAttr> &manual, std::string &error);
/// Converts axes to tiles; axes in `manual`, and unreduced ones, become subgroups of devices.
HloSharding fromSdy(TensorShardingAttr sharding, MeshAttr mesh, llvm::ArrayRef<llvm::StringRef> manual = {});

} // namespace millrace::sdy
