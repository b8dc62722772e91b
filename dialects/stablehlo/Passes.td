// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - Passes that only look at a program ---------------------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_PASSES_TD
#define MILLRACE_DIALECTS_STABLEHLO_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyTypesPass : Pass<"xla-verify-types"> {
  let summary = "Verify that all types are ones that the specification allows";
  let description = [{
    MLIR's verifier only asks operations, and a function's arguments do not belong to a StableHLO operation. xla-opt runs this pass before all others,
    as do the compiler and the evaluator. The pass changes nothing.
  }];
  let options = [
    Option<"onlyKnown", "only-known", "bool", /*default=*/"false", "refuse element types that StableHLO does not have">,
  ];
}

#endif
