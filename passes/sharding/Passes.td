// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_SHARDING_PASSES_TD
#define MILLRACE_PASSES_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

class Sharding_Pass<string name, string target> : Pass<name, target> {
  let dependentDialects = ["::millrace::sdy::SdyDialect", "::millrace::stablehlo::StablehloDialect"];
}

//===-- Propagation -------------------------------------------------------===//

defvar PropagationOptions = [
  Option<"keepShardingRules", "keep-sharding-rules", "bool", "false", "leave the rules on the operations">,
  Option<"dumpDirectory", "module-dump-directory", "std::string", "", "write the module after propagation to this folder">,
  Option<"conservative", "conservative-propagation", "bool", "false",
         "no parts of axes, and no factor whose sharding needs a halo exchange">,
  Option<"debugShardingOrigins", "debug-sharding-origins", "bool", "false",
         "record on every operation from which annotation its axes come">,
  Option<"debugEdgeSourceSharding", "debug-edge-source-sharding", "bool", "false",
         "record on every operation from which operand or result its axes come">,
  Option<"debugPropagationEdges", "debug-propagation-edge-sharding", "bool", "false", "debug-edge-source-sharding under its newer name">];

defvar StrategyOption = [
  Option<"strategy", "propagation-strategy", "::millrace::sharding::Strategy",
         "::millrace::sharding::Strategy::Aggressive", "how to resolve conflicts between tensors", [{
    ::llvm::cl::values(
      clEnumValN(::millrace::sharding::Strategy::Basic, "basic", "leave all of them alone"),
      clEnumValN(::millrace::sharding::Strategy::Aggressive, "aggressive", "decide by size"),
      clEnumValN(::millrace::sharding::Strategy::BasicThenAggressive, "basic-then-aggressive", "one after the other"))
  }]>];

defvar RoundsOption = [
  Option<"runOpPriority", "run-op-priority-propagation", "bool", "true", "pass-through operations first">];

def BasicPropagationPass : Sharding_Pass<"sdy-basic-propagate", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings where no tensors conflict";
  let options = PropagationOptions;
}

def AggressivePropagationPass : Sharding_Pass<"sdy-aggressive-propagate", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings, resolving conflicts between tensors";
  let options = PropagationOptions # StrategyOption;
}

def OpPriorityPropagationPass : Sharding_Pass<"sdy-op-priority-propagate", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings in rounds, pass-through operations first";
  let options = PropagationOptions # StrategyOption # RoundsOption;
}

def UserPriorityPropagationPass : Sharding_Pass<"sdy-user-priority-propagate", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings in rounds, by the priority of annotations and then of operations";
  let options = PropagationOptions # StrategyOption # RoundsOption;
}

def PopulateOpShardingRulesPass : Sharding_Pass<"sdy-populate-op-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Attach the sharding rule of every operation to it";
  let options = [Option<"conservative", "conservative-propagation", "bool", "false",
                        "no factor whose sharding needs a halo exchange">];
}

//===-- Import ------------------------------------------------------------===//

def LiftInlinedMeshesPass : Sharding_Pass<"sdy-lift-inlined-meshes", "::mlir::ModuleOp"> {
  let summary = "Give every mesh one name";
  let description = [{
    Meshes inside shardings become sdy.mesh operations (`mesh`, `mesh_0`, ..., `maximal_mesh_N` for the mesh of device N), and equal meshes become the
    first one.
  }];
}

def RemoveSizeOneAxesPass : Sharding_Pass<"sdy-remove-size-one-axes", "::mlir::ModuleOp"> {
  let summary = "Remove axes of one device from shardings";
}

def ConstantOrScalarSplitterPass : Sharding_Pass<"sdy-constant-or-scalar-splitter", "::mlir::func::FuncOp"> {
  let summary = "Give every use of a constant, or of a broadcast scalar, its own copy";
  let description = [{
    Two uses of one constant need not have the same sharding. Constants, iota, and elementwise operations, broadcasts and slices of them are cloned
    with all operations that they depend on; constants become sdy.constant, which no pass merges. Of the broadcast of a scalar only the broadcast is
    cloned.
  }];
}

def ConstantSplitterPass : Sharding_Pass<"sdy-constant-splitter", "::mlir::func::FuncOp"> {
  let summary = "sdy-constant-or-scalar-splitter under its older name, for constants only";
}

def ManualAxesCleanupPass : Sharding_Pass<"sdy-manual-axes-cleanup", "::mlir::ModuleOp"> {
  let summary = "List all manual axes in the shardings of manual computations";
  let description = [{
    A manual axis that shards no dimension is listed as replicated, and manual axes are in mesh order.
  }];
}

def AddDataFlowEdgesPass : Sharding_Pass<"sdy-add-data-flow-edges", "::mlir::ModuleOp"> {
  let summary = "Insert sdy.data_flow_edge where values flow into or out of regions";
  let options = [Option<"atFunctions", "add-func-data-flow-edges", "bool", "false",
                        "also sdy.func_data_flow_edge at arguments of functions that are called and at results of calls">];
}

def AddFuncDataFlowEdgesPass : Sharding_Pass<"sdy-add-func-data-flow-edges", "::mlir::ModuleOp"> {
  let summary = "Insert sdy.func_data_flow_edge at arguments of functions that are called and at results of calls";
}

def ApplyShardingConstraintsPass : Sharding_Pass<"sdy-apply-sharding-constraints", "::mlir::ModuleOp"> {
  let summary = "Give the inputs of constraints the constraints' shardings";
  let description = [{
    The input of a constraint, or of a manual computation, gets the constraint's sharding if it has none, is not the result of a data-flow edge, the
    sharding is closed, and no other constraint disagrees. Where several constraints form a chain, later uses of a value that had no sharding use the
    last one's result.
  }];
  let options = [
    Option<"origins", "debug-sharding-origins", "bool", "false",
           "for propagation with this option, which identifies constraints' inputs by their constraints; this pass records nothing">,
    Option<"edges", "debug-propagation-edge-sharding", "bool", "false",
           "record on constraints that their axes propagated to their inputs, as the first steps of propagation">];
}

def ShardingGroupImportPass : Sharding_Pass<"sdy-sharding-group-import", "::mlir::ModuleOp"> {
  let summary = "Number sharding groups and join those that share a value";
  let description = [{
    Fails if a group crosses the boundary of a manual computation, or if its members have different annotations. An annotation of one member applies
    to all.
  }];
}

def ImportMaximalShardingPass : Sharding_Pass<"sdy-import-maximal-sharding", "::mlir::ModuleOp"> {
  let summary = "Convert device numbers of operations to shardings over meshes of one device";
}

def InlineMeshesPass : Sharding_Pass<"sdy-inline-meshes", "::mlir::ModuleOp"> {
  let summary = "Inline meshes into shardings, and remove their symbols";
}

def PropagateShardingFromFuncToCallPass : Sharding_Pass<"sdy-propagate-sharding-from-func-to-call", "::mlir::ModuleOp"> {
  let summary = "Give calls without shardings those of their callees' results";
}

def PreOrderFuncsPass : Sharding_Pass<"sdy-pre-order-funcs", "::mlir::ModuleOp"> {
  let summary = "Move functions behind their first callers";
}

def ImportFuncCallsPass : Sharding_Pass<"sdy-import-func-calls", "::mlir::ModuleOp"> {
  let summary = "Convert calls to named computations";
  let options = [Option<"onlyUninlineable", "only-uninlineable", "bool", "false",
                        "only calls with the frontend attribute inlineable = \"false\"">,
                 Option<"dataFlowEdges", "add-data-flow-edges-on-named-computations", "bool", "true",
                        "insert sdy.data_flow_edge at their arguments and results">];
}

def ImportHloShardingsPass : Sharding_Pass<"xla-import-hlo-shardings", "::mlir::ModuleOp"> {
  let summary = "Convert mhlo.sharding strings to shardings over one mesh";
  let description = [{
    Converts the strings of arguments, results, `@Sharding` calls and other operations. Strings over devices in a regular order are expressed by the
    axes that they have in common; strings with other axes, or devices in another order, get a mesh of their own. The operations between
    `@SPMDFullToShardShape` and `@SPMDShardToFullShape` become an `sdy.manual_computation`. A module is not changed if its manual parts are no
    regions, or if it has manual parts and several meshes.
  }];
}

//===-- Export ------------------------------------------------------------===//

def ConstantOrScalarMergerPass : Sharding_Pass<"sdy-constant-or-scalar-merger", "::mlir::func::FuncOp"> {
  let summary = "Merge equal constants, and broadcasts of one scalar, that have the same sharding";
}

def RemoveShardingGroupsPass : Sharding_Pass<"sdy-remove-sharding-groups", "::mlir::ModuleOp"> {
  let summary = "Remove sharding groups";
}

def ShardingConstraintToReshardPass : Sharding_Pass<"sdy-sharding-constraint-to-reshard", "::mlir::func::FuncOp"> {
  let summary = "Convert constraints to reshards";
}

def SinkDataFlowEdgesPass : Sharding_Pass<"sdy-sink-data-flow-edges", "::mlir::func::FuncOp"> {
  let summary = "Move the shardings of data-flow edges to the values that the edges represent";
  let options = [
    Option<"origins", "sink-debug-sharding-origins", "bool", "true", "also move the recorded origins of their axes">,
    Option<"edges", "sink-debug-propagation-edge-sharding", "bool", "true", "also move the recorded edges through which their axes came">];
}

def UpdateNonDivisibleInputOutputShardingsPass
    : Sharding_Pass<"sdy-update-non-divisible-input-output-shardings", "::mlir::func::FuncOp"> {
  let summary = "Remove axes that do not divide their dimensions from the shardings of inputs and outputs";
}

def RemoveSubAxesInInputOutputShardingsPass
    : Sharding_Pass<"sdy-remove-sub-axes-in-input-output-shardings", "::mlir::func::FuncOp"> {
  let summary = "Truncate the shardings of inputs and outputs before the first part of an axis";
}

def CloseShardingsPass : Sharding_Pass<"sdy-close-shardings", "::mlir::ModuleOp"> {
  let summary = "Close all dimensions, and remove lists of replicated axes";
}

def SinkFuncDataFlowEdgesPass : Sharding_Pass<"sdy-sink-func-data-flow-edges", "::mlir::func::FuncOp"> {
  let summary = "Move the shardings of function data-flow edges to the values that the edges represent";
}

def VerifyUnreducedAxesPass : Sharding_Pass<"sdy-verify-unreduced-axes", "::mlir::func::FuncOp"> {
  let summary = "Verify that every unreduced axis of an operand is in the result or reduced";
  let description = [{
    Reshards, constraints and collectives may reduce axes; every other operation with unreduced axes in an operand has a result with the same axes.
    Calls and returns agree with functions. The kinds of pending reductions (sum, maximum) do not change. Results without sharding are not checked.
    Propagation pipelines run the pass once reshards are explicit.
  }];
}

def VerifyPropagationPass : Sharding_Pass<"xla-verify-propagation", "::mlir::ModuleOp"> {
  let summary = "Verify that a module contains final shardings, and nothing that only propagation needs";
  let description = [{
    Runs on every program after propagation: no edges, groups and constraints are left, dimensions are closed and have no priorities, and meshes have
    names.
  }];
}

def DropShardingAndMeshPass : Sharding_Pass<"sdy-drop-sharding-and-mesh", "::mlir::ModuleOp"> {
  let summary = "Remove meshes and shardings";
}

def PropagateToFuncResultsPass : Sharding_Pass<"sdy-propagate-to-func-results", "::mlir::ModuleOp"> {
  let summary = "Give results of functions, except @main's, the shardings of the returned values";
}

def RemovePropagationDebugInfoPass : Sharding_Pass<"sdy-remove-propagation-debug-info", "::mlir::ModuleOp"> {
  let summary = "Remove the attributes in which propagation has recorded where axes come from";
}

def DropShardingRulesPass : Sharding_Pass<"sdy-drop-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Remove sharding rules from operations, except the user's";
}

def ExportNamedComputationsPass : Sharding_Pass<"sdy-export-named-computations", "::mlir::ModuleOp"> {
  let summary = "Convert named computations to functions and calls";
  let description = [{
    With `dedup-functions-fully`, computations of one name that differ in their shardings only become one function, with the shardings that most of
    them have. The operands and results of the others are resharded.
  }];
  let options = [Option<"dedupFunctionsFully", "dedup-functions-fully", "bool", "false", "one function for all computations of a name">];
}

def InsertExplicitReshardsPass : Sharding_Pass<"sdy-insert-explicit-reshards", "::mlir::func::FuncOp"> {
  let summary = "Reshard operands and results so that every operation can run on shards";
  let description = [{
    Each factor of an operation gets axes; operands and results with other shardings are resharded. Where a reduction factor is sharded, an
    sdy.all_reduce of the result follows. Without `enable-full-version`, the pass inserts only reshards that cannot be left to a partitioner: operands
    that are unreduced where the result is not are reduced, concatenations get operands of one sharding, and a contraction whose result is sharded
    along the axes of its contracting dimension is resharded afterwards.
  }];
  let options = [
    Option<"everywhere", "enable-full-version", "bool", "false", "at all operations">,
    Option<"markPartial", "mark-partial-result-with-unreduced-axes", "bool", "false",
           "give the operand of an all_reduce a sharding whose unreduced axes are those of the sum">,
    Option<"avoidCalls", "avoid-reshards-on-calls", "bool", "false", "do not reshard operands of calls and named computations">,
    Option<"avoidCallsOld", "avoid-reshards-on-named-computations", "bool", "false", "avoid-reshards-on-calls under its older name">];
}

def TempExplicitReshardsForOptimizationsPass : Sharding_Pass<"sdy-temp-explicit-reshards-for-optimizations", "::mlir::func::FuncOp"> {
  let summary = "sdy-insert-explicit-reshards without its full version, under its older name";
}

def ReshardToCollectivesPass : Sharding_Pass<"sdy-reshard-to-collectives", "::mlir::func::FuncOp"> {
  let summary = "Convert reshards to all_slice, collective_permute, all_to_all and all_gather";
  let options = [Option<"keepRedundant", "keep-redundant-reshards", "bool", "false", "keep reshards that change nothing">];
}

#endif
