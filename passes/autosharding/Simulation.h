// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Simulation.h - Model a step of a partitioned program ----------------===//
#pragma once

#include "passes/autosharding/AutoSharding.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::autosharding {

/// The collectives of one kind.
struct SimulatedCollective {
  std::string name;
  int64_t count = 0;
  double seconds = 0, bytes = 0; ///< bytes that a device receives
  double waiting = 0;            ///< the part of the seconds in which messages are on their way and nothing arrives
};

/// One operation, loop or branch of the step.
struct SimulatedStep {
  std::string name, line; ///< "dot_general", `file:line`
  double begin = 0, seconds = 0, waiting = 0, bytes = 0;
  bool isCollective = false;
  int64_t alive = 0; ///< live bytes while it runs
};

/// A part of a step's time.
struct SimulatedPart {
  std::string name;
  double seconds = 0, bytes = 0;
  int64_t count = 0;
};

/// The model of one execution on one device: operations run one after the other, loops as often as assumed (kLoopTurns).
struct Simulation {
  double computing = 0;                         ///< seconds
  double arithmetic = 0;                        ///< the part of operations that arithmetic limits; memory limits the others
  int64_t operations = 0, arithmeticOperations = 0; ///< operations that take time, and those of them that arithmetic limits
  double flops = 0;                             ///< operations of contractions
  std::vector<SimulatedCollective> collectives; ///< in the order of their names
  std::vector<SimulatedStep> steps;             ///< operations of @main, in the order of the program
  int64_t argumentBytes = 0, peakBytes = 0;     ///< of arguments, and of all live values at their peak, in the order of the program
  int64_t compiledPeakBytes = 0; ///< of arguments, results and everything else at the worst time of the compiled program; 0 if that is unknown
  std::string notLowered;        ///< why `memoryOf` had no answer

  /// What a limit of memory is compared with: the peak of the compiled program if it is known, else that of all live values.
  int64_t memoryBytes() const { return compiledPeakBytes > 0 ? compiledPeakBytes : peakBytes; }
  double communicating() const;
  double seconds() const { return computing + communicating(); }
  /// Returns the parts of the step's seconds: arithmetic, memory, each kind of collective while bytes arrive, and all waits for messages, in which
  /// the device is idle.
  std::vector<SimulatedPart> parts() const;
};

/// Models a program for one device (after xla-spmd-partition), with the memory of the compiled program if there is `memoryOf`.
Simulation simulate(mlir::ModuleOp module, const Machine &machine, const MemoryOf &memoryOf = {});

/// Prints a table, with the prediction of the plan if there was one.
void print(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os);
/// Prints the same as one JSON object.
void printJson(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os);

} // namespace millrace::autosharding
