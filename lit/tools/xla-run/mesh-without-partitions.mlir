// A program with a mesh that does not say how many partitions it has is one for the devices of its mesh.
// RUN: xla-compile %s --emit=sharded | FileCheck %s --check-prefix=SHARDED
// RUN: xla-compile %s --emit=partitioned | FileCheck %s --check-prefix=PARTITIONED
// RUN: xla-compile %s --explain-sharding | FileCheck %s --check-prefix=EXPLAINED
// RUN: xla-run %s --num-devices=4 --stats --quiet 2>&1 | FileCheck %s --check-prefix=STATS
// RUN: xla-run %s --num-devices=4 | FileCheck %s --check-prefix=VALUE
// RUN: xla-run %s | FileCheck %s --check-prefix=VALUE

// SHARDED: tanh {{.*}}sdy.sharding
// PARTITIONED: stablehlo.all_reduce
// EXPLAINED: annotated
// STATS: executed: {{.*}}all_reduce
// VALUE: dense<8.000000e+00> : tensor<f32>
sdy.mesh @mesh = <["x"=4]>
func.func @main() -> tensor<f32> {
  %zeros = stablehlo.iota dim = 0 : tensor<8xf32>
  %split = sdy.sharding_constraint %zeros <@mesh, [{"x"}]> : tensor<8xf32>
  %t = stablehlo.tanh %split : tensor<8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.subtract %t, %t : tensor<8xf32>
  %e = stablehlo.exponential %one : tensor<8xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
