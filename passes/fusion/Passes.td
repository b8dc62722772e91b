// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_FUSION_PASSES_TD
#define MILLRACE_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def BlockRowsPass : Pass<"xla-block-rows", "::mlir::func::FuncOp"> {
  let summary = "Compute large values that only operations on their own rows read, such as logits, one block of rows at a time";
  let description = [{
    A contraction with a large result, and the operations around it that read the result row by row (a softmax, the selection of a class, gradients),
    become a loop over blocks of rows. Results that other operations read, such as losses per row and contractions of gradients, are stored row by row
    or summed over the blocks. The large values are never stored as a whole. The sharding rules tell which dimensions are rows. Runs before all other
    rewrites of fusion, which then apply to the blocks.
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "0", "size from which on a value is large; 0: no value is large">,
  ];
}

def SplitScattersPass : Pass<"xla-split-scatters", "::mlir::func::FuncOp"> {
  let summary = "Split scatters of many updates to few elements into parts that threads share";
  let description = [{
    A scatter of many updates to few elements becomes a batch of scatters to copies of its operand, and a reduction of the copies. The number of parts
    depends on the shapes alone, so that results do not depend on the number of threads.
  }];
}

def FuseCodedProductsPass : Pass<"xla-fuse-coded-products", "::mlir::ModuleOp"> {
  let summary = "Make kernels of products of bytes with weights in codes of four or eight bits";
  let description = [{
    A contraction of rows that the program has rounded to 8 bits with weights that it computes from codes (nibbles, bytes; a scale and a zero
    for each group of neighbours) becomes a kernel with the attribute `millrace.coded_product`, which reads the codes and adds up integers.
    Scales and zeros of the rows are applied to its result. Before `xla-reduce-computed-operands`, for products with rows of floats.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ReduceComputedOperandsPass : Pass<"xla-reduce-computed-operands", "::mlir::func::FuncOp"> {
  let summary = "Rewrite contractions of a few vectors with a computed matrix to reductions";
  let description = [{
    A contraction of a few rows with a matrix that is computed elementwise from fewer bytes (quantized weights with scales) becomes a multiplication
    and a reduction, which fuse with the computation of the matrix, so that the matrix is never stored. Runs before `xla-split-reductions`.
  }];
}

def SplitReductionsPass : Pass<"xla-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split reductions of many elements to few into two reductions, so that threads share the first";
  let description = [{
    Reductions to a scalar or to a few columns, inner products of long vectors, and contractions with a long contracting dimension and few results are
    computed in parts, which a second reduction combines. The parts depend on the shapes alone.
  }];
}

def SplitStacksPass : Pass<"xla-split-stacks", "::mlir::func::FuncOp"> {
  let summary = "Compute the components of a stack separately where slices of the result take them apart";
  let description = [{
    Where values are concatenated, and slices of a value that is computed from the concatenation select the components again, every component is
    computed separately. Runs before `xla-compose-concatenations`.
  }];
}

def ComposeConcatenationsPass : Pass<"xla-compose-concatenations", "::mlir::func::FuncOp"> {
  let summary = "Make concatenations of slices of concatenations read the operands of the inner ones";
  let description = [{
    Rolls, and mirrored or repeated borders, along several dimensions are written as concatenations of slices, one dimension after the other. They
    become one concatenation without intermediate arrays.
  }];
}

def FuseAttentionPass : Pass<"xla-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Group attention, forward and backward, into kernels with the attribute millrace.attention";
  let description = [{
    Two contractions with a softmax between them, and the contractions of their gradients, become kernels that never store the scores. The pass asks
    code generation whether it has an emitter for each kernel. Runs before `xla-fuse-kernels`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def SplitConcatenationsPass : Pass<"xla-split-concatenations", "::mlir::ModuleOp"> {
  let summary = "Apply elementwise operations to the operands of a concatenation instead of its result";
  let description = [{
    Elementwise operations on a concatenation are applied to its operands, and the results are concatenated: one kernel, without the concatenation in
    memory. Runs after `xla-fuse-attention`, whose operands may be concatenated.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PadContractionsPass : Pass<"xla-pad-contractions", "::mlir::func::FuncOp"> {
  let summary = "Pad contracting dimensions to the length of a row of an AMX tile";
  let description = [{
    A contraction of bf16 or int8 whose contracting dimension does not fill the rows of the target's AMX tiles is padded with zeros, where that costs
    less than it saves. Runs after `xla-fuse-attention`, whose emitter pads its operands.
  }];
  let options = [
    Option<"matrixBf16", "matrix-bf16", "bool", "false", "the target multiplies bf16 in tiles of 32 terms">,
    Option<"matrixInt8", "matrix-int8", "bool", "false", "the target multiplies integers of 8 bits in tiles of 64 terms">,
  ];
}

def RepeatCheapOperationsPass : Pass<"xla-repeat-cheap-operations", "::mlir::func::FuncOp"> {
  let summary = "Give each kernel its own copy of cheap operations that several kernels read";
  let description = [{
    An operation that costs less than writing and reading its result is cloned for each of its users, so that every kernel computes it. Runs directly
    before `xla-fuse-kernels`.
  }];
}

def FuseKernelsPass : Pass<"xla-fuse-kernels", "::mlir::ModuleOp"> {
  let summary = "Group operations into kernels: private functions with the attribute millrace.kernel";
  let description = [{
    Every StableHLO operation that code generation supports moves into a private function with the unit attribute `millrace.kernel`, which is called
    at the position of the last of its operations. The runtime executes the other operations as steps: control flow around kernels, calls,
    collectives, custom calls, data constants, and aliases. Source: docs/layers.md, "fused".
  }];
  let options = [
    Option<"single", "single", "bool", "false", "give every operation a kernel of its own (for tests)">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PackLoopWeightsPass : Pass<"xla-pack-loop-weights", "::mlir::ModuleOp"> {
  let summary = "Pack weights of loops into panels once before the loop";
  let description = [{
    The right operand of a contraction that the loop around its kernel does not change is packed before the loop: into panels of columns, each with
    the contracting dimension outermost. The kernel reads the panels in place instead of packing the operand in every iteration.
  }];
  let options = [
    Option<"width", "width", "int64_t", "0", "columns of a panel; 0: the width that code generation prefers">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PrepareConstantsPass : Pass<"xla-prepare-constants", "::mlir::ModuleOp"> {
  let summary = "Compute values that depend on constant arguments alone in a function of their own";
  let description = [{
    Arguments with the attribute `millrace.constant` are the same buffers in many executions. Kernels that read no other values, and the packing of
    operands that contractions would repeat in every call, move to the function that the entry function's attribute `millrace.prepare` names. Its
    results become the last arguments of the entry function; the runtime computes them again when one of the buffers has changed. A contraction keeps
    its operand and gets the panels as a further operand (`millrace.panels`). Runs after `xla-pack-loop-weights`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def MarkInPlacePass : Pass<"xla-mark-in-place", "::mlir::ModuleOp"> {
  let summary = "Mark kernels that update one of their operands in place";
  let description = [{
    A kernel that returns a dynamic_update_slice or scatter of one of its arguments gets the attribute `millrace.in_place` with [operand, result]
    pairs. Its code works on the operand's buffer; the program builder copies the operand before the call if a later operation reads its old value,
    and lets loops carry the buffer without any copy.
  }];
}

#endif
