// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attrs.td - StableHLO enums, attributes and types -------------------===//
// Textual forms are interfaces: files written by other producers carry them.
#ifndef MILLRACE_DIALECTS_STABLEHLO_ATTRS_TD
#define MILLRACE_DIALECTS_STABLEHLO_ATTRS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "dialects/stablehlo/Base.td"

//===-- Enums -------------------------------------------------------------===//
// Values are those of the portable format (VHLO), so that the conversion is a cast.

class StableHLO_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::millrace::stablehlo";
}
// Spelled `#stablehlo<mnemonic VALUE>`.
class StableHLO_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Stablehlo_Dialect, info, mnemonic>;

def StableHLO_Precision : StableHLO_Enum<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : StableHLO_EnumAttr<StableHLO_Precision, "precision">;
def StableHLO_PrecisionConfigAttr :
    OptionalAttr<TypedArrayAttrBase<StableHLO_PrecisionAttr, "Precision Config attribute">>;

def StableHLO_ComparisonDirection : StableHLO_Enum<"ComparisonDirection", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def StableHLO_ComparisonDirectionAttr : StableHLO_EnumAttr<StableHLO_ComparisonDirection, "comparison_direction">;

def StableHLO_ComparisonType : StableHLO_Enum<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>, I32EnumAttrCase<"WEAKORDER", 5>]>;
def StableHLO_ComparisonTypeAttr : StableHLO_EnumAttr<StableHLO_ComparisonType, "comparison_type">;

def StableHLO_Transpose : StableHLO_Enum<"Transpose", [
  I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
  I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def StableHLO_TransposeAttr : StableHLO_EnumAttr<StableHLO_Transpose, "transpose">;

def StableHLO_FftType : StableHLO_Enum<"FftType", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def StableHLO_FftTypeAttr : StableHLO_EnumAttr<StableHLO_FftType, "fft_type">;

def StableHLO_RngDistribution : StableHLO_Enum<"RngDistribution", [
  I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def StableHLO_RngDistributionAttr : StableHLO_EnumAttr<StableHLO_RngDistribution, "rng_distribution">;

def StableHLO_RngAlgorithm : StableHLO_Enum<"RngAlgorithm", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def StableHLO_RngAlgorithmAttr : StableHLO_EnumAttr<StableHLO_RngAlgorithm, "rng_algorithm">;

// This one is a plain i32 in text: `api_version = 4 : i32`.
def StableHLO_CustomCallApiVersionAttr : I32EnumAttr<"CustomCallApiVersion", "Custom call API version", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>, I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>, I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::millrace::stablehlo";
}

def StableHLO_ResultAccuracyMode : StableHLO_Enum<"ResultAccuracyMode", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>]>;
def StableHLO_ResultAccuracyModeAttr : StableHLO_EnumAttr<StableHLO_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

//===-- Attributes --------------------------------------------------------===//

class StableHLO_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Stablehlo_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// `[1, ?, 3]`; `?` is ShapedType::kDynamic.
def StableHLO_Dims : ArrayRefParameter<"int64_t", "dimensions"> {
  let parser = "parseDimSizes($_parser)";
  let printer = "printDimSizes($_printer, $_self)";
}

def StableHLO_ScatterDimensionNumbers : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "Which dimensions of updates, inputs and indices play which role in scatter";
  let parameters = (ins StableHLO_Dims:$updateWindowDims, StableHLO_Dims:$insertedWindowDims,
                        StableHLO_Dims:$inputBatchingDims, StableHLO_Dims:$scatterIndicesBatchingDims,
                        StableHLO_Dims:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_GatherDimensionNumbers : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "Which dimensions of result, operand and indices play which role in gather";
  let parameters = (ins StableHLO_Dims:$offsetDims, StableHLO_Dims:$collapsedSliceDims,
                        StableHLO_Dims:$operandBatchingDims, StableHLO_Dims:$startIndicesBatchingDims,
                        StableHLO_Dims:$startIndexMap, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotDimensionNumbers : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Batching and contracting dimensions of dot_general";
  let parameters = (ins StableHLO_Dims:$lhsBatchingDimensions, StableHLO_Dims:$rhsBatchingDimensions,
                        StableHLO_Dims:$lhsContractingDimensions, StableHLO_Dims:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithm : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "How a dot_general is to be computed";
  let description = [{ Precision types name the arithmetic the operands are rounded to, component counts how many
    pieces an operand is split into, `num_primitive_operations` how many products of pieces are summed. }];
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount, "int64_t":$rhsComponentCount,
                        "int64_t":$numPrimitiveOperations, "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{ `<` `lhs_precision_type` `=` $lhsPrecisionType `,` `rhs_precision_type` `=` $rhsPrecisionType
    `,` `accumulation_type` `=` $accumulationType `,` `lhs_component_count` `=` $lhsComponentCount
    `,` `rhs_component_count` `=` $rhsComponentCount `,` `num_primitive_operations` `=` $numPrimitiveOperations
    `,` `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>` }];
  let genVerifyDecl = 1;
}

def StableHLO_ConvDimensionNumbers : StableHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "Roles of the dimensions of a convolution";
  let description = [{ Text: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, or `raw` followed by the fields. }];
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        StableHLO_Dims:$inputSpatialDimensions, "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension, StableHLO_Dims:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
                        StableHLO_Dims:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_OutputOperandAlias : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "An output of a custom_call that shares the buffer of an operand";
  let parameters = (ins StableHLO_Dims:$outputTupleIndices, "int64_t":$operandIndex,
                        StableHLO_Dims:$operandTupleIndices);
  let assemblyFormat = [{ `<` `output_tuple_indices` `=` $outputTupleIndices `,` `operand_index` `=` $operandIndex `,`
                          `operand_tuple_indices` `=` $operandTupleIndices `>` }];
}

def StableHLO_ChannelHandle : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Channel id and channel type of a communicating operation";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_TypeExtensions : StableHLO_Attr<"TypeExtensions", "type_extensions",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Upper bounds of the dynamic dimensions of a tensor type";
  let description = [{ Text: `#stablehlo.bounds<4, ?>` or `#stablehlo.type_extensions<bounds = [4, ?]>`. }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let assemblyFormat = "`<` `bounds` `=` ` ` custom<DimSizes>($bounds) `>`";
}

def StableHLO_DoubleParameter : AttrOrTypeParameter<"::llvm::APFloat", "tolerance"> {
  let defaultValue = "::llvm::APFloat(0.0)";
  let parser = "parseDouble($_parser)";
  let printer = "$_printer.printFloat($_self)";
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
}

// Spelled in full, not as `<DEFAULT>`.
def StableHLO_ResultAccuracyModeParameter :
    AttrOrTypeParameter<"::millrace::stablehlo::ResultAccuracyModeAttr", "mode"> {
  let parser = "parseResultAccuracyMode($_parser)";
  let printer = "$_printer.printAttribute($_self)";
}

def StableHLO_ResultAccuracyAttr : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "Accuracy asked from a transcendental function";
  let parameters = (ins
    StableHLO_DoubleParameter:$atol,
    StableHLO_DoubleParameter:$rtol,
    DefaultValuedParameter<"int64_t", "0">:$ulps,
    StableHLO_ResultAccuracyModeParameter:$mode);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let constBuilderCall = "::millrace::stablehlo::ResultAccuracyAttr::get($_builder.getContext(), "
    "::llvm::APFloat(0.0), ::llvm::APFloat(0.0), 0, "
    "::millrace::stablehlo::ResultAccuracyModeAttr::get($_builder.getContext(), $0))";
}
def StableHLO_OptionalResultAccuracy :
    DefaultValuedOptionalAttr<StableHLO_ResultAccuracyAttr, "::millrace::stablehlo::ResultAccuracyMode::DEFAULT">;

//===-- Device meshes -----------------------------------------------------===//

def StableHLO_SubAxisInfo : StableHLO_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "Part of a mesh axis: `(pre_size)size`";
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
  let assemblyFormat = "`(` $preSize `)` `` $size";
  let genVerifyDecl = 1;
}

def StableHLO_AxisRef : StableHLO_Attr<"AxisRef", "axis_ref"> {
  let summary = "A mesh axis or a part of one";
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalParameter<"::millrace::stablehlo::SubAxisInfoAttr">:$subAxisInfo);
  let assemblyFormat = "`<` `name` `=` $name (`,` `sub_axis_info` `=` $subAxisInfo^)? `>`";
}

def StableHLO_MeshAxis : StableHLO_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Name and size of a mesh axis";
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_Mesh : StableHLO_Attr<"Mesh", "mesh"> {
  let summary = "Named axes, and the devices in row-major order if they are not 0, 1, 2, ...";
  let parameters = (ins "::mlir::ArrayAttr":$axes, OptionalParameter<"::mlir::DenseIntElementsAttr">:$deviceIds);
  let assemblyFormat = "`<` `axes` `=` $axes (`,` `device_ids` `=` $deviceIds^)? `>`";
}

def StableHLO_ReplicaGroupMeshAxes : StableHLO_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "Replica groups said as axes of a mesh";
  let description = [{ `mesh` is a symbol or an inlined `#stablehlo.mesh`; `axes` are `#stablehlo.axis_ref`. }];
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` `mesh` `=` $mesh `,` `axes` `=` $axes `>`";
}
def StableHLO_ReplicaGroups : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxes]>;

//===-- Attribute constraints ---------------------------------------------===//

def StableHLO_LayoutAttr : Attr<And<[IndexElementsAttr.predicate,
    CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType().getRank() == 1">]>,
    "A 1D tensor of index type (layout)"> {
  let storageType = IndexElementsAttr.storageType;
  let returnType = IndexElementsAttr.returnType;
  let convertFromStorage = IndexElementsAttr.convertFromStorage;
}
def StableHLO_ArrayOfLayoutAttr :
    TypedArrayAttrBase<StableHLO_LayoutAttr, "Array of layout (1D tensor of index type) attributes">;
def StableHLO_FlatSymbolRefArrayAttr : TypedArrayAttrBase<FlatSymbolRefAttr, "flat symbol ref array attribute"> {
  let constBuilderCall = "::mlir::ArrayAttr::get($_builder.getContext(), $0)";
}
def StableHLO_ArrayOfDictAttr : TypedArrayAttrBase<DictionaryAttr, "array of dictionary attributes">;

// Shared by convolution, dynamic_conv.
def StableHLO_ConvolutionAttributes {
  dag attributes = (ins
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbers:$dimension_numbers,
    I64Attr:$feature_group_count,
    I64Attr:$batch_group_count,
    StableHLO_PrecisionConfigAttr:$precision_config);
}

//===-- Types -------------------------------------------------------------===//

class StableHLO_Type<string name, string typeMnemonic> : TypeDef<Stablehlo_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def StableHLO_TokenType : StableHLO_Type<"Token", "token"> {
  let summary = "Orders side effects that have no data dependence";
}
def StableHLO_FutureType : StableHLO_Type<"Future", "future"> {
  let summary = "Values that an asynchronous operation is still computing";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
}

#endif
