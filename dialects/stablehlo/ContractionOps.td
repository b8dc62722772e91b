// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionOps.td - Sums of products, triangular systems -----------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_CONTRACTIONOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_CONTRACTIONOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Traits.td"

def StableHLO_DotOp : StableHLO_Op<"dot", [Pure]> {
  let summary = "Product of vectors and matrices (deprecated)";
  let description = [{ Contracts the last dimension of lhs with the first of rhs; both have rank 1 or 2.
    Successor: dot_general. }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs, StableHLO_PrecisionConfigAttr:$precision_config);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{ $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict
    `:` functional-type(operands, results) }];
  let hasVerifier = 1;
}

def StableHLO_DotGeneralOp : StableHLO_ShapedOp<"dot_general", [ConditionallySpeculatable, NoMemoryEffect]> {
  let summary = "Sum of products over contracting dimensions";
  let description = [{ `result[batch, l, r] = sum over c of lhs[batch, l, c] * rhs[batch, r, c]`.
    (C1) as many batching and (C2) contracting dimensions on both sides, (C3) (C4) unique, (C5) to (C8) in range,
    (C9) (C10) of equal sizes. (C11) at most two precisions. (C12) result shape: batching, lhs free, rhs free.
    (C13) to (C20) quantization. (C21) to (C27) algorithm. Source: StableHLO spec, "dot_general".
    Example: `%2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1],
    precision = [DEFAULT, DEFAULT] : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>` }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs, StableHLO_DotDimensionNumbers:$dot_dimension_numbers,
                       StableHLO_PrecisionConfigAttr:$precision_config, OptionalAttr<StableHLO_DotAlgorithm>:$algorithm);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{ $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) ``
    custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = baseDeclaration # [{
    /// Returns true for a contraction that `dot` can express: the last dimension of lhs with the first of rhs, without batching dimensions.
    bool isSimpleDot();
    ::mlir::Speculation::Speculatability getSpeculatability();
  }];
}

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [ConditionallySpeculatable, NoMemoryEffect]> {
  let summary = "Sum of products over windows";
  let description = [{ Slides `rhs` over the padded and dilated `lhs`. Constraints (C1) to (C34): StableHLO spec,
    "convolution". }];
  let arguments = !con((ins HLO_Tensor:$lhs, HLO_Tensor:$rhs), StableHLO_ConvolutionAttributes.attributes);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{ `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal)
    `}` attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = baseDeclaration # [{
    bool hasWindowReversal() {
      auto reversal = getWindowReversal();
      return reversal.has_value() && ::llvm::is_contained(*reversal, true);
    }
    ::mlir::Speculation::Speculatability getSpeculatability();
  }];
}

def StableHLO_DynamicConvOp : StableHLO_Op<"dynamic_conv", [Pure]> {
  let summary = "convolution with computed padding";
  let description = [{ Constraints as those of convolution. Source: StableHLO spec, "dynamic_conv". }];
  let arguments = !con((ins HLO_Tensor:$lhs, HLO_Tensor:$rhs, RankedTensorOf<[HLO_Int, Index]>:$padding), (ins
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbers:$dimension_numbers,
    I64Attr:$feature_group_count,
    I64Attr:$batch_group_count,
    StableHLO_PrecisionConfigAttr:$precision_config));
  let results = (outs HLO_Tensor);
  let hasVerifier = 1;
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure]> {
  let summary = "Einstein sum of two tensors (deprecated)";
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs HLO_Tensor);
  let assemblyFormat = [{ $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict
    `:` functional-type(operands, results) }];
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure]> {
  let summary = "Einstein sum of one tensor (deprecated)";
  let arguments = (ins HLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs HLO_Tensor);
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}

def StableHLO_CholeskyOp : StableHLO_Op<"cholesky", [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput,
    NoMemoryEffect, HLO_CompatibleElementTypes, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Cholesky decomposition of a batch of matrices";
  let description = [{ `a = result * adjoint(result)` with a lower triangular result if `lower`, else
    `a = adjoint(result) * result` with an upper one. (C1) result has a's type. (C2) rank is at least 2. (C3) the last
    two sizes are equal. Source: StableHLO spec, "cholesky". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))";
}

def StableHLO_TriangularSolveOp : StableHLO_Op<"triangular_solve",
    [ConditionallySpeculatable, NoMemoryEffect, HLO_CompatibleElementTypes /*C1*/,
     DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Solution of triangular systems";
  let description = [{ `op(a) * result = b` if `left_side`, else `result * op(a) = b`, op per `transpose_a`; only the
    triangle named by `lower` is read, its diagonal counts as ones if `unit_diagonal`.
    (C1) one element type. (C2) ranks agree, at least 2. (C3) sizes agree. (C4) result has b's type.
    Source: StableHLO spec, "triangular_solve". }];
  let arguments = (ins HLO_FpOrComplexTensor:$a, HLO_FpOrComplexTensor:$b, BoolAttr:$left_side, BoolAttr:$lower,
                       BoolAttr:$unit_diagonal, StableHLO_TransposeAttr:$transpose_a);
  let results = (outs HLO_FpOrComplexTensor);
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
}

#endif
