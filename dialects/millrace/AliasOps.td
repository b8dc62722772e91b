// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AliasOps.td - The same memory as another tensor --------------------===//
#ifndef MILLRACE_DIALECTS_MILLRACE_ALIASOPS_TD
#define MILLRACE_DIALECTS_MILLRACE_ALIASOPS_TD

include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// The class is written by hand (Dialect.h).
def Millrace_Dialect : Dialect {
  let name = "millrace";
  let cppNamespace = "::millrace";
}

def Millrace_AliasOp : Op<Millrace_Dialect, "alias", [Pure]> {
  let summary = "An alias of a tensor with another shape and element type";
  let description = [{
    `result` is an alias of `operand`: its elements in row-major order have the bytes of the operand's elements in row-major order. A complex
    element is its real part, then its imaginary part; an element of less than 8 bits has a byte.

    (C1) Elements of both types are integers, floats or complex numbers. (C2) `result` has as many bytes as `operand`.
    Example: `%1 = millrace.alias %0 : tensor<4xcomplex<f32>> to tensor<4x2xf32>`
  }];
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$operand);
  let results = (outs StaticShapeTensorOf<[AnyType]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
