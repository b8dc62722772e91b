// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_SPMD_PASSES_TD
#define MILLRACE_PASSES_SPMD_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdPartitionPass : Pass<"xla-spmd-partition", "::mlir::ModuleOp"> {
  let summary = "Turn a program over global tensors into the program of each device";
  let description = [{
    Reads sdy attributes and operations, `mhlo.sharding` strings with their custom calls, and the `xla.sdy.*` forms of old
    exports. Afterwards @main takes and returns what one of the `mhlo.num_partitions` devices holds; its arguments and
    results carry `mhlo.sharding` strings that say which part that is. Bodies of manual computations run as written.
    Elsewhere a value has the sharding that propagation found (passes/sharding); one without keeps that of its operands while
    operations allow, see passes/spmd/OpRules.h, and is gathered where not.
    A module without shardings is left alone. Shapes must be static.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
}

def CombineCollectivesPass : Pass<"xla-combine-collectives", "::mlir::func::FuncOp"> {
  let summary = "Put all_reduces of the same groups that do not need each other into one";
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "67108864", "operands of one all_reduce together">];
}

#endif
