// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StopPasses.cpp - xla-opt --emit ------------------------------------===//
#include "tools/support/programs/StopPasses.h"

#include "lowering/DropShardings.h"
#include "lowering/Pipeline.h"
#include "passes/calls/Passes.h"
#include "passes/spmd/Partition.h"
#include "tools/support/flags/MeshFlag.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::tools {
namespace {

/// Runs the steps that precede the pipelines in compile() (lowering/Compile.cpp).
struct SplitPass : PassWrapper<SplitPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitPass)
  explicit SplitPass(bool partition) : partition(partition) {}
  StringRef getName() const override { return "SplitPass"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerCompilerDialects(registry); }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    adoptMesh(module, ~0u);
    calls::prepareCollectives(module);
    if (failed(lowering::dropShardings(module)) || failed(spmd::propagate(module)) || (partition && failed(spmd::partition(module))))
      signalPassFailure();
  }
  bool partition;
};

} // namespace

std::string addPassesUpTo(StringRef stop, OpPassManager &pm) {
  static constexpr StringRef stops[] = {"stablehlo", "sharded", "partitioned", "simplified", "fused"};
  const auto *found = llvm::find(stops, stop);
  if (found == std::end(stops))
    return "--emit expects one of " + llvm::join(std::begin(stops), std::end(stops), " ") + ", but got '" + stop.str() +
           "'; xla-compile --emit also has stops of single kernels";
  int number = int(found - stops);
  if (number >= 1)
    pm.addPass(std::make_unique<SplitPass>(number >= 2));
  if (number >= 3)
    lowering::addSimplifyPasses(pm, {});
  if (number >= 4)
    lowering::addFusionPasses(pm, {});
  return "";
}

} // namespace millrace::tools
