// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTripPasses.td - Between sdy and what XLA keeps through HLO ----===//
#ifndef MILLRACE_PASSES_SHARDING_ROUNDTRIPPASSES_TD
#define MILLRACE_PASSES_SHARDING_ROUNDTRIPPASSES_TD

include "mlir/Pass/PassBase.td"

class ShardingRoundTrip_Pass<string name, string target> : Pass<name, target> {
  let dependentDialects = ["::millrace::sdy::SdyDialect", "::millrace::stablehlo::StablehloDialect"];
}

//===-- Export ------------------------------------------------------------===//

def DedupMeshesPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-dedup-meshes", "::mlir::ModuleOp"> {
  let summary = "Express shardings over meshes with the same devices in the same order by one mesh";
  let description = [{
    The remaining mesh has the most axes; among several, names that do not begin with `_` are preferred. A mesh is kept if one of its shardings needs
    a part of an axis that the remaining mesh cannot express.
  }];
}

def RoundTripExportOpsPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-export-ops", "::mlir::ModuleOp"> {
  let summary = "Convert constraints, groups, barriers and constants of sdy to StableHLO operations that HLO preserves";
}

def RoundTripShardMapExportPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-shard-map-export", "::mlir::ModuleOp"> {
  let summary = "Convert manual computations to calls between @xla.sdy.GlobalToLocalShape and @xla.sdy.LocalToGlobalShape";
}

def RoundTripExportShardyAttrsPass
    : ShardingRoundTrip_Pass<"xla-sdy-round-trip-export-shardy-attrs", "::mlir::ModuleOp"> {
  let summary = "Write shardings, rules and meshes as text into mhlo.frontend_attributes";
  let description = [{
    HLO has no attributes of results, so those of functions' results become @xla.sdy.FuncResultSharding calls.
  }];
}

def ExportManualReductionCollectivesPass
    : ShardingRoundTrip_Pass<"xla-sdy-stablehlo-export-manual-reduction-collectives", "::mlir::ModuleOp"> {
  let summary = "Convert reductions of unreduced values to manual computations with StableHLO collectives";
  let description = [{
    An sdy.all_reduce or sdy.reduce_scatter of unreduced axes, and an operation that makes a value unreduced, run on shards inside a manual
    computation of all axes. Transposes and reshapes with unreduced results have unreduced operands.
  }];
  let options = [Option<"allReduceScatter", "export-all-reduce-scatter", "bool", "false",
                        "convert every sdy.reduce_scatter, whose attributes say which axes of its operand are unreduced">];
}

def ExportShardingsPass : ShardingRoundTrip_Pass<"xla-sdy-stablehlo-export-shardings", "::mlir::ModuleOp"> {
  let summary = "Write shardings as mhlo.sharding strings, and remove meshes";
  let options = [
    Option<"named", "enable-hlo-sharding-v3", "bool", "false", "write axes of a named mesh instead of tiles">,
    Option<"simplify", "simplify-replicated-shardings", "bool", "false", "with names: name no mesh for values that are replicated everywhere">,
    Option<"wholeReverse", "clear-reverse-op-sharding", "bool", "false", "write no shardings of reverses of sharded dimensions">,
    Option<"controlFlow", "add-missing-sharding-to-control-flow", "bool", "false",
           "make loops and branches without shardings replicated, and put sends, receives and tokens on device 0">];
}

def ExportOpsPass : ShardingRoundTrip_Pass<"xla-sdy-export-ops", "::mlir::ModuleOp"> {
  let summary = "Convert operations that change shardings to @Sharding calls, and sdy constants to StableHLO constants";
  let description = [{
    Prepares a module for a partitioner that reads mhlo.sharding: sdy collectives become annotations of their results' shardings, and the partitioner
    performs the reduction of an sdy.all_reduce.
  }];
  let options = [
    Option<"asCalls", "keep-hlo-sharding-constraints", "bool", "true", "refused if false: there is no mhlo.copy here">,
    Option<"asCopies", "export-sharding-constraints-to-mhlo-copy", "bool", "false", "refused if true: there is no mhlo.copy here">];
}

def ShardMapExportPass : ShardingRoundTrip_Pass<"xla-sdy-stablehlo-round-trip-shard-map-export", "::mlir::ModuleOp"> {
  let summary = "Convert manual computations to operations between @SPMDFullToShardShape and @SPMDShardToFullShape";
  let options = [Option<"eraseEmpty", "erase-manual-computations", "bool", "false", "omit those calls where no axis is manual">];
}

//===-- Import ------------------------------------------------------------===//

def ImportConstantsPass : ShardingRoundTrip_Pass<"xla-sdy-import-constants", "::mlir::func::FuncOp"> {
  let summary = "Convert StableHLO constants to sdy constants, which no pass folds or merges";
}

def ImportShardingsPass : ShardingRoundTrip_Pass<"xla-sdy-import-shardings", "::mlir::ModuleOp"> {
  let summary = "Convert all mhlo.sharding strings to shardings over one mesh, and over meshes of single devices";
  let description = [{
    Axes are `_axis_0`, `_axis_1`, ..., or those of the first string that names a mesh. Shardings of device N are over @single_device_N.
  }];
}

def RoundTripImportShardyAttrsPass
    : ShardingRoundTrip_Pass<"xla-sdy-round-trip-import-shardy-attrs", "::mlir::ModuleOp"> {
  let summary = "Read shardings, rules and meshes from mhlo.frontend_attributes";
  let description = [{
    Reads the attributes of arguments, results, constraints, sends and receives, and callbacks. Those of other operations are dropped, because
    rewrites of HLO copy frontend attributes to operations of other shapes.
  }];
}

def RoundTripCloneManualComputationCallsPass
    : ShardingRoundTrip_Pass<"xla-sdy-round-trip-clone-manual-computation-calls", "::mlir::ModuleOp"> {
  let summary = "Clone the function of a manual computation for every call";
}

def RoundTripShardMapImportPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-shard-map-import", "::mlir::ModuleOp"> {
  let summary = "Convert calls between @xla.sdy.GlobalToLocalShape and @xla.sdy.LocalToGlobalShape to manual computations";
}

def ImportSdyCustomCallsPass : ShardingRoundTrip_Pass<"xla-sdy-import-sdy-custom-calls", "::mlir::ModuleOp"> {
  let summary = "Convert @Sharding, @xla.sdy.ShardingGroup and @xla.sdy.PropagationBarrier to sdy operations";
}

def OpenWhileFreeVarsShardingPass
    : ShardingRoundTrip_Pass<"xla-sdy-open-while-free-vars-sharding", "::mlir::func::FuncOp"> {
  let summary = "Let loops use values from outside in other shardings";
  let description = [{
    HLO makes such values loop-carried: the carried copy may have another sharding than the original.
  }];
}

#endif
