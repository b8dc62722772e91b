// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_AUTOSHARDING_PASSES_TD
#define MILLRACE_PASSES_AUTOSHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AutoShardingPass : Pass<"xla-auto-sharding", "::mlir::ModuleOp"> {
  let summary = "Choose how every value is sharded over the devices of the module's mesh";
  let description = [{
    Assigns strategies to operations, and shardings to arguments and results, such that the program is expected to take the least time on a machine;
    where an operation needs another sharding of its operand, an `sdy.reshard` is inserted. The user's annotations are kept. The module needs one
    `sdy.mesh`. Afterwards all shardings are explicit, as after propagation.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"machine", "machine", "std::string", "\"virtual\"", "name or file of a description of devices and links">,
    Option<"memoryPerDevice", "memory-per-device", "int64_t", "0", "bytes that the program may take on a device; 0: any number">,
    Option<"planMemory", "plan-memory", "std::string", "\"compiled\"",
           "what the limit is for: compiled (the compiled program; it is lowered for every plan) or values (each one, from its operation to its last reader)">,
    Option<"iterations", "iterations", "int64_t", "0",
           "iterations of the solver, after which its answer does not depend on the clock; 0: its default">,
    Option<"problemFile", "problem", "std::string", "\"\"", "also write the problem to this file, for solve-sharding">,
    Option<"report", "report", "bool", "false", "remark what the plan is expected to cost">];
}

def RematerializePass : Pass<"xla-rematerialize-values", "::mlir::func::FuncOp"> {
  let summary = "Compute values again before late uses instead of keeping them";
  let description = [{
    Clones operations until the values of the function take at most `memory` bytes at any time, preferring those that free a byte in the fewest
    seconds on the machine. Automatic sharding does the same with the bytes that values take on a device, where its best plan does not fit.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
  let options = [
    Option<"memory", "memory", "int64_t", "0", "largest number of bytes that values may take">,
    Option<"machine", "machine", "std::string", "\"virtual\"", "name or file of a description of a device">,
    Option<"report", "report", "bool", "false", "remark which operations were cloned">];
}

#endif
