// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Simulation.h - A step of a partitioned program on another machine --===//
#pragma once

#include "passes/autosharding/AutoSharding.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::autosharding {

/// One kind of collective.
struct SimulatedCollective {
  std::string name;
  int64_t count = 0;
  double seconds = 0, bytes = 0; ///< bytes that come to a device
};

/// What one device does in an execution; operations one after the other, loops as often as is assumed (kLoopTurns).
struct Simulation {
  double computing = 0;                         ///< seconds
  double flops = 0;                             ///< of contractions
  std::vector<SimulatedCollective> collectives; ///< in the order of their names
  int64_t argumentBytes = 0, peakBytes = 0;     ///< of the values that are alive, arguments included, in the order of the program

  double communicating() const;
  double seconds() const { return computing + communicating(); }
};

/// Of a program for one device (after xla-spmd-partition).
Simulation simulate(mlir::ModuleOp module, const Machine &machine);

/// A table for people, with what the plan expected if there was one.
void print(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os);
/// The same as one JSON object.
void printJson(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os);

} // namespace millrace::autosharding
