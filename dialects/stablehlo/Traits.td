// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Traits.td - Trait lists shared by the region, collective, dynamic families -===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_TRAITS_TD
#define MILLRACE_DIALECTS_STABLEHLO_TRAITS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// The op computes its result types through its adaptor, and a result type may be refined or relaxed as long as it stays
// compatible (StableHLO_Op says when): known sizes agree, `?` agrees with everything.
def HLO_InferTypes : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>,
  NativeOpTrait<"InferTypeOpAdaptor", [],
  [{
    static ::llvm::LogicalResult
    inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
                     ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes);
  }],
  [{
    ::llvm::LogicalResult
    $cppClass::inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
                                ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
                                ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
                                ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes) {
      $cppClass::Adaptor adaptor(operands, attributes, properties, regions);
      return $cppClass::inferReturnTypes(context, location, adaptor, inferredReturnTypes);
    }
  }]>
]>;

// Hoisting such an op to a place where it may run although the program would not have run it is safe only under the
// condition in its name; otherwise a size mismatch between dynamic dimensions could become observable.
class HLO_SpeculationTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::millrace::stablehlo::speculation";
}
class HLO_Speculation<string name> : TraitList<[ConditionallySpeculatable, HLO_SpeculationTrait<name>]>;
def HLO_SpeculatableIfAllInputsStatic : HLO_Speculation<"IfAllInputsStatic">;
def HLO_SpeculatableIfStaticDimInOutputIsStaticInInput : HLO_Speculation<"IfStaticResultDimsAreStaticInInput">;
def HLO_RecursivelySpeculatableIfAllInputsStatic : HLO_Speculation<"RecursivelyIfAllInputsStatic">;
def HLO_RecursivelySpeculatableIfStaticDimInOutputIsStaticInInput :
    HLO_Speculation<"RecursivelyIfStaticResultDimsAreStaticInInput">;

#endif
