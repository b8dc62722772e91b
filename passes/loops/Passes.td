// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_LOOPS_PASSES_TD
#define MILLRACE_PASSES_LOOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HoistLoopInvariantsPass : Pass<"xla-hoist-loop-invariants", "::mlir::func::FuncOp"> {
  let summary = "Move loop-invariant operations before the loop";
  let description = [{
    Moves pure operations of while bodies and conditions whose operands are defined outside the loop. A carried value that the body returns unchanged
    counts as defined outside: its uses read the initial value, and it is no longer carried. Constants stay, because they are free. Broadcasts and
    iotas stay, too: hoisting them would replace arithmetic that fuses by memory traffic.
  }];
}

def AnnotateTripCountsPass : Pass<"xla-annotate-trip-counts", "::mlir::func::FuncOp"> {
  let summary = "Attach millrace.trip_count to loops that count from a constant to a constant";
}

def UnrollLoopsPass : Pass<"xla-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll loops of few iterations and few operations completely";
  let options = [
    Option<"maxOps", "max-ops", "unsigned", "64", "largest number of operations of the unrolled loop">,
  ];
}

def NarrowSelectsPass : Pass<"xla-narrow-selects", "::mlir::func::FuncOp"> {
  let summary = "Rewrite selects between updates of an array to conditional updates";
  let description = [{
    Rewrites selects whose operands are updates (dynamic_update_slice, scatter) of one array, or the array itself, to updates with selected windows,
    at selected indices, or with neutral elements. The array's live range ends at the first update, which is then in place, so that a loop that keeps
    some of its results costs the windows and not the array per iteration.
  }];
}

def NarrowSumsPass : Pass<"xla-narrow-sums", "::mlir::func::FuncOp"> {
  let summary = "Rewrite sums in loops with arrays that are zero except for a window to updates";
  let description = [{
    Rewrites sums (differences, products, minima, and so on) of an array that a loop carries and one that consists of the neutral element, except for
    a window that an update writes, to an update of the array. The gradient of a loop that reads elements of arrays consists of such sums; each then
    costs a window and not the array. A sum of -0.0 and +0.0 is +0.0, so the sum is rewritten if the array never contains -0.0, or in a loop with a
    known trip count, whose first iteration is peeled; each later iteration then changes -0.0 to +0.0 in the windows that the iteration before has
    written.
  }];
}

def OrderReadsPass : Pass<"xla-order-reads", "::mlir::func::FuncOp"> {
  let summary = "Move reads of arrays in loops before the updates of the arrays";
  let description = [{
    Moves operations that read an array, with the operations that they depend on, before the operation that updates the array, unless they depend on
    the updated array: two arrays that are each updated from the other can both be updated in place.
  }];
}

#endif
