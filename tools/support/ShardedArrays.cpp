// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardedArrays.cpp - Between whole arrays and what devices hold of them -===//
#include "tools/support/ShardedArrays.h"

#include "passes/spmd/Placement.h"

#include <algorithm>
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

/// Copies between `whole` and a device's tile row by row, as far as the tile lies inside of the whole; `toTile` says in which
/// direction.
void copyTile(char *whole, const std::vector<int64_t> &wholeDims, char *tile, const std::vector<int64_t> &tileDims,
              const spmd::Placement &placement, int64_t device, size_t elementBytes, bool toTile) {
  size_t rank = tileDims.size();
  std::vector<int64_t> begin(rank), inside(rank);
  int64_t rows = 1;
  for (size_t i = 0; i < rank; ++i) {
    begin[i] = placement[i].at(device) * tileDims[i];
    inside[i] = std::clamp<int64_t>(wholeDims[i] - begin[i], 0, tileDims[i]);
    rows *= i + 1 < rank ? inside[i] : 1;
  }
  int64_t row = rank ? inside[rank - 1] : 1;
  for (int64_t r = 0; r < rows && row > 0; ++r) {
    int64_t rest = r, inTile = 0, inWhole = rank ? begin[rank - 1] : 0;
    int64_t tileStride = rank ? tileDims[rank - 1] : 1, wholeStride = rank ? wholeDims[rank - 1] : 1;
    for (size_t i = rank; i-- > 1;) {
      int64_t at = rest % inside[i - 1];
      rest /= inside[i - 1];
      inTile += at * tileStride;
      inWhole += (begin[i - 1] + at) * wholeStride;
      tileStride *= tileDims[i - 1];
      wholeStride *= wholeDims[i - 1];
    }
    char *there = whole + inWhole * elementBytes, *here = tile + inTile * elementBytes;
    std::memcpy(toTile ? here : there, toTile ? there : here, row * elementBytes);
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
    // Beyond the array stands no zero, which a sum that lacks its mask would not show.
    tile.bytes.assign(tile.numElements() * byteSize(tile.dtype), tile.dtype == runtime::DType::I1 ? 1 : 0x4A);
    copyTile(source.bytes.data(), source.dims, tile.bytes.data(), tile.dims, *placement, device, byteSize(tile.dtype),
             /*toTile=*/true);
  }
  return tiles;
}

StatusOr<Array> joinTiles(const std::vector<const Array *> &tiles, const TensorSpec &local, std::vector<int64_t> wholeDims) {
  auto placement = placementOf(local, tiles.size());
  if (!placement)
    return placement.status();
  if (spmd::isWhole(*placement))
    return *tiles.front();
  Array whole = *tiles.front();
  if (wholeDims.empty()) {
    auto dims = globalDims(local, tiles.size());
    if (!dims)
      return dims.status();
    wholeDims = *dims;
  }
  whole.dims = std::move(wholeDims);
  whole.bytes.assign(whole.numElements() * byteSize(whole.dtype), 0);
  for (size_t device = 0; device < tiles.size(); ++device) {
    Array tile = *tiles[device];
    copyTile(whole.bytes.data(), whole.dims, tile.bytes.data(), tile.dims, *placement, device, byteSize(whole.dtype),
             /*toTile=*/false);
  }
  return whole;
}

bool isTileOf(const Array &tile, const Array &whole, const TensorSpec &local, int64_t device, int64_t devices) {
  auto placement = placementOf(local, devices);
  if (!placement)
    return false;
  Bytes bytes = whole.bytes, part = tile.bytes;
  copyTile(bytes.data(), whole.dims, part.data(), tile.dims, *placement, device, byteSize(whole.dtype), /*toTile=*/false);
  return bytes == whole.bytes;
}

} // namespace millrace::tools
