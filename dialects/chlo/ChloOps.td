// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChloOps.td - Client operations with a decomposition into StableHLO -===//
#ifndef MILLRACE_DIALECTS_CHLO_CHLOOPS_TD
#define MILLRACE_DIALECTS_CHLO_CHLOOPS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "dialects/stablehlo/Base.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::millrace::chlo";
  let summary = "Functions of front ends that StableHLO expresses by several operations";
  let description = [{ Special functions, operations with implicit broadcasting, top_k, scan, ragged_dot. The pass
    chlo-legalize-to-stablehlo replaces all of them. Source: StableHLO repository, "CHLO" page. }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::quant::QuantDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class CHLO_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::millrace::chlo";
}
def CHLO_ComparisonDirection : CHLO_Enum<"ComparisonDirection", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def CHLO_ComparisonDirectionAttr : EnumAttr<Chlo_Dialect, CHLO_ComparisonDirection, "comparison_direction">;
def CHLO_ComparisonType : CHLO_Enum<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def CHLO_ComparisonTypeAttr : EnumAttr<Chlo_Dialect, CHLO_ComparisonType, "comparison_type">;
def CHLO_Precision : CHLO_Enum<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def CHLO_PrecisionAttr : EnumAttr<Chlo_Dialect, CHLO_Precision, "precision">;
def CHLO_PrecisionConfigAttr : OptionalAttr<TypedArrayAttrBase<CHLO_PrecisionAttr, "Precision Config attribute">>;

def CHLO_Dims : ArrayRefParameter<"int64_t", "dimensions"> {
  let parser = "::millrace::stablehlo::parseDimSizes($_parser)";
  let printer = "::millrace::stablehlo::printDimSizes($_printer, $_self)";
}
def CHLO_RaggedDotDimensionNumbers : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "Roles of the dimensions of ragged_dot";
  let parameters = (ins CHLO_Dims:$lhsBatchingDimensions, CHLO_Dims:$rhsBatchingDimensions,
                        CHLO_Dims:$lhsContractingDimensions, CHLO_Dims:$rhsContractingDimensions,
                        CHLO_Dims:$lhsRaggedDimensions, CHLO_Dims:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
}

def CHLO_Tensor : RankedTensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_PerTensorQuantizedType]>;

class CHLO_Op<string mnemonic, list<Trait> traits = []> : Op<Chlo_Dialect, mnemonic, traits> {
  code baseDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::millrace::stablehlo::isCompatibleForHloTypeInference(l, r);
    }
  }];
  code reifyLikeFirstOperand = [{
    ::llvm::LogicalResult reifyReturnTypeShapes(::mlir::OpBuilder &builder, ::mlir::ValueRange operands,
                                                ::llvm::SmallVectorImpl<::mlir::Value> &shapes) {
      return ::millrace::stablehlo::deriveShapeFromOperand(&builder, getOperation(), operands.front(), &shapes);
    }
  }];
  let extraClassDeclaration = baseDeclaration;
}

//===-- Unary functions ---------------------------------------------------===//

class CHLO_UnaryOp<string mnemonic, Type operandType, list<Trait> traits = [HLO_CompatibleOperandsAndResultType],
                   Type resultType = operandType>
    : CHLO_Op<mnemonic, traits # [Pure, Elementwise, SameOperandsAndResultShape, InferShapedTypeOpInterface]> {
  let arguments = (ins operandType:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}

def CHLO_AsinAcosKernelOp : CHLO_UnaryOp<"_asin_acos_kernel", HLO_ComplexTensor> {
  let summary = "Common part of complex asin and acos";
  let description = [{
    Parts of sqrt((1 - x) * (1 + x)) that complex asin, acos, asinh and acosh share: the real part of `result[i]` is the angle's denominator, the
    imaginary part that of the logarithm, x = `operand[i]`.
  }];
}

def CHLO_AcosOp : CHLO_UnaryOp<"acos", HLO_FpOrComplexTensor> {
  let summary = "Inverse cosine";
  let description = [{ `result[i]` = acos(x), x = `operand[i]`. }];
}

def CHLO_AcoshOp : CHLO_UnaryOp<"acosh", HLO_FpOrComplexTensor> {
  let summary = "Inverse hyperbolic cosine";
  let description = [{ `result[i]` = acosh(x), x = `operand[i]`. }];
}

def CHLO_AsinOp : CHLO_UnaryOp<"asin", HLO_FpOrComplexTensor> {
  let summary = "Inverse sine";
  let description = [{ `result[i]` = asin(x), x = `operand[i]`. }];
}

def CHLO_AsinhOp : CHLO_UnaryOp<"asinh", HLO_FpOrComplexTensor> {
  let summary = "Inverse hyperbolic sine";
  let description = [{ `result[i]` = asinh(x), x = `operand[i]`. }];
}

def CHLO_AtanOp : CHLO_UnaryOp<"atan", HLO_FpOrComplexTensor> {
  let summary = "Inverse tangent";
  let description = [{ `result[i]` = atan(x), x = `operand[i]`. }];
}

def CHLO_AtanhOp : CHLO_UnaryOp<"atanh", HLO_FpOrComplexTensor> {
  let summary = "Inverse hyperbolic tangent";
  let description = [{ `result[i]` = atanh(x), x = `operand[i]`. }];
}

def CHLO_BesselI1eOp : CHLO_UnaryOp<"bessel_i1e", HLO_FpTensor> {
  let summary = "Scaled modified Bessel function of order one";
  let description = [{ `result[i]` = e^-|x| I1(x), x = `operand[i]`. }];
}

def CHLO_ConjOp : CHLO_UnaryOp<"conj", CHLO_Tensor> {
  let summary = "Complex conjugate";
  let description = [{ `result[i]` = real(x) - imag(x) * i, x = `operand[i]`. }];
}

def CHLO_CoshOp : CHLO_UnaryOp<"cosh", HLO_FpOrComplexTensor> {
  let summary = "Hyperbolic cosine";
  let description = [{ `result[i]` = (e^x + e^-x) / 2, x = `operand[i]`. }];
}

def CHLO_SinhOp : CHLO_UnaryOp<"sinh", HLO_FpOrComplexTensor> {
  let summary = "Hyperbolic sine";
  let description = [{ `result[i]` = (e^x - e^-x) / 2, x = `operand[i]`. }];
}

def CHLO_TanOp : CHLO_UnaryOp<"tan", HLO_FpOrComplexTensor> {
  let summary = "Tangent";
  let description = [{ `result[i]` = sin(x) / cos(x), x = `operand[i]`. }];
}

def CHLO_DigammaOp : CHLO_UnaryOp<"digamma", HLO_FpTensor> {
  let summary = "Logarithmic derivative of the gamma function";
  let description = [{ `result[i]` = d/dx log gamma(x), x = `operand[i]`. }];
}

def CHLO_ErfOp : CHLO_UnaryOp<"erf", HLO_FpTensor> {
  let summary = "Error function";
  let description = [{ `result[i]` = 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x, x = `operand[i]`. }];
}

def CHLO_ErfInvOp : CHLO_UnaryOp<"erf_inv", HLO_FpTensor> {
  let summary = "Inverse error function";
  let description = [{ `result[i]` = the y with erf(y) = x, x = `operand[i]`. }];
}

def CHLO_ErfcOp : CHLO_UnaryOp<"erfc", HLO_FpTensor> {
  let summary = "Complementary error function";
  let description = [{ `result[i]` = 1 - erf(x), x = `operand[i]`. }];
}

def CHLO_LgammaOp : CHLO_UnaryOp<"lgamma", HLO_FpTensor> {
  let summary = "Logarithm of the gamma function";
  let description = [{ `result[i]` = log |gamma(x)|, x = `operand[i]`. }];
}

def CHLO_SquareOp : CHLO_UnaryOp<"square", CHLO_Tensor> {
  let summary = "Square";
  let description = [{ `result[i]` = x * x, x = `operand[i]`. }];
}

def CHLO_IsInfOp : CHLO_UnaryOp<"is_inf", HLO_FpTensor, [DeclareOpInterfaceMethods<InferTypeOpInterface>], HLO_PredTensor> {
  let summary = "Is infinite";
}

def CHLO_IsNegInfOp : CHLO_UnaryOp<"is_neg_inf", HLO_FpTensor, [DeclareOpInterfaceMethods<InferTypeOpInterface>], HLO_PredTensor> {
  let summary = "Is negative infinity";
}

def CHLO_IsPosInfOp : CHLO_UnaryOp<"is_pos_inf", HLO_FpTensor, [DeclareOpInterfaceMethods<InferTypeOpInterface>], HLO_PredTensor> {
  let summary = "Is positive infinity";
}

//===-- Binary functions --------------------------------------------------===//

// The operands have no names of their own.
class CHLO_BinaryOp<string mnemonic, Type type> : CHLO_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultShape,
    HLO_CompatibleOperandsAndResultType, InferShapedTypeOpInterface]> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}
// The operands are named as those of the mathematical functions.
def CHLO_NextAfterOp : CHLO_Op<"next_after", [Pure, Elementwise, SameOperandsAndResultShape,
    HLO_CompatibleOperandsAndResultType, InferShapedTypeOpInterface]> {
  let summary = "Next representable number";
  let description = [{ `result[i]` = the number next to x[i] in the direction of y[i]; y[i] if they are equal. }];
  let arguments = (ins HLO_FpTensor:$x, HLO_FpTensor:$y);
  let results = (outs HLO_FpTensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y) `->` type(results)";
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}
def CHLO_PolygammaOp : CHLO_Op<"polygamma", [Pure, Elementwise, SameOperandsAndResultShape,
    HLO_CompatibleOperandsAndResultType, InferShapedTypeOpInterface]> {
  let summary = "Derivative of digamma";
  let description = [{ `result[i]` = the n[i]-th derivative of digamma at x[i]. }];
  let arguments = (ins HLO_FpTensor:$n, HLO_FpTensor:$x);
  let results = (outs HLO_FpTensor:$result);
  let assemblyFormat = "$n `,` $x attr-dict `:` type($n) `,` type($x) `->` type(results)";
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}
def CHLO_ZetaOp : CHLO_Op<"zeta", [Pure, Elementwise, SameOperandsAndResultShape,
    HLO_CompatibleOperandsAndResultType, InferShapedTypeOpInterface]> {
  let summary = "Hurwitz zeta function";
  let description = [{ `result[i]` = sum over k >= 0 of (q[i] + k)^-x[i]. }];
  let arguments = (ins HLO_FpTensor:$x, HLO_FpTensor:$q);
  let results = (outs HLO_FpTensor:$result);
  let assemblyFormat = "$x `,` $q attr-dict `:` type($x) `,` type($q) `->` type(results)";
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}
def CHLO_MulhiOp : CHLO_BinaryOp<"mulhi", HLO_IntTensor> {
  let summary = "High half of a product";
  let description = [{ `result[i]` = the upper half of the bits of the double-width product lhs[i] * rhs[i]. }];
}

//===-- Implicit broadcasting ---------------------------------------------===//
// Operands are aligned at the last dimension, or lhs/rhs of lower rank by broadcast_dimensions; sizes of one repeat.

class CHLO_BroadcastBinaryOp<string mnemonic, list<Trait> traits = []> : CHLO_Op<mnemonic,
    traits # [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
              DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "Elementwise operation with implicit broadcasting";
  let arguments = (ins CHLO_Tensor:$lhs, CHLO_Tensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs CHLO_Tensor);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type(results)";
}

def CHLO_BroadcastAddOp : CHLO_BroadcastBinaryOp<"broadcast_add", [Commutative]>;
def CHLO_BroadcastAndOp : CHLO_BroadcastBinaryOp<"broadcast_and", [Commutative]>;
def CHLO_BroadcastAtan2Op : CHLO_BroadcastBinaryOp<"broadcast_atan2", []>;
def CHLO_BroadcastComplexOp : CHLO_BroadcastBinaryOp<"broadcast_complex", []>;
def CHLO_BroadcastDivOp : CHLO_BroadcastBinaryOp<"broadcast_divide", []>;
def CHLO_BroadcastMaxOp : CHLO_BroadcastBinaryOp<"broadcast_maximum", [Commutative]>;
def CHLO_BroadcastMinOp : CHLO_BroadcastBinaryOp<"broadcast_minimum", [Commutative]>;
def CHLO_BroadcastMulOp : CHLO_BroadcastBinaryOp<"broadcast_multiply", [Commutative]>;
def CHLO_BroadcastNextAfterOp : CHLO_BroadcastBinaryOp<"broadcast_next_after", []>;
def CHLO_BroadcastOrOp : CHLO_BroadcastBinaryOp<"broadcast_or", [Commutative]>;
def CHLO_BroadcastPolygammaOp : CHLO_BroadcastBinaryOp<"broadcast_polygamma", []>;
def CHLO_BroadcastPowOp : CHLO_BroadcastBinaryOp<"broadcast_power", []>;
def CHLO_BroadcastRemOp : CHLO_BroadcastBinaryOp<"broadcast_remainder", []>;
def CHLO_BroadcastShiftLeftOp : CHLO_BroadcastBinaryOp<"broadcast_shift_left", []>;
def CHLO_BroadcastShiftRightArithmeticOp : CHLO_BroadcastBinaryOp<"broadcast_shift_right_arithmetic", []>;
def CHLO_BroadcastShiftRightLogicalOp : CHLO_BroadcastBinaryOp<"broadcast_shift_right_logical", []>;
def CHLO_BroadcastSubOp : CHLO_BroadcastBinaryOp<"broadcast_subtract", []>;
def CHLO_BroadcastXorOp : CHLO_BroadcastBinaryOp<"broadcast_xor", [Commutative]>;
def CHLO_BroadcastZetaOp : CHLO_BroadcastBinaryOp<"broadcast_zeta", []>;

def CHLO_BroadcastCompareOp : CHLO_BroadcastBinaryOp<"broadcast_compare"> {
  let arguments = (ins CHLO_Tensor:$lhs, CHLO_Tensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       CHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs HLO_PredTensor);
}

def CHLO_BroadcastSelectOp : CHLO_Op<"broadcast_select", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]> {
  let summary = "select with implicit broadcasting";
  let arguments = (ins HLO_PredTensor:$pred, CHLO_Tensor:$on_true, CHLO_Tensor:$on_false);
  let results = (outs CHLO_Tensor);
  let assemblyFormat = [{ $pred `,` $on_true `,` $on_false attr-dict
    `:` `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type(results) }];
}

//===-- Others ------------------------------------------------------------===//

def CHLO_ConstantOp : CHLO_Op<"constant", [ConstantLike, Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Elements known at compile time";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StaticShapeTensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_QuantizedType]>:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def CHLO_ConstantLikeOp : CHLO_Op<"constant_like", [Pure, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<InferTypeOpInterface>, InferShapedTypeOpInterface]> {
  let summary = "One value in the shape of an operand";
  let arguments = (ins TypedAttrInterface:$value, CHLO_Tensor:$operand);
  let results = (outs CHLO_Tensor);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = baseDeclaration # reifyLikeFirstOperand;
}

def CHLO_TopKOp : CHLO_Op<"top_k", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "The largest elements of the last dimension, and where they are";
  let description = [{ `values` = the k largest elements along the last dimension in descending order, the earlier of
    equal ones first; `indices` their positions. With `largest = false` the k smallest in ascending order. }];
  let arguments = (ins CHLO_Tensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$largest);
  let results = (outs CHLO_Tensor:$values, CHLO_Tensor:$indices);
  let assemblyFormat = [{ `(` $operand `,` `k` `=` $k `)` attr-dict
    `:` type($operand) `->` `(` type($values) `,` type($indices) `)` }];
}

def CHLO_RaggedDotOp : CHLO_Op<"ragged_dot", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "dot_general over groups of one dimension";
  let description = [{ `group_sizes` cuts the ragged dimension of lhs into consecutive groups; every group has its own
    rhs (ragged dimension not contracting) or its own result (contracting), or is a batch (batching). }];
  let arguments = (ins CHLO_Tensor:$lhs, CHLO_Tensor:$rhs, RankedTensorOf<[HLO_Int]>:$group_sizes,
                       CHLO_RaggedDotDimensionNumbers:$ragged_dot_dimension_numbers,
                       CHLO_PrecisionConfigAttr:$precision_config);
  let results = (outs CHLO_Tensor:$result);
}

def CHLO_ScanOp : CHLO_Op<"scan", [RecursiveMemoryEffects, AttrSizedOperandSegments, AttrSizedResultSegments,
    SingleBlock]> {
  let summary = "Running application of a function along a dimension";
  let description = [{ For every slice of `inputs` along `dimension` in order: `(output slice..., carry...) =
    body(input slice..., carry...)`, the first carry being `inits`. }];
  let arguments = (ins Variadic<CHLO_Tensor>:$inputs, Variadic<CHLO_Tensor>:$inits,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<CHLO_Tensor>:$outputs, Variadic<CHLO_Tensor>:$carries);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
