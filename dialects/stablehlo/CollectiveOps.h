// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.h - Collectives, async pairs, tokens, send/recv, infeed/outfeed -===//
#pragma once
#include "dialects/stablehlo/ControlFlowOps.h"
#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/Speculation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace millrace::stablehlo::resource {
// The resource that an operation of each kind accesses: operations of one kind keep their order, operations of different kinds need not.
struct Send : mlir::SideEffects::Resource::Base<Send> {
  llvm::StringRef getName() final { return "<StablehloSend>"; }
};
struct Recv : mlir::SideEffects::Resource::Base<Recv> {
  llvm::StringRef getName() final { return "<StablehloRecv>"; }
};
struct Infeed : mlir::SideEffects::Resource::Base<Infeed> {
  llvm::StringRef getName() final { return "<StablehloInfeed>"; }
};
struct Outfeed : mlir::SideEffects::Resource::Base<Outfeed> {
  llvm::StringRef getName() final { return "<StablehloOutfeed>"; }
};
} // namespace millrace::stablehlo::resource

#define GET_OP_CLASSES
#include "dialects/stablehlo/CollectiveOps.h.inc"
