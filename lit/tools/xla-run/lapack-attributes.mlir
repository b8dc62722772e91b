// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A solve that does not say whether the diagonal is one is not taken for one that says no.
// RUN: not xla-run %s --quiet 2>&1 | FileCheck %s
// CHECK: custom call 'lapack_strsm_ffi': has no integer attribute 'diag'
func.func @main(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {side = 76 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], api_version = 4 : i32} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
