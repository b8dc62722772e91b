// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_LOOPS_PASSES_TD
#define MILLRACE_PASSES_LOOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HoistLoopInvariantsPass : Pass<"xla-hoist-loop-invariants", "::mlir::func::FuncOp"> {
  let summary = "Compute once, before the loop, what does not change in it";
  let description = [{
    Moves pure operations of while bodies and conditions whose operands come from outside the loop. A carried value that
    the body returns unchanged counts as coming from outside: its uses read the initial value, and it is no longer
    carried. Constants stay, they are free. Broadcasts and iotas stay too: hoisting them would turn arithmetic that
    fuses into memory traffic.
  }];
}

def AnnotateTripCountsPass : Pass<"xla-annotate-trip-counts", "::mlir::func::FuncOp"> {
  let summary = "Attach millrace.trip_count to loops that count from a constant to a constant";
}

def UnrollLoopsPass : Pass<"xla-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Replace loops of few iterations and few operations by their iterations";
  let options = [
    Option<"maxOps", "max-ops", "unsigned", "64", "operations that the unrolled loop may have">,
  ];
}

def NarrowSelectsPass : Pass<"xla-narrow-selects", "::mlir::func::FuncOp"> {
  let summary = "Make updates that a select chooses afterwards conditional updates";
  let description = [{
    Rewrites selects whose sides are updates (dynamic_update_slice, scatter) of one array, or the array itself, into updates
    by chosen windows, at chosen indices, or by neutral numbers. The array dies at the first of them and changes in place, so
    that a loop that keeps some of its results costs the windows and not the array per iteration.
  }];
}

def NarrowSumsPass : Pass<"xla-narrow-sums", "::mlir::func::FuncOp"> {
  let summary = "In loops, make sums with arrays that are zero but for a window updates";
  let description = [{
    Rewrites sums (differences, products, minima, and so on) of an array that a loop carries and one that is the neutral number but for what an
    update writes into it into an update of the array. The gradient of a loop that reads elements of arrays is made of such sums; each costs
    a window then and not the array. A sum with +0.0 makes +0.0 of -0.0: it is rewritten if the array never holds -0.0, or in a loop of known
    length, whose first turn is made before the loop; the others then bring the windows to +0.0 that the turn before wrote.
  }];
}

def OrderReadsPass : Pass<"xla-order-reads", "::mlir::func::FuncOp"> {
  let summary = "In loops, read arrays before they are updated";
  let description = [{
    Moves operations that read an array before the operation that makes its next version, together with what they need, unless
    they need the next version: two arrays of which each is updated from the other both change in place.
  }];
}

#endif
