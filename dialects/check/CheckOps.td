// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckOps.td - Assertions that test programs carry ------------------===//
#ifndef MILLRACE_DIALECTS_CHECK_CHECKOPS_TD
#define MILLRACE_DIALECTS_CHECK_CHECKOPS_TD

include "dialects/stablehlo/Base.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::millrace::check";
  let summary = "Assertions that test programs carry";
  let description = [{
    A program fails if the operands of one of these operations do not have the expected values. The same checks exist as custom calls:
    `stablehlo.custom_call @check.expect_eq`, `@check.expect_close`, `@check.expect_almost_eq`.
  }];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;
def Check_FpTensor : RankedTensorOf<[AnyFloat, AnyComplex]>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "Expects all elements to be equal; NaN equals nothing";
  let description = [{ Example: `check.expect_eq %a, %b : tensor<2xi32>` }];
  let arguments = (ins HLO_Tensor:$lhs, HLO_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "Expects all elements to equal those of a constant; NaN equals nothing";
  let description = [{ Example: `check.expect_eq_const %a, dense<[1, 2]> : tensor<2xi32>` }];
  let arguments = (ins HLO_Tensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "Expects `|lhs - rhs| <= tolerance` for all elements (and their parts); NaN equals NaN";
  let description = [{ Example: `check.expect_almost_eq %a, %b, tolerance = 0.001 : tensor<2xf32>` }];
  let arguments = (ins Check_FpTensor:$lhs, Check_FpTensor:$rhs, DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)";
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "As expect_almost_eq, with a constant";
  let description = [{ Example: `check.expect_almost_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>, tolerance = 0.001` }];
  let arguments = (ins Check_FpTensor:$lhs, ElementsAttr:$value, DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [AllTypesMatch<["actual", "expected"]>]> {
  let summary = "Expects elements to be a bounded number of representable values apart";
  let description = [{
    `min_ulp_difference <= distance <= max_ulp_difference`, where the distance of two finite values is the number of
    values of the type in `[min(a, b), max(a, b))`, of two NaN or equal infinities 0, and of a NaN or an infinity with anything else
    2^64 - 1; of complex elements the larger distance of their parts.
    Example: `check.expect_close %a, %b, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>`
  }];
  let arguments = (ins Check_FpTensor:$actual, Check_FpTensor:$expected,
                       DefaultValuedAttr<UI64Attr, "1">:$max_ulp_difference,
                       DefaultValuedOptionalAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected `,` `max_ulp_difference` `=` $max_ulp_difference
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)? `:` attr-dict type($actual) `,` type($expected)
  }];
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq"> {
  let summary = "Expects the tensor to equal one that a probe has written";
  let description = [{
    Reads the tensor that the `iteration`-th execution (from 0) of `interpreter.probe` with the same `probe_id` has written. Example:
    `check.expect_serialized_eq %a, probe_id = "probe0", iter = 0 : tensor<2xi32>`
  }];
  let arguments = (ins HLO_Tensor:$expected, StrAttr:$probe_id, DefaultValuedOptionalAttr<UI32Attr, "0">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)? attr-dict `:` type($expected)
  }];
}

#endif
