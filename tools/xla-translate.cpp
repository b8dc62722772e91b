// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-translate.cpp - StableHLO to portable artifacts and back, to HLO text; evaluation ===//
#include "dialects/stablehlo/eval/Evaluator.h"
#include "lowering/hlo/HloProto.h"
#include "lowering/hlo/HloText.h"
#include "tools/Mains.h"
#include "tools/support/programs/FromModule.h"
#include "tools/support/programs/LegalizeChlo.h"
#include "tools/support/programs/PortableTranslations.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "llvm/Support/CommandLine.h"

int millrace::tools::xlaTranslate(int argc, char **argv) {
  static llvm::cl::opt<std::string> arguments("args", llvm::cl::desc("Arguments of @main: \"[dense<1> : tensor<i32>, ...]\""));
  static llvm::cl::opt<std::string> probeDirectory("probe-output-dir", llvm::cl::desc("Directory that interpreter.probe writes to"));
  static llvm::cl::opt<bool> printDense("interpreter-print-dense", llvm::cl::desc("Print results as dense<...> attributes"));
  millrace::tools::registerPortableTranslations();
  millrace::tools::FromModule interpret(
      "interpret", "Evaluate @main (or the only function) and print its results",
      [](mlir::ModuleOp module, llvm::raw_ostream &os) -> mlir::LogicalResult {
        if (mlir::failed(millrace::tools::legalizeChlo(module))) return mlir::failure();
        millrace::eval::RunOptions options;
        options.arguments = arguments;
        options.evaluation.probeDirectory = probeDirectory;
        options.evaluation.printStream = &os;
        options.printDense = printDense;
        return millrace::eval::runWithInterpreter(module, options, os);
      });
  millrace::tools::FromModule hloText(
      "stablehlo-to-hlo-text", "Write the program as HLO text, as XLA's tools read it",
      [](mlir::ModuleOp module, llvm::raw_ostream &os) -> mlir::LogicalResult {
        if (mlir::failed(millrace::tools::legalizeChlo(module)) ||
            mlir::failed(millrace::tools::legalizeDeprecated(module)))
          return mlir::failure();
        return millrace::hlo::exportHloText(module, os);
      });
  millrace::tools::FromModule hloProto(
      "stablehlo-to-hlo-proto", "Write the program as HloProto, the content of XLA's files *.hlo.pb",
      [](mlir::ModuleOp module, llvm::raw_ostream &os) -> mlir::LogicalResult {
        if (mlir::failed(millrace::tools::legalizeChlo(module)) || mlir::failed(millrace::tools::legalizeDeprecated(module)))
          return mlir::failure();
        std::string text;
        llvm::raw_string_ostream stream(text);
        if (mlir::failed(millrace::hlo::exportHloText(module, stream)))
          return mlir::failure();
        millrace::runtime::StatusOr<std::string> proto = millrace::hlo::moduleProto(text);
        if (!proto)
          return module.emitError(std::string(proto.status().message()));
        os << millrace::hlo::hloProto(*proto);
        return mlir::success();
      });
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Millrace translation driver\n"));
}
