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
         "no parts of axes, and no factor whose splitting needs an exchange between neighbours">,
  Option<"debugShardingOrigins", "debug-sharding-origins", "bool", "false",
         "say on every operation which annotation its axes come from">,
  Option<"debugEdgeSourceSharding", "debug-edge-source-sharding", "bool", "false",
         "say on every operation from which operand or result its axes came">,
  Option<"debugPropagationEdges", "debug-propagation-edge-sharding", "bool", "false", "debug-edge-source-sharding under its newer name">];

defvar StrategyOption = [
  Option<"strategy", "propagation-strategy", "::millrace::sharding::Strategy",
         "::millrace::sharding::Strategy::Aggressive", "what to do where tensors disagree", [{
    ::llvm::cl::values(
      clEnumValN(::millrace::sharding::Strategy::Basic, "basic", "leave all of them alone"),
      clEnumValN(::millrace::sharding::Strategy::Aggressive, "aggressive", "decide by size"),
      clEnumValN(::millrace::sharding::Strategy::BasicThenAggressive, "basic-then-aggressive", "one after the other"))
  }]>];

defvar RoundsOption = [
  Option<"runOpPriority", "run-op-priority-propagation", "bool", "true", "pass-through operations first">];

def BasicPropagationPass : Sharding_Pass<"sdy-basic-propagate", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings where nothing speaks against it";
  let options = PropagationOptions;
}

def AggressivePropagationPass : Sharding_Pass<"sdy-aggressive-propagate", "::mlir::ModuleOp"> {
  let summary = "Propagate shardings, deciding where tensors disagree";
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
  let summary = "Write the sharding rule of every operation on it";
  let options = [Option<"conservative", "conservative-propagation", "bool", "false",
                        "no factor whose splitting needs an exchange between neighbours">];
}

//===-- Import ------------------------------------------------------------===//

def LiftInlinedMeshesPass : Sharding_Pass<"sdy-lift-inlined-meshes", "::mlir::ModuleOp"> {
  let summary = "Give every mesh one name";
  let description = [{ Meshes that stand inside of shardings become sdy.mesh operations (`mesh`, `mesh_0`, ..., `maximal_mesh_N`
    for the mesh of device N), and of equal meshes the first stays. }];
}

def RemoveSizeOneAxesPass : Sharding_Pass<"sdy-remove-size-one-axes", "::mlir::ModuleOp"> {
  let summary = "Remove axes of one device from shardings";
}

def ConstantOrScalarSplitterPass : Sharding_Pass<"sdy-constant-or-scalar-splitter", "::mlir::func::FuncOp"> {
  let summary = "Give every use of a constant, or of a broadcast scalar, its own copy";
  let description = [{ Two uses of one constant need not be sharded alike. Constants, iota, and what elementwise operations,
    broadcasts and slices make of them are copied with everything they are made of; constants become sdy.constant, which
    nobody merges. Of the broadcast of a scalar only the broadcast is copied. }];
}

def ConstantSplitterPass : Sharding_Pass<"sdy-constant-splitter", "::mlir::func::FuncOp"> {
  let summary = "sdy-constant-or-scalar-splitter under its older name, for constants only";
}

def ManualAxesCleanupPass : Sharding_Pass<"sdy-manual-axes-cleanup", "::mlir::ModuleOp"> {
  let summary = "Say of every manual axis where it is";
  let description = [{ In the shardings of a manual computation a manual axis that splits no dimension is listed as replicated;
    manual axes are in mesh order. }];
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
  let summary = "Let a constraint say how its input is sharded, if nobody else does";
  let description = [{ The input of a constraint, or of a manual computation, gets the constraint's sharding if it has none,
    comes from no data-flow edge, the sharding is closed, and no other constraint disagrees. Where several constraints follow one
    another, later uses of a value that had no sharding use the last one's result. }];
  let options = [
    Option<"origins", "debug-sharding-origins", "bool", "false",
           "for propagation with this option, which knows constraints' inputs by their constraints; nothing is written down here">,
    Option<"edges", "debug-propagation-edge-sharding", "bool", "false",
           "say on constraints that their axes came to their inputs, as the first steps of propagation">];
}

def ShardingGroupImportPass : Sharding_Pass<"sdy-sharding-group-import", "::mlir::ModuleOp"> {
  let summary = "Number sharding groups and join those that share a value";
  let description = [{ Fails if a group reaches into a manual computation, or its members are annotated differently. An
    annotation of one member holds for all. }];
}

def ImportMaximalShardingPass : Sharding_Pass<"sdy-import-maximal-sharding", "::mlir::ModuleOp"> {
  let summary = "Turn numbers of devices at operations into shardings over meshes of one device";
}

def InlineMeshesPass : Sharding_Pass<"sdy-inline-meshes", "::mlir::ModuleOp"> {
  let summary = "Write meshes into shardings, and remove their names";
}

def PropagateShardingFromFuncToCallPass : Sharding_Pass<"sdy-propagate-sharding-from-func-to-call", "::mlir::ModuleOp"> {
  let summary = "Give calls without shardings those of their functions' results";
}

def PreOrderFuncsPass : Sharding_Pass<"sdy-pre-order-funcs", "::mlir::ModuleOp"> {
  let summary = "Put functions behind their first callers";
}

def ImportFuncCallsPass : Sharding_Pass<"sdy-import-func-calls", "::mlir::ModuleOp"> {
  let summary = "Turn calls into named computations";
  let options = [Option<"onlyUninlineable", "only-uninlineable", "bool", "false",
                        "only calls with the frontend attribute inlineable = \"false\"">,
                 Option<"dataFlowEdges", "add-data-flow-edges-on-named-computations", "bool", "true",
                        "insert sdy.data_flow_edge at their arguments and results">];
}

def ImportHloShardingsPass : Sharding_Pass<"xla-import-hlo-shardings", "::mlir::ModuleOp"> {
  let summary = "Turn mhlo.sharding strings into shardings over one mesh";
  let description = [{ Of arguments, results, `@Sharding` calls and other operations. Strings over devices in a regular order are put in terms of the
    axes that they have in common; what is about other axes, or devices in another order, gets a mesh of its own. What stands between
    `@SPMDFullToShardShape` and `@SPMDShardToFullShape` becomes an `sdy.manual_computation`. A module is left alone whose manual parts
    are no regions, or that has some and several meshes. }];
}

//===-- Export ------------------------------------------------------------===//

def ConstantOrScalarMergerPass : Sharding_Pass<"sdy-constant-or-scalar-merger", "::mlir::func::FuncOp"> {
  let summary = "Merge equal constants, and broadcasts of one scalar, that are sharded alike";
}

def RemoveShardingGroupsPass : Sharding_Pass<"sdy-remove-sharding-groups", "::mlir::ModuleOp"> {
  let summary = "Remove sharding groups";
}

def ShardingConstraintToReshardPass : Sharding_Pass<"sdy-sharding-constraint-to-reshard", "::mlir::func::FuncOp"> {
  let summary = "Turn constraints into reshards";
}

def SinkDataFlowEdgesPass : Sharding_Pass<"sdy-sink-data-flow-edges", "::mlir::func::FuncOp"> {
  let summary = "Move the shardings of data-flow edges to the values they stand for";
  let options = [
    Option<"origins", "sink-debug-sharding-origins", "bool", "true", "also where their axes come from, if propagation said so">,
    Option<"edges", "sink-debug-propagation-edge-sharding", "bool", "true", "also through what their axes came, if propagation said so">];
}

def UpdateNonDivisibleInputOutputShardingsPass
    : Sharding_Pass<"sdy-update-non-divisible-input-output-shardings", "::mlir::func::FuncOp"> {
  let summary = "Keep of the axes of inputs and outputs those that divide them";
}

def RemoveSubAxesInInputOutputShardingsPass
    : Sharding_Pass<"sdy-remove-sub-axes-in-input-output-shardings", "::mlir::func::FuncOp"> {
  let summary = "Keep of the axes of inputs and outputs those before the first part of an axis";
}

def CloseShardingsPass : Sharding_Pass<"sdy-close-shardings", "::mlir::ModuleOp"> {
  let summary = "Close all dimensions, and forget which axes are replicated";
}

def SinkFuncDataFlowEdgesPass : Sharding_Pass<"sdy-sink-func-data-flow-edges", "::mlir::func::FuncOp"> {
  let summary = "Move the shardings of edges at functions to the values they stand for";
}

def VerifyUnreducedAxesPass : Sharding_Pass<"sdy-verify-unreduced-axes", "::mlir::func::FuncOp"> {
  let summary = "Check that every unreduced axis of an operand is passed on or reduced";
  let description = [{ Reshards, constraints and collectives reduce on purpose; every other operation that has an operand with unreduced
    axes has a result with them. Calls and returns agree with functions. Sums stay sums, and maxima maxima. Where a
    result has no sharding, nobody knows, and nothing is said. Propagation pipelines run it once reshards are explicit. }];
}

def VerifyPropagationPass : Sharding_Pass<"xla-verify-propagation", "::mlir::ModuleOp"> {
  let summary = "Check that nothing is left of what propagation needs, and that shardings are final";
  let description = [{ Every program is checked after propagation: no edges, groups and constraints are left, dimensions are closed and have no
    priorities, and meshes have names. }];
}

def DropShardingAndMeshPass : Sharding_Pass<"sdy-drop-sharding-and-mesh", "::mlir::ModuleOp"> {
  let summary = "Remove meshes and shardings";
}

def PropagateToFuncResultsPass : Sharding_Pass<"sdy-propagate-to-func-results", "::mlir::ModuleOp"> {
  let summary = "Give results of functions, except @main's, the shardings of what they return";
}

def RemovePropagationDebugInfoPass : Sharding_Pass<"sdy-remove-propagation-debug-info", "::mlir::ModuleOp"> {
  let summary = "Remove what propagation wrote down about where axes come from";
}

def DropShardingRulesPass : Sharding_Pass<"sdy-drop-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Remove sharding rules from operations, except the user's";
}

def ExportNamedComputationsPass : Sharding_Pass<"sdy-export-named-computations", "::mlir::ModuleOp"> {
  let summary = "Turn named computations into functions and calls";
  let description = [{ With `dedup-functions-fully`, computations of one name that are alike but for their shardings become one
    function: the one that most of them are sharded like. The others' operands and results are resharded. }];
  let options = [Option<"dedupFunctionsFully", "dedup-functions-fully", "bool", "false", "one function for all computations of a name">];
}

def InsertExplicitReshardsPass : Sharding_Pass<"sdy-insert-explicit-reshards", "::mlir::func::FuncOp"> {
  let summary = "Reshard operands and results so that every operation can run on parts";
  let description = [{ Each factor of an operation gets axes; operands and results that are split otherwise are resharded.
    Where a reduction factor is split, an sdy.all_reduce of the result follows. Without `enable-full-version` only what cannot
    be left to a partitioner: operands that are unreduced where the result is not are reduced, concatenations get operands that
    go together, and a product that is split by the axes of its contraction is resharded afterwards. }];
  let options = [
    Option<"everywhere", "enable-full-version", "bool", "false", "at all operations">,
    Option<"markPartial", "mark-partial-result-with-unreduced-axes", "bool", "false",
           "what an all_reduce follows says so: its sharding has the axes of the sum as unreduced">,
    Option<"avoidCalls", "avoid-reshards-on-calls", "bool", "false", "operands of calls and named computations stay as they are">,
    Option<"avoidCallsOld", "avoid-reshards-on-named-computations", "bool", "false", "avoid-reshards-on-calls under its older name">];
}

def TempExplicitReshardsForOptimizationsPass : Sharding_Pass<"sdy-temp-explicit-reshards-for-optimizations", "::mlir::func::FuncOp"> {
  let summary = "sdy-insert-explicit-reshards without its full version, under its older name";
}

def ReshardToCollectivesPass : Sharding_Pass<"sdy-reshard-to-collectives", "::mlir::func::FuncOp"> {
  let summary = "Turn reshards into all_slice, collective_permute, all_to_all and all_gather";
  let options = [Option<"keepRedundant", "keep-redundant-reshards", "bool", "false", "reshards that change nothing stay">];
}

#endif
