// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionOps.td - reduce, reduce_window, select_and_scatter, sort, map, batch_norm_* -===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_REDUCTIONOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_REDUCTIONOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Base.td"
include "dialects/stablehlo/Traits.td"
include "mlir/IR/OpAsmInterface.td"

def HLO_BatchNormTensor : RankedTensorOf<[HLO_Float, HLO_PerTensorQuantizedType]>;
def HLO_BatchNormVector : 1DTensorOf<[HLO_Float, HLO_PerTensorQuantizedType]>;

def StableHLO_ReduceOp : StableHLO_Op<"reduce", [HLO_RecursivelySpeculatableIfAllInputsStatic, RecursiveMemoryEffects,
    SameVariadicOperandSize /*C3*/, HLO_InferTypes /*C7, C8*/, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Folds dimensions of tensors with a function";
  let description = [{
    `results[...] = body(... body(init_values, inputs[.., 0, ..]) .., inputs[.., n - 1, ..])` over all index positions
    of `dimensions`, in an implementation-defined order.
    (C1) all inputs have the same shape. (C2) `element_type(inputs...) = element_type(init_values...)`, up to promotion
    to the type of the body. (C3) as many inputs as init_values, at least one. (C4) dimensions lie in `[0, rank)`.
    (C5) dimensions are unique. (C6) `body` has type `(tensor<E0>, .., tensor<E0>, ..) -> (tensor<E0>, ..)`.
    (C7) `shape(results...) = shape(inputs...)` without `dimensions`. (C8) `element_type(results[i]) = Ei`.
    Source: StableHLO spec, "reduce".
    Example: `%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>`
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, Variadic<HLO_Tensor>:$init_values, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<HLO_Tensor>);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$init_values,
                   "::mlir::DenseI64ArrayAttr":$dimensions, "::mlir::TypeRange":$element_types)>,
  ];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_ReduceWindowOp : StableHLO_Op<"reduce_window", [HLO_RecursivelySpeculatableIfAllInputsStatic,
    RecursiveMemoryEffects, SameVariadicOperandSize /*C1*/, SingleBlockImplicitTerminator<"ReturnOp">,
    HLO_InferTypes /*C14, C15, C16*/]> {
  let summary = "Folds windows of tensors with a function";
  let description = [{
    `results[i] = reduce(window of the padded and dilated inputs at i * window_strides, init_values, body)`.
    (C1) as many inputs as init_values, at least one. (C2) all inputs have the same shape. (C3) `element_type(inputs)`
    promotes to that of init_values. (C4), (C6), (C8), (C10) one window size, stride, base dilation and window dilation
    per dimension, each (C5), (C7), (C9), (C11) positive. (C12) `padding` is `rank x 2`. (C13) `body` has type
    `(tensor<E0>, .., tensor<E0>, ..) -> (tensor<E0>, ..)`. (C14) results have the same shape,
    (C15) `floor((padded - dilated_window) / stride) + 1` per dimension, or 0. (C16) `element_type(results[i]) = Ei`.
    Source: StableHLO spec, "reduce_window".
  }];
  let arguments = (ins
    Variadic<HLO_Tensor>:$inputs,
    Variadic<HLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
    OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
    OptionalAttr<I64ElementsAttr>:$padding
  );
  let results = (outs Variadic<HLO_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result_type, "::mlir::Value":$operand, "::mlir::Value":$init_value,
                   "::mlir::DenseI64ArrayAttr":$window_dimensions, "::mlir::DenseI64ArrayAttr":$window_strides,
                   "::mlir::DenseI64ArrayAttr":$base_dilations, "::mlir::DenseI64ArrayAttr":$window_dilations,
                   "::mlir::DenseIntElementsAttr":$padding), [{
      build($_builder, $_state, ::mlir::TypeRange(result_type), ::mlir::ValueRange(operand),
            ::mlir::ValueRange(init_value), window_dimensions, window_strides, base_dilations, window_dilations, padding);
    }]>,
  ];
  let extraClassDeclaration = baseDeclaration # [{
    /// Returns the operation of the body that computes result `index` if the body is a single binary operation per result, else null.
    ::mlir::Operation *getReductionOp(int index);
  }];
}

def StableHLO_SelectAndScatterOp : StableHLO_Op<"select_and_scatter",
    [HLO_RecursivelySpeculatableIfStaticDimInOutputIsStaticInInput, HLO_InferTypes /*C11, C12*/,
     RecursiveMemoryEffects]> {
  let summary = "Scatters values to the selected position of each window";
  let description = [{
    Starting from `init_value`, adds (with `scatter`) `source[i]` to the position that `select` picks in window `i` of
    `operand`. (C1) `element_type(operand)` promotes to that of `init_value`. (C2) `shape(source)` is the number of
    windows. (C3) `source` and `operand` have the same element type. (C4), (C6) one window size and stride per
    dimension, (C5), (C7) positive. (C8) `padding` is `rank x 2`. (C9) `select : (tensor<E>, tensor<E>) -> tensor<i1>`.
    (C10) `scatter : (tensor<E>, tensor<E>) -> tensor<E>`. (C11) `shape(result) = shape(operand)`.
    (C12) `element_type(result) = E`.
    Source: StableHLO spec, "select_and_scatter".
  }];
  let arguments = (ins
    HLO_Tensor:$operand,
    HLO_Tensor:$source,
    HLO_Tensor:$init_value,
    OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding
  );
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

def StableHLO_SortOp : StableHLO_Op<"sort", [HLO_RecursivelySpeculatableIfAllInputsStatic, RecursiveMemoryEffects,
    SameOperandsAndResultShape /*C1, C3*/, HLO_InferTypes /*C2*/]> {
  let summary = "Sorts tensors together along a dimension";
  let description = [{
    Sorts the tuples `inputs[..][i]` along `dimension` so that `comparator(later, earlier)` is false.
    (C1) at least one input. (C2) `type(inputs...) = type(results...)`. (C3) all inputs and results have the same shape.
    (C4) `-rank <= dimension < rank`. (C5) `comparator : (tensor<E1>, tensor<E1>, ..) -> tensor<i1>`.
    Source: StableHLO spec, "sort".
  }];
  let arguments = (ins
    Variadic<HLO_Tensor>:$inputs,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable
  );
  let results = (outs Variadic<HLO_Tensor>);
  let regions = (region SizedRegion<1>:$comparator);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inputs, CArg<"int64_t", "-1">:$dimension, CArg<"bool", "false">:$is_stable)>
  ];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_MapOp : StableHLO_Op<"map", [HLO_RecursivelySpeculatableIfAllInputsStatic, RecursiveMemoryEffects,
    SameOperandsAndResultShape /*C1, C2*/, SingleBlockImplicitTerminator<"ReturnOp">, HLO_InferTypes]> {
  let summary = "Applies a scalar function to tensors element by element";
  let description = [{
    `result[i] = computation(inputs[0][i], .., inputs[N - 1][i])`.
    (C1) inputs and result have the same shape. (C2) at least one input. (C3) `dimensions = [0, .., rank - 1]`.
    (C4) `computation : (tensor<E0>, ..) -> tensor<E'>` with `E' = element_type(result)`.
    Source: StableHLO spec, "map".
  }];
  let arguments = (ins Variadic<HLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_BatchNormGradOp : StableHLO_Op<"batch_norm_grad",
    [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect, HLO_CompatibleElementTypes /*C2*/, HLO_InferTypes /*C3, C4*/]> {
  let summary = "Gradients of batch_norm_training";
  let description = [{
    (C1) `0 <= feature_index < rank(operand)`. (C2) all operands and results have the same base type.
    (C3) `operand`, `grad_output` and `grad_operand` have the same shape. (C4) `scale`, `mean`, `variance`, `grad_scale`
    and `grad_offset` have the same shape. (C5) `size(scale) = dim(operand, feature_index)`.
    Source: StableHLO spec, "batch_norm_grad".
  }];
  let arguments = (ins
    HLO_BatchNormTensor:$operand, HLO_BatchNormVector:$scale, HLO_BatchNormVector:$mean, HLO_BatchNormVector:$variance,
    HLO_BatchNormTensor:$grad_output, F32Attr:$epsilon, ConfinedAttr<I64Attr, [IntNonNegative]>:$feature_index
  );
  let results = (outs HLO_BatchNormTensor:$grad_operand, HLO_BatchNormVector:$grad_scale,
                      HLO_BatchNormVector:$grad_offset);
}

def StableHLO_BatchNormInferenceOp : StableHLO_Op<"batch_norm_inference",
    [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect, HLO_CompatibleElementTypes /*C2*/, HLO_InferTypes /*C7*/]> {
  let summary = "Normalizes with given mean and variance";
  let description = [{
    `result = (operand - mean) / sqrt(variance + epsilon) * scale + offset`, vectors along `feature_index`.
    (C1) `0 <= feature_index < rank(operand)`. (C2) all operands and the result have the same base type.
    (C3)..(C6) the vectors have size `dim(operand, feature_index)`. (C7) `type(result) = type(operand)`.
    Source: StableHLO spec, "batch_norm_inference".
  }];
  let arguments = (ins
    HLO_BatchNormTensor:$operand, HLO_BatchNormVector:$scale, HLO_BatchNormVector:$offset, HLO_BatchNormVector:$mean,
    HLO_BatchNormVector:$variance, F32Attr:$epsilon, ConfinedAttr<I64Attr, [IntNonNegative]>:$feature_index
  );
  let results = (outs HLO_BatchNormTensor:$result);
}

def StableHLO_BatchNormTrainingOp : StableHLO_Op<"batch_norm_training",
    [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect, HLO_CompatibleElementTypes /*C2*/, HLO_InferTypes /*C5, C6, C7*/]> {
  let summary = "Normalizes with the mean and variance of the batch";
  let description = [{
    Computes mean and variance over all dimensions but `feature_index`, then as batch_norm_inference.
    (C1) `0 <= feature_index < rank(operand)`. (C2) all operands and results have the same base type.
    (C3), (C4) `scale` and `offset`, (C5), (C6) `batch_mean` and `batch_var` have size `dim(operand, feature_index)`.
    (C7) `type(output) = type(operand)`.
    Source: StableHLO spec, "batch_norm_training".
  }];
  let arguments = (ins
    HLO_BatchNormTensor:$operand, HLO_BatchNormVector:$scale, HLO_BatchNormVector:$offset, F32Attr:$epsilon,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$feature_index
  );
  let results = (outs HLO_BatchNormTensor:$output, HLO_BatchNormVector:$batch_mean, HLO_BatchNormVector:$batch_var);
}

#endif
