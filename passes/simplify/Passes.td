// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - Simplification of StableHLO programs -------------------===//
// One record per pass, in the order of their names' stems; one .cpp per pass.
#ifndef MILLRACE_PASSES_SIMPLIFY_PASSES_TD
#define MILLRACE_PASSES_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- From one form of the program to another ---------------------------===//

def StablehloLegalizeDeprecatedOpsPass : Pass<"stablehlo-legalize-deprecated-ops", "::mlir::func::FuncOp"> {
  let summary = "Replace deprecated operations by their successors";
  let description = [{
    broadcast -> broadcast_in_dim, create_token -> after_all, cross-replica-sum -> all_reduce, dot and einsum ->
    dot_general, unary_einsum -> reduce and transpose, torch_index_select -> gather.
  }];
  let options = [Option<"failOnUnused", "fail-on-unused", "bool", "true",
                        "fail if a deprecated operation has no successor">];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def StablehloCompatibilityExpanderPass : Pass<"stablehlo-compatibility-expander", "::mlir::ModuleOp"> {
  let summary = "Rewrite newer features of StableHLO to features of an older version";
  let description = [{
    Runs before an artifact is written for `target`. Below 1.16 replica groups of mesh axes become lists of ids, below 1.9 locations that are ranges
    of a file become positions, below 1.4 tan becomes sine and cosine, below 1.1 batching dimensions of gather and scatter become components of the
    indices.
  }];
  let options = [Option<"targetVersionOption", "target", "std::string", "\"\"", "version of the form #.#.#">];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def CanonicalizeProgramPass : Pass<"xla-canonicalize-program", "::mlir::ModuleOp"> {
  let summary = "Canonicalize with the patterns of the dialects that programs have before lowering";
  let description = [{
    MLIR's `canonicalize` collects the patterns of every loaded dialect, and which dialects are loaded depends on the earlier use of the context. This
    pass applies those of func, stablehlo, chlo, shape, tensor and arith only, so that its result does not depend on other loaded dialects.
  }];
}

def SeedRngPass : Pass<"xla-seed-rng", "::mlir::func::FuncOp"> {
  let summary = "Seed rng operations anew in every execution";
  let description = [{
    An rng's result is computed from 64 random bits per element, the same in every run, which are mixed with a seed that the runtime supplies at each
    execution of `custom_call @millrace.rng_seed`. An rng with the attribute `millrace.rng_ordinal` generates those bits and is not changed.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def ExpandBatchNormPass : Pass<"xla-expand-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Expand batch_norm_* to reduce and elementwise operations";
  let description = [{
    Follows the formulas of the specification. Element types below f32 are computed in f32 and rounded once at the end.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def StablehloLegalizeCompositeToCallPass : Pass<"stablehlo-legalize-composite-to-call", "::mlir::ModuleOp"> {
  let summary = "Replace composites by calls of their decompositions";
  let options = [ListOption<"exceptListOption", "except", "std::string", "names of composites to keep, or name@version for one version">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def StablehloWrapInCompositePass : Pass<"stablehlo-wrap-in-composite", "::mlir::ModuleOp"> {
  let summary = "Move operations into decompositions of composites";
  let options = [
    ListOption<"opNamesOption", "op-names", "std::string", "operations to wrap, as stablehlo.add">,
    Option<"versionOption", "version", "int32_t", "0", "version of the composites">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::millrace::stablehlo::StablehloDialect"];
}

def StablehloConvertToSignlessPass : Pass<"stablehlo-convert-to-signless", "::mlir::ModuleOp"> {
  let summary = "Replace unsigned by signless integer types";
}

//===-- Less work for the same values -------------------------------------===//

def StablehloAggressiveSimplificationPass
    : Pass<"stablehlo-aggressive-simplification", "::mlir::func::FuncOp"> {
  let summary = "Rewrite operations to cheaper ones with the same results";
  let description = [{
    Applies all canonical forms of the dialect, and algebraic rewrites that are exact: no float result changes, except that a NaN may get another
    payload and that a reduction may run in another order.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SimplifyForKernelsPass : Pass<"xla-simplify-for-kernels", "::mlir::func::FuncOp"> {
  let summary = "Simplify, and rewrite operations to forms that emitters and fusion support";
  let description = [{
    Applies the rewrites of `stablehlo-aggressive-simplification` (group `general`) together with Millrace's own groups to a fixed point: `indices`
    (index arithmetic in 32 bits), `unit-dimensions` (one shape for operations that fuse), `contractions` (transposes, reshapes, broadcasts and
    scalars that contractions, convolutions and reductions absorb), `diagonals` (sums of diagonals as slices), `scatters` (batches of
    gathers and scatters, windows of scatters), `powers` (x^0.5 as a root).
  }];
  let options = [
    ListOption<"groups", "groups", "std::string", "groups of rewrites to apply (default: all)">,
  ];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def StablehloAggressiveFolderPass : Pass<"stablehlo-aggressive-folder", "::mlir::func::FuncOp"> {
  let summary = "Evaluate operations on constants";
  let description = [{
    The evaluator computes results that the specification determines; canonical forms expose more constants.
  }];
  let options = [
    Option<"assumeNoUndeclaredSideEffects", "assume-no-undeclared-side-effects", "bool", "false",
           "fold operations that do not declare whether they have side effects">,
    Option<"foldOpElementLimit", "fold-op-element-limit", "int64_t", "65536",
           "largest number of elements of an operand or result of a folded operation">,
    Option<"optimizeFloat", "optimize-float", "bool", "true", "fold floats">,
  ];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def StablehloTargetIndependentOptimizationPass
    : Pass<"stablehlo-target-independent-optimization", "::mlir::func::FuncOp"> {
  let summary = "Simplify and fold together to a fixed point";
  let description = [{
    Applies the rewrites of stablehlo-aggressive-simplification and stablehlo-aggressive-folder in one run: a folded constant enables rewrites, and a
    rewrite enables folding. Folding has priority.
  }];
  let options = [
    Option<"assumeNoUndeclaredSideEffects", "assume-no-undeclared-side-effects", "bool", "false",
           "fold operations that do not declare whether they have side effects">,
    Option<"foldOpElementLimit", "fold-op-element-limit", "int64_t", "65536",
           "largest number of elements of an operand or result of a folded operation">,
    Option<"optimizeFloat", "optimize-float", "bool", "true", "fold floats">,
  ];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def ShareRollsPass : Pass<"xla-share-rolls", "::mlir::func::FuncOp"> {
  let summary = "Rewrite rolls of one value to slices of one copy of it with repeated borders";
  let description = [{
    Stencils on rings and tori roll a value by a few elements in several directions. One copy of the value with borders on all sides contains all
    rolled values as slices.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SplitComplexDotsPass : Pass<"xla-split-complex-dots", "::mlir::func::FuncOp"> {
  let summary = "Rewrite contractions of complex matrices to contractions of real ones";
  let description = [{
    A complex contraction becomes one real contraction of `a`, whose real and imaginary parts alternate in memory, and `[re b, im b; -im b, re b]`, or
    a sum of real contractions of the parts of `a` with `b` in place. Small contractions stay. Real parts that alternate with imaginary parts are an
    alias of the complex elements, as are bitcasts to complex elements; sums of columns are sums of the parts.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

//===-- Static shapes -----------------------------------------------------===//

def StablehloRefineArgumentsPass : Pass<"stablehlo-refine-arguments", "::mlir::ModuleOp"> {
  let summary = "Give the arguments of @main static types";
  let options = [ListOption<"refinedTypesOption", "types", "std::string", "one type per argument">];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def StablehloRefineShapesPass : Pass<"stablehlo-refine-shapes", "::mlir::ModuleOp"> {
  let summary = "Make types static that follow from the types of arguments and from constants";
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

// On a module or a function: bodies of JAX's calls are functions of the module.
def StablehloCanonicalizeDynamismPass : Pass<"stablehlo-canonicalize-dynamism"> {
  let summary = "Replace dynamic operations with constant dynamic operands by static ones";
  let description = [{
    Also replaces JAX's custom calls stablehlo.dynamic_top_k, dynamic_approx_top_k, dynamic_rng_bit_generator and dynamic_reduce_window.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::chlo::ChloDialect"];
}

def StablehloCheckShapeAssertionsPass : Pass<"stablehlo-check-shape-assertions", "::mlir::func::FuncOp"> {
  let summary = "Evaluate the assertions of custom calls @shape_assertion";
  let options = [Option<"enableShapeAssertions", "enable-shape-assertions", "bool", "true",
                        "false: drop the assertions">];
}

//===-- Quantization ------------------------------------------------------===//

def StablehloLegalizeQuantToMathPass : Pass<"stablehlo-legalize-quant-to-math", "::mlir::ModuleOp"> {
  let summary = "Compute quantized programs on their storage integers";
  let description = [{
    Quantized values become tensors of the storage type, in function types too. An arithmetic operation becomes dequantize, the operation on the
    expressed type, and quantize; an operation that only moves elements moves storage elements. Source: StableHLO spec, "dequantize_op_quantize".
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::quant::QuantDialect"];
}

def StablehloLegalizeQuantizedOpToQDQPass
    : Pass<"stablehlo-legalize-quantized-op-to-qdq", "::mlir::func::FuncOp"> {
  let summary = "Rewrite a quantized operation to dequantize, operation, quantize";
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::quant::QuantDialect"];
}

def StablehloLegalizeQDQToQuantizedOpPass
    : Pass<"stablehlo-legalize-qdq-to-quantized-op", "::mlir::func::FuncOp"> {
  let summary = "Rewrite dequantize, operation, quantize to a quantized operation";
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::quant::QuantDialect"];
}

def RemoveEmptyTensorsPass : Pass<"xla-remove-empty-tensors", "::mlir::func::FuncOp"> {
  let summary = "Replace values without elements by constants";
  let description = [{
    A tensor with a dimension of size 0 has one possible value. Operations without side effects whose results are all such tensors are removed, so
    that code generation need not support them.
  }];
}

#endif
