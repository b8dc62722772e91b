// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.cpp - The report of --explain-sharding -----------------===//
#include "tools/support/reports/Explanation.h"

#include "passes/calls/Passes.h"
#include "passes/spmd/Explain.h"
#include "tools/support/programs/TextOutput.h"

namespace millrace::tools {

int writeExplanation(mlir::ModuleOp module, const std::string &input, const std::string &output,
                     const autosharding::AutoShardingReport *planned, llvm::ArrayRef<autosharding::RankedMesh> ranked, llvm::StringRef reasons) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (planned)
    autosharding::printPlan(*planned, ranked, stream);
  calls::prepareCollectives(module);
  if (planned && planned->isAsAnnotated())
    stream << reasons;
  else if (failed(planned ? spmd::explainCollectives(module, stream) : spmd::explainSharding(module, stream)))
    return 1;
  return writeText("xla-compile", output, output.ends_with(".html") ? spmd::explanationPage(text, input) : text);
}

} // namespace millrace::tools
