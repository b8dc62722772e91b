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

def ChloRecomposeOpsPass : Pass<"chlo-recompose-ops", "::mlir::func::FuncOp"> {
  let summary = "Replace composites of special functions by the CHLO operation that they were";
  let description = [{
    Portable artifacts cannot hold CHLO: their writers turn chlo.erf into a composite "chlo.erf" that decomposes into a
    polynomial. Where our own legalization has a smaller error than those decompositions (erf, erfc, the trigonometric,
    hyperbolic and inverse functions of real numbers), the operation comes back. Other composites stay.
  }];
  let dependentDialects = ["::millrace::chlo::ChloDialect"];
}

def ShapeLegalizeToStablehloPass : Pass<"shape-legalize-to-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Compute shapes with StableHLO operations instead of the dialects shape, tensor and arith";
  let description = [{
    shape_of, const_shape, num_elements, broadcast, concat, get_extent, to_extent_tensor; tensor.dim, extract and
    from_elements; index_cast, muli, addi and subi of indices. Sizes become i32; values of type index that come from or go
    to other operations are cast.
  }];
  let options = [Option<"legalizeConstraints", "legalize-constraints", "bool", "false",
                        "shape.cstr_broadcastable becomes a custom call @shape_assertion">];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::shape::ShapeDialect"];
}

def StablehloComplexMathExpanderPass : Pass<"stablehlo-complex-math-expander", "::mlir::func::FuncOp"> {
  let summary = "Replace complex functions that are hard to get right by operations on their parts";
  let description = [{
    log_plus_one of complex numbers: next to |1 + z| = 1 the real part cancels, so that 2x + x^2 + y^2 is summed with
    twice the digits; log likewise next to |z| = 1. sqrt and tan: without overflow on the way, branch cuts and zeros as C has
    them. complex<f32> is computed in f64.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::shape::ShapeDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
