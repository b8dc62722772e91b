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
  let summary = "Replace composites of special functions by the CHLO operations from which they were made";
  let description = [{
    Portable artifacts cannot contain CHLO: their writers convert chlo.erf to a composite "chlo.erf" that decomposes into a polynomial. Where
    Millrace's legalization has a smaller error than those decompositions (erf, erfc, the trigonometric, hyperbolic and inverse functions of real
    numbers), the operation is restored. Other composites stay.
  }];
  let dependentDialects = ["::millrace::chlo::ChloDialect"];
}

def ShapeLegalizeToStablehloPass : Pass<"shape-legalize-to-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Compute shapes with StableHLO operations instead of the dialects shape, tensor and arith";
  let description = [{
    Converts shape_of, const_shape, num_elements, broadcast, concat, get_extent, to_extent_tensor; tensor.dim, extract and from_elements; index_cast,
    muli, addi and subi of indices. Sizes become i32; values of type index that other operations define or use are cast.
  }];
  let options = [Option<"legalizeConstraints", "legalize-constraints", "bool", "false",
                        "shape.cstr_broadcastable becomes a custom call @shape_assertion">];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::shape::ShapeDialect"];
}

def StablehloComplexMathExpanderPass : Pass<"stablehlo-complex-math-expander", "::mlir::func::FuncOp"> {
  let summary = "Expand complex functions that need care for precision to operations on their parts";
  let description = [{
    log_plus_one of complex numbers sums 2x + x^2 + y^2 with twice the digits near |1 + z| = 1, where the real part cancels; log does likewise near
    |z| = 1. sqrt and tan do not overflow in between, and have C's branch cuts and zeros. complex<f32> is computed in f64.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::shape::ShapeDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
