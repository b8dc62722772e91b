// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardedArrays.cpp - Convert between whole arrays and tiles ---------===//
#include "tools/support/run/ShardedArrays.h"

#include "passes/spmd/Placement.h"
#include "runtime/collective/Collective.h"

#include <algorithm>
#include <cstring>

namespace millrace::tools {
using namespace runtime;

namespace {

/// What a device holds: a tile, or, for unreduced values, one of the tile's summands.
struct Holding {
  spmd::Placement placement;
  spmd::Tiles summands;

  bool isAll() const { return spmd::isWhole(placement) && summands.isWhole(); }
};

/// Returns a sharding in which the subgroup `kind` of devices numbers manual groups; all other subgroups are replicas.
sdy::HloSharding numbering(sdy::HloSharding sharding, sdy::HloSharding::Subgroup kind) {
  using Subgroup = sdy::HloSharding::Subgroup;
  for (Subgroup &subgroup : sharding.subgroups)
    subgroup = subgroup == kind ? Subgroup::Manual : Subgroup::Replicated;
  return sharding;
}

StatusOr<Holding> holdingOf(const TensorSpec &local, int64_t devices) {
  using Kind = sdy::HloSharding::Kind;
  Holding holding{spmd::Placement(local.dims.size()), {}};
  if (local.sharding.empty())
    return holding;
  std::string error;
  auto sharding = sdy::parseHloSharding(local.sharding, error);
  // In a manual program every device has its own value.
  if (sharding && sharding->kind == Kind::Manual)
    return holding;
  if (sharding && sharding->kind == Kind::Unreduced)
    sharding->kind = Kind::Manual;
  else if (sharding)
    sharding = numbering(*sharding, sdy::HloSharding::Subgroup::Unreduced);
  std::vector<int32_t> numbers;
  if (!sharding || !spmd::fromHloSharding(*sharding, local.dims.size(), devices, holding.placement, numbers, error))
    return invalidArgument("sharding: " + error);
  if (!numbers.empty()) {
    holding.summands = spmd::normal({*std::max_element(numbers.begin(), numbers.end()) + 1, numbers});
    if (local.dtype == DType::F8E8M0FNU)
      return invalidArgument("sharding: expected a type that has a zero for a sum, but got f8E8M0FNU: " + local.sharding);
  }
  return holding;
}

/// Returns the bytes of the neutral element of the addition: -0 for floats, because 0 + -0 is 0.
Bytes nothingOf(DType type) {
  Bytes bytes(byteSize(type), 0);
  bool isFloat = type == DType::BF16 || type == DType::F16 || type == DType::F32 || type == DType::F64;
  bool isComplex = type == DType::C64 || type == DType::C128;
  if (isFloat || isComplex)
    bytes[bytes.size() - 1] = char(0x80);
  if (isComplex)
    bytes[bytes.size() / 2 - 1] = char(0x80);
  return bytes;
}

/// Of a sum, keeps every element on one of the devices that hold the tile's summands, and sets it to the neutral element on the others.
void keepOwnElements(Array &tile, const spmd::Tiles &summands, int64_t device) {
  Bytes nothing = nothingOf(tile.dtype);
  for (int64_t i = 0, elements = tile.numElements(); i < elements; ++i)
    if (i % summands.count != summands.at(device))
      std::copy(nothing.begin(), nothing.end(), tile.bytes.begin() + i * nothing.size());
}

/// Copies between `whole` and a device's tile row by row, as far as the tile is inside of the whole; `toTile` is the direction.
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
  auto holding = holdingOf(local, devices);
  if (!holding)
    return holding.status();
  std::vector<int64_t> dims = local.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != kDynamic)
      dims[i] *= holding->placement[i].count;
  return dims;
}

StatusOr<std::vector<Array>> cutIntoTiles(const Array &global, const TensorSpec &local, int64_t devices) {
  auto holding = holdingOf(local, devices);
  if (!holding)
    return holding.status();
  if (holding->isAll())
    return std::vector<Array>(devices, global);
  std::vector<Array> tiles(devices);
  Array source = global;
  for (int64_t device = 0; device < devices; ++device) {
    Array &tile = tiles[device];
    tile.name = global.name;
    tile.dtype = global.dtype;
    tile.dims = local.dims;
    // The padding is not zero, because a sum without the required mask would not be detected then.
    tile.bytes.assign(tile.numElements() * byteSize(tile.dtype), tile.dtype == runtime::DType::I1 ? 1 : 0x4A);
    copyTile(source.bytes.data(), source.dims, tile.bytes.data(), tile.dims, holding->placement, device, byteSize(tile.dtype),
             /*toTile=*/true);
    if (!holding->summands.isWhole())
      keepOwnElements(tile, holding->summands, device);
  }
  return tiles;
}

StatusOr<Array> joinTiles(const std::vector<const Array *> &tiles, const TensorSpec &local, std::vector<int64_t> wholeDims) {
  auto holding = holdingOf(local, tiles.size());
  if (!holding)
    return holding.status();
  if (holding->isAll())
    return *tiles.front();
  Array whole = *tiles.front();
  if (wholeDims.empty()) {
    auto dims = globalDims(local, tiles.size());
    if (!dims)
      return dims.status();
    wholeDims = *dims;
  }
  whole.dims = std::move(wholeDims);
  size_t size = byteSize(whole.dtype);
  whole.bytes.assign(whole.numElements() * size, 0);
  for (int64_t summand = 0; summand < holding->summands.count; ++summand) {
    Bytes sum = std::move(whole.bytes);
    whole.bytes.assign(sum.size(), 0);
    for (size_t device = 0; device < tiles.size(); ++device) {
      if (holding->summands.at(device) != summand)
        continue;
      Array tile = *tiles[device];
      copyTile(whole.bytes.data(), whole.dims, tile.bytes.data(), tile.dims, holding->placement, device, size, /*toTile=*/false);
    }
    if (summand && !reduceElements(CollectiveStep::Reduction::Sum, whole.dtype, sum.data(), whole.bytes.data(), whole.bytes.data(), whole.numElements()))
      return invalidArgument("sharding: expected a type that can be summed, but got " + std::string(name(whole.dtype)) + ": " + local.sharding);
  }
  return whole;
}

bool isTileOf(const Array &tile, const Array &whole, const TensorSpec &local, int64_t device, int64_t devices) {
  auto holding = holdingOf(local, devices);
  if (!holding)
    return false;
  if (!holding->summands.isWhole())
    return true;
  Bytes bytes = whole.bytes, part = tile.bytes;
  copyTile(bytes.data(), whole.dims, part.data(), tile.dims, holding->placement, device, byteSize(whole.dtype), /*toTile=*/false);
  return bytes == whole.bytes;
}

} // namespace millrace::tools
