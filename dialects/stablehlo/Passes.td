// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - Passes that only look at a program ---------------------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_PASSES_TD
#define MILLRACE_DIALECTS_STABLEHLO_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyTypesPass : Pass<"xla-verify-types"> {
  let summary = "Errors for types that the specification forbids, wherever they stand";
  let description = [{
    MLIR's verifier asks operations, and a function's arguments belong to none of StableHLO's. xla-opt runs this pass before all others;
    what compiles or evaluates a program does the same. Changes nothing.
  }];
  let options = [
    Option<"onlyKnown", "only-known", "bool", /*default=*/"false", "Refuse element types that StableHLO does not have">,
  ];
}

#endif
