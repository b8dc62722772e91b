// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismOps.td - Operations whose result shape is an operand -------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_DYNAMISMOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_DYNAMISMOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Base.td"
include "dialects/stablehlo/Traits.td"

def HLO_ShapeVector : Type<And<[1DTensorOf<[Index, HLO_Int]>.predicate,
    CPred<"::llvm::cast<::mlir::ShapedType>($_self).hasStaticShape()">]>,
    "statically shaped 1-dimensional integer tensor of index or integer values", "::mlir::RankedTensorType">;

def StableHLO_DynamicBroadcastInDimOp : StableHLO_Op<"dynamic_broadcast_in_dim",
    [ConditionallySpeculatable, NoMemoryEffect,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "broadcast_in_dim to a run-time shape";
  let description = [{
    `result[i] = operand[j]`, `j[d] = dim(operand, d) = 1 ? 0 : i[broadcast_dimensions[d]]`, with shape `output_dimensions`.
    (C1) element types agree. (C2) `size(broadcast_dimensions) = rank(operand)`, (C3) each in `[0, rank(result))`,
    (C4) unique. (C5) `dim(operand, d) = 1` or `= dim(result, broadcast_dimensions[d])`. (C6) per-axis quantization moves
    with its dimension. (C7) `size(output_dimensions) = rank(result)`. (C8) `known_(non)expanding_dimensions` are unique,
    (C9), (C10) in `[0, rank(operand))`. Source: StableHLO spec, "dynamic_broadcast_in_dim".
  }];
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_ShapeVector:$output_dimensions,
    DenseI64ArrayAttr:$broadcast_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions
  );
  let results = (outs HLO_Tensor);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result_type, "::mlir::Value":$operand, "::mlir::Value":$output_dimensions,
                   "::mlir::DenseI64ArrayAttr":$broadcast_dimensions), [{
      build($_builder, $_state, result_type, operand, output_dimensions, broadcast_dimensions,
            /*known_expanding_dimensions=*/{}, /*known_nonexpanding_dimensions=*/{});
    }]>
  ];
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicIotaOp : StableHLO_Op<"dynamic_iota", [ConditionallySpeculatable, NoMemoryEffect,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "iota of a run-time shape";
  let description = [{
    (C1) `0 <= iota_dimension < size(output_shape)`. (C2) `rank(result) = size(output_shape)`.
    Source: StableHLO spec, "dynamic_iota".
  }];
  let arguments = (ins HLO_ShapeVector:$output_shape, ConfinedAttr<I64Attr, [IntNonNegative]>:$iota_dimension);
  let results = (outs HLO_TensorOf<[HLO_Int, HLO_Float, HLO_Complex, HLO_PerTensorQuantizedType]>:$result);
  let assemblyFormat = "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicPadOp : StableHLO_Op<"dynamic_pad", [ConditionallySpeculatable, NoMemoryEffect,
     AllElementTypesMatch<["operand", "padding_value", "result"]> /*C1*/,
     AllTypesMatch<["edge_padding_low", "edge_padding_high", "interior_padding"]> /*C2*/,
     AllRanksMatch<["operand", "result"]>,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "pad by run-time amounts";
  let description = [{
    (C1) element types agree. (C2) the three amounts have `rank(operand)` elements each. (C3) `0 <= interior_padding`.
    (C4) `shape(result) = shape(operand) + low + high + max(shape(operand) - 1, 0) * interior`.
    Source: StableHLO spec, "dynamic_pad".
  }];
  let arguments = (ins HLO_Tensor:$operand, 0DTensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_QuantizedType]>:$padding_value,
                       HLO_ShapeVector:$edge_padding_low, HLO_ShapeVector:$edge_padding_high,
                       HLO_ShapeVector:$interior_padding);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicReshapeOp : StableHLO_Op<"dynamic_reshape",
    [ConditionallySpeculatable, NoMemoryEffect,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "reshape to a run-time shape";
  let description = [{
    (C1) element types agree. (C2) `size(operand) = size(result)`. (C3) per-axis quantization keeps its dimension.
    (C4) `size(output_shape) = rank(result)`. Source: StableHLO spec, "dynamic_reshape".
  }];
  let arguments = (ins HLO_Tensor:$operand, HLO_ShapeVector:$output_shape);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_GetDimensionSizeOp : StableHLO_Op<"get_dimension_size", [Pure, HLO_InferTypes]> {
  let summary = "The size of a dimension";
  let description = [{
    `result = dim(operand, dimension)`. (C1) `0 <= dimension < rank(operand)`. Source: StableHLO spec, "get_dimension_size".
  }];
  let arguments = (ins HLO_Tensor:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs RankedTensorOf<[I32]>);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size",
    [ConditionallySpeculatable, NoMemoryEffect, HLO_InferTypes]> {
  let summary = "Sets the size of a bounded dimension";
  let description = [{
    Not in the specification. The result dimension is bounded by the size that the operand's dimension has.
    Example: `%0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 2>>`
  }];
  let arguments = (ins HLO_Tensor:$operand, 0DTensorOf<[I32]>:$size, ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs HLO_Tensor);
  let assemblyFormat = "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasFolder = 1;
}

def StableHLO_RealDynamicSliceOp : StableHLO_Op<"real_dynamic_slice", [ConditionallySpeculatable, NoMemoryEffect,
     AllElementTypesMatch<["operand", "result"]>, AllTypesMatch<["start_indices", "limit_indices", "strides"]>,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "slice with run-time bounds";
  let description = [{ Not in the specification. As slice, with bounds and strides as operands. }];
  let arguments = (ins HLO_Tensor:$operand, HLO_DimensionTensor:$start_indices, HLO_DimensionTensor:$limit_indices,
                       HLO_DimensionTensor:$strides);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
