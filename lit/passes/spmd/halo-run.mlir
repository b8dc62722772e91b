// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What neighbours exchange for padding and slices whose tiles begin elsewhere than the operand's, against the global program.
// RUN: xla-run %s --cache-dir=off --seed=5 --verify
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4], device_ids=[2, 0, 3, 1]>
  func.func @main(%x: tensor<29x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %fill: tensor<f32>)
      -> (tensor<37x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<22x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
          tensor<25x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<67x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
          tensor<23x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<11x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
          tensor<29x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<31x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
          tensor<13x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<19x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    %0 = stablehlo.pad %x, %fill, low = [5, 0], high = [3, 0], interior = [0, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<37x3xf32>
    %1 = stablehlo.pad %x, %fill, low = [-2, 0], high = [-5, 0], interior = [0, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<22x3xf32>
    %2 = stablehlo.pad %x, %fill, low = [7, 0], high = [-11, 0], interior = [0, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<25x3xf32>
    %3 = stablehlo.pad %x, %fill, low = [7, 0], high = [3, 0], interior = [1, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<67x3xf32>
    %4 = stablehlo.slice %x [3:26, 0:3] : (tensor<29x3xf32>) -> tensor<23x3xf32>
    %5 = stablehlo.slice %x [5:27:2, 0:3] : (tensor<29x3xf32>) -> tensor<11x3xf32>
    // Nothing of the operand is left.
    %6 = stablehlo.pad %x, %fill, low = [29, 0], high = [-29, 0], interior = [0, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<29x3xf32>
    // Its end only, far from where it was.
    %7 = stablehlo.pad %x, %fill, low = [-19, 0], high = [21, 0], interior = [0, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<31x3xf32>
    // Windows inside of others' tiles.
    %8 = stablehlo.slice %x [11:24, 0:3] : (tensor<29x3xf32>) -> tensor<13x3xf32>
    %9 = stablehlo.pad %x, %fill, low = [-16, 0], high = [6, 0], interior = [0, 0] : (tensor<29x3xf32>, tensor<f32>) -> tensor<19x3xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<37x3xf32>, tensor<22x3xf32>, tensor<25x3xf32>, tensor<67x3xf32>, tensor<23x3xf32>, tensor<11x3xf32>, tensor<29x3xf32>, tensor<31x3xf32>, tensor<13x3xf32>, tensor<19x3xf32>
  }
}
