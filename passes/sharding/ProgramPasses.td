// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramPasses.td - What prepares or tidies programs around propagation ===//
#ifndef MILLRACE_PASSES_SHARDING_PROGRAMPASSES_TD
#define MILLRACE_PASSES_SHARDING_PROGRAMPASSES_TD

include "mlir/Pass/PassBase.td"

class ShardingProgram_Pass<string name, string target> : Pass<name, target> {
  let dependentDialects = ["::millrace::sdy::SdyDialect", "::millrace::stablehlo::StablehloDialect"];
}

def FlattenCallGraphPass : ShardingProgram_Pass<"sdy-flatten-call-graph", "::mlir::ModuleOp"> {
  let summary = "Give every call a function of its own";
  let description = [{
    Clones of @f are @f_0, @f_1, ... and have the attribute `sdy.original_func_name = "f"`.
  }];
}

def UnflattenCallGraphPass : ShardingProgram_Pass<"sdy-unflatten-call-graph", "::mlir::ModuleOp"> {
  let summary = "Merge functions that sdy-flatten-call-graph has cloned and that have the same shardings";
  let options = [Option<"dedupFunctionsFully", "dedup-functions-fully", "bool", "false",
                        "merge the clones of each function within a caller, whatever their shardings are">];
}

def InsertFuncCallReshardsPass : ShardingProgram_Pass<"sdy-insert-func-call-reshards", "::mlir::ModuleOp"> {
  let summary = "Reshard results of calls whose callees return other shardings";
}

def TranslateMeshPass : ShardingProgram_Pass<"sdy-translate-mesh", "::mlir::ModuleOp"> {
  let summary = "Rename the axes of a mesh";
  let options = [Option<"oldMeshName", "old-mesh-name", "std::string", "", "the mesh">,
                 ListOption<"axisNames", "axis-names", "std::string", "new names of its axes, in their order">];
}

def ExplicitGatherScatterBatchingPass
    : ShardingProgram_Pass<"sdy-explicit-gather-scatter-batching", "::mlir::func::FuncOp"> {
  let summary = "Convert indices that count along a dimension to batching dimensions of gather and scatter";
  let description = [{
    Where one of the concatenated indices is an iota along a dimension of the indices, and that dimension is as long as the dimension that it indexes,
    the two become batching dimensions, which can be sharded without communication.
  }];
}

def DeduplicateConstantsPass : ShardingProgram_Pass<"sdy-deduplicate-constants", "::mlir::func::FuncOp"> {
  let summary = "Merge constants of a block that are equal in all attributes";
}

def OptimizeCollectivesPass : ShardingProgram_Pass<"sdy-optimize-collectives", "::mlir::func::FuncOp"> {
  let summary = "Remove sdy collectives that move no data, and combine consecutive ones";
  let description = [{
    all_reduce and all_slice become reduce_scatter, two all_to_all become one, and all_gather and all_slice cancel.
  }];
  let options = [Option<"reshards", "fuse-reshards", "bool", "true", "combine consecutive reshards of one value, too">];
}

def SplitReshardingDimensionsPass : ShardingProgram_Pass<"sdy-split-resharding-dimensions", "::mlir::func::FuncOp"> {
  let summary = "Split dimensions whose axes move to different dimensions before resharding";
  let description = [{
    A dimension whose axes move to several others, or come from several, is split by a reshape. The exchanges between the two reshapes then involve
    whole dimensions, and need no permutation of devices before.
  }];
}

def RemoveAllGatherReduceScatterForCMV1Pass
    : ShardingProgram_Pass<"sdy-remove-all-gather-reduce-scatter-for-cmv1", "::mlir::func::FuncOp"> {
  let summary = "Leave all_gather before and reduce_scatter after contractions to a partitioner that overlaps them with the contraction";
}

def PropagateUnreducedAcrossCallBoundariesPass
    : ShardingProgram_Pass<"sdy-propagate-unreduced-across-call-boundaries", "::mlir::ModuleOp"> {
  let summary = "Propagate unreduced axes between functions and their callers";
}

def PropagateCallShardingToFuncResultsPass
    : ShardingProgram_Pass<"sdy-propagate-call-sharding-to-func-results", "::mlir::ModuleOp"> {
  let summary = "Give results of functions the shardings of their calls, or none";
}

def SaveModulePass : ShardingProgram_Pass<"sdy-save-module", "::mlir::ModuleOp"> {
  let summary = "Write the module to a file if a folder is given";
  let options = [Option<"directory", "module-dump-directory", "std::string", "", "the folder, which is created if it does not exist">,
                 Option<"name", "name", "std::string", "\"sdy_module\"", "name of the file without its suffix .mlir">];
}

#endif
