// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_FUSION_PASSES_TD
#define MILLRACE_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseKernelsPass : Pass<"xla-fuse-kernels", "::mlir::ModuleOp"> {
  let summary = "Group operations into kernels: private functions with the attribute millrace.kernel";
  let description = [{
    Every stablehlo operation that machine code can compute moves into a private function with the unit attribute
    `millrace.kernel`, called where the last of its operations stood. What stays outside are the steps that the
    runtime executes: control flow around kernels, calls, collectives, custom calls, data constants, and operations
    that only rename bytes. Source: docs/layers.md, "fused".
  }];
  let options = [
    Option<"single", "single", "bool", "false", "give every operation a kernel of its own (for tests)">,
    Option<"matrixBf16", "matrix-bf16", "bool", "false", "the target multiplies bf16 in tiles of 32 terms">,
    Option<"matrixInt8", "matrix-int8", "bool", "false", "the target multiplies integers of 8 bits in tiles of 64 terms">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PackLoopWeightsPass : Pass<"xla-pack-loop-weights", "::mlir::ModuleOp"> {
  let summary = "Bring weights of loops into the order that kernels read them in, once before the loop";
  let description = [{
    A product's right factor that the loop around its kernel does not change is copied before the loop: panels of columns, in each the
    summed index outermost. The kernel reads panels in place instead of packing the factor in every iteration.
  }];
  let options = [
    Option<"width", "width", "int64_t", "0", "columns of a panel; 0: what code generation prefers, if it is asked">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def MarkInPlacePass : Pass<"xla-mark-in-place", "::mlir::ModuleOp"> {
  let summary = "Mark kernels that update one of their operands instead of copying it";
  let description = [{
    A kernel that returns a dynamic_update_slice or scatter of one of its arguments gets the attribute
    `millrace.in_place` with [operand, result] pairs. Its code works on the operand's buffer; the program builder copies
    before the call where somebody still needs the old value, and lets loops carry the buffer without any copy.
  }];
}

#endif
