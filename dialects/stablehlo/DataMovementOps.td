// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementOps.td - Ops that make, move or repeat elements --------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_DATAMOVEMENTOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_DATAMOVEMENTOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Traits.td"
include "mlir/IR/OpAsmInterface.td"

def HLO_StaticShapeTensor : RankedTensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_QuantizedType],
    [HasStaticShapePred, HLO_HasValidQuantizedDimension], "statically shaped tensor">;
def HLO_IotaTensor : StaticShapeTensorOf<[HLO_Int, HLO_Float, HLO_Complex, HLO_PerTensorQuantizedType]>;

def StableHLO_ConstantOp : StableHLO_Op<"constant",
    [ConstantLike, Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Elements known at compile time";
  let description = [{ `output = value`. (C1) `type(value) = type(output)`; the output may be quantized while the value
    has the storage type. Source: StableHLO spec, "constant".
    Example: `%0 = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>` }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs HLO_StaticShapeTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Attribute":$value)>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{ static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r); }];
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let summary = "Positions along a dimension";
  let description = [{ `output[i]` = i[iota_dimension] in the element type.
    (C1) `iota_dimension` in `[0, rank)`. Source: StableHLO spec, "iota".
    Example: `%0 = stablehlo.iota dim = 0 : tensor<4x5xi32>` }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$iota_dimension);
  let results = (outs HLO_IotaTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_BroadcastOp : StableHLO_ShapedOp<"broadcast",
    [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "New leading dimensions (deprecated)";
  let description = [{ `result[s..., i...] = operand[i...]`. (C1) sizes are not negative. Successor: broadcast_in_dim.
    Example: `%1 = stablehlo.broadcast %0, sizes = [1, 2] : (tensor<3xi32>) -> tensor<1x2x3xi32>` }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs HLO_Tensor);
  let assemblyFormat = "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_BroadcastInDimOp : StableHLO_Op<"broadcast_in_dim", [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect,
    HLO_CompatibleElementTypes]> {
  let summary = "Repetition along new or size-one dimensions";
  let description = [{ `result[r] = operand[i]`, i[d] = 0 if `dim(operand, d) = 1`, else `r[broadcast_dimensions[d]]`.
    (C1) element types agree. (C2) as many `broadcast_dimensions` as operand dimensions, (C3) each in
    `[0, rank(result))`, (C4) unique. (C5) `dim(operand, d)` is 1 or that of the result. (C6) per-axis quantization:
    the axis moves along. Source: StableHLO spec, "broadcast_in_dim".
    Example: `%1 = stablehlo.broadcast_in_dim %0, dims = [2, 1] : (tensor<1x3xi32>) -> tensor<2x3x2xi32>` }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs HLO_StaticOrBoundedTensor);
  let assemblyFormat = "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = baseDeclaration # [{
    /// Returns true if no element is repeated: only dimensions of size one are added.
    bool isSimpleBroadcast();
  }];
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape", [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect,
    HLO_CompatibleElementTypes]> {
  let summary = "Same elements in row-major order, another shape";
  let description = [{ The elements of `operand` in row-major order with the shape of the result.
    (C1) element types agree. (C2) same number of elements. (C3) per-axis quantization: the axis keeps its size and
    position in row-major order. Source: StableHLO spec, "reshape".
    Example: `%1 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<1x2xf32>` }];
  let arguments = (ins HLO_Tensor:$operand);
  let results = (outs HLO_StaticOrBoundedTensor);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_TransposeOp : StableHLO_ShapedOp<"transpose",
    [ConditionallySpeculatable, NoMemoryEffect, HLO_CompatibleElementTypes,
     DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Permutation of dimensions";
  let description = [{ `result[i] = operand[j]` with `j[permutation[d]] = i[d]`.
    (C1) element types agree. (C2) `permutation` permutes `[0, rank)`. (C3) `dim(result, d) = dim(operand,
    permutation[d])`. (C4) per-axis quantization: the axis moves along. Source: StableHLO spec, "transpose".
    Example: `%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>` }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs HLO_Tensor);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_SliceOp : StableHLO_Op<"slice", [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput, NoMemoryEffect,
    SameOperandsAndResultElementType /*C1*/,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Part at positions known at compile time";
  let description = [{ `result[i] = operand[start_indices + i * strides]`.
    (C1) element types agree. (C2) one start, limit and stride per dimension. (C3) `0 <= start <= limit <= size`.
    (C4) strides are positive. (C5) `dim(result, d) = ceil((limit - start) / stride)`. Source: StableHLO spec, "slice".
    Example: `%1 = stablehlo.slice %0 [1:3, 4:8:2] : (tensor<3x8xi64>) -> tensor<2x2xi64>` }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{ $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict
    `:` functional-type(operands, results) }];
  let hasFolder = 1;
}

def StableHLO_PadOp : StableHLO_ShapedOp<"pad", [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput, NoMemoryEffect,
    SameOperandsAndResultElementType /*C1*/,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Elements added around and between";
  let description = [{ `result[i] = operand[j]` if `i = edge_padding_low + j * (interior_padding + 1)`, else
    padding_value; negative edges cut. (C1) element types agree. (C2) one entry per dimension. (C3) interior padding is
    not negative. (C4) `dim(result) = dim(operand) + low + max(dim(operand) - 1, 0) * interior + high`.
    Source: StableHLO spec, "pad". }];
  let arguments = (ins HLO_Tensor:$operand, HLO_Tensor:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{ $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high
    `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results) }];
  let hasFolder = 1;
}

def StableHLO_ConcatenateOp : StableHLO_ShapedOp<"concatenate", [ConditionallySpeculatable, NoMemoryEffect,
    SameOperandsAndResultElementType /*C1*/,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Tensors one after the other along a dimension";
  let description = [{ `result[.., i, ..] = inputs[k][.., i - offset(k), ..]`. (C1) one element type. (C2) one shape but
    for `dimension`. (C3) at least one input. (C4) `dimension` in `[0, rank)`. (C5) element types agree. (C6) the size
    along `dimension` is the sum. Source: StableHLO spec, "concatenate".
    Example: `%2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x2xi64>, tensor<1x2xi64>) -> tensor<4x2xi64>` }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs HLO_Tensor);
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let assemblyFormat = [{ custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict
    `:` functional-type(operands, results) }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_ReverseOp : StableHLO_Op<"reverse", [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput,
    NoMemoryEffect, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferTypeOpInterface> /*C1*/]> {
  let summary = "Reversed order along dimensions";
  let description = [{ `result[i] = operand[j]`, j[d] = size - 1 - i[d] for d in `dimensions`, else i[d].
    (C1) one type. (C2) dimensions are unique and (C3) in `[0, rank)`. Source: StableHLO spec, "reverse". }];
  let arguments = (ins HLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{ $operand `,` `dims` `=` $dimensions attr-dict
    `:` custom<SameOperandsAndResultType>(type($operand), type($result)) }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
