// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_XLA_PASSES_TD
#define MILLRACE_PASSES_XLA_PASSES_TD

include "mlir/Pass/PassBase.td"

def DropPartialScatterWindowsPass : Pass<"xla-drop-partial-scatter-windows", "::mlir::func::FuncOp"> {
  let summary = "Give scatter XLA's meaning of windows that are partly out of bounds: they are dropped whole";
  let description = [{
    StableHLO's specification skips the elements of an update window that lie outside of the input, one by one; XLA skips the
    whole window, and JAX's gradients of gather rely on it. The pass moves the start of every window that does not fit to a
    place where no element of it is inside. Scatters whose windows have size 1 along all scattered dimensions mean the same
    in both readings and stay as they are; so do scatters with dynamic sizes.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def PassTokensAsTensorsPass : Pass<"xla-pass-tokens-as-tensors", "::mlir::ModuleOp"> {
  let summary = "Make tokens in the signature of @main tensors without elements";
  let description = [{
    JAX's ordered effects put tokens into the signature of a program and hand over arrays of type bool[0] for them. An
    argument becomes tensor<0xi1> and its uses a new token; a result becomes an empty constant. Steps run in the order of the
    program, and executions of one device in the order in which they were started, so nothing else is needed.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

#endif
