// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FromModule.cpp - Register a translation of xla-translate ------------===//
#include "tools/support/programs/FromModule.h"

#include "dialects/bytecode/Validate.h"
#include "passes/vhlo/PortableArtifact.h"
#include "tools/RegisterAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

namespace millrace::tools {

FromModule::FromModule(llvm::StringRef name, llvm::StringRef description,
                       std::function<mlir::LogicalResult(mlir::ModuleOp, llvm::raw_ostream &)> function) {
  mlir::TranslateRegistration(
      name, description,
      [function = std::move(function)](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                                       mlir::MLIRContext *context) -> mlir::LogicalResult {
        mlir::DialectRegistry registry;
        registerAllDialects(registry);
        context->appendDialectRegistry(registry);
        const llvm::MemoryBuffer *file = sources->getMemoryBuffer(sources->getMainFileID());
        mlir::OwningOpRef<mlir::ModuleOp> module =
            bytecode::parseModule(file->getBuffer(), mlir::ParserConfig(context), file->getBufferIdentifier());
        if (module && succeeded(vhlo::fromPortableFormat(*module)))
          return function(*module, os);
        vhlo::reportNewerVersion(file->getBuffer(), *context);
        return mlir::failure();
      });
}

} // namespace millrace::tools
