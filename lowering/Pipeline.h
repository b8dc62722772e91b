// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipeline.h - The passes between two stops --------------------------===//
#pragma once

#include "lowering/Compile.h"

#include "mlir/Pass/PassManager.h"

namespace millrace::lowering {

void addSimplifyPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
/// `devices`: among so many devices the values will be divided; more than one of a program that stands for those of all devices together, such as one
/// whose memory is predicted before it is partitioned.
void addFusionPasses(mlir::OpPassManager &pm, const PipelineOptions &options, int64_t devices = 1);

} // namespace millrace::lowering
