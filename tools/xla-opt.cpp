// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-opt.cpp - Pass driver ------------------------------------------===//
#include "dialects/bytecode/Validate.h"
#include "dialects/stablehlo/Passes.h"
#include "tools/Mains.h"
#include "tools/RegisterAll.h"
#include "tools/support/programs/StopPasses.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

static int fail(llvm::StringRef message) {
  llvm::WithColor::error(llvm::errs(), "xla-opt") << message << "\n";
  return EXIT_FAILURE;
}

int millrace::tools::xlaOpt(int argc, char **argv) {
  mlir::DialectRegistry registry;
  millrace::registerAllDialects(registry);
  millrace::registerAllPasses();
  llvm::cl::opt<std::string> emit("emit", llvm::cl::value_desc("stop"),
                                  llvm::cl::desc("After all passes, compile up to: stablehlo sharded partitioned simplified fused"));
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Millrace optimizer driver\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));

  llvm::InitLLVM init(argc, argv);
  if (emit.getNumOccurrences()) {
    mlir::OpPassManager known(mlir::ModuleOp::getOperationName());
    if (std::string wrong = millrace::tools::addPassesUpTo(emit, known); !wrong.empty())
      return fail(wrong);
  }
  config.setPassPipelineSetupFn([asked = config, &emit](mlir::PassManager &pm) {
    // MLIR's verifier does not check all types.
    pm.addPass(millrace::stablehlo::createVerifyTypesPass());
    if (mlir::failed(asked.setupPassPipeline(pm)))
      return mlir::failure();
    if (emit.getNumOccurrences())
      millrace::tools::addPassesUpTo(emit, pm);
    return mlir::success();
  });
  // MLIR's own main would pass the file to its reader without validation.
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &error);
  if (!file)
    return fail(error);
  if (!(file = millrace::bytecode::checkedBuffer(std::move(file), error)))
    return fail(input + ": " + error);
  // A part of a bytecode file is not a bytecode file.
  if (millrace::bytecode::isBytecode(file->getBuffer()))
    config.splitInputFile("");
  std::unique_ptr<llvm::ToolOutputFile> out = mlir::openOutputFile(output, &error);
  if (!out)
    return fail(error);
  if (mlir::failed(mlir::MlirOptMain(out->os(), std::move(file), registry, config)))
    return EXIT_FAILURE;
  out->keep();
  return EXIT_SUCCESS;
}
