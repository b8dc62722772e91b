// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.td - Collectives, async pairs, tokens, send/recv, infeed/outfeed -===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_COLLECTIVEOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_COLLECTIVEOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Base.td"
include "dialects/stablehlo/Traits.td"

def HLO_Future : Type<CPred<"::llvm::isa<::millrace::stablehlo::FutureType>($_self)">, "future",
    "::millrace::stablehlo::FutureType">;

// Communication with the host and between processes is ordered per kind.
def HLO_SendResource : Resource<"::millrace::stablehlo::resource::Send">;
def HLO_RecvResource : Resource<"::millrace::stablehlo::resource::Recv">;
def HLO_InfeedResource : Resource<"::millrace::stablehlo::resource::Infeed">;
def HLO_OutfeedResource : Resource<"::millrace::stablehlo::resource::Outfeed">;

def StableHLO_InfeedOp : StableHLO_Op<"infeed",
    [MemoryEffects<[MemRead<HLO_InfeedResource>, MemWrite<HLO_InfeedResource>]>]> {
  let summary = "Reads from the infeed of the device";
  let description = [{
    (C1) at least one result. (C2) `is_empty(result) or is_tensor(type(results[:-1]))`. (C3) `is_token(type(results[-1]))`.
    Source: StableHLO spec, "infeed".
  }];
  let arguments = (ins HLO_Token:$token, DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<HLO_TensorOrToken>);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp : StableHLO_Op<"outfeed", [HLO_InferTypes,
    MemoryEffects<[MemRead<HLO_OutfeedResource>, MemWrite<HLO_OutfeedResource>]>]> {
  let summary = "Writes to the outfeed of the device";
  let description = [{ Writes `inputs`, then makes the result token. Source: StableHLO spec, "outfeed". }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, HLO_Token:$token, DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs HLO_Token);
}

def StableHLO_SendOp : StableHLO_Op<"send", [HLO_InferTypes,
    MemoryEffects<[MemRead<HLO_SendResource>, MemWrite<HLO_SendResource>]>]> {
  let summary = "Sends to a channel";
  let description = [{
    (C1) `channel_type` is DEVICE_TO_HOST (2) for a host transfer, DEVICE_TO_DEVICE (1) else. (C2) unique sources,
    (C3) unique targets in `source_target_pairs`. Source: StableHLO spec, "send".
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, HLO_Token:$token, StableHLO_ChannelHandle:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs HLO_Token);
  let hasVerifier = 1;
}

def StableHLO_RecvOp : StableHLO_Op<"recv",
    [MemoryEffects<[MemRead<HLO_RecvResource>, MemWrite<HLO_RecvResource>]>]> {
  let summary = "Receives from a channel";
  let description = [{
    (C1) `channel_type` is HOST_TO_DEVICE (3) for a host transfer, DEVICE_TO_DEVICE (1) else. (C2) at least one result.
    (C3) tensors, then (C4) a token. Source: StableHLO spec, "recv".
  }];
  let arguments = (ins HLO_Token:$token, StableHLO_ChannelHandle:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<HLO_TensorOrToken>);
  let hasVerifier = 1;
}

def StableHLO_ReplicaIdOp : StableHLO_Op<"replica_id", [Pure, HLO_InferTypes]> {
  let summary = "The replica id of this process";
  let description = [{ Source: StableHLO spec, "replica_id". }];
  let results = (outs RankedTensorOf<[UI32]>);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_PartitionIdOp : StableHLO_Op<"partition_id", [Pure, HLO_InferTypes]> {
  let summary = "The partition id of this process";
  let description = [{ Source: StableHLO spec, "partition_id". }];
  let results = (outs RankedTensorOf<[UI32]>);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure, HLO_InferTypes]> {
  let summary = "Joins tokens";
  let description = [{ A token after all of `inputs`. Source: StableHLO spec, "after_all". }];
  let arguments = (ins Variadic<HLO_Token>:$inputs);
  let results = (outs HLO_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))
  }];
}

def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure, HLO_InferTypes]> {
  let summary = "Makes a token (deprecated: after_all without operands)";
  let description = [{ Not in the specification; JAX writes it for ordered effects. Example: `%t = stablehlo.create_token : !stablehlo.token` }];
  let results = (outs HLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_AllGatherOp : StableHLO_Op<"all_gather",
    [HLO_PairwiseSameElementType /*C6*/, ConditionallySpeculatable]> {
  let summary = "Concatenates the values of a process group";
  let description = [{
    (C1) `0 <= all_gather_dim < rank`. (C2) unique ids in `replica_groups`, (C3) whose number is fixed by the group kind,
    (C4) each in range. (C5) `channel_id > 0` with use_global_device_ids. (C6) `type(results...) = type(operands...)`
    except at `all_gather_dim`, which grows by the group size. Source: StableHLO spec, "all_gather".
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$operands, ConfinedAttr<I64Attr, [IntNonNegative]>:$all_gather_dim,
                       StableHLO_ReplicaGroups:$replica_groups, OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<HLO_Tensor>);
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
}

def StableHLO_AllReduceOp : StableHLO_Op<"all_reduce", [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput,
    HLO_InferTypes /*C6, C7*/, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Reduces the values of a process group";
  let description = [{
    (C1) unique ids in `replica_groups`, (C2) whose number is fixed by the group kind, (C3) each in range.
    (C4) `channel_id > 0` with use_global_device_ids. (C5) `computation : (tensor<E>, tensor<E>) -> tensor<E>`.
    (C6) `shape(results...) = shape(operands...)`. (C7) `element_type(results...) = E`. Source: StableHLO spec, "all_reduce".
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$operands, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<HLO_Tensor>);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result_type, "::mlir::Value":$operand, "::mlir::Attribute":$replica_groups,
                   "::millrace::stablehlo::ChannelHandleAttr":$channel_handle,
                   CArg<"bool", "false">:$use_global_device_ids)>
  ];
  let hasVerifier = 1;
}

def StableHLO_ReduceScatterOp : StableHLO_Op<"reduce_scatter", [ConditionallySpeculatable,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Reduces in a process group, then gives each process its part";
  let description = [{
    (C1) `dim(operand, scatter_dimension)` is a multiple of the group size. (C2) `0 <= scatter_dimension < rank`.
    (C3) unique ids in `replica_groups`, (C4) whose number is fixed by the group kind, (C5) each in range.
    (C6) `channel_id > 0` with use_global_device_ids. (C7) `computation : (tensor<E>, tensor<E>) -> tensor<E>`.
    (C8) `shape(result) = shape(operand)` except that `scatter_dimension` shrinks by the group size.
    (C9) `element_type(result) = E`. Source: StableHLO spec, "reduce_scatter".
  }];
  let arguments = (ins HLO_Tensor:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$scatter_dimension,
                       StableHLO_ReplicaGroups:$replica_groups, OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs HLO_Tensor);
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
}

def StableHLO_AllToAllOp : StableHLO_Op<"all_to_all",
    [HLO_PairwiseSameElementType, ConditionallySpeculatable, HLO_InferTypes /*C9*/]> {
  let summary = "Splits, exchanges in a process group, concatenates";
  let description = [{
    (C1) `0 <= split_dimension < rank`. (C2) `dim(operands, split_dimension)` is a multiple of `split_count`.
    (C3) `0 <= concat_dimension < rank`. (C4) `0 < split_count`. (C5) unique ids in `replica_groups`, (C6) whose number
    is fixed by the group kind, (C7) each in range. (C8) the group size is `split_count`. (C9) `type(results...)` is
    `type(operands...)` with `split_dimension` divided and `concat_dimension` multiplied by `split_count`.
    Source: StableHLO spec, "all_to_all".
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$operands, ConfinedAttr<I64Attr, [IntNonNegative]>:$split_dimension,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$concat_dimension,
                       ConfinedAttr<I64Attr, [IntPositive]>:$split_count, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs Variadic<HLO_Tensor>);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result_type, "::mlir::Value":$operand, "::mlir::IntegerAttr":$split_dimension,
                   "::mlir::IntegerAttr":$concat_dimension, "::mlir::IntegerAttr":$split_count,
                   "::mlir::Attribute":$replica_groups)>
  ];
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
}

def StableHLO_CollectiveBroadcastOp : StableHLO_Op<"collective_broadcast",
    [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput, HLO_InferTypes]> {
  let summary = "Copies the value of one process to its group";
  let description = [{
    The first process of each group is the root; with `has_dynamic_root` the last operand names it.
    (C1) unique ids in `replica_groups`, (C2) each in range. (C3) `type(results...) = type(operands...)`.
    Source: StableHLO spec, "collective_broadcast".
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$operands, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<HLO_Tensor>);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result_type, "::mlir::Value":$operand, "::mlir::Attribute":$replica_groups)>
  ];
  let hasVerifier = 1;
}

def StableHLO_CollectiveReduceOp : StableHLO_Op<"collective_reduce",
    [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput, HLO_InferTypes, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Reduces the values of a process group to its root";
  let description = [{
    As all_reduce, but only the root of each group (its first process, or with `has_dynamic_root` the one that the last
    operand names) needs the result. Source: StableHLO spec, "collective_reduce" (version 1.19).
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$operands, StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$has_dynamic_root,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<HLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectivePermuteOp : StableHLO_Op<"collective_permute",
    [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput, SameOperandsAndResultElementType, HLO_InferTypes /*C5*/]> {
  let summary = "Sends from source to target processes";
  let description = [{
    A process that is no target gets zeros. (C1) `source_target_pairs` is `N x 2`. (C2) unique sources. (C3) unique
    targets. (C4) ids in range. (C5) `type(result) = type(operand)`. Source: StableHLO spec, "collective_permute".
  }];
  let arguments = (ins HLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs HLO_Tensor);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result_type, "::mlir::Value":$operand,
                   "::mlir::DenseIntElementsAttr":$source_target_pairs)>
  ];
  let hasVerifier = 1;
}

def StableHLO_CrossReplicaSumOp : StableHLO_Op<"cross-replica-sum", [Pure, HLO_CompatibleOperandsAndResultType]> {
  let summary = "Sums over replicas (deprecated: all_reduce with add)";
  let description = [{ Not in the specification. `replica_groups` as in all_reduce with cross-replica groups. }];
  let arguments = (ins HLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs HLO_Tensor);
}

def StableHLO_AsyncStartOp : StableHLO_Op<"async_start", [SingleBlockImplicitTerminator<"ReturnOp">,
    HLO_RecursivelySpeculatableIfAllInputsStatic, IsolatedFromAbove, HLO_InferTypes]> {
  let summary = "Starts a collective";
  let description = [{
    Runs the one collective in `body` asynchronously; async_done waits for it. (C1) `body : (type(operands)) -> (T..)`
    and `type(result) = !stablehlo.future<T..>`. Source: StableHLO spec, "async_start" (version 1.15).
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs HLO_Future);
  let hasVerifier = 1;
}

def StableHLO_AsyncDoneOp : StableHLO_Op<"async_done", [HLO_InferTypes]> {
  let summary = "Waits for a collective";
  let description = [{ The values of the future. Source: StableHLO spec, "async_done" (version 1.15). }];
  let arguments = (ins HLO_Future:$operand);
  let results = (outs Variadic<HLO_Tensor>);
}

#endif
