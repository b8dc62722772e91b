module attributes {mhlo.num_partitions = 1 : i32} {
sdy.mesh @two = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = sdy.manual_computation(%x) in_shardings=[<@two, [{"x"}]>] out_shardings=[<@two, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
}
