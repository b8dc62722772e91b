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
  let summary = "Say shardings over one mesh of those with the same devices in the same order";
  let description = [{ The mesh that stays has the most axes; of those, names that do not begin with `_` are preferred. A mesh
    stays as it is where one of its shardings needs a part of an axis that the other mesh cannot name. }];
}

def RoundTripExportOpsPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-export-ops", "::mlir::ModuleOp"> {
  let summary = "Turn constraints, groups, barriers and constants of sdy into StableHLO operations that HLO keeps";
}

def RoundTripShardMapExportPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-shard-map-export", "::mlir::ModuleOp"> {
  let summary = "Turn manual computations into calls between @xla.sdy.GlobalToLocalShape and @xla.sdy.LocalToGlobalShape";
}

def RoundTripExportShardyAttrsPass
    : ShardingRoundTrip_Pass<"xla-sdy-round-trip-export-shardy-attrs", "::mlir::ModuleOp"> {
  let summary = "Write shardings, rules and meshes as text into mhlo.frontend_attributes";
  let description = [{ HLO has no attributes at results: those of functions go to @xla.sdy.FuncResultSharding calls. }];
}

def ExportManualReductionCollectivesPass
    : ShardingRoundTrip_Pass<"xla-sdy-stablehlo-export-manual-reduction-collectives", "::mlir::ModuleOp"> {
  let summary = "Make pending sums, and what ends them, manual computations with collectives of StableHLO";
  let description = [{ An sdy.all_reduce or sdy.reduce_scatter of what is said to be unreduced, and what makes a value unreduced, run on parts
    inside of a manual computation of all axes. Transposes and reshapes whose results are unreduced have unreduced operands. }];
  let options = [Option<"allReduceScatter", "export-all-reduce-scatter", "bool", "false",
                        "every sdy.reduce_scatter: it says what of its operand is unreduced">];
}

def ExportShardingsPass : ShardingRoundTrip_Pass<"xla-sdy-stablehlo-export-shardings", "::mlir::ModuleOp"> {
  let summary = "Write shardings as mhlo.sharding strings, and remove meshes";
  let options = [
    Option<"named", "enable-hlo-sharding-v3", "bool", "false", "axes of a named mesh instead of tiles">,
    Option<"simplify", "simplify-replicated-shardings", "bool", "false", "with names: of what is whole everywhere, no mesh is named">,
    Option<"wholeReverse", "clear-reverse-op-sharding", "bool", "false", "nothing of reverses of split dimensions">,
    Option<"controlFlow", "add-missing-sharding-to-control-flow", "bool", "false",
           "loops and branches without shardings are replicated, and sends, receives and tokens on device 0">];
}

def ExportOpsPass : ShardingRoundTrip_Pass<"xla-sdy-export-ops", "::mlir::ModuleOp"> {
  let summary = "Turn what changes shardings into @Sharding calls, and constants of sdy into those of StableHLO";
  let description = [{ For a partitioner that reads mhlo.sharding: sdy collectives say where a value is to be, too, and an
    sdy.all_reduce is left to it. }];
  let options = [
    Option<"asCalls", "keep-hlo-sharding-constraints", "bool", "true", "refused if false: there is no mhlo.copy here">,
    Option<"asCopies", "export-sharding-constraints-to-mhlo-copy", "bool", "false", "refused if true: there is no mhlo.copy here">];
}

def ShardMapExportPass : ShardingRoundTrip_Pass<"xla-sdy-stablehlo-round-trip-shard-map-export", "::mlir::ModuleOp"> {
  let summary = "Put manual computations between @SPMDFullToShardShape and @SPMDShardToFullShape";
  let options = [Option<"eraseEmpty", "erase-manual-computations", "bool", "false", "without those calls where no axis is manual">];
}

//===-- Import ------------------------------------------------------------===//

def ImportConstantsPass : ShardingRoundTrip_Pass<"xla-sdy-import-constants", "::mlir::func::FuncOp"> {
  let summary = "Turn constants of StableHLO into those of sdy, which nobody folds or merges";
}

def ImportShardingsPass : ShardingRoundTrip_Pass<"xla-sdy-import-shardings", "::mlir::ModuleOp"> {
  let summary = "Turn all mhlo.sharding strings into shardings over one mesh, and meshes of single devices";
  let description = [{ Axes are `_axis_0`, `_axis_1`, ..., or those of the first string that names a mesh. What is on device N is over
    @single_device_N. }];
}

def RoundTripImportShardyAttrsPass
    : ShardingRoundTrip_Pass<"xla-sdy-round-trip-import-shardy-attrs", "::mlir::ModuleOp"> {
  let summary = "Read shardings, rules and meshes from mhlo.frontend_attributes";
  let description = [{ Those of arguments, results, constraints, sends and receives, and callbacks. Other operations' are dropped:
    what rewrites HLO copies frontend attributes to operations of other shapes. }];
}

def RoundTripCloneManualComputationCallsPass
    : ShardingRoundTrip_Pass<"xla-sdy-round-trip-clone-manual-computation-calls", "::mlir::ModuleOp"> {
  let summary = "Give every call of a manual computation's function a function of its own";
}

def RoundTripShardMapImportPass : ShardingRoundTrip_Pass<"xla-sdy-round-trip-shard-map-import", "::mlir::ModuleOp"> {
  let summary = "Turn calls between @xla.sdy.GlobalToLocalShape and @xla.sdy.LocalToGlobalShape into manual computations";
}

def ImportSdyCustomCallsPass : ShardingRoundTrip_Pass<"xla-sdy-import-sdy-custom-calls", "::mlir::ModuleOp"> {
  let summary = "Turn @Sharding, @xla.sdy.ShardingGroup and @xla.sdy.PropagationBarrier into operations of sdy";
}

def OpenWhileFreeVarsShardingPass
    : ShardingRoundTrip_Pass<"xla-sdy-open-while-free-vars-sharding", "::mlir::func::FuncOp"> {
  let summary = "Let loops use values from outside in shardings of their own";
  let description = [{ HLO makes such values loop-carried: the loop's copy may be sharded otherwise than the original. }];
}

#endif
