// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementOps.td - Ops that make, move or repeat elements --------===//
#ifndef MILLRACE_DIALECTS_STABLEHLO_DATAMOVEMENTOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_DATAMOVEMENTOPS_TD

include "dialects/stablehlo/Attrs.td"

def HLO_StaticShapeTensor : StaticShapeTensorOf<
    [HLO_Float, HLO_Pred, HLO_Int, HLO_Complex, HLO_QuantizedType]>;
def HLO_IotaTensor : StaticShapeTensorOf<[HLO_Int, HLO_Float, HLO_Complex, HLO_PerTensorQuantizedType]>;

class StableHLO_ShapedInterfaceOp<string mnemonic, list<Trait> traits = []> : StableHLO_Op<mnemonic,
    traits # [DeclareOpInterfaceMethods<InferShapedTypeOpInterface, ["reifyReturnTypeShapes"]>]>;

def StableHLO_ConstantOp : StableHLO_Op<"constant",
    [ConstantLike, Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Elements known at compile time";
  let description = [{ `output = value`. (C1) `type(value) = type(output)`; the output may be quantized while the value
    has the storage type. Source: StableHLO spec, "constant".
    Example: `%0 = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>` }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs HLO_StaticShapeTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Attribute":$value)>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{ static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r); }];
}

#endif
