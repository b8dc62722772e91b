// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.td - Changes of sharding, spelled as communication ---===//
// On global tensors: operand and result have the same type, what changes is the sharding. Common labels:
// (C1) The operand has a sharding (all_slice, all_reduce and reduce_scatter do without). (C2) `out_sharding` is valid for
// the type. (C3) Both have one mesh. (C4) Both have one rank.
#ifndef MILLRACE_DIALECTS_SDY_COLLECTIVEOPS_TD
#define MILLRACE_DIALECTS_SDY_COLLECTIVEOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/sdy/Attrs.td"

class Sdy_Collective<string mnemonic> : Sdy_Op<mnemonic, [SameOperandsAndResultType]> {
  let results = (outs AnyTensor:$result);
  let hasVerifier = 1;
}

def Sdy_AllGatherOp : Sdy_Collective<"all_gather"> {
  let summary = "Removes axes from the end of dimensions' shardings";
  let description = [{ (C5) The operand's sharding without `gathering_axes` is `out_sharding`.
    Example: `%1 = sdy.all_gather [{"b"}, {} ] %0 out_sharding=<@mesh, [{"a"}, {} ]> : tensor<8x8xf32>` }];
  let arguments = (ins AnyTensor:$tensor, Sdy_ListOfAxisRefLists:$gathering_axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$gathering_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

def Sdy_AllSliceOp : Sdy_Collective<"all_slice"> {
  let summary = "Adds axes to the shardings of dimensions: each device keeps its slice";
  let description = [{ (C5) The operand's sharding with `slicing_axes` added is `out_sharding`.
    Example: `%1 = sdy.all_slice [{"b"}, {} ] %0 out_sharding=<@mesh, [{"a", "b"}, {} ]> : tensor<8x8xf32>` }];
  let arguments = (ins AnyTensor:$tensor, Sdy_ListOfAxisRefLists:$slicing_axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$slicing_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

def Sdy_AllToAllOp : Sdy_Collective<"all_to_all"> {
  let summary = "Moves axes from the end of one dimension to the end of another";
  let description = [{
    (C5) There are parameters. (C6) Dimensions exist. (C7) Each is named once. (C8) Sources ascend. (C9) Moving the axes
    gives `out_sharding`.
    Example: `%1 = sdy.all_to_all [{"b"}: 0->1] %0 out_sharding=<@mesh, [{"a"}, {"b"} ]> : tensor<8x8xf32>`
  }];
  let arguments = (ins AnyTensor:$tensor, Sdy_AllToAllParamList:$params, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$params $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

def Sdy_CollectivePermuteOp : Sdy_Collective<"collective_permute"> {
  let summary = "Replaces axes by others of the same total size";
  let description = [{
    (C3) Meshes may differ in device order, not in axes. (C5) Every dimension has as many shards as before. Example: `%1 = sdy.collective_permute %0
    out_sharding=<@mesh, [{"c"}, {} ]> : tensor<8x8xf32>`
  }];
  let arguments = (ins AnyTensor:$tensor, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

// `max` or `min` before the axes replaces the sum. In bytecode, a sum has no reduction property, and another reduction has it first, so that readers
// that only know sums, such as jaxlib 0.10.2, refuse the operation instead of summing.
class Sdy_Reduction<string mnemonic, AttrDef axisAttr, string axes> : Sdy_Collective<mnemonic> {
  let arguments = !con((ins AnyTensor:$tensor), !dag(ins, [axisAttr], [axes]),
                       (ins OptionalAttr<Sdy_ReductionOp>:$reduction_op, Sdy_TensorSharding:$out_sharding));
  let assemblyFormat = "custom<Reduction>($reduction_op, $" # axes # ") $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
  let useCustomPropertiesEncoding = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$tensor, axisAttr.cppClassName:$axes, "ReductionOp":$kind,
                                 "TensorShardingAttr":$out_sharding), [{
    build($_builder, $_state, type, tensor, axes,
          kind == ReductionOp::Sum ? ReductionOpAttr() : ReductionOpAttr::get($_builder.getContext(), kind), out_sharding);
  }]>];
  let extraClassDeclaration = [{ ReductionOp getKind() { return getReductionOp().value_or(ReductionOp::Sum); } }];
}

def Sdy_AllReduceOp : Sdy_Reduction<"all_reduce", Sdy_AxisRefList, "reduction_axes"> {
  let summary = "Reduces a value over the devices along axes, by a sum, maximum or minimum";
  let description = [{
    `max` or `min` before the axes replaces the sum. (C5) Dimensions keep their sharding. (C6) Axes are valid. (C7) The axes shard no dimension and
    are not replicated in the operand. (C8) The axes are not unreduced in the result. Example: `%1 = sdy.all_reduce {"a"} %0 out_sharding=<@mesh, [{},
    {"b"} ]> : tensor<8x8xf32>`
  }];
}

def Sdy_ReduceScatterOp : Sdy_Reduction<"reduce_scatter", Sdy_ListOfAxisRefLists, "reduce_scatter_axes"> {
  let summary = "all_reduce followed by all_slice along the same axes";
  let description = [{ (C5) The operand's sharding with `reduce_scatter_axes` added is `out_sharding`.
    Example: `%1 = sdy.reduce_scatter [{"a"}, {} ] %0 out_sharding=<@mesh, [{"a"}, {} ]> : tensor<8x8xf32>` }];
}

def Sdy_ReplicatedToUnreducedOp : Sdy_Collective<"replicated_to_unreduced"> {
  let summary = "Makes replicated axes unreduced: an all_reduce over them restores the operand";
  let description = [{
    (C5) Axes are valid, in mesh order and not empty. (C6) Dimensions keep their sharding. (C7) The axes are neither
    in a dimension nor unreduced in the operand. (C8) Unreduced axes of the result are the operand's and these.
    Example: `%1 = sdy.replicated_to_unreduced {"a"} %0 out_sharding=<@mesh, [{}, {} ], unreduced={"a"}> : tensor<8x8xf32>`
  }];
  let arguments = (ins AnyTensor:$tensor, Sdy_AxisRefList:$axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

def Sdy_ShardedToUnreducedOp : Sdy_Collective<"sharded_to_unreduced"> {
  let summary = "Makes axes of dimensions unreduced: an all_reduce over them gathers the operand";
  let description = [{
    (C5) Taking the axes off the end of the operand's dimensions gives `out_sharding`. (C6) Unreduced axes of the result
    are the operand's and these.
    Example: `%1 = sdy.sharded_to_unreduced [{"a"}, {} ] %0 out_sharding=<@mesh, [{}, {} ], unreduced={"a"}> : tensor<8x8xf32>`
  }];
  let arguments = (ins AnyTensor:$tensor, Sdy_ListOfAxisRefLists:$axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

#endif
