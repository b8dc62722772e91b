// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Base.td - StableHLO dialect, type predicates, op base classes ------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_BASE_TD
#define MILLRACE_DIALECTS_STABLEHLO_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// The C++ class is named after this record: StablehloDialect.
def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::millrace::stablehlo";
  let summary = "Portable operation set between machine learning front ends and compilers";
  let description = [{
    The 118 operations of StableHLO (specification 1.20), deprecated ones included. Textual form, verifier labels
    and messages are interfaces that other tools match on. Source: the StableHLO specification.
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    // Each op family registers its own ops, from its own source file.
    void registerElementwiseOps();
    void registerDataMovementOps();
    void registerIndexingOps();
    void registerContractionOps();
    void registerReductionOps();
    void registerControlFlowOps();
    void registerCollectiveOps();
    void registerDynamismOps();
    void registerRandomOps();
    void registerAttributes();
    void registerTypes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

//===-- Element types -----------------------------------------------------===//

def HLO_Pred : TypeAlias<I1, "bool">;
def HLO_SInt : SignlessIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def HLO_UInt : UnsignedIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def HLO_Int : AnyTypeOf<[HLO_SInt, HLO_UInt], "2/4/8/16/32/64-bit integer">;
def HLO_Float : AnyTypeOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ,
                           F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F16, F32, F64, BF16], "4/6/8/16/32/64-bit float">;
def HLO_Float32Or64 : AnyTypeOf<[F32, F64], "32/64-bit float">;
def HLO_Complex : Complex<HLO_Float32Or64>;

// The parameters are those that the specification allows: TypeRules.h.
def HLO_IsValidQuantizedElement : CPred<"::millrace::stablehlo::isValidQuantizedElement($_self)">;
def HLO_HasValidQuantizedDimension : CPred<"::millrace::stablehlo::hasValidQuantizedDimension($_self)">;
def HLO_PerTensorQuantizedType :
    Type<And<[CPred<"::llvm::isa<::mlir::quant::UniformQuantizedType>($_self)">, HLO_IsValidQuantizedElement]>,
    "per-tensor integer quantized", "::mlir::quant::UniformQuantizedType">;
def HLO_PerAxisQuantizedType :
    Type<And<[CPred<"::llvm::isa<::mlir::quant::UniformQuantizedPerAxisType>($_self)">, HLO_IsValidQuantizedElement]>,
    "per-axis integer quantized", "::mlir::quant::UniformQuantizedPerAxisType">;
def HLO_QuantizedType : AnyTypeOf<[HLO_PerTensorQuantizedType, HLO_PerAxisQuantizedType]>;

def HLO_Token : Type<CPred<"::llvm::isa<::millrace::stablehlo::TokenType>($_self)">, "token",
    "::millrace::stablehlo::TokenType">;

//===-- Tensors -----------------------------------------------------------===//

class HLO_TensorOf<list<Type> elements> : RankedTensorOf<elements, [HLO_HasValidQuantizedDimension], "ranked tensor">;

def HLO_Tensor : HLO_TensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_QuantizedType]>;
def HLO_NonQuantizedTensor : HLO_TensorOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex]>;
def HLO_PredTensor : HLO_TensorOf<[HLO_Pred]>;
def HLO_IntTensor : HLO_TensorOf<[HLO_Int]>;
def HLO_PredOrIntTensor : HLO_TensorOf<[HLO_Pred, HLO_Int]>;
def HLO_IntOrPredTensor : HLO_TensorOf<[HLO_Pred, HLO_Int]>;
def HLO_FpTensor : HLO_TensorOf<[HLO_Float]>;
def HLO_Fp32Or64Tensor : HLO_TensorOf<[HLO_Float32Or64]>;
def HLO_ComplexTensor : HLO_TensorOf<[HLO_Complex]>;
def HLO_FpOrComplexTensor : HLO_TensorOf<[HLO_Float, HLO_Complex]>;
def HLO_FpOrQuantizedIntTensor : HLO_TensorOf<[HLO_Float, HLO_PerTensorQuantizedType]>;
def HLO_FpComplexOrQuantizedIntTensor : HLO_TensorOf<[HLO_Float, HLO_Complex, HLO_PerTensorQuantizedType]>;
def HLO_IntFpOrComplexOrQuantizedIntTensor :
    HLO_TensorOf<[HLO_Int, HLO_Float, HLO_Complex, HLO_PerTensorQuantizedType]>;
def HLO_SIntFpComplexOrQuantizedIntTensor :
    HLO_TensorOf<[HLO_SInt, HLO_Float, HLO_Complex, HLO_PerTensorQuantizedType]>;
def HLO_QuantizedIntTensor : HLO_TensorOf<[HLO_QuantizedType]>;
def HLO_QuantizedIntOrPerAxisTensor : HLO_TensorOf<[HLO_QuantizedType]>;
def HLO_ScalarIntTensor : 0DTensorOf<[HLO_Int]>;
def HLO_DimensionTensor : 1DTensorOf<[Index, HLO_Int]>;
def HLO_DimensionValue : AnyTypeOf<[Index, HLO_Pred, HLO_Int]>;
def HLO_StaticDimensionTensor : StaticShapeTensorOf<[Index, HLO_Int]>;
// All sizes are static or bounded.
def HLO_StaticOrBoundedTensor : Type<And<[HLO_Tensor.predicate,
    CPred<"::millrace::stablehlo::hasStaticOrBoundedShape($_self)">]>,
    !subst("ranked tensor", "statically shaped or single bounded dimension tensor", HLO_Tensor.summary),
    "::mlir::RankedTensorType">;
def HLO_Tuple : NestedTupleOf<[HLO_Tensor, HLO_Token]>;
def HLO_TensorOrToken : AnyTypeOf<[HLO_Tensor, HLO_Token]>;
def HLO_TensorOrTokenOrTuple : AnyTypeOf<[HLO_Tensor, HLO_Token, HLO_Tuple]>;
def HLO_Buffer : MemRefOf<[HLO_Float, HLO_Pred, HLO_Int, HLO_Complex]>;
def HLO_CustomCallValue : AnyTypeOf<[HLO_Tensor, HLO_Token, HLO_Tuple, HLO_Buffer]>;

//===-- Op base classes ---------------------------------------------------===//

// An op with its own extraClassDeclaration starts it with `baseDeclaration #`.
class StableHLO_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits> {
  // Inferred and declared types may differ in dynamic dimensions, bounds and quantization.
  code baseDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::millrace::stablehlo::isCompatibleForHloTypeInference(l, r);
    }
  }];
  // For InferShapedTypeOpInterface: the result has the shape of the first operand.
  code reifyLikeFirstOperand = [{
    ::llvm::LogicalResult reifyReturnTypeShapes(::mlir::OpBuilder &builder, ::mlir::ValueRange operands,
                                                ::llvm::SmallVectorImpl<::mlir::Value> &shapes) {
      return ::millrace::stablehlo::deriveShapeFromOperand(&builder, getOperation(), operands.front(), &shapes);
    }
  }];
  // For InferShapedTypeOpInterface in an op that infers its types.
  code inferShapeFromTypes = [{
    static ::llvm::LogicalResult inferReturnTypeComponents(::mlir::MLIRContext *context,
        ::std::optional<::mlir::Location> location, ::mlir::ValueShapeRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::ShapedTypeComponents> &components) {
      ::llvm::SmallVector<::mlir::Type> types;
      if (::mlir::failed(inferReturnTypes(context, location, operands.getValues(), attributes, properties, regions,
                                          types)))
        return ::mlir::failure();
      for (::mlir::Type type : types)
        components.push_back(::mlir::cast<::mlir::ShapedType>(type));
      return ::mlir::success();
    }
  }];
  let extraClassDeclaration = baseDeclaration;
}

// An operation that reifies the shape of its result.
class StableHLO_ShapedOp<string mnemonic, list<Trait> traits = []> : StableHLO_Op<mnemonic,
    traits # [DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]>;

// Element types of all operands and results agree up to quantization parameters.
def HLO_CompatibleElementTypes : NativeOpTrait<"CompatibleOperandsAndResultElementType"> {
  let cppNamespace = "::millrace::stablehlo::traits";
}

// Element types of all operands agree up to quantization parameters.
def HLO_CompatibleOperandElementTypes : NativeOpTrait<"CompatibleOperandsElementType"> {
  let cppNamespace = "::millrace::stablehlo::traits";
}

// Operand i has the element type of result i.
def HLO_PairwiseSameElementType : NativeOpTrait<"PairwiseSameOperandAndResultElementType"> {
  let cppNamespace = "::millrace::stablehlo::traits";
}

// Operand i has the type of result i.
def HLO_PairwiseSameOperandAndResultType : NativeOpTrait<"PairwiseSameOperandAndResultType"> {
  let cppNamespace = "::millrace::stablehlo::traits";
}

// Operand and result types agree up to dynamic dimensions, bounds and quantization; the result type is inferred
// from the operands.
def HLO_CompatibleOperandsAndResultTypeTrait : NativeOpTrait<"CompatibleOperandsAndResultType"> {
  let cppNamespace = "::millrace::stablehlo::traits";
}
def HLO_CompatibleOperandsAndResultType : TraitList<[
  InferTypeOpInterface, HLO_CompatibleOperandsAndResultTypeTrait]>;

#endif
