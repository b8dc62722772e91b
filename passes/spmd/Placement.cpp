// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Placement.cpp - Arithmetic on tiles of devices ---------------------===//
#include "passes/spmd/Placement.h"

#include "llvm/ADT/STLExtras.h"
#include <map>
#include <numeric>

using namespace llvm;

namespace millrace::spmd {

bool refines(const Tiles &fine, const Tiles &coarse) {
  if (coarse.isWhole())
    return true;
  if (fine.count % coarse.count != 0)
    return false;
  int64_t ratio = fine.count / coarse.count;
  for (size_t device = 0; device < fine.of.size(); ++device)
    if (fine.of[device] / ratio != coarse.at(device))
      return false;
  return true;
}

bool subdivides(const Tiles &fine, const Tiles &coarse, int64_t size) {
  return coarse.isWhole() ||
         (refines(fine, coarse) && fine.count / coarse.count * tileSize(size, fine) == tileSize(size, coarse));
}

Tiles normal(Tiles tiles) { return tiles.count == 1 ? Tiles() : tiles; }

Tiles within(const Tiles &fine, const Tiles &coarse) {
  Tiles inner{fine.count / coarse.count, fine.of};
  for (int32_t &tile : inner.of)
    tile %= inner.count;
  return normal(inner);
}

Tiles compose(const Tiles &coarse, const Tiles &inner) {
  if (coarse.isWhole())
    return inner;
  Tiles result{coarse.count * inner.count, coarse.of};
  for (size_t device = 0; device < result.of.size(); ++device)
    result.of[device] = result.of[device] * inner.count + inner.at(device);
  return result;
}

bool isWhole(const Placement &placement) {
  return all_of(placement, [](const Tiles &tiles) { return tiles.isWhole(); });
}

Scope Scope::splitBy(ArrayRef<int32_t> key) const {
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers;
  Scope result{std::vector<int32_t>(group.size()), 0};
  for (size_t device = 0; device < group.size(); ++device) {
    auto [it, inserted] = numbers.try_emplace({group[device], key[device]}, int32_t(numbers.size()));
    result.group[device] = it->second;
  }
  result.count = numbers.size();
  return result;
}

bool isUniform(ArrayRef<const Tiles *> tiles, const Scope &scope) {
  int64_t combinations = 1, devices = scope.group.size();
  for (const Tiles *each : tiles) {
    combinations *= each->count;
    if (combinations > devices)
      return false;
  }
  std::vector<int64_t> sizes(scope.count), held(scope.count * combinations);
  for (int64_t device = 0; device < devices; ++device) {
    int64_t index = 0;
    for (const Tiles *each : tiles)
      index = index * each->count + each->at(device);
    ++sizes[scope.group[device]];
    ++held[scope.group[device] * combinations + index];
  }
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i] * combinations != sizes[i / combinations])
      return false;
  return true;
}

static SmallVector<const Tiles *> pointers(const Placement &placement) {
  SmallVector<const Tiles *> result;
  for (const Tiles &tiles : placement)
    result.push_back(&tiles);
  return result;
}

bool isUniform(const Placement &placement, const Scope &scope) { return isUniform(pointers(placement), scope); }

ReplicaGroups groupsFor(ArrayRef<const Tiles *> same, ArrayRef<const Tiles *> collected, const Scope &scope) {
  // Devices that could be partners, each with the combination it holds.
  std::map<std::vector<int32_t>, std::vector<std::pair<int64_t, int64_t>>> buckets;
  int64_t combinations = 1;
  for (const Tiles *each : collected)
    combinations *= each->count;
  for (size_t device = 0; device < scope.group.size(); ++device) {
    std::vector<int32_t> key{scope.group[device]};
    for (const Tiles *each : same)
      key.push_back(each->at(device));
    int64_t index = 0;
    for (const Tiles *each : collected)
      index = index * each->count + each->at(device);
    buckets[key].push_back({index, int64_t(device)});
  }
  ReplicaGroups groups;
  for (auto &[key, members] : buckets) {
    size_t first = groups.size(), copies = members.size() / combinations;
    groups.resize(first + copies, std::vector<int64_t>(combinations, -1));
    std::vector<size_t> seen(combinations);
    for (auto [index, device] : members)
      groups[first + seen[index]++][index] = device;
  }
  return groups;
}

ReplicaGroups permutationTo(const Placement &before, const Placement &after, const Scope &scope) {
  auto key = [&](const Placement &placement, size_t device) {
    std::vector<int32_t> result{scope.group[device]};
    for (const Tiles &tiles : placement)
      result.push_back(tiles.at(device));
    return result;
  };
  // `holders` are the devices that hold a tile and do not keep it themselves.
  std::map<std::vector<int32_t>, std::vector<int64_t>> holders;
  for (size_t device = 0; device < scope.group.size(); ++device)
    if (key(before, device) != key(after, device))
      holders[key(before, device)].push_back(device);
  ReplicaGroups pairs;
  for (size_t device = 0; device < scope.group.size(); ++device) {
    std::vector<int32_t> wanted = key(after, device);
    if (key(before, device) == wanted) {
      pairs.push_back({int64_t(device), int64_t(device)});
      continue;
    }
    std::vector<int64_t> &free = holders[wanted];
    pairs.push_back({free.back(), int64_t(device)});
    free.pop_back();
  }
  return pairs;
}

//===-- Strings -----------------------------------------------------------===//

/// Writes the list as a transposed iota if it is one: digits of the position, minor to major, that step by constants.
static bool compress(ArrayRef<int64_t> list, sdy::DeviceOrder &order) {
  SmallVector<std::pair<int64_t, int64_t>> digits; // size and step, minor to major
  int64_t block = 1, total = list.size();
  while (block < total) {
    int64_t step = list[block] - list[0], size = 1;
    auto repeats = [&](int64_t times) {
      for (int64_t i = 0; i < block; ++i)
        if (list[times * block + i] != list[i] + times * step)
          return false;
      return true;
    };
    while ((size + 1) * block <= total && repeats(size))
      ++size;
    if (size == 1 || step <= 0 || total % (block * size) != 0)
      return false;
    digits.push_back({size, step});
    block *= size;
  }
  if (digits.empty())
    digits.push_back({1, 1});
  // The dimensions of the iota in the order of their steps, the largest (major) first.
  SmallVector<size_t> byStep(digits.size());
  std::iota(byStep.begin(), byStep.end(), 0);
  llvm::sort(byStep, [&](size_t a, size_t b) { return digits[a].second > digits[b].second; });
  int64_t expected = 1;
  for (size_t i : llvm::reverse(byStep)) {
    if (digits[i].second != expected)
      return false;
    expected *= digits[i].first;
  }
  order = {};
  for (size_t i : byStep)
    order.reshape.push_back(digits[i].first);
  for (size_t i = digits.size(); i-- > 0;)
    order.transpose.push_back(llvm::find(byStep, i) - byStep.begin());
  return list[0] == 0;
}

sdy::HloSharding describe(const Placement &placement, int64_t devices) {
  sdy::HloSharding result;
  if (isWhole(placement))
    return result;
  result.kind = sdy::HloSharding::Kind::Tiled;
  int64_t combinations = 1;
  for (const Tiles &tiles : placement) {
    result.tiles.push_back(tiles.count);
    combinations *= tiles.count;
  }
  // One group without common tiles holds everything; its copies are the replicas.
  std::vector<std::vector<int64_t>> holders(combinations);
  for (int64_t device = 0; device < devices; ++device) {
    int64_t index = 0;
    for (const Tiles &tiles : placement)
      index = index * tiles.count + tiles.at(device);
    holders[index].push_back(device);
  }
  if (devices > combinations) {
    result.tiles.push_back(devices / combinations);
    result.subgroups.push_back(sdy::HloSharding::Subgroup::Replicated);
  }
  std::vector<int64_t> list;
  for (const auto &each : holders)
    list.insert(list.end(), each.begin(), each.end());
  if (!compress(list, result.order)) {
    result.order = {};
    result.order.list = list;
  }
  return result;
}

bool fromHloSharding(const sdy::HloSharding &sharding, int64_t rank, int64_t devices, Placement &placement,
                     std::vector<int32_t> &manualKey, std::string &error) {
  using Kind = sdy::HloSharding::Kind;
  placement.assign(rank, Tiles());
  manualKey.clear();
  if (sharding.kind == Kind::Maximal && (sharding.device < 0 || sharding.device >= devices)) {
    error = "expected one of the program's " + std::to_string(devices) + " devices, but got device " + std::to_string(sharding.device) +
            ": " + toString(sharding);
    return false;
  }
  if (sharding.kind == Kind::Replicated || sharding.kind == Kind::Maximal || sharding.kind == Kind::Unknown)
    return true;
  if (sharding.kind == Kind::Manual) {
    manualKey.resize(devices);
    std::iota(manualKey.begin(), manualKey.end(), 0);
    return true;
  }
  if (sharding.kind != Kind::Tiled) {
    error = "expected tiles or replication, but got " + toString(sharding);
    return false;
  }
  std::vector<int64_t> order = sharding.order.devices();
  auto outside = find_if(order, [&](int64_t id) { return id >= devices; });
  if (int64_t(order.size()) != devices || outside != order.end()) {
    error = "expected all of the program's " + std::to_string(devices) + " devices, but got " +
            (int64_t(order.size()) != devices ? std::to_string(order.size()) : "device " + std::to_string(*outside)) + ": " + toString(sharding);
    return false;
  }
  int64_t dims = int64_t(sharding.tiles.size()) - int64_t(sharding.subgroups.size());
  if (dims != rank) {
    error = "expected a sharding of rank " + std::to_string(rank) + ", but got one of rank " + std::to_string(dims) + ": " + toString(sharding);
    return false;
  }
  for (int64_t dim = 0; dim < rank; ++dim)
    if (sharding.tiles[dim] > 1)
      placement[dim] = {sharding.tiles[dim], std::vector<int32_t>(devices)};
  bool manual = is_contained(sharding.subgroups, sdy::HloSharding::Subgroup::Manual);
  if (manual)
    manualKey.resize(devices);
  for (auto [position, device] : enumerate(order)) {
    int64_t rest = position, stride = 1;
    for (size_t i = sharding.tiles.size(); i-- > 0;) {
      int32_t digit = rest % sharding.tiles[i];
      rest /= sharding.tiles[i];
      if (int64_t(i) < rank) {
        if (!placement[i].isWhole())
          placement[i].of[device] = digit;
        continue;
      }
      if (sharding.subgroups[i - rank] == sdy::HloSharding::Subgroup::Unreduced) {
        error = "UNIMPLEMENTED: unreduced values: " + toString(sharding);
        return false;
      }
      if (sharding.subgroups[i - rank] == sdy::HloSharding::Subgroup::Manual) {
        manualKey[device] += digit * stride;
        stride *= sharding.tiles[i];
      }
    }
  }
  return true;
}

Tiles tilesOfAxes(ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh) {
  Tiles result;
  int64_t devices = mesh.getTotalSize();
  for (sdy::AxisRefAttr axis : axes) {
    int64_t position = mesh.getAxisPosition(axis.getName()), size = axis.getSize(mesh), stride = 1;
    for (sdy::MeshAxisAttr minor : mesh.getAxes().drop_front(position + 1))
      stride *= minor.getSize();
    // The size of the part of the axis that is minor to this one.
    int64_t axisSize = mesh.getAxes()[position].getSize();
    stride *= axisSize / (axis.getPreSize() * size);
    Tiles one{size, std::vector<int32_t>(devices)};
    for (int64_t place = 0; place < devices; ++place) {
      int64_t device = mesh.getDeviceIds().empty() ? place : mesh.getDeviceIds()[place];
      one.of[device] = place / stride % size;
    }
    result = compose(result, normal(one));
  }
  return normal(result);
}

} // namespace millrace::spmd
