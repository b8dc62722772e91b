// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_CALLS_PASSES_TD
#define MILLRACE_PASSES_CALLS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCallsPass : Pass<"xla-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline calls, except calls of large functions with several callers";
  let description = [{
    A call inside a region of an operation (the body of a reduce, sort, loop, ...) is always inlined, because kernels are closed. Elsewhere a callee
    with several callers stays a function if it has at least `keep-from` operations: it is compiled once, and compile time does not grow with the
    number of identical layers. Unused private functions are removed. Recursion is an error.
  }];
  let options = [
    Option<"keepFrom", "keep-from", "unsigned", "96", "number of operations from which on a callee with several callers stays a function">,
  ];
}

def HoistConstantsPass : Pass<"xla-hoist-constants", "::mlir::ModuleOp"> {
  let summary = "Make constants of more than one element arguments of the entry function";
  let description = [{
    Without the pass, the compiler would evaluate programs that contain their own inputs. The values follow the existing arguments in order of
    appearance, and are kept in the attribute `millrace.hoisted` (an array of dense elements) of the function. Run xla-inline-calls with
    keep-from=4294967295 before.
  }];
}

def FlattenTuplesPass : Pass<"xla-flatten-tuples", "::mlir::ModuleOp"> {
  let summary = "Replace tuples by their elements in signatures, control flow and calls";
  let description = [{
    Tuples belong to the calling convention of HLO. Afterwards no value of the module has a tuple type, except operands and results of custom calls,
    which are passed element by element.
  }];
}

def ExpandCustomCallsPass : Pass<"xla-expand-custom-calls", "::mlir::ModuleOp"> {
  let summary = "Replace custom calls with known semantics by operations";
  let description = [{
    Annotations without effect on a program for one device (`Sharding`, `SPMDFullToShardShape`, `SPMDShardToFullShape`, `annotate_device_placement`,
    `LayoutConstraint`, ...) are replaced by their operand. `ApproxTopK` is exact: a sort with the called comparator, then a slice. `TopK` and
    `mhlo.topk` become chlo.top_k, other `mhlo.*` calls the chlo operation of that name. `Qr` and `ProductOfElementaryHouseholderReflectors` become
    the LAPACK calls that JAX's rules for CPUs emit; LAPACK's functions are known to have no effects. All other custom calls stay for the runtime.
  }];
  let dependentDialects = ["::millrace::chlo::ChloDialect", "::millrace::stablehlo::StablehloDialect"];
}

def PrepareCollectivesPass : Pass<"xla-prepare-collectives", "::mlir::ModuleOp"> {
  let summary = "Rewrite collectives to the form that the runtime executes";
  let description = [{
    Operands of reducing collectives are converted to the element type of the computation where it promotes them. A collective between async_start and
    async_done runs at its start. Meshes that replica groups name by symbol are inlined.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SelectTopKPass : Pass<"xla-select-top-k", "::mlir::func::FuncOp"> {
  let summary = "Rewrite sorts of which only a prefix is used to selections";
  let description = [{
    A sort of values, with or without their positions, along the last dimension becomes a call of the runtime's `millrace_top_k` if all users read the
    same prefix of at most a quarter. Sorts of fewer than 512 elements stay.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def CallRuntimePass : Pass<"xla-call-runtime", "::mlir::func::FuncOp"> {
  let summary = "Call the runtime's functions for sorts, scans and Fourier transforms";
  let description = [{
    Sorts whose comparator is an order of one or more keys become calls of `millrace_sort`, transforms calls of `millrace_fft`, running sums and the
    like calls of `millrace_scan`, contractions with constant matrices of mostly zeros calls of `millrace_few_terms`, triangular systems, Cholesky and
    LU factors of real matrices (also JAX's LAPACK calls for them) calls of `millrace_triangular_solve`, `millrace_cholesky` and `millrace_lu`. These
    algorithms are better written once, for all threads, than generated for every program. Operands of a sort that only count positions are not
    passed. Operations on tensors of unknown size, and sorts that cost less than a call, stay.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

#endif
