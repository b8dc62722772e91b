// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Probes.cpp - interpreter.print and interpreter.probe ---------------===//
#include "dialects/stablehlo/eval/Interpreter.h"
#include "dialects/stablehlo/eval/Npy.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::eval {

static llvm::Error evalPrint(Call &call) {
  llvm::raw_ostream &os = call.interpreter.options.printStream ? *call.interpreter.options.printStream : llvm::outs();
  call.in(0).print(os);
  os << '\n';
  call.push(call.in(0));
  return llvm::Error::success();
}

static llvm::Error evalProbe(Call &call) {
  const Options &options = call.interpreter.options;
  if (options.probeDirectory.empty()) return call.error("needs a directory to write to (--probe-output-dir)");
  StringRef id = call.op->getAttrOfType<StringAttr>("probe_id").getValue();
  int64_t iteration = ++(*options.probeCounts)[id];
  if (llvm::Error error = writeProbe(options.probeDirectory, id, iteration, call.in(0))) return call.error(llvm::toString(std::move(error)));
  call.push(call.in(0));
  return llvm::Error::success();
}

void addProbes(Dispatch &dispatch) {
  dispatch.add("interpreter.print", evalPrint);
  dispatch.add("interpreter.probe", evalProbe);
}

} // namespace millrace::eval
