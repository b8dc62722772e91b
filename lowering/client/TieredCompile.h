// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TieredCompile.h - Programs that start on quick machine code ---------===//
#pragma once

#include "lowering/Compile.h"

namespace millrace {

/// As compile(), but kernels that are nowhere yet have quick machine code (CompileOptions::quick), so that the program can start earlier. A
/// thread of low priority makes their better code, one after the other, and hands it to the program that runs (Program::upgrades). Results
/// have the same bits before and after, without CompileOptions::relaxed. A process that ends, or forks, waits for one kernel at most.
llvm::Expected<runtime::Program> compileTiered(mlir::ModuleOp module, const CompileOptions &options, CompileReport *report = nullptr);

} // namespace millrace
