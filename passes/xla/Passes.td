// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_XLA_PASSES_TD
#define MILLRACE_PASSES_XLA_PASSES_TD

include "mlir/Pass/PassBase.td"

def DropPartialScatterWindowsPass : Pass<"xla-drop-partial-scatter-windows", "::mlir::func::FuncOp"> {
  let summary = "Drop scatter windows that are partly out of bounds, as XLA does";
  let description = [{
    StableHLO's specification skips individual elements of an update window that lie outside the input; XLA skips the whole window, and JAX's
    gradients of gather rely on that. The pass moves the start of every window that does not fit to a position where no element of it is inside.
    Scatters whose windows have size 1 along all scattered dimensions have the same results in both semantics and are not changed; neither are
    scatters with dynamic sizes.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def PassTokensAsTensorsPass : Pass<"xla-pass-tokens-as-tensors", "::mlir::ModuleOp"> {
  let summary = "Replace tokens in the signature of @main by tensors without elements";
  let description = [{
    JAX's ordered effects put tokens into the signature of a program and pass arrays of type bool[0] for them. An argument becomes tensor<0xi1> and
    its uses a new token; a result becomes an empty constant. Steps run in program order, and executions of one device in launch order, so that no
    other ordering is needed.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

#endif
