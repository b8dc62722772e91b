// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices with the same summand of %x do not have all parts of %w, which lie along the same axis: the sum comes before the product.
// RUN: xla-run %s --verify --cache-dir=off
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]>
  func.func @main(%x: tensor<2x3x5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}], unreduced={"a"}>}, %w: tensor<2x5x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a":(1)2}, {"a":(2)2}]>}) -> (tensor<2x3x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b", ?}, {?}]>}) {
      %0 = "stablehlo.einsum"(%x, %w) <{einsum_config = "bik,bkj->bij"}> : (tensor<2x3x5xi32>, tensor<2x5x3xi32>) -> tensor<2x3x3xi32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{"b"}, {}, {}], unreduced={"a"}> : tensor<2x3x3xi32>
      func.return %1 : tensor<2x3x3xi32>
  }
}
