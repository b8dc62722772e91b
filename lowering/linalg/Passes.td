// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_LOWERING_LINALG_PASSES_TD
#define MILLRACE_LOWERING_LINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLinalgPass : Pass<"xla-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower the stablehlo operations of kernels to linalg on tensors";
  let description = [{
    Converts functions with the attribute `millrace.kernel`, and those that they call, to the dialects linalg, tensor,
    scf, arith, math, complex and func on storage tensors: signless integers, sub-byte elements in a byte each (see
    lowering/linalg/StorageTypes.h). A caller that is not converted reaches them through unrealized casts where types
    differ. An operation without a lowering is an error.
  }];
  let options = [
    Option<"allFunctions", "all-functions", "bool", "false", "convert every function, not kernels only">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::complex::ComplexDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

#endif
