// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardedArrays.cpp - Between whole arrays and what devices hold of them -===//
#include "tools/support/ShardedArrays.h"

#include "passes/spmd/Placement.h"

#include <cstring>

namespace millrace::tools {
using namespace runtime;

namespace {

StatusOr<spmd::Placement> placementOf(const TensorSpec &local, int64_t devices) {
  spmd::Placement placement(local.dims.size());
  if (local.sharding.empty())
    return placement;
  std::string error;
  std::vector<int32_t> manual;
  auto sharding = sdy::parseHloSharding(local.sharding, error);
  // Inside of a manual program every device's value is its own.
  if (sharding && sharding->kind == sdy::HloSharding::Kind::Manual)
    return placement;
  if (!sharding || !spmd::fromHloSharding(*sharding, local.dims.size(), devices, placement, manual, error))
    return invalidArgument("sharding: " + error);
  return placement;
}

/// Copies between `whole` and a device's tile row by row; `toTile` says in which direction.
void copyTile(char *whole, const std::vector<int64_t> &wholeDims, char *tile, const std::vector<int64_t> &tileDims,
              const spmd::Placement &placement, int64_t device, size_t elementBytes, bool toTile) {
  size_t rank = tileDims.size();
  int64_t rows = 1, row = rank ? tileDims[rank - 1] : 1;
  for (size_t i = 0; i + 1 < rank; ++i)
    rows *= tileDims[i];
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, offset = rank ? placement[rank - 1].at(device) * tileDims[rank - 1] : 0;
    int64_t stride = rank ? wholeDims[rank - 1] : 1;
    for (size_t i = rank; i-- > 1;) {
      int64_t dim = i - 1;
      offset += (placement[dim].at(device) * tileDims[dim] + rest % tileDims[dim]) * stride;
      rest /= tileDims[dim];
      stride *= wholeDims[dim];
    }
    char *inWhole = whole + offset * elementBytes, *inTile = tile + r * row * elementBytes;
    std::memcpy(toTile ? inTile : inWhole, toTile ? inWhole : inTile, row * elementBytes);
  }
}

} // namespace

StatusOr<std::vector<int64_t>> globalDims(const TensorSpec &local, int64_t devices) {
  auto placement = placementOf(local, devices);
  if (!placement)
    return placement.status();
  std::vector<int64_t> dims = local.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != kDynamic)
      dims[i] *= (*placement)[i].count;
  return dims;
}

StatusOr<std::vector<Array>> cutIntoTiles(const Array &global, const TensorSpec &local, int64_t devices) {
  auto placement = placementOf(local, devices);
  if (!placement)
    return placement.status();
  if (spmd::isWhole(*placement))
    return std::vector<Array>(devices, global);
  std::vector<Array> tiles(devices);
  Array source = global;
  for (int64_t device = 0; device < devices; ++device) {
    Array &tile = tiles[device];
    tile.name = global.name;
    tile.dtype = global.dtype;
    tile.dims = local.dims;
    tile.bytes.resize(tile.numElements() * byteSize(tile.dtype));
    copyTile(source.bytes.data(), source.dims, tile.bytes.data(), tile.dims, *placement, device, byteSize(tile.dtype),
             /*toTile=*/true);
  }
  return tiles;
}

StatusOr<Array> joinTiles(const std::vector<const Array *> &tiles, const TensorSpec &local) {
  auto placement = placementOf(local, tiles.size());
  if (!placement)
    return placement.status();
  if (spmd::isWhole(*placement))
    return *tiles.front();
  Array whole = *tiles.front();
  for (size_t i = 0; i < whole.dims.size(); ++i)
    whole.dims[i] *= (*placement)[i].count;
  whole.bytes.assign(whole.numElements() * byteSize(whole.dtype), 0);
  for (size_t device = 0; device < tiles.size(); ++device) {
    Array tile = *tiles[device];
    copyTile(whole.bytes.data(), whole.dims, tile.bytes.data(), tile.dims, *placement, device, byteSize(whole.dtype),
             /*toTile=*/false);
  }
  return whole;
}

} // namespace millrace::tools
