// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Communication.h - Cost of a program's collectives ------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::spmd {

/// The cost of a collective for one device.
struct Cost {
  int64_t devices = 1;  ///< of its group
  int64_t received = 0; ///< bytes that arrive, if every byte takes the shortest way
  int64_t messages = 0; ///< one after the other
  double microseconds = 0; ///< 1 us for each message plus the bytes at 10 GB/s: an estimate to compare programs with
};

/// Of the whole tensor: its elements in memory, a byte each at least; 0 of anything else and of a shape that is not static.
int64_t bytesOf(mlir::Type type);

/// Of a collective of stablehlo in a program for one device; nothing for other operations.
std::optional<Cost> communicationOf(mlir::Operation *op);

/// A line for each collective, with its source line, and the sum.
void printCommunication(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace millrace::spmd
