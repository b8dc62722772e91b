// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reports.h - Tables for --time, --memory and --stats ----------------===//
#pragma once

#include "lowering/Compile.h"
#include "runtime/program/Program.h"

#include "llvm/Support/raw_ostream.h"

namespace millrace::tools {

/// Prints milliseconds per stop and per kernel, slowest first.
void printCompileTimes(const CompileReport &report, llvm::raw_ostream &os);

/// Prints the bytes of arguments, outputs, aliases, temporaries, constants, code, and the peak.
void printMemory(const runtime::Program &program, llvm::raw_ostream &os);

/// Prints the stablehlo operations that machine code and steps execute, with counts: "executed: 3 x stablehlo.add".
void printExecutedOps(const runtime::Program &program, llvm::raw_ostream &os);

} // namespace millrace::tools
