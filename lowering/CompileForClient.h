// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileForClient.h - How JAX, PyTorch and C programs compile --------===//
#pragma once

#include "lowering/Compile.h"

namespace millrace {

/// As compile(), for somebody who waits: from a second on it says how far it is (runtime/base/Progress.h), as "compiling `what`"; with
/// MILLRACE_TIERED=1 in the environment the program is tiered.
llvm::Expected<runtime::Program> compileForClient(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef what, CompileReport *report = nullptr);

/// As compile(), but kernels that are nowhere yet have quick machine code (CompileOptions::quick), so that the program can start earlier. A
/// thread of low priority makes their better code, one after the other, and hands it to the program that runs (Program::upgrades). Results
/// have the same bits before and after, without CompileOptions::relaxed. A process that ends, or forks, waits for one kernel at most.
llvm::Expected<runtime::Program> compileTiered(mlir::ModuleOp module, const CompileOptions &options, CompileReport *report = nullptr);

} // namespace millrace
