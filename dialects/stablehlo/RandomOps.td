// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomOps.td - rng, rng_bit_generator, fft -------------------------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_RANDOMOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_RANDOMOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Base.td"
include "dialects/stablehlo/Traits.td"

def HLO_RngScalar : 0DTensorOf<[HLO_Pred, HLO_Int, HLO_Float]>;
def HLO_ShapeOperand : Type<And<[1DTensorOf<[Index, HLO_Int]>.predicate,
    CPred<"::llvm::cast<::mlir::ShapedType>($_self).hasStaticShape()">]>,
    "statically shaped 1-dimensional integer tensor of index or integer values", "::mlir::RankedTensorType">;
def HLO_IntOrFpTensor : HLO_TensorOf<[HLO_Int, HLO_Float]>;

def StableHLO_RngOp : StableHLO_Op<"rng", [HLO_InferTypes, AllElementTypesMatch<["a", "b", "result"]>,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "Random numbers of a distribution";
  let description = [{
    UNIFORM over `[a, b)`, or NORMAL with mean `a` and standard deviation `b`. (C1) `a`, `b` and `result` have the same
    element type, (C2) a float for NORMAL. (C3) `shape(result) = shape`. Source: StableHLO spec, "rng".
  }];
  let arguments = (ins HLO_RngScalar:$a, HLO_RngScalar:$b, HLO_ShapeOperand:$shape,
                       StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs HLO_TensorOf<[HLO_Pred, HLO_Int, HLO_Float]>:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator",
    [HLO_SpeculatableIfStaticDimInOutputIsStaticInInput, NoMemoryEffect]> {
  let summary = "Random bits and the next state";
  let description = [{
    (C1) `type(initial_state) = type(output_state)`. (C2) `size(initial_state)` is implementation-defined for DEFAULT,
    2 for THREE_FRY, 2 or 3 for PHILOX. Source: StableHLO spec, "rng_bit_generator".
  }];
  let arguments = (ins StableHLO_RngAlgorithmAttr:$rng_algorithm, HLO_IntOrFpTensor:$initial_state);
  let results = (outs HLO_IntOrFpTensor:$output_state, StaticShapeTensorOf<[HLO_Int, HLO_Float]>:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_FftOp : StableHLO_Op<"fft", [ConditionallySpeculatable, NoMemoryEffect, HLO_InferTypes]> {
  let summary = "Fourier transform";
  let description = [{
    (C1) `size(fft_length) <= rank(operand)`. (C2) FFT and IFFT map complex to complex of the same type, RFFT real to
    complex, IRFFT complex to real. (C3) `1 <= size(fft_length) <= 3`. (C4) for RFFT the last dimensions of the real
    tensor are `fft_length`; (C5) shapes agree except that the last dimension of the complex side of RFFT and IRFFT is
    `fft_length[-1] / 2 + 1` (0 for 0). Source: StableHLO spec, "fft".
  }];
  let arguments = (ins HLO_FpOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type, DenseI64ArrayAttr:$fft_length);
  let results = (outs HLO_FpOrComplexTensor);
  let assemblyFormat = [{
    $operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
}

#endif
