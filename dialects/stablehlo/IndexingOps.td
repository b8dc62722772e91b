// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingOps.td - Ops that address elements by computed indices -----===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_INDEXINGOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_INDEXINGOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Traits.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def StableHLO_DynamicSliceOp : StableHLO_Op<"dynamic_slice",
    [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect, AllElementTypesMatch<["operand", "result"]> /*C1*/,
     DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Part at computed positions";
  let description = [{ `result[i] = operand[clamp(0, start_indices, shape(operand) - slice_sizes) + i]`.
    (C1) element types agree. (C2) one start and one size per dimension. (C3) starts have one type.
    (C4) `0 <= slice_sizes <= shape(operand)`. (C5) `shape(result) = slice_sizes`. Source: StableHLO spec,
    "dynamic_slice". }];
  let arguments = (ins HLO_Tensor:$operand, Variadic<HLO_ScalarIntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{ $operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes
    attr-dict `:` functional-type(operands, results) }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicUpdateSliceOp : StableHLO_Op<"dynamic_update_slice",
    [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect, AllElementTypesMatch<["operand", "update", "result"]> /*C2*/,
     DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Operand with a part at computed positions replaced";
  let description = [{ `result[i] = update[i - s]` inside the part that starts at
    `s = clamp(0, start_indices, shape(operand) - shape(update))`, else `operand[i]`.
    (C1) result has operand's type. (C2) element types and (C3) ranks of operand and update agree. (C4) one start per
    dimension, (C5) of one type. (C6) update is not larger than operand. Source: StableHLO spec,
    "dynamic_update_slice". }];
  let arguments = (ins HLO_Tensor:$operand, HLO_Tensor:$update, Variadic<HLO_ScalarIntTensor>:$start_indices);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_GatherOp : StableHLO_Op<"gather", [ConditionallySpeculatable, NoMemoryEffect,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Slices at computed positions, collected";
  let description = [{ For every index vector in `start_indices` a slice of `slice_sizes` of the operand; numbering of
    dimensions in `dimension_numbers`. Constraints (C1) to (C23): StableHLO spec, "gather". }];
  let arguments = (ins HLO_Tensor:$operand, HLO_IntTensor:$start_indices,
                       StableHLO_GatherDimensionNumbers:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs HLO_Tensor:$result);
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
}

def StableHLO_DynamicGatherOp : StableHLO_Op<"dynamic_gather",
    [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "gather with computed slice sizes";
  let description = [{ Constraints as those of gather. Source: StableHLO spec, "dynamic_gather". }];
  let arguments = (ins HLO_Tensor:$operand, HLO_IntTensor:$start_indices, HLO_DimensionTensor:$slice_sizes,
                       StableHLO_GatherDimensionNumbers:$dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs HLO_Tensor:$result);
}

def StableHLO_ScatterOp : StableHLO_Op<"scatter", [ConditionallySpeculatable, RecursiveMemoryEffects,
    SameVariadicOperandSize, SingleBlock, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Inputs with elements at computed positions updated";
  let description = [{ `results = inputs`, then every element of `updates` that falls inside is combined into its place
    by `update_computation(current..., update...)`. Constraints (C1) to (C25): StableHLO spec, "scatter". }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, RankedTensorOf<[HLO_Int, Index]>:$scatter_indices,
                       Variadic<HLO_Tensor>:$updates, StableHLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<HLO_Tensor>);
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
}

def StableHLO_TorchIndexSelectOp : StableHLO_Op<"torch_index_select", [Pure]> {
  let summary = "Slices of one dimension at computed positions (deprecated)";
  let description = [{ `result[b..., .., i..., ..] = operand[b..., .., index[b..., i...], ..]`. Successor: gather. }];
  let arguments = (ins HLO_Tensor:$operand, HLO_Tensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

#endif
