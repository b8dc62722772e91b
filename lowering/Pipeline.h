// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.h - The passes between two stops --------------------------===//
#pragma once

#include "lowering/Compile.h"

#include "mlir/Pass/PassManager.h"

namespace millrace::lowering {

void addSimplifyPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addFusionPasses(mlir::OpPassManager &pm, const PipelineOptions &options);

} // namespace millrace::lowering
