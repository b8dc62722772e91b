// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FreeLists.cpp - Free memory by size --------------------------------===//
#include "runtime/buffer/FreeLists.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace millrace::runtime {

uint64_t FreeLists::capacityFor(uint64_t bytes, uint64_t &index) {
  uint64_t units = std::max<uint64_t>(1, (bytes + 63) / 64);
  if (units <= 8) {
    index = units - 1;
    return units * 64;
  }
  unsigned shift = unsigned(std::bit_width(units - 1)) - 4; // the top bit of units - 1 is bit shift + 3
  uint64_t steps = ((units - 1) >> shift) + 1;              // 9..16
  index = 8 + uint64_t(shift) * 8 + (steps - 9);
  return (steps << shift) * 64;
}

uint64_t FreeLists::capacityOf(uint64_t index) {
  return index < 8 ? (index + 1) * 64 : ((index - 8) % 8 + 9) << ((index - 8) / 8) << 6;
}

void *FreeLists::take(uint64_t index, uint64_t now) {
  if (index >= classes.size() || classes[index].blocks.empty())
    return nullptr;
  Class &of = classes[index];
  void *data = of.blocks.back();
  of.blocks.pop_back();
  of.fewest = std::min(of.fewest, of.blocks.size());
  of.lastUse = now;
  total -= capacityOf(index);
  return data;
}

void FreeLists::put(uint64_t index, void *data, uint64_t now) {
  if (classes.size() <= index)
    classes.resize(index + 1);
  classes[index].blocks.push_back(data);
  classes[index].lastUse = now;
  total += capacityOf(index);
}

FreeLists::Class *FreeLists::oldest() {
  Class *found = nullptr;
  for (Class &each : classes)
    if (!each.blocks.empty() && (!found || each.lastUse < found->lastUse))
      found = &each;
  return found;
}

uint64_t FreeLists::oldestUse() const {
  const Class *found = const_cast<FreeLists *>(this)->oldest();
  return found ? found->lastUse : ~uint64_t(0);
}

FreeLists::Block FreeLists::takeOldest() {
  Class *found = oldest();
  if (!found)
    return {};
  Block block{found->blocks.back(), capacityOf(uint64_t(found - classes.data()))};
  found->blocks.pop_back();
  found->fewest = std::min(found->fewest, found->blocks.size());
  total -= block.capacity;
  return block;
}

std::vector<FreeLists::Block> FreeLists::takeUnneeded() {
  std::vector<Block> result;
  for (uint64_t index = 0; index < classes.size(); ++index) {
    Class &of = classes[index];
    uint64_t capacity = capacityOf(index);
    for (size_t i = 0; i < of.fewest; ++i)
      result.push_back({of.blocks[i], capacity});
    of.blocks.erase(of.blocks.begin(), of.blocks.begin() + std::ptrdiff_t(of.fewest));
    total -= of.fewest * capacity;
    of.fewest = of.blocks.size();
  }
  return result;
}

std::vector<FreeLists::Block> FreeLists::takeAll() {
  for (Class &each : classes)
    each.fewest = each.blocks.size();
  return takeUnneeded();
}

} // namespace millrace::runtime
