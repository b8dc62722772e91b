// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_CHLO_PASSES_TD
#define MILLRACE_PASSES_CHLO_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChloLegalizeToStablehloPass : Pass<"chlo-legalize-to-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Replace CHLO operations by StableHLO operations";
  let description = [{
    Special functions become polynomials, rational functions and logarithms, so that they vectorize; implicit
    broadcasts become explicit; scan becomes a loop. f16 and narrower floats are computed in f32, complex<f32> in f64.
    Dynamic shapes are computed with the shape dialect.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::shape::ShapeDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
