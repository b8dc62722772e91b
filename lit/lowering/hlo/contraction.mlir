// Products, convolutions and factorizations.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %v: tensor<3xi64>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<i64>, tensor<2x3x5xf32>) {
  // CHECK: dot.1 = f32[2,3,5]{2,1,0} dot(Arg_0.1, Arg_1.1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={default,highest}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: dot.2 = {{.*}}, algorithm=dot_tf32_tf32_f32_x3
  %1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: dot.3 = s64[] dot(Arg_2.1, Arg_2.1), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={high,high}
  %2 = stablehlo.dot %v, %v, precision = [HIGH, HIGH] : (tensor<3xi64>, tensor<3xi64>) -> tensor<i64>
  // CHECK: dot.4 = f32[2,3,5]{2,1,0} dot(Arg_0.1, Arg_1.1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, metadata
  %3 = stablehlo.einsum %a, %b, config = "abc,acd->abd" : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1, %2, %3 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<i64>, tensor<2x3x5xf32>
}

// -----
// Algorithms are named after their pieces; 8-bit floats share one name.
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: algorithm=dot_any_f8_any_f8_f32_fast_accum
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f8E5M2, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: algorithm=dot_bf16_bf16_f32_x6
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 6, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: algorithm=dot_f16_f16_f32,
  %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----
// Window parts that are all default are left out.
func.func @main(%a: tensor<2x4x4x2xf32>, %b: tensor<2x2x2x6xf32>, %c: tensor<2x2x1x6xf32>, %d: tensor<3x2xf32>, %e: tensor<2x5xf32>) -> (tensor<2x3x3x6xf32>, tensor<2x2x7x6xf32>, tensor<2x3x3x6xf32>, tensor<3x5xf32>) {
  // CHECK: convolution.1 = f32[2,3,3,6]{3,2,1,0} convolution(Arg_0.1, Arg_1.1), window={size=2x2}, dim_labels=b01f_01io->b01f, metadata
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  // CHECK: convolution.2 = f32[2,2,7,6]{3,2,1,0} convolution(Arg_0.1, Arg_1.1), window={size=2x2 stride=2x1 pad=0_1x1_0 lhs_dilate=1x2 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, operand_precision={high,default}
  %1 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 1], [1, 0]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x2x7x6xf32>
  // CHECK: convolution.3 = f32[2,3,3,6]{3,2,1,0} convolution(Arg_0.1, Arg_2.1), window={size=2x2}, dim_labels=b01f_01io->b01f, feature_group_count=2
  %2 = stablehlo.convolution(%a, %c) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x1x6xf32>) -> tensor<2x3x3x6xf32>
  // CHECK: convolution.4 = f32[3,5]{1,0} convolution(Arg_3.1, Arg_4.1), window={}, dim_labels=bf_io->bf
  %3 = stablehlo.convolution(%d, %e) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return %0, %1, %2, %3 : tensor<2x3x3x6xf32>, tensor<2x2x7x6xf32>, tensor<2x3x3x6xf32>, tensor<3x5xf32>
}

// -----
// CHECK: cholesky.1 = f32[4,4]{1,0} cholesky(Arg_0.1), metadata
// CHECK: cholesky.2 = f32[4,4]{1,0} cholesky(Arg_0.1), lower=true
// CHECK: triangular-solve.1 = f32[4,3]{1,0} triangular-solve(Arg_0.1, Arg_1.1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
// CHECK: triangular-solve.2 = f32[4,4]{1,0} triangular-solve(Arg_0.1, Arg_0.1), unit_diagonal=true, transpose_a=ADJOINT
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.cholesky %a : tensor<4x4xf32>
  %1 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  %2 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = "stablehlo.triangular_solve"(%a, %a) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>
}

// -----
// Other deprecated operations give way to their successors.
// CHECK: transpose.1 = f32[3,2]{1,0} transpose(Arg_0.1), dimensions={1,0}
// CHECK: gather.1 = f32[1,3]{1,0} gather(Arg_0.1, {{.*}}), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}
func.func @main(%a: tensor<2x3xf32>, %i: tensor<1xi32>) -> (tensor<3x2xf32>, tensor<1x3xf32>) {
  %0 = stablehlo.unary_einsum %a, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<1x3xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<1x3xf32>
}

// -----
// Integers of 8 and 4 bits that a product alone widens go into it as they are: HLO's dot takes two types.
func.func @main(%x: tensor<3x5xbf16>, %w: tensor<8x5xi8>, %v: tensor<8x5xi4>, %u: tensor<5x2xi8>) -> (tensor<3x8xbf16>, tensor<3x8xbf16>, tensor<3x2xbf16>, tensor<5x2xbf16>) {
  // CHECK: dot.1 = bf16[3,8]{1,0} dot(Arg_0.1, Arg_1.1), lhs_contracting_dims={1}
  %0 = stablehlo.convert %w : (tensor<8x5xi8>) -> tensor<8x5xbf16>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1] : (tensor<3x5xbf16>, tensor<8x5xbf16>) -> tensor<3x8xbf16>
  // CHECK: dot.2 = bf16[3,8]{1,0} dot(Arg_0.1, Arg_2.1)
  %2 = stablehlo.convert %v : (tensor<8x5xi4>) -> tensor<8x5xbf16>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [1] : (tensor<3x5xbf16>, tensor<8x5xbf16>) -> tensor<3x8xbf16>
  // What somebody else needs, too, is converted.
  // CHECK: convert.1 = bf16[5,2]{1,0} convert(Arg_3.1)
  // CHECK: dot.3 = bf16[3,2]{1,0} dot(Arg_0.1, convert.1)
  %4 = stablehlo.convert %u : (tensor<5x2xi8>) -> tensor<5x2xbf16>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<3x5xbf16>, tensor<5x2xbf16>) -> tensor<3x2xbf16>
  return %1, %3, %5, %4 : tensor<3x8xbf16>, tensor<3x8xbf16>, tensor<3x2xbf16>, tensor<5x2xbf16>
}
