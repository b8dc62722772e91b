// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowOps.td - while, case, if, return, barrier, composite, custom_call, tuples -===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_CONTROLFLOWOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_CONTROLFLOWOPS_TD

include "dialects/stablehlo/Attrs.td"
include "dialects/stablehlo/Base.td"
include "dialects/stablehlo/Traits.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def HLO_FutureValue : Type<CPred<"::llvm::isa<::millrace::stablehlo::FutureType>($_self)">, "future",
    "::millrace::stablehlo::FutureType">;
def HLO_TensorOrTokenOrBuffer : AnyTypeOf<[HLO_Tensor, HLO_Token, HLO_Buffer]>;
def HLO_AnyTuple : NestedTupleOf<[HLO_Tensor, HLO_Token, HLO_Buffer]>;
def HLO_TensorOrTokenOrTupleOrBuffer : AnyTypeOf<[HLO_Tensor, HLO_Token, HLO_AnyTuple, HLO_Buffer]>;
def HLO_CustomCallOperandOrResult : AnyTypeOf<[HLO_Tensor, HLO_Token, HLO_AnyTuple, HLO_Buffer, HLO_FutureValue]>;

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator]> {
  let summary = "Terminates a region of a StableHLO operation";
  let description = [{ Gives `results` to the operation that owns the region. Example: `stablehlo.return %0 : tensor<f32>` }];
  let arguments = (ins Variadic<AnyTypeOf<[HLO_Tensor, HLO_Token, HLO_Buffer, HLO_AnyTuple]>>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_IfOp : StableHLO_Op<"if", [RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"ReturnOp">, HLO_InferTypes]> {
  let summary = "Runs one of two branches";
  let description = [{
    `result = pred ? true_branch() : false_branch()`. (C1) both branches have no inputs and the same output types.
    (C2) `type(results...) = type(true_branch)`. Source: StableHLO spec, "if".
  }];
  let arguments = (ins HLO_PredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<HLO_TensorOrToken>);
  let hasCanonicalizer = 1;
}

def StableHLO_CaseOp : StableHLO_Op<"case", [RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"ReturnOp">, HLO_InferTypes /*C4*/]> {
  let summary = "Runs one of n branches";
  let description = [{
    `result = branches[0 <= index < N ? index : N - 1]()`. (C1) at least one branch. (C2) branches have no inputs.
    (C3) all branches have the same output types. (C4) `type(results...) = type(branches[0])`.
    Source: StableHLO spec, "case".
  }];
  let arguments = (ins 0DTensorOf<[I32]>:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<HLO_TensorOrToken>);
  let hasCanonicalizer = 1;
}

def StableHLO_WhileOp : StableHLO_Op<"while", [RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"ReturnOp">, HLO_InferTypes /*C3*/, OpAsmOpInterface]> {
  let summary = "Runs a body while a condition holds";
  let description = [{
    `while (cond(operand...)) operand... = body(operand...); return operand...`.
    (C1) `cond : (T0, .., TN-1) -> tensor<i1>`. (C2) `body : (T0, .., TN-1) -> (T0, .., TN-1)`.
    (C3) `type(results...) = type(operand...)`. Source: StableHLO spec, "while".
  }];
  let arguments = (ins Variadic<HLO_TensorOrTokenOrBuffer>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<HLO_TensorOrTokenOrBuffer>);
  let extraClassDeclaration = baseDeclaration # [{
    /// Both regions name their arguments `%iterArg..`, so that the short form can print the names once.
    void getAsmBlockArgumentNames(::mlir::Region &region, ::mlir::OpAsmSetValueNameFn setNameFn) {
      for (::mlir::BlockArgument arg : region.getArguments())
        setNameFn(arg, "iterArg");
    }
  }];
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_OptimizationBarrierOp : StableHLO_Op<"optimization_barrier", [Pure, HLO_PairwiseSameOperandAndResultType /*C1*/,
    HLO_InferTypes]> {
  let summary = "Keeps the optimizer from moving code across";
  let description = [{
    `result = operand`, computed after every producer of `operand` and before every user of `result`.
    (C1) `type(result...) = type(operand...)`. Source: StableHLO spec, "optimization_barrier".
  }];
  let arguments = (ins Variadic<HLO_TensorOrToken>:$operand);
  let results = (outs Variadic<HLO_TensorOrToken>:$result);
  // The `()` of the empty form ends the operation, so that the parser does not take the next line's tokens for operands.
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
}

def StableHLO_CompositeOp : StableHLO_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A named operation with a decomposition";
  let description = [{
    Means the same as a call of `decomposition`. (C1) `name` is a namespaced op name. (C2), (C3), (C4) `decomposition`
    is a function of the module whose type is `type(inputs...) -> type(results...)`.
    Source: StableHLO spec, "composite".
  }];
  let arguments = (ins
    Variadic<HLO_TensorOrTokenOrTuple>:$inputs,
    StrAttr:$name,
    DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
    FlatSymbolRefAttr:$decomposition,
    DefaultValuedOptionalAttr<I32Attr, "0">:$version
  );
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<HLO_TensorOrTokenOrTuple>);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$inputs,
                   "::mlir::ArrayRef<::mlir::NamedAttribute>":$attributes), [{
      build($_builder, $_state, resultTypes, inputs, attributes, /*regionsCount=*/0);
    }]>,
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$inputs, "::mlir::StringRef":$name,
                   "::mlir::DictionaryAttr":$attributes, "::mlir::StringRef":$decomposition,
                   CArg<"uint32_t", "0">:$version), [{
      build($_builder, $_state, resultTypes, inputs, name, attributes, decomposition, version, /*regionsCount=*/0);
    }]>
  ];
  let assemblyFormat = [{
    $name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CustomCallOp : StableHLO_Op<"custom_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Calls an implementation-defined function";
  let description = [{
    API version 4 (typed FFI) passes a dictionary as backend_config, the older ones a string.
    Source: StableHLO spec, "custom_call". Example: `%0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32} : (tensor<f32>) -> tensor<f32>`
  }];
  let arguments = (ins
    Variadic<HLO_CustomCallOperandOrResult>:$inputs,
    StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr,
        "::millrace::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
    DefaultValuedOptionalAttr<StableHLO_FlatSymbolRefArrayAttr, "{}">:$called_computations,
    OptionalAttr<StableHLO_ArrayOfLayoutAttr>:$operand_layouts,
    OptionalAttr<StableHLO_ArrayOfLayoutAttr>:$result_layouts,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<StableHLO_OutputOperandAlias,
        "Aliasing attribute for outputs and operands of CustomCall">, "{}">:$output_operand_aliases,
    OptionalAttr<ArrayAttr>:$result_tilings
  );
  let results = (outs Variadic<HLO_CustomCallOperandOrResult>);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = baseDeclaration # [{
    /// Returns the backend config; if there is none, `{}` (typed FFI) or `""` (other versions).
    ::mlir::Attribute getBackendConfigOrDefault();
    bool hasEmptyBackendConfig();
  }];
  let hasVerifier = 1;
}

def StableHLO_GetTupleElementOp : StableHLO_Op<"get_tuple_element", [Pure, HLO_InferTypes /*C2*/]> {
  let summary = "Takes an element out of a tuple";
  let description = [{
    `result = operand[index]`. (C1) `0 <= index < size(operand)`. (C2) `type(result) = tuple_element_types(operand)[index]`.
    Source: StableHLO spec, "get_tuple_element".
  }];
  let arguments = (ins HLO_AnyTuple:$operand, ConfinedAttr<I32Attr, [IntNonNegative]>:$index);
  let results = (outs HLO_TensorOrTokenOrTupleOrBuffer);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_TupleOp : StableHLO_Op<"tuple", [Pure, HLO_InferTypes /*C1*/]> {
  let summary = "Makes a tuple";
  let description = [{
    `result = (val...)`. (C1) `type(result) = tuple<type(val...)>`. Source: StableHLO spec, "tuple".
  }];
  let arguments = (ins Variadic<HLO_TensorOrTokenOrTupleOrBuffer>:$val);
  let results = (outs HLO_AnyTuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))";
  let hasFolder = 1;
}

#endif
