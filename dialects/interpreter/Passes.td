// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - Passes of the interpreter dialect ----------------------===//
#ifndef MILLRACE_DIALECTS_INTERPRETER_PASSES_TD
#define MILLRACE_DIALECTS_INTERPRETER_PASSES_TD

include "mlir/Pass/PassBase.td"

def InterpreterInstrumentWithProbePass : Pass<"interpreter-instrument-with-probe", "::mlir::ModuleOp"> {
  let summary = "Adds an interpreter.probe after every operation with tensor results, except constants";
  let description = [{
    Probes are named `probe<n>`; with `useDebugInfo`, an operation whose location is named `name@...` gets `name.<n>`.
  }];
  let options = [
    Option<"useDebugInfoOption", "useDebugInfo", "bool", /*default=*/"false", "Name probes after locations">,
  ];
  let dependentDialects = ["::millrace::interpreter::InterpreterDialect"];
}

#endif
