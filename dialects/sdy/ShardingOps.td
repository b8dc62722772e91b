// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardingOps.td - Meshes, annotations, manual code, propagation helpers -===//
#ifndef MILLRACE_DIALECTS_SDY_SHARDINGOPS_TD
#define MILLRACE_DIALECTS_SDY_SHARDINGOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/sdy/Attrs.td"

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Names a mesh";
  let description = [{ Example: `sdy.mesh @mesh = <["data"=2, "model"=4]>` }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ShardingConstraintOp : Sdy_Op<"sharding_constraint", [SameOperandsAndResultType]> {
  let summary = "Constrains the sharding of the value";
  let description = [{ Without users it speaks of its operand. Labels as in TensorSharding.
    (C1) Axes that stay unreduced keep their reduction.
    Example: `%1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {?} ]> : tensor<8x8xf32>` }];
  let arguments = (ins AnyTensor:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_ReshardOp : Sdy_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "Changes the sharding of the value";
  let description = [{ Labels as in TensorSharding. (C1) Axes that stay unreduced keep their reduction.
    Example: `%1 = sdy.reshard %0 <@mesh, [{"a"}, {} ]> : tensor<8x8xf32>` }];
  let arguments = (ins AnyTensor:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator]> {
  let summary = "Ends a region of an sdy operation";
  let description = [{ Example: `sdy.return %0 : tensor<4x8xf32>` }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation",
    [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">, IsolatedFromAbove]> {
  let summary = "Code written for one device: shapes are local along the manual axes, collectives are explicit";
  let description = [{
    (C1) No manual axis is one of an enclosing manual computation. (C2) Shardings are valid, one per operand and
    result (labels of TensorSharding). (C3) As many region arguments and returned values as operands and results.
    (C4) In a dimension manual axes come before others. (C5) Manual axes divide the dimension. (C6) Region types are the
    local ones. (C7) All shardings have one mesh, which has the manual axes. (C8) Manual axes need shardings unless the
    body is empty.
    Example: `%1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a"} ]>] out_shardings=[<@mesh, [{"a"} ]>]
    manual_axes={"a"} (%arg1: tensor<4xf32>) { sdy.return %arg1 : tensor<4xf32> } : (tensor<8xf32>) -> tensor<8xf32>`
  }];
  // Tokens may be operands, too.
  let arguments = (ins Variadic<AnyType>:$tensors, Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)` `in_shardings` `` `=` `` custom<ShardingList>($in_shardings)
    `out_shardings` `` `=` `` custom<ShardingList>($out_shardings) `manual_axes` `` `=` `` $manual_axes
    custom<BodyWithArguments>($body) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Gives all values of a group the same sharding";
  let description = [{ Example: `sdy.sharding_group %0 group_id=5 : tensor<8x8xf32>` }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, AllTypesMatch<["value", "output"]>]> {
  let summary = "A constant that is not merged with equal constants, so that each use can have its own sharding";
  let description = [{ Example: `%0 = sdy.constant dense<1.0> : tensor<8x8xf32>` }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$output);
  let assemblyFormat = "attr-dict $value";
}

def Sdy_DataFlowEdgeOp : Sdy_Op<"data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "Connects the shardings of the values that flow into and out of an operation with regions";
  let description = [{
    The operand is a result or region argument of an operation such as `while`; the attribute holds the sharding that
    all ends of the edge share. (C1) Static shape. (C2) The operand has no other user. (C3) The operand is not
    defined by an sdy operation other than named_computation and manual_computation. (C4) The sharding is valid.
    Example: `%1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a"}, {} ]> : tensor<8x8xf32>`
  }];
  let arguments = (ins AnyShaped:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_FuncDataFlowEdgeOp : Sdy_Op<"func_data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "Connects the sharding of a function's argument or a call's result with the other side of the call";
  let description = [{ (C1) Static shape. (C2) The operand has no other user. (C3) It is a `func.call`'s result or a
    `func.func`'s argument.
    Example: `%1 = sdy.func_data_flow_edge %arg0 : tensor<8x8xf32>` }];
  let arguments = (ins AnyShaped:$operand);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "Restricts the propagation of shardings to one direction";
  let description = [{ (C1) Not `BOTH`. Example: `%1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>` }];
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation",
    [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">, RecursivelySpeculatable, IsolatedFromAbove]> {
  let summary = "A group of operations with a name";
  let description = [{
    (C1) Region arguments have the operands' types, returned values the results'. (C2) Shardings are valid.
    Example: `%1 = sdy.named_computation<"foo">(%0) (%arg1: tensor<8xf32>) { sdy.return %arg1 : tensor<8xf32> }
    : (tensor<8xf32>) -> tensor<8xf32>`
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands, OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)` (`in_shardings` `` `=` `` custom<ShardingList>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<ShardingList>($out_shardings)^)? custom<BodyWithArguments>($body) attr-dict
    `:` functional-type($operands, results)
  }];
  let hasVerifier = 1;
}

#endif
