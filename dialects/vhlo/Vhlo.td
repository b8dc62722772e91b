// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Vhlo.td - The portable format: dialect, attributes and types -------===//
// Textual forms and bytecode codes are interfaces: files written by other producers carry them. Operations are not here
// but in OpTable.cpp: they have neither verifiers nor accessors, only names.
#ifndef MILLRACE_DIALECTS_VHLO_VHLO_TD
#define MILLRACE_DIALECTS_VHLO_VHLO_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

// The C++ class is named after this record: VhloDialect.
def Vhlo_Dialect : Dialect {
  let name = "vhlo";
  let cppNamespace = "::millrace::vhlo";
  let summary = "Versioned copy of StableHLO that portable artifacts are written in";
  let description = [{
    Every operation, attribute and type carries its version in its name (`vhlo.add_v1`, `#vhlo.integer_v1`,
    `!vhlo.tensor_v1`) and never changes. Defaults are spelled out and structured attributes taken apart, so that a
    reader of an older or newer version can convert a program op by op. Source: StableHLO 1.20, docs/vhlo.md.
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect", "::mlir::shape::ShapeDialect",
                           "::millrace::stablehlo::StablehloDialect"];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
  private:
    void registerOps();
    void registerAttributes();
    void registerTypes();
    void registerBytecode();
    // Ids of the operations, which have no C++ classes.
    ::mlir::TypeIDAllocator opIds;
  public:
  }];
}

class Vhlo_Attr<string name, string attrMnemonic = ""> : AttrDef<Vhlo_Dialect, name> {
  let mnemonic = !if(!empty(attrMnemonic), ?, attrMnemonic);
  let attrName = "vhlo." # !if(!empty(attrMnemonic), !tolower(name), attrMnemonic);
}
class Vhlo_Type<string name, string typeMnemonic = ""> : TypeDef<Vhlo_Dialect, name> {
  let mnemonic = !if(!empty(typeMnemonic), ?, typeMnemonic);
  let typeName = "vhlo." # !if(!empty(typeMnemonic), !tolower(name), typeMnemonic);
}
// `[1, ?, 3]`; `?` is ShapedType::kDynamic.
def Vhlo_Dims : ArrayRefParameter<"int64_t"> {
  let parser = "::millrace::stablehlo::parseDimSizes($_parser)";
  let printer = "::millrace::stablehlo::printDimSizes($_printer, $_self)";
}
def Vhlo_Double : AttrOrTypeParameter<"::llvm::APFloat", ""> {
  let parser = "::millrace::stablehlo::parseDouble($_parser)";
  let printer = "$_printer.printFloat($_self)";
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
}
// A float that is equal only to one with the same bits.
def Vhlo_Float : AttrOrTypeParameter<"::llvm::APFloat", ""> {
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
}

//===-- Attributes --------------------------------------------------------===//

def Vhlo_Enum : Vhlo_Attr<"EnumV1"> {
  let summary = "A value of one of the nine enumerations of Enums.h: `#vhlo<precision_v1 HIGH>`";
  let parameters = (ins "uint32_t":$code, "uint32_t":$value);
  let genVerifyDecl = 1;
}
def Vhlo_Array : Vhlo_Attr<"ArrayV1", "array_v1"> {
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$value);
  let hasCustomAssemblyFormat = 1;
}
def Vhlo_Bool : Vhlo_Attr<"BoolV1", "bool_v1"> {
  let parameters = (ins "bool":$value);
  let assemblyFormat = "`<` $value `>`";
}
def Vhlo_Dict : Vhlo_Attr<"DictV1", "dict_v1"> {
  let parameters = (ins ArrayRefParameter<"::std::pair<::mlir::Attribute, ::mlir::Attribute>">:$value);
  let hasCustomAssemblyFormat = 1;
}
def Vhlo_FloatAttr : Vhlo_Attr<"FloatV1", "float_v1"> {
  let parameters = (ins "::mlir::Type":$type, Vhlo_Float:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_Integer : Vhlo_Attr<"IntegerV1", "integer_v1"> {
  let parameters = (ins "::mlir::Type":$type, APIntParameter<"">:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_OutputOperandAlias : Vhlo_Attr<"OutputOperandAliasV1", "output_operand_alias_v1"> {
  let parameters = (ins Vhlo_Dims:$outputTupleIndices, "int64_t":$operandIndex, Vhlo_Dims:$operandTupleIndices);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Vhlo_String : Vhlo_Attr<"StringV1", "string_v1"> {
  let parameters = (ins StringRefParameter<"">:$value);
  let hasCustomAssemblyFormat = 1;
}
def Vhlo_Tensor : Vhlo_Attr<"TensorV1", "tensor_v1"> {
  let summary = "Elements; `data` is the raw buffer of MLIR's dense elements (a splat is one element, i1 is packed)";
  let parameters = (ins "::mlir::Type":$type, ArrayRefParameter<"char">:$data);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_TypeAttr : Vhlo_Attr<"TypeV1", "type_v1"> {
  let parameters = (ins "::mlir::Type":$value);
  let assemblyFormat = "`<` $value `>`";
}
def Vhlo_TypeExtensions : Vhlo_Attr<"TypeExtensionsV1", "type_extensions_v1"> {
  let parameters = (ins Vhlo_Dims:$bounds);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Vhlo_ResultAccuracy : Vhlo_Attr<"ResultAccuracyV1", "result_accuracy_v1"> {
  let parameters = (ins Vhlo_Double:$atol, Vhlo_Double:$rtol, "int64_t":$ulps, "::mlir::Attribute":$mode);
  let assemblyFormat = "`<` struct(params) `>`";
}
// The parameters are in snake case, because their names are printed.
def Vhlo_SubAxisInfo : Vhlo_Attr<"SubAxisInfoV1", "sub_axis_info_v1"> {
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Vhlo_AxisRef : Vhlo_Attr<"AxisRefV1", "axis_ref_v1"> {
  let parameters = (ins "::mlir::Attribute":$name, OptionalParameter<"::mlir::Attribute">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Vhlo_ReplicaGroupMeshAxes : Vhlo_Attr<"ReplicaGroupMeshAxesV1", "replica_group_mesh_axes_v1"> {
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::Attribute":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Vhlo_MeshAxis : Vhlo_Attr<"MeshAxisV1", "mesh_axis_v1"> {
  let parameters = (ins "::mlir::Attribute":$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Vhlo_Mesh : Vhlo_Attr<"MeshV1", "mesh_v1"> {
  let parameters = (ins "::mlir::Attribute":$axes, OptionalParameter<"::mlir::Attribute">:$device_ids);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===-- Types -------------------------------------------------------------===//

def Vhlo_Scalar : Vhlo_Type<"ScalarV1"> {
  let summary = "A type without parameters, named by its bytecode code: `!vhlo.f32_v1` (Scalars.h has all)";
  let parameters = (ins "uint32_t":$code);
  let genVerifyDecl = 1;
}
def Vhlo_Complex : Vhlo_Type<"ComplexV1", "complex_v1"> {
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}
def Vhlo_Function : Vhlo_Type<"FunctionV1", "func_v1"> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$inputs, ArrayRefParameter<"::mlir::Type">:$outputs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_RankedTensor : Vhlo_Type<"RankedTensorV1", "tensor_v1"> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Attribute">:$encoding);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_Tuple : Vhlo_Type<"TupleV1", "tuple_v1"> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_UniformQuantized : Vhlo_Type<"UniformQuantizedV1", "quant_v1"> {
  let parameters = (ins "unsigned":$flags, "::mlir::Type":$storageType, "::mlir::Type":$expressedType,
                        Vhlo_Double:$scale, "int64_t":$zeroPoint, "int64_t":$storageTypeMin,
                        "int64_t":$storageTypeMax);
  let assemblyFormat = [{ `<` $storageType `` `:` `` $expressedType `,` $scale `` `:` `` $zeroPoint `,`
                          $storageTypeMin `` `:` `` $storageTypeMax `,` $flags `>` }];
  let genVerifyDecl = 1;
}
def Vhlo_UniformQuantizedPerAxis : Vhlo_Type<"UniformQuantizedPerAxisV1", "quant_per_axis_v1"> {
  let parameters = (ins "unsigned":$flags, "::mlir::Type":$storageType, "::mlir::Type":$expressedType,
                        "int32_t":$quantizedDimension, ArrayRefParameter<"::llvm::APFloat">:$scales,
                        Vhlo_Dims:$zeroPoints, "int64_t":$storageTypeMin, "int64_t":$storageTypeMax);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_UnrankedTensor : Vhlo_Type<"UnrankedTensorV1", "unranked_tensor_v1"> {
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}
def Vhlo_RankedBuffer : Vhlo_Type<"RankedBufferV1", "buffer_v1"> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Vhlo_Future : Vhlo_Type<"FutureV1", "future_v1"> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif
