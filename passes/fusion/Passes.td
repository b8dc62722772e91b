// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_FUSION_PASSES_TD
#define MILLRACE_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def BlockRowsPass : Pass<"xla-block-rows", "::mlir::func::FuncOp"> {
  let summary = "Compute large values that only their own rows read, such as logits, a block of rows at a time";
  let description = [{
    A contraction with a large result, and the operations around it that read it row by row (a softmax, the choice of a class, gradients),
    become a loop over blocks of rows. What others read of it, losses of rows and products of gradients, is stored row by row or added up
    over the blocks. Large values never exist as a whole. Uses the sharding rules to know which dimensions are rows. Before all other
    rewrites of fusion, which then work on the blocks.
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "0", "size from which on a value is large; 0: no value is">,
  ];
}

def SplitScattersPass : Pass<"xla-split-scatters", "::mlir::func::FuncOp"> {
  let summary = "Split scatters of many updates to few elements into parts that threads share";
  let description = [{
    A scatter of many updates to few elements becomes a batch of scatters to copies of its operand, and a reduction of the copies. The number
    of parts depends on the shapes alone, so that results do not depend on the number of threads.
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
  let summary = "Turn contractions of a few vectors with a computed matrix into reductions";
  let description = [{
    A contraction of a few rows with a matrix that is computed elementwise from fewer bytes (quantized weights with scales) becomes a product
    and a reduction, which fuse with the computation of the matrix: the matrix is never stored. Before `xla-split-reductions`.
  }];
}

def SplitReductionsPass : Pass<"xla-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split reductions of many elements to few into two, the first of which threads share";
  let description = [{
    Reductions to a scalar or to a few columns, inner products of long vectors, and contractions with a long summed dimension and few results
    are computed in parts, which a second reduction combines. The parts depend on the shapes alone.
  }];
}

def SplitStacksPass : Pass<"xla-split-stacks", "::mlir::func::FuncOp"> {
  let summary = "Compute component by component what is computed from a stack of components";
  let description = [{
    Where values are concatenated, and slices of what is computed from the result take the components apart again, every component is computed
    by itself. Before `xla-compose-concatenations`.
  }];
}

def ComposeConcatenationsPass : Pass<"xla-compose-concatenations", "::mlir::func::FuncOp"> {
  let summary = "Let concatenations of slices of concatenations read the operands of the inner ones";
  let description = [{
    Rolls and mirrored or repeated borders along several dimensions are written as concatenations of slices, one dimension after the other.
    They become one step, without the arrays in between.
  }];
}

def MergePadDimensionsPass : Pass<"xla-merge-pad-dimensions", "::mlir::func::FuncOp"> {
  let summary = "Merge the channels of images into their rows where a pad is a kernel of its own";
  let description = [{
    Few channels are shorter than a vector. Pads that leave the trailing dimensions as they are become pads of arrays whose trailing dimensions
    are merged into one.
  }];
}

def FuseAttentionPass : Pass<"xla-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Group attention, forward and backward, into kernels with the attribute millrace.attention";
  let description = [{
    Two contractions with a softmax between them, and the contractions of their gradients, become kernels that never store the scores. Asks
    code generation whether it has an emitter for each of them. Before `xla-fuse-kernels`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def FusePoolGradientsPass : Pass<"xla-fuse-pool-gradients", "::mlir::ModuleOp"> {
  let summary = "Group the gradient of padded max pooling into one kernel";
  let description = [{
    JAX pads the operand of max pooling before it takes the gradient, and slices the result. As one kernel the padding is never stored.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def SplitConcatenationsPass : Pass<"xla-split-concatenations", "::mlir::ModuleOp"> {
  let summary = "Compute from the operands of a concatenation what is computed from its result";
  let description = [{
    Elementwise operations on a concatenation are applied to its operands instead, and the results are concatenated: one kernel, without the
    concatenation in memory. After `xla-fuse-attention`, whose operands may be concatenated.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PadContractionsPass : Pass<"xla-pad-contractions", "::mlir::func::FuncOp"> {
  let summary = "Pad summed dimensions of contractions to the length that a matrix unit takes";
  let description = [{
    Contractions of bf16 or int8 whose summed dimension fills no row of the target's matrix tile get zeros behind it, where that costs less
    than it saves. After `xla-fuse-attention`, whose emitter pads by itself.
  }];
  let options = [
    Option<"matrixBf16", "matrix-bf16", "bool", "false", "the target multiplies bf16 in tiles of 32 terms">,
    Option<"matrixInt8", "matrix-int8", "bool", "false", "the target multiplies integers of 8 bits in tiles of 64 terms">,
  ];
}

def RepeatCheapOperationsPass : Pass<"xla-repeat-cheap-operations", "::mlir::func::FuncOp"> {
  let summary = "Give each of several kernels its own copy of cheap operations";
  let description = [{
    An operation that costs less than writing and reading its result is cloned for each of its users, so that every kernel computes it by
    itself. Right before `xla-fuse-kernels`.
  }];
}

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

def PrepareConstantsPass : Pass<"xla-prepare-constants", "::mlir::ModuleOp"> {
  let summary = "Compute what depends on constant arguments alone in a function of its own";
  let description = [{
    Arguments with the attribute `millrace.constant` are the same buffers in many executions. Kernels that read nothing else, and the packing of
    operands that contractions would do in every call, move to the function that the entry function's attribute `millrace.prepare` names. Its
    results become the last arguments of the entry function; the runtime computes them when one of the buffers is another one. A contraction
    keeps its operand and gets the panels beside it (`millrace.panels`). After `xla-pack-loop-weights`.
  }];
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
