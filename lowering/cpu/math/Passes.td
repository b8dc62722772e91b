// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_LOWERING_CPU_MATH_PASSES_TD
#define MILLRACE_LOWERING_CPU_MATH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"xla-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand mathematical functions and bf16 arithmetic to operations with instructions";
  let description = [{
    Expands operations on scalars and vectors: functions of f32 become polynomials (errors: test/unit/math), those of f64 become polynomials or calls
    of the C library lane by lane, and those of f16 and bf16 are computed in f32. Arithmetic on bf16 is computed in f32, with conversions by bit
    operations; f64 is rounded to f16 and bf16 once. Functions of complex numbers become calls of the runtime. maximumf and minimumf become LLVM's,
    which order signed zeros. Operations for which LLVM has instructions stay: sqrt, fma, rounding, absolute values, signs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [Option<"avx512", "avx512", "bool", /*default=*/"false",
                        "vectors of 16 f32 may use AVX-512's instruction for multiplication by powers of two, with the same results">];
}

#endif
