// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PortableTranslations.cpp - --serialize and --deserialize -----------===//
#include "tools/support/programs/PortableTranslations.h"

#include "passes/vhlo/PortableArtifact.h"
#include "tools/RegisterAll.h"
#include "tools/support/programs/FromModule.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

namespace millrace::tools {

void registerPortableTranslations() {
  // The flags have upstream's names.
  static llvm::cl::opt<std::string> target("target", llvm::cl::desc("Version X.Y.Z to serialize for, or 'current'"));
  static llvm::cl::opt<bool> stripDebugInfo("strip-debuginfo", llvm::cl::desc("Serialize without locations"));
  static llvm::cl::opt<bool> allowOtherDialects(
      "allow-other-dialects", llvm::cl::desc("Serialize operations of other dialects as they are (not stable)"));
  static llvm::cl::opt<bool> printVersion("print-stablehlo-version",
                                          llvm::cl::desc("Print the version of the artifact before its program"));

  FromModule serialize(
      "serialize", "Write StableHLO as a portable artifact", [](ModuleOp module, raw_ostream &os) -> LogicalResult {
        if (stripDebugInfo) {
          PassManager passes(module.getContext());
          passes.addPass(createStripDebugInfoPass());
          if (failed(passes.run(module)))
            return failure();
        }
        return vhlo::writePortableArtifact(module, target, os, {.allowOtherDialects = allowOtherDialects});
      });

  static TranslateToMLIRRegistration deserialize(
      "deserialize", "Read a portable artifact (or its text)",
      [](StringRef input, MLIRContext *context) -> OwningOpRef<Operation *> {
        if (printVersion) {
          std::optional<vhlo::Version> version = vhlo::artifactVersion(input);
          llvm::outs() << (version ? "// Reading portable artifact with StableHLO version: " + version->str()
                                   : "// Failed parsing StableHLO version from portable artifact")
                       << "\n";
        }
        OwningOpRef<ModuleOp> module = vhlo::readPortableArtifact(input, *context);
        return module ? OwningOpRef<Operation *>(module.release()) : nullptr;
      },
      [](DialectRegistry &registry) { registerAllDialects(registry); });
}

} // namespace millrace::tools
