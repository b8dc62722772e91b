// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_LOWERING_LINALG_PASSES_TD
#define MILLRACE_LOWERING_LINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLinalgPass : Pass<"xla-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower the stablehlo operations of kernels to linalg on tensors";
  let description = [{
    Converts functions with the attribute `millrace.kernel`, and their callees, to the dialects linalg, tensor, scf, arith, math, complex and func on
    storage tensors: signless integers, sub-byte elements in a byte each (see lowering/linalg/storage/StorageTypes.h). A caller that is not converted
    calls them through unrealized casts where types differ. An operation without a lowering is an error.
  }];
  let options = [
    Option<"allFunctions", "all-functions", "bool", "false", "convert every function, not only kernels">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::complex::ComplexDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def StablehloLegalizeToLinalgPass : Pass<"stablehlo-legalize-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower every stablehlo operation to linalg on tensors, under upstream's name";
  let description = [{
    Runs xla-lower-to-linalg on all functions, then rewrites to the forms that the options ask for. The lowering is Millrace's: the same loops as
    upstream's for elementwise operations, reductions and contractions, its own for windows, gather, scatter and sort.
  }];
  let options = [
    Option<"enablePrimitiveOps", "enable-primitive-ops", "bool", "false",
           "write linalg.map, linalg.reduce, linalg.transpose and linalg.broadcast where a generic operation is one">,
    Option<"enableSparseOps", "enable-sparse-ops", "bool", "false", "accept sparse tensors (not supported: an error)">,
    Option<"captureScalarInputs", "capture-scalar-inputs", "bool", "true",
           "capture 0-d operands of generic operations as scalars from outside">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::complex::ComplexDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

#endif
