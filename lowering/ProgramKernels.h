// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramKernels.h - The kernels of one program -----------------------===//
#pragma once

#include "lowering/Compile.h"
#include "lowering/cpu/KernelCompiler.h"
#include "lowering/program/BuildProgram.h"

#include "llvm/ADT/StringSet.h"

namespace millrace::lowering {

/// The kernels of one program: those with the same meaning share machine code, and what nobody calls has none. What only cuts out or joins
/// whole ranges of bytes mostly becomes a view (Parts.h); whether it does is known when the program is built, so it is compiled after that.
/// Kernels by function name are what buildProgram() takes.
class ProgramKernels {
public:
  /// Finds the kernels of `module` that `entry` needs and retargets calls of those that mean the same. Objects go to `program`, times to
  /// `report` (or null).
  ProgramKernels(mlir::ModuleOp module, llvm::StringRef entry, const KernelOptions &options, runtime::Program &program, CompileReport *report);

  /// Compiles all kernels that will be called in any case.
  llvm::Error compileFirst();
  const llvm::StringMap<KernelSummary> &byName() const { return summaries; }
  /// Compiles those that the functions of the program call after all, and tells the calls.
  llvm::Error compileCalled();

private:
  llvm::Error compile(llvm::ArrayRef<KernelRequest> requests);

  const KernelOptions &options;
  runtime::Program &program;
  CompileReport *report;
  std::vector<KernelRequest> first, later;
  llvm::StringMap<KernelSummary> summaries;
  llvm::StringSet<> objects; ///< those of `program`
};

} // namespace millrace::lowering
