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
  let description = [{ Copies of @f are @f_0, @f_1, ... and say `sdy.original_func_name = "f"`. }];
}

def UnflattenCallGraphPass : ShardingProgram_Pass<"sdy-unflatten-call-graph", "::mlir::ModuleOp"> {
  let summary = "Merge functions that sdy-flatten-call-graph copied and that are sharded alike";
  let options = [Option<"dedupFunctionsFully", "dedup-functions-fully", "bool", "false",
                        "of each copied function, one per caller, however it is sharded">];
}

def InsertFuncCallReshardsPass : ShardingProgram_Pass<"sdy-insert-func-call-reshards", "::mlir::ModuleOp"> {
  let summary = "Reshard results of calls that functions return in other shardings";
}

def TranslateMeshPass : ShardingProgram_Pass<"sdy-translate-mesh", "::mlir::ModuleOp"> {
  let summary = "Give the axes of a mesh other names";
  let options = [Option<"oldMeshName", "old-mesh-name", "std::string", "", "the mesh">,
                 ListOption<"axisNames", "axis-names", "std::string", "new names of its axes, in their order">];
}

def ExplicitGatherScatterBatchingPass
    : ShardingProgram_Pass<"sdy-explicit-gather-scatter-batching", "::mlir::func::FuncOp"> {
  let summary = "Look up rows by their own number through batching dimensions";
  let description = [{ Where one of the concatenated indices counts along a dimension of the indices that is as long as the
    dimension it is for, that pair of dimensions becomes one of batches: it can be split without any exchange. }];
}

def DeduplicateConstantsPass : ShardingProgram_Pass<"sdy-deduplicate-constants", "::mlir::func::FuncOp"> {
  let summary = "Merge constants of one block that are equal in all attributes";
}

def OptimizeCollectivesPass : ShardingProgram_Pass<"sdy-optimize-collectives", "::mlir::func::FuncOp"> {
  let summary = "Drop sdy collectives that move nothing, and join those that are one together";
  let description = [{ all_reduce and all_slice become reduce_scatter, two all_to_all one, all_gather and all_slice nothing. }];
  let options = [Option<"reshards", "fuse-reshards", "bool", "true", "reshards of one value in a row become one, too">];
}

def SplitReshardingDimensionsPass : ShardingProgram_Pass<"sdy-split-resharding-dimensions", "::mlir::func::FuncOp"> {
  let summary = "Reshard with dimensions of their own for axes that go different ways";
  let description = [{ A dimension whose axes are to be in several others, or come from several, is split by a reshape: what is left
    between two reshapes are exchanges between whole dimensions, without a permutation of devices before. }];
}

def RemoveAllGatherReduceScatterForCMV1Pass
    : ShardingProgram_Pass<"sdy-remove-all-gather-reduce-scatter-for-cmv1", "::mlir::func::FuncOp"> {
  let summary = "Leave all_gather before and reduce_scatter behind products to a partitioner that overlaps them with the product";
}

def PropagateUnreducedAcrossCallBoundariesPass
    : ShardingProgram_Pass<"sdy-propagate-unreduced-across-call-boundaries", "::mlir::ModuleOp"> {
  let summary = "What is to be summed later is so in functions and for their callers, too";
}

def PropagateCallShardingToFuncResultsPass
    : ShardingProgram_Pass<"sdy-propagate-call-sharding-to-func-results", "::mlir::ModuleOp"> {
  let summary = "Give results of functions the shardings that their calls say, or none";
}

def SaveModulePass : ShardingProgram_Pass<"sdy-save-module", "::mlir::ModuleOp"> {
  let summary = "Write the module to a file, if there is a folder for it";
  let options = [Option<"directory", "module-dump-directory", "std::string", "", "the folder; it is created if it is not there">,
                 Option<"name", "name", "std::string", "\"sdy_module\"", "the file, without its ending .mlir">];
}

#endif
