// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementwiseOps.td - Ops that map elements at equal positions -------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_ELEMENTWISEOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_ELEMENTWISEOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Traits.td"

def HLO_SIntFpOrQuantizedIntTensor : HLO_TensorOf<[HLO_SInt, HLO_Float, HLO_PerTensorQuantizedType]>;
def HLO_TensorPerTensorQuantized :
    HLO_TensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_PerTensorQuantizedType]>;
def HLO_FpOrQuantizedTensor : HLO_TensorOf<[HLO_Float, HLO_QuantizedType]>;

//===-- Unary -------------------------------------------------------------===//

// Traits are verified in their order, so an operation with one of the last traits lists it first, as upstream does.
class StableHLO_ElementwiseOp<string mnemonic, list<Trait> traits = [],
    Trait speculatable = HLO_SpeculatableIfStaticDimInOutputIsStaticInInput> : StableHLO_Op<mnemonic,
    traits # [speculatable, NoMemoryEffect, Elementwise, InferShapedTypeOpInterface, SameOperandsAndResultShape]> {
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand # inferShapeFromTypes;
}
// A cast, whose result type the operands do not determine.
class StableHLO_CastOp<string mnemonic, list<Trait> traits = []> : StableHLO_ElementwiseOp<mnemonic, traits> {
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}

def StableHLO_AbsOp : StableHLO_ElementwiseOp<"abs", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Absolute value";
  let description = [{ `result[i]` = |x|; the modulus of a complex x, x = `operand[i]`. (C1) same shape. (C2) element type of the result is the real part's type for complex operands, else the operand's.
    Source: StableHLO spec, "abs". }];
  let arguments = (ins HLO_SIntFpComplexOrQuantizedIntTensor:$operand);
  let results = (outs HLO_SIntFpOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_CbrtOp : StableHLO_ElementwiseOp<"cbrt", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Cube root";
  let description = [{ `result[i]` = cbrt(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "cbrt". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_CeilOp : StableHLO_ElementwiseOp<"ceil", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Smallest integral value not below";
  let description = [{ `result[i]` = ceil(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "ceil". }];
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$operand);
  let results = (outs HLO_FpOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_ConvertOp : StableHLO_CastOp<"convert", [SameOperandsAndResultShape]> {
  let summary = "Element type conversion";
  let description = [{ `result[i]` = x in the element type of the result, x = `operand[i]`. (C1) same shape.
    Source: StableHLO spec, "convert". }];
  let arguments = (ins HLO_NonQuantizedTensor:$operand);
  let results = (outs HLO_NonQuantizedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$result_element_ty)>];
  let hasFolder = 1;
}

def StableHLO_ClzOp : StableHLO_ElementwiseOp<"count_leading_zeros", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Leading zero bits";
  let description = [{ `result[i]` = number of leading zero bits of x, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "count_leading_zeros". }];
  let arguments = (ins HLO_IntTensor:$operand);
  let results = (outs HLO_IntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_CosineOp : StableHLO_ElementwiseOp<"cosine", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Cosine";
  let description = [{ `result[i]` = cos(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "cosine". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_ExpOp : StableHLO_ElementwiseOp<"exponential", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Exponential";
  let description = [{ `result[i]` = e^x, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "exponential". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_Expm1Op : StableHLO_ElementwiseOp<"exponential_minus_one", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Exponential minus one";
  let description = [{ `result[i]` = e^x - 1, accurate near 0, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "exponential_minus_one". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_FloorOp : StableHLO_ElementwiseOp<"floor", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Largest integral value not above";
  let description = [{ `result[i]` = floor(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "floor". }];
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$operand);
  let results = (outs HLO_FpOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_ImagOp : StableHLO_ElementwiseOp<"imag", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Imaginary part";
  let description = [{ `result[i]` = imag(x); 0 for real x, x = `operand[i]`. (C1) same shape. (C2) element type of the result is the part's type.
    Source: StableHLO spec, "imag". }];
  let arguments = (ins HLO_FpOrComplexTensor:$operand);
  let results = (outs HLO_FpTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasFolder = 1;
}

def StableHLO_LogOp : StableHLO_ElementwiseOp<"log", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Natural logarithm";
  let description = [{ `result[i]` = log(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "log". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_Log1pOp : StableHLO_ElementwiseOp<"log_plus_one", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Natural logarithm of one plus";
  let description = [{ `result[i]` = log(1 + x), accurate near 0, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "log_plus_one". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_LogisticOp : StableHLO_ElementwiseOp<"logistic", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Logistic function";
  let description = [{ `result[i]` = 1 / (1 + e^-x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "logistic". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_NotOp : StableHLO_ElementwiseOp<"not", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Bitwise complement";
  let description = [{ `result[i]` = ~x; logical negation of booleans, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "not". }];
  let arguments = (ins HLO_PredOrIntTensor:$operand);
  let results = (outs HLO_PredOrIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasFolder = 1;
}

def StableHLO_NegOp : StableHLO_ElementwiseOp<"negate", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Negation";
  let description = [{ `result[i]` = -x, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "negate". }];
  let arguments = (ins HLO_IntFpOrComplexOrQuantizedIntTensor:$operand);
  let results = (outs HLO_IntFpOrComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasFolder = 1;
}

def StableHLO_PopulationCountOp : StableHLO_ElementwiseOp<"popcnt", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Number of one bits";
  let description = [{ `result[i]` = popcount(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "popcnt". }];
  let arguments = (ins HLO_IntTensor:$operand);
  let results = (outs HLO_IntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_RealOp : StableHLO_ElementwiseOp<"real", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Real part";
  let description = [{ `result[i]` = real(x); x itself for real x, x = `operand[i]`. (C1) same shape. (C2) element type of the result is the part's type.
    Source: StableHLO spec, "real". }];
  let arguments = (ins HLO_FpOrComplexTensor:$operand);
  let results = (outs HLO_FpTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasFolder = 1;
}

def StableHLO_RoundOp : StableHLO_ElementwiseOp<"round_nearest_afz", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Rounding, ties away from zero";
  let description = [{ `result[i]` = round(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "round_nearest_afz". }];
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$operand);
  let results = (outs HLO_FpOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_RoundNearestEvenOp : StableHLO_ElementwiseOp<"round_nearest_even", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Rounding, ties to even";
  let description = [{ `result[i]` = roundeven(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "round_nearest_even". }];
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$operand);
  let results = (outs HLO_FpOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_RsqrtOp : StableHLO_ElementwiseOp<"rsqrt", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Reciprocal square root";
  let description = [{ `result[i]` = 1 / sqrt(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "rsqrt". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_SignOp : StableHLO_ElementwiseOp<"sign", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Sign";
  let description = [{ `result[i]` = -1, 0 or 1; x / |x| for complex x; NaN stays NaN, x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "sign". }];
  let arguments = (ins HLO_SIntFpComplexOrQuantizedIntTensor:$operand);
  let results = (outs HLO_SIntFpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_SineOp : StableHLO_ElementwiseOp<"sine", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Sine";
  let description = [{ `result[i]` = sin(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "sine". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_SqrtOp : StableHLO_ElementwiseOp<"sqrt", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Square root";
  let description = [{ `result[i]` = sqrt(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "sqrt". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_TanOp : StableHLO_ElementwiseOp<"tan", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Tangent";
  let description = [{ `result[i]` = tan(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "tan". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_TanhOp : StableHLO_ElementwiseOp<"tanh", [HLO_CompatibleOperandsAndResultType]> {
  let summary = "Hyperbolic tangent";
  let description = [{ `result[i]` = tanh(x), x = `operand[i]`. (C1) operand and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "tanh". }];
  let arguments = (ins HLO_FpComplexOrQuantizedIntTensor:$operand, StableHLO_OptionalResultAccuracy:$result_accuracy);
  let results = (outs HLO_FpComplexOrQuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_IsFiniteOp : StableHLO_ElementwiseOp<"is_finite", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Neither infinite nor NaN";
  let description = [{ `y[i]` = x[i] is finite. (C1) same shape. Source: StableHLO spec, "is_finite". }];
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$x);
  let results = (outs HLO_PredTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert",
    [ConditionallySpeculatable, NoMemoryEffect,
     DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "Same bits, another element type";
  let description = [{ The bits of `operand` read as the element type of the result; between types of different width
    the last dimension of the wider side's counterpart is the ratio of widths.
    (C1) shapes agree up to that dimension. (C2) complex only with complex. Source: StableHLO spec, "bitcast_convert".
    Example: `%1 = stablehlo.bitcast_convert %0 : (tensor<f64>) -> tensor<4xf16>` }];
  let arguments = (ins HLO_Tensor:$operand);
  let results = (outs HLO_Tensor);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_ReducePrecisionOp : StableHLO_ElementwiseOp<"reduce_precision",
    [Elementwise, HLO_CompatibleOperandsAndResultType]> {
  let summary = "Rounding to fewer exponent and mantissa bits";
  let description = [{ `output[i]` = operand[i] rounded to a float with the given bits and back. (C1) one type.
    (C2) `1 <= exponent_bits`. (C3) `0 <= mantissa_bits`. Source: StableHLO spec, "reduce_precision".
    Example: `%1 = stablehlo.reduce_precision %0, format = e5m10 : tensor<6xf64>` }];
  let arguments = (ins HLO_FpOrQuantizedIntTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs HLO_FpOrQuantizedIntTensor:$output);
  let assemblyFormat = [{ $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<SameOperandsAndResultType>(type($operand), type($output)) }];
  let hasVerifier = 1;
}

def StableHLO_UniformQuantizeOp : StableHLO_CastOp<"uniform_quantize"> {
  let summary = "Float or quantized to quantized";
  let description = [{ `result[i]` = round(operand[i] / scale) + zero_point, clamped to the storage range; a
    quantized operand is dequantized first (requantization). (C1) same shape. (C2) the expressed type of the result is the (expressed) element type of the operand.
    Source: StableHLO spec, "uniform_quantize". }];
  let arguments = (ins HLO_FpOrQuantizedTensor:$operand);
  let results = (outs HLO_QuantizedIntTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
  let hasVerifier = 1;
}

def StableHLO_UniformDequantizeOp : StableHLO_ElementwiseOp<"uniform_dequantize",
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Quantized to float";
  let description = [{ `result[i]` = (operand[i] - zero_point) * scale. (C1) same shape. (C2) the element type of the
    result is the expressed type of the operand. Source: StableHLO spec, "uniform_dequantize". }];
  let arguments = (ins HLO_QuantizedIntTensor:$operand);
  let results = (outs HLO_FpTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

//===-- Binary ------------------------------------------------------------===//

class StableHLO_BinaryOp<string mnemonic, list<Trait> traits, Type type>
    : StableHLO_ElementwiseOp<mnemonic, traits # [HLO_CompatibleOperandsAndResultType],
                              HLO_SpeculatableIfAllInputsStatic> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = [{ $lhs `,` $rhs attr-dict
    `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result)) }];
}

def StableHLO_AddOp : StableHLO_BinaryOp<"add", [Commutative, SameOperandsAndResultShape], HLO_Tensor> {
  let summary = "Addition";
  let description = [{ `result[i]` = x + y; logical or of booleans, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "add". }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", [], HLO_FpComplexOrQuantizedIntTensor> {
  let summary = "Angle of a point";
  let description = [{ `result[i]` = the angle of the point (y, x), in (-pi, pi], x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "atan2". }];
}

def StableHLO_DivOp : StableHLO_BinaryOp<"divide", [], HLO_IntFpOrComplexOrQuantizedIntTensor> {
  let summary = "Division";
  let description = [{ `result[i]` = x / y; integers round towards zero, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "divide". }];
  let hasFolder = 1;
}

def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", [Commutative], HLO_TensorPerTensorQuantized> {
  let summary = "Maximum";
  let description = [{ `result[i]` = max(x, y); NaN if either is; logical or of booleans; lexicographic for complex, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "maximum". }];
  let hasFolder = 1;
}

def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", [Commutative], HLO_TensorPerTensorQuantized> {
  let summary = "Minimum";
  let description = [{ `result[i]` = min(x, y); NaN if either is; logical and of booleans; lexicographic for complex, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "minimum". }];
  let hasFolder = 1;
}

def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", [Commutative], HLO_TensorPerTensorQuantized> {
  let summary = "Multiplication";
  let description = [{ `result[i]` = x * y; logical and of booleans, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "multiply". }];
  let hasFolder = 1;
}

def StableHLO_PowOp : StableHLO_BinaryOp<"power", [], HLO_IntFpOrComplexOrQuantizedIntTensor> {
  let summary = "Power";
  let description = [{ `result[i]` = x^y, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "power". }];
}

def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", [], HLO_IntFpOrComplexOrQuantizedIntTensor> {
  let summary = "Remainder of the division rounded towards zero";
  let description = [{ `result[i]` = x - trunc(x / y) * y, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "remainder". }];
}

def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", [], HLO_IntTensor> {
  let summary = "Left shift";
  let description = [{ `result[i]` = x << y; 0 if y is not below the width, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "shift_left". }];
  let hasFolder = 1;
}

def StableHLO_ShiftRightArithmeticOp : StableHLO_BinaryOp<"shift_right_arithmetic", [], HLO_IntTensor> {
  let summary = "Arithmetic right shift";
  let description = [{ `result[i]` = x >> y with copies of the sign bit, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "shift_right_arithmetic". }];
  let hasFolder = 1;
}

def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical", [], HLO_IntTensor> {
  let summary = "Logical right shift";
  let description = [{ `result[i]` = x >> y with zeros, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "shift_right_logical". }];
  let hasFolder = 1;
}

def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", [], HLO_IntFpOrComplexOrQuantizedIntTensor> {
  let summary = "Subtraction";
  let description = [{ `result[i]` = x - y, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "subtract". }];
  let hasFolder = 1;
}

def StableHLO_AndOp : StableHLO_BinaryOp<"and", [Commutative], HLO_PredOrIntTensor> {
  let summary = "Bitwise and";
  let description = [{ `result[i]` = x & y, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "and". }];
  let hasFolder = 1;
}

def StableHLO_OrOp : StableHLO_BinaryOp<"or", [Commutative], HLO_PredOrIntTensor> {
  let summary = "Bitwise or";
  let description = [{ `result[i]` = x | y, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "or". }];
  let hasFolder = 1;
}

def StableHLO_XorOp : StableHLO_BinaryOp<"xor", [Commutative], HLO_PredOrIntTensor> {
  let summary = "Bitwise exclusive or";
  let description = [{ `result[i]` = x ^ y, x = `lhs[i]`, y = `rhs[i]`. (C1) operands and result have one type; quantization parameters may differ.
    Source: StableHLO spec, "xor". }];
  let hasFolder = 1;
}

def StableHLO_ComplexOp : StableHLO_ElementwiseOp<"complex",
    [SameOperandsElementType, SameOperandsAndResultShape, DeclareOpInterfaceMethods<InferTypeOpInterface>],
    HLO_SpeculatableIfAllInputsStatic> {
  let summary = "Complex number from its parts";
  let description = [{ `result[i]` = lhs[i] + rhs[i] * i. (C1) operands have one type. (C2) same shape.
    (C3) the element type of the result is complex of it. Source: StableHLO spec, "complex". }];
  let arguments = (ins HLO_Fp32Or64Tensor:$lhs, HLO_Fp32Or64Tensor:$rhs);
  let results = (outs HLO_ComplexTensor:$result);
  let assemblyFormat = "operands attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))";
  let hasFolder = 1;
}

def StableHLO_CompareOp : StableHLO_ElementwiseOp<"compare",
    [HLO_CompatibleOperandElementTypes /*C1*/, DeclareOpInterfaceMethods<InferTypeOpInterface>],
    HLO_SpeculatableIfAllInputsStatic> {
  let summary = "Comparison";
  let description = [{ `result[i]` = lhs[i] `comparison_direction` rhs[i]. (C1) operands have one element type and
    (C2) one shape. (C3) `compare_type` is SIGNED, UNSIGNED, FLOAT, TOTALORDER or WEAKORDER; left out, it follows from
    the type. In weak order NaNs are equal to each other and greater than all numbers, and zeros are equal.
    That it fits the type is not verified: portable artifacts exist in which it does not. Complex numbers compare
    lexicographically. Source: StableHLO spec, "compare".
    Example: `%2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>` }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs, StableHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs HLO_PredTensor);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
    "::millrace::stablehlo::ComparisonDirection":$comparison_direction,
    CArg<"::millrace::stablehlo::ComparisonType", "::millrace::stablehlo::ComparisonType::NOTYPE">:$compare_type)>];
  let assemblyFormat = [{ $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results) }];
  let hasFolder = 1;
}

//===-- Ternary -----------------------------------------------------------===//

def StableHLO_SelectOp : StableHLO_Op<"select", [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "Elements of one of two tensors";
  let description = [{ `result[i]` = pred[i] ? on_true[i] : on_false[i]; a 0-d pred selects a whole tensor.
    (C1) pred is 0-d or has the shape of on_true. (C2) on_true, on_false, result have one type.
    Source: StableHLO spec, "select".
    Example: `%3 = stablehlo.select %0, %1, %2 : tensor<2x2xi1>, tensor<2x2xi32>` }];
  let arguments = (ins HLO_PredTensor:$pred, HLO_Tensor:$on_true, HLO_Tensor:$on_false);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = [{ operands attr-dict
    `:` custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result)) }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_ClampOp : StableHLO_Op<"clamp", [HLO_SpeculatableIfAllInputsStatic, NoMemoryEffect,
    HLO_CompatibleElementTypes /*C3*/,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "Elements moved into a range";
  let description = [{ `result[i]` = minimum(maximum(operand[i], min[i]), max[i]); 0-d bounds hold for all elements.
    (C1) min and (C2) max are 0-d or have the shape of operand. (C3) one element type. (C4) result has operand's type.
    Source: StableHLO spec, "clamp". }];
  let arguments = (ins HLO_TensorPerTensorQuantized:$min, HLO_TensorPerTensorQuantized:$operand,
                       HLO_TensorPerTensorQuantized:$max);
  let results = (outs HLO_TensorPerTensorQuantized:$result);
  let assemblyFormat = [{ $min `,` $operand `,` $max attr-dict
    `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result)) }];
}

#endif
