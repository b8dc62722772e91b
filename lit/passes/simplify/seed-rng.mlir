// rng mixes bits that are the same in every run with a seed of the execution.
// RUN: xla-opt %s -xla-seed-rng -split-input-file | FileCheck %s
// CHECK-LABEL: @uniform
// CHECK: %[[BITS:.*]] = stablehlo.rng %{{.*}}, %{{.*}}, %arg2, distribution = UNIFORM {millrace.rng_ordinal = 0 : i64} : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<3xui64>
// CHECK: %[[SEED:.*]] = stablehlo.custom_call @millrace.rng_seed() {has_side_effect = true} : () -> tensor<ui64>
// CHECK: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[SEED]]
// CHECK: stablehlo.add %[[BITS]], %[[WIDE]] : tensor<3xui64>
// CHECK: return %{{.*}} : tensor<3xf32>
func.func @uniform(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<1xi64>) -> tensor<3xf32> {
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----
// CHECK-LABEL: @run_time_shape
// CHECK: stablehlo.custom_call @millrace.rng_seed
// CHECK: stablehlo.log_plus_one
// CHECK: stablehlo.cosine
// CHECK: return %{{.*}} : tensor<?xf16>
func.func @run_time_shape(%a: tensor<f16>, %b: tensor<f16>, %n: tensor<1xi64>) -> tensor<?xf16> {
  %0 = stablehlo.rng %a, %b, %n, distribution = NORMAL : (tensor<f16>, tensor<f16>, tensor<1xi64>) -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// -----
// CHECK-LABEL: @seeded
// CHECK-NOT: custom_call
func.func @seeded(%a: tensor<ui64>, %b: tensor<ui64>, %n: tensor<1xi64>) -> tensor<3xui64> {
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM {millrace.rng_ordinal = 0 : i64} : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<3xui64>
  return %0 : tensor<3xui64>
}
