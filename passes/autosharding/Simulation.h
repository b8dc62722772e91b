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
  double waiting = 0;            ///< of the seconds: in which messages are under way and nothing arrives
};

/// One operation, or a loop or branch, at its place in the step.
struct SimulatedStep {
  std::string name, line; ///< "dot_general", `file:line`
  double begin = 0, seconds = 0, waiting = 0, bytes = 0;
  bool isCollective = false;
  int64_t alive = 0; ///< bytes of values while it runs
};

/// A share of a step's time.
struct SimulatedPart {
  std::string name;
  double seconds = 0, bytes = 0;
  int64_t count = 0;
};

/// What one device does in an execution; operations one after the other, loops as often as is assumed (kLoopTurns).
struct Simulation {
  double computing = 0;                         ///< seconds
  double arithmetic = 0;                        ///< of these: of operations that arithmetic limits; memory limits the others
  int64_t operations = 0, arithmeticOperations = 0; ///< that take time; of these, limited by arithmetic
  double flops = 0;                             ///< of contractions
  std::vector<SimulatedCollective> collectives; ///< in the order of their names
  std::vector<SimulatedStep> steps;             ///< in the order of the program; of @main
  int64_t argumentBytes = 0, peakBytes = 0;     ///< of the values that are alive, arguments included, in the order of the program

  double communicating() const;
  double seconds() const { return computing + communicating(); }
  /// The step's seconds, apart: arithmetic, memory, each kind of collective while bytes arrive, and all waits for messages, in which the device is
  /// idle.
  std::vector<SimulatedPart> parts() const;
};

/// Of a program for one device (after xla-spmd-partition).
Simulation simulate(mlir::ModuleOp module, const Machine &machine);

/// A table for people, with what the plan expected if there was one.
void print(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os);
/// The same as one JSON object.
void printJson(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os);

} // namespace millrace::autosharding
