// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - Named pipelines of portable artifacts --------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/vhlo/Passes.h"

namespace millrace::vhlo {

void registerVhloPipelines() {
  mlir::PassPipelineRegistration<>("stablehlo-deserialize", "Convert a portable artifact of any version to StableHLO",
                                   [](mlir::OpPassManager &pipeline) {
                                     VhloToVersionPassOptions options;
                                     options.targetVersion = currentVersion.str();
                                     pipeline.addPass(createVhloToVersionPass(options));
                                     pipeline.addPass(createVhloLegalizeToStablehloPass());
                                   });
}

} // namespace millrace::vhlo
