// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleLocations.cpp - The user's lines, apart from the program ------===//
// The module of an entry:   %0 = stablehlo.tanh %arg0 : ... loc("train.py":12:3)      number 4
// while it is hashed:       %0 = stablehlo.tanh %arg0 : ... loc(unknown)
// while it is compiled:     %0 = stablehlo.tanh %arg0 : ... loc(fused<{millrace.source = 4 : i32}>["train.py":12:3])
#include "lowering/ModuleLocations.h"

#include "lowering/program/ProgramTypes.h"

using namespace mlir;

namespace millrace {

/// Calls `change` with each location of `module`, in its order, and sets what it returns.
static void forEachLocation(ModuleOp module, llvm::function_ref<Location(Location)> change) {
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->setLoc(change(op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(change(argument.getLoc()));
  });
}

ModuleLocations::ModuleLocations(ModuleOp module) : module(module) {
  forEachLocation(module, [&](Location location) {
    locations.push_back(location);
    return location;
  });
}

void ModuleLocations::set(llvm::function_ref<Location(uint32_t)> locationOf) {
  uint32_t number = 0;
  forEachLocation(module, [&](Location) { return locationOf(number++); });
}

void ModuleLocations::hide() {
  Location unknown = UnknownLoc::get(module.getContext());
  set([&](uint32_t) { return unknown; });
}

void ModuleLocations::number() {
  set([&](uint32_t number) { return lowering::withSource(locations[number], number); });
}

void ModuleLocations::restore() {
  set([&](uint32_t number) { return locations[number]; });
}

std::string ModuleLocations::text(uint32_t number) const {
  return number < locations.size() ? lowering::locationText(locations[number]) : std::string();
}

OwningOpRef<ModuleOp> withoutLocations(ModuleOp module) {
  OwningOpRef<ModuleOp> bare(module.clone());
  Location unknown = UnknownLoc::get(module.getContext());
  forEachLocation(*bare, [&](Location) { return unknown; });
  return bare;
}

} // namespace millrace
