// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Placement.h - Which part of a value each device holds --------------===//
// Plain data. A dimension is cut into equal tiles, and every device holds one of them: any assignment of tiles to devices
// can be said, so meshes, sub-axes and lists of devices all end up here.
#pragma once

#include "dialects/sdy/HloSharding.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace millrace::spmd {

/// How one dimension is cut into `count` tiles: `of[device]` is the tile that the device holds; empty for a whole dimension.
struct Tiles {
  int64_t count = 1;
  std::vector<int32_t> of;

  int32_t at(int64_t device) const { return of.empty() ? 0 : of[device]; }
  bool isWhole() const { return count == 1; }
  bool operator==(const Tiles &) const = default;
};

/// Whole dimensions have one representation.
Tiles normal(Tiles tiles);
/// Returns true if every tile of `fine` is within the same device's tile of `coarse`.
bool refines(const Tiles &fine, const Tiles &coarse);
/// The tiles of `fine` counted inside the tiles of `coarse`. Needs refines.
Tiles within(const Tiles &fine, const Tiles &coarse);
/// The other way round: tiles of `coarse`, each cut again by `inner`.
Tiles compose(const Tiles &coarse, const Tiles &inner);

/// Returns the elements of one tile of a dimension of `size`. Where tiles do not divide it, the last tiles have padding, whose elements are
/// undefined.
inline int64_t tileSize(int64_t size, const Tiles &tiles) { return (size + tiles.count - 1) / tiles.count; }
/// The tiles are full.
inline bool divides(const Tiles &tiles, int64_t size) { return size % tiles.count == 0; }
/// Returns true if tiles of `coarse` consist of whole tiles of `fine` on the same devices: gathering or slicing converts one to the other.
bool subdivides(const Tiles &fine, const Tiles &coarse, int64_t size);

/// One entry per dimension of the tensor.
using Placement = llvm::SmallVector<Tiles, 2>;

bool isWhole(const Placement &placement);

/// Devices that see the same value: inside a manual computation those that agree along the manual axes. `group[device]`
/// numbers the groups.
struct Scope {
  std::vector<int32_t> group;
  int32_t count = 1;

  static Scope all(int64_t devices) { return {std::vector<int32_t>(devices, 0), 1}; }
  /// Groups split further by a number per device.
  Scope splitBy(llvm::ArrayRef<int32_t> key) const;
  bool operator==(const Scope &) const = default;
};

/// Every combination of tiles is held, and equally often, by the devices of every group: the condition under which
/// all_gather and all_reduce find their partners.
bool isUniform(llvm::ArrayRef<const Tiles *> tiles, const Scope &scope);
bool isUniform(const Placement &placement, const Scope &scope);

using ReplicaGroups = std::vector<std::vector<int64_t>>;

/// Groups of devices that agree on scope and `same` and hold each combination of `collected` once, in row-major order.
ReplicaGroups groupsFor(llvm::ArrayRef<const Tiles *> same, llvm::ArrayRef<const Tiles *> collected, const Scope &scope);

/// Returns pairs (source, target) of devices of a group such that every device receives its tile of `after` from one that holds it before; no device
/// sends twice. A device that has its tile already sends to itself. Needs equal tile counts, both uniform.
ReplicaGroups permutationTo(const Placement &before, const Placement &after, const Scope &scope);

/// The same placement as a string for people and clients: tiles, then replicas; a list of devices where it is regular as
/// a transposed iota. Without tiles: replicated.
sdy::HloSharding describe(const Placement &placement, int64_t devices);

/// The placement that an HLO sharding means; manual subgroups are numbered in `manualKey` (empty without them). False if
/// it is none (`{manual}`, tuples, wrong number of devices), with the reason in `error`. Maximal counts as whole.
bool fromHloSharding(const sdy::HloSharding &sharding, int64_t rank, int64_t devices, Placement &placement,
                     std::vector<int32_t> &manualKey, std::string &error);

/// Tiles along axes of a mesh, major to minor.
Tiles tilesOfAxes(llvm::ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh);

} // namespace millrace::spmd
