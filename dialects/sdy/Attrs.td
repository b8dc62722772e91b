// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attrs.td - Meshes, axis references, shardings, sharding rules ------===//
// Textual forms are interfaces: JAX writes them.
#ifndef MILLRACE_DIALECTS_SDY_ATTRS_TD
#define MILLRACE_DIALECTS_SDY_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "dialects/sdy/Base.td"

// In text, these are plain i32 attributes; only the operation that holds one prints a keyword.
def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection", "propagation direction enum", [
    I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>, I32EnumAttrCase<"BACKWARD", 2>,
    I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::millrace::sdy";
}

// The reduction over the devices along unreduced axes. The values are those of the bytecode.
def Sdy_ReductionOp : I32EnumAttr<"ReductionOp", "reduction over axes of a mesh", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::millrace::sdy";
}

def Sdy_EdgeNodeType : I32EnumAttr<"EdgeNodeType", "operand or result", [
    I32EnumAttrCase<"Operand", 0, "operand">, I32EnumAttrCase<"Result", 1, "result">]> {
  let cppNamespace = "::millrace::sdy";
}

class Sdy_Attr<string name, string word> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = word;
}
class Sdy_List<string element> : OptionalArrayRefParameter<element>;

//===-- Meshes and axes ---------------------------------------------------===//

def Sdy_ManualAxes : ArrayOfAttr<Sdy_Dialect, "ManualAxes", "manual_axes", "::mlir::StringAttr"> {
  let summary = "Names of the axes along which a manual computation is written for one device";
  let description = [{ Example: `#sdy<manual_axes{"data", "model"}>` }];
  let assemblyFormat = "`{` (`}`) : ($value^ `` `}`)?";
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Axis of a mesh with its number of devices";
  let description = [{ (C1) `size >= 1`. Example: `"data"=2` }];
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
  let assemblyFormat = "`` $name `` `=` `` $size";
  let genVerifyDecl = 1;
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Devices arranged as a grid with named axes";
  let description = [{
    The device at grid position `p` is `device_ids[linear(p)]`, where `linear` counts row-major; without `device_ids` it is `linear(p)`. A mesh with
    no axes and one device id is *maximal*: all data are on that device. A mesh with no axes and no ids is a placeholder. (C1) Names are unique. (C2)
    Ids are not negative. (C3) The number of ids is the product of the axes' sizes. (C4) Ids are a permutation of `0, 1, ...` unless the mesh is
    maximal. (C5) The number of devices fits an int64. Reading removes ids in the default order (`0, 1, ...`).

    Example: `<["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>`
  }];
  let parameters = (ins Sdy_List<"MeshAxisAttr">:$axes, Sdy_List<"int64_t">:$device_ids);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // Returns the number of devices, the product of the axes' sizes.
    int64_t getTotalSize() const;
    // Returns the size of the named axis; 0 if there is none.
    int64_t getAxisSize(::llvm::StringRef axis) const;
    // Returns the position of the named axis in the mesh, or -1.
    int64_t getAxisPosition(::llvm::StringRef axis) const;
    bool isMaximal() const { return getAxes().empty() && getDeviceIds().size() == 1; }
  }];
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "The position of a sub-axis in its axis";
  let description = [{
    An axis of size n is reshaped to `[pre_size, size, n / (pre_size * size)]`, whose middle dimension is the sub-axis. Spelled `(pre_size)size`.
  }];
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis of a mesh or a part of one";
  let description = [{ Example: `"a"`, `"a":(2)4` }];
  let parameters = (ins StringRefParameter<"name">:$name, OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`` $name (`` `:` `` $sub_axis_info^)?";
  let extraClassDeclaration = [{
    // The start and length of the (sub-)axis: it covers [pre, pre * size) of the axis, counted as products.
    int64_t getPreSize() const { return getSubAxisInfo() ? getSubAxisInfo().getPreSize() : 1; }
    int64_t getSize(MeshAttr mesh) const;
    // Returns the text of the axis in a sharding.
    std::string toString() const;
    // Returns true if both are parts of one axis and overlap.
    bool overlaps(AxisRefAttr other) const;
    // Returns true if `other` is the next part of the same axis.
    bool canMerge(AxisRefAttr other) const;
    // Returns both parts as one, or the whole axis if they cover it. Requires canMerge.
    AxisRefAttr merge(AxisRefAttr other, MeshAttr mesh) const;
    // Returns true if this is a trailing part of `other`, or equal to it.
    bool isSuffixOf(AxisRefAttr other, MeshAttr mesh) const;
  }];
}

def Sdy_AxisRefList : ArrayOfAttr<Sdy_Dialect, "AxisRefList", "axis_ref_list", "AxisRefAttr"> {
  let summary = "Axes, major to minor";
  let description = [{ Example: `{"a", "b":(1)2}` }];
  let assemblyFormat = "`{` (`}`) : ($value^ `` `}`)?";
}

def Sdy_ListOfAxisRefLists :
    ArrayOfAttr<Sdy_Dialect, "ListOfAxisRefLists", "list_of_axis_ref_lists", "AxisRefListAttr"> {
  let summary = "Axes per dimension";
  let description = [{ Example: `[{"a"}, {} ]` }];
}

//===-- Shardings ---------------------------------------------------------===//

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "Axes that shard one dimension";
  let description = [{
    Axes are major to minor. `?` at the end: the dimension is open, and propagation may add axes. `pN`: priority of the annotation; 0 is first, and is
    the default. Example: `{"a", "b":(1)2, ?}p1`
  }];
  let parameters = (ins Sdy_List<"AxisRefAttr">:$axes, "bool":$is_closed,
                        OptionalParameter<"std::optional<int64_t>">:$priority);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    // Returns the number of shards of the dimension.
    int64_t getShardedSize(MeshAttr mesh) const;
  }];
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "Which shard of a tensor each device of a mesh holds";
  let description = [{
    One dimension sharding per dimension. Axes that are not used replicate the tensor, and those in `replicated` must replicate it. Along `unreduced`
    axes every device holds a summand (or a candidate of max, min) of the tensor. (C1) Rank 0 and no axes for a maximal mesh or a value without a
    shape. (C2) As many dimension shardings as the tensor has dimensions. (C3) A priority is not negative and not on an empty closed dimension. (C4)
    Axes exist in the mesh, none is used twice, sub-axes do not overlap and are as long as possible. (C5) Lists of replicated and of unreduced axes
    are in mesh order. (C6) No axis of an enclosing manual computation.

    Example: `#sdy.sharding<@mesh, [{"a"}, {?} ], replicated={"b"}, unreduced=max{"c"}>`
  }];
  let parameters = (ins "::mlir::Attribute":$mesh_or_ref, Sdy_List<"DimensionShardingAttr">:$dim_shardings,
                        Sdy_List<"AxisRefAttr">:$replicated_axes, Sdy_List<"AxisRefAttr">:$unreduced_axes,
                        DefaultValuedParameter<"ReductionOp", "ReductionOp::Sum">:$reduction_op);
  let builders = [AttrBuilder<(ins "::mlir::Attribute":$mesh_or_ref,
                                   "::llvm::ArrayRef<DimensionShardingAttr>":$dim_shardings), [{
    return $_get($_ctxt, mesh_or_ref, dim_shardings, ::llvm::ArrayRef<AxisRefAttr>(), ::llvm::ArrayRef<AxisRefAttr>(),
                 ReductionOp::Sum);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    // Returns the mesh, or the one of this name in the nearest module of `user`; null if there is none.
    MeshAttr getMesh(::mlir::Operation *user) const;
    // Calls `callback` for every axis in the sharding.
    void walkAxes(::llvm::function_ref<void(AxisRefAttr)> callback) const;
  }];
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "Shardings of all operands or all results of an operation";
  let description = [{ Example: `#sdy.sharding_per_value<[<@mesh, [{"a"} ]>, <@mesh, []>]>` }];
  let parameters = (ins Sdy_List<"TensorShardingAttr">:$shardings);
  let assemblyFormat = "`<` `[` (`]`) : ($shardings^ `]`)? `>`";
}

//===-- Sharding rules ----------------------------------------------------===//

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "Factors whose sizes multiply to a dimension";
  let description = [{ Factors are spelled `i` to `z`, then `z_1`, `z_2`, ...; `*` means none. Example: `ij` }];
  let parameters = (ins Sdy_List<"int64_t">:$factor_indices);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "Factors of every dimension of a tensor";
  let description = [{ Example: `[i, jk]` }];
  let parameters = (ins Sdy_List<"DimMappingAttr">:$dim_mappings);
  let assemblyFormat = "`` `[` (`]`) : ($dim_mappings^ `]`)? ``";
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "Which dimensions of an operation's operands and results are sharded together";
  let description = [{
    Dimensions are products of factors. A factor in no special list has the same sharding wherever it occurs, without communication; `reduction`
    factors need an all-reduce, `need_replication` factors are replicated, `permutation` factors need a collective permute. Shardings do not propagate
    along `blocked_propagation` factors. `custom`: the user has written the rule. (C1) One mapping per operand and result, none missing. (C2) Static
    shapes of the mapping's rank. (C3) A dimension has factors, no two of them the same, none of size 1 among several, none twice in a tensor. (C4)
    Every factor is used. (C5) Special factors are sorted, unique, exist, and are in one of the first three lists only.

    Example: `#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>`
  }];
  let parameters = (ins Sdy_List<"int64_t">:$factor_sizes, Sdy_List<"TensorMappingAttr">:$operand_mappings,
                        Sdy_List<"TensorMappingAttr">:$result_mappings, Sdy_List<"int64_t">:$reduction_factors,
                        Sdy_List<"int64_t">:$need_replication_factors, Sdy_List<"int64_t">:$permutation_factors,
                        Sdy_List<"int64_t">:$blocked_propagation_factors,
                        DefaultValuedParameter<"bool", "false">:$is_custom_rule);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "Axes that move from one dimension to another";
  let description = [{ Example: `{"b"}: 0->2` }];
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$src_dim, "int64_t":$tgt_dim);
  let assemblyFormat = "`` `{` $axes `}` `` `:` $src_dim `` `->` `` $tgt_dim";
}

def Sdy_AllToAllParamList :
    ArrayOfAttr<Sdy_Dialect, "AllToAllParamList", "all_to_all_param_list", "AllToAllParamAttr"> {
  let summary = "All moves of an all-to-all";
  let description = [{ Example: `[{"b"}: 0->2, {"c"}: 1->3]` }];
}

//===-- Where axes came from ----------------------------------------------===//

def Sdy_EdgeValueRef : Sdy_Attr<"EdgeValueRef", "edge_value_ref"> {
  let summary = "An operand or a result of the operation";
  let description = [{ Example: `operand-1` }];
  let parameters = (ins "EdgeNodeType":$type, "int64_t":$index);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_AxisToPropagationDetails : Sdy_Attr<"AxisToPropagationDetails", "axis_to_propagation_details"> {
  let summary = "The value from which an axis has propagated, and the values to which it has";
  let description = [{ Example: `"a" = operand-0 -> [result-0]` }];
  let parameters = (ins "AxisRefAttr":$axis_name, "EdgeValueRefAttr":$source, ArrayRefParameter<"EdgeValueRefAttr">:$targets);
  let assemblyFormat = "`` $axis_name `=` $source `->` `[` $targets `]`";
}

def Sdy_PropagationOneStep : Sdy_Attr<"PropagationOneStep", "propagation_one_step"> {
  let summary = "The propagation of axes at an operation in one step";
  let description = [{ Example: `step-2 = [{"a" = operand-0 -> [result-0]} ]` }];
  let parameters = (ins "int64_t":$step_index, ArrayRefParameter<"AxisToPropagationDetailsAttr">:$axis_entries);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_PropagationEdges : Sdy_Attr<"PropagationEdges", "propagation_edges"> {
  let summary = "The edges through which the axes of an operation's values have propagated";
  let description = [{
    Steps are counted through the whole program. (C1) Step indices are unique and not negative. (C2) No axis comes from where it
    goes, or goes somewhere twice. (C3) Operands and results exist. (C4) The operation has a sharding, and a mesh has the axis.
    Example: `#sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]} ]} ]>`
  }];
  let parameters = (ins Sdy_List<"PropagationOneStepAttr">:$value);
  let hasCustomAssemblyFormat = 1;
}

#endif
