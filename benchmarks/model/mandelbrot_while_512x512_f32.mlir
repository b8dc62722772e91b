module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x512xf32>, %arg1: tensor<512x1xf32>) -> (tensor<512x512xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<512x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<512x1xf32>) -> tensor<512x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x512xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %4:6 = stablehlo.while(%iterArg = %0, %iterArg_1 = %1, %iterArg_2 = %c_0, %iterArg_3 = %2, %iterArg_4 = %2, %iterArg_5 = %3) : tensor<512x512xf32>, tensor<512x512xf32>, tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xi32>
    cond {
      %c_6 = stablehlo.constant dense<200> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg_2, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<512x512xf32>
      %7 = stablehlo.multiply %iterArg_4, %iterArg_4 : tensor<512x512xf32>
      %8 = stablehlo.add %6, %7 : tensor<512x512xf32>
      %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
      %10 = stablehlo.compare LE, %8, %9, FLOAT : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xi1>
      %c_8 = stablehlo.constant dense<false> : tensor<i1>
      %11 = stablehlo.reduce(%10 init: %c_8) applies stablehlo.or across dimensions = [0, 1] : (tensor<512x512xi1>, tensor<i1>) -> tensor<i1>
      %12 = stablehlo.and %5, %11 : tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %5 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<512x512xf32>
      %6 = stablehlo.multiply %iterArg_4, %iterArg_4 : tensor<512x512xf32>
      %7 = stablehlo.add %5, %6 : tensor<512x512xf32>
      %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
      %9 = stablehlo.compare LE, %7, %8, FLOAT : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xi1>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.add %iterArg_2, %c_7 : tensor<i32>
      %11 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<512x512xf32>
      %12 = stablehlo.multiply %iterArg_4, %iterArg_4 : tensor<512x512xf32>
      %13 = stablehlo.subtract %11, %12 : tensor<512x512xf32>
      %14 = stablehlo.add %13, %iterArg : tensor<512x512xf32>
      %15 = func.call @_where(%9, %14, %iterArg_3) : (tensor<512x512xi1>, tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
      %17 = stablehlo.multiply %16, %iterArg_3 : tensor<512x512xf32>
      %18 = stablehlo.multiply %17, %iterArg_4 : tensor<512x512xf32>
      %19 = stablehlo.add %18, %iterArg_1 : tensor<512x512xf32>
      %20 = func.call @_where(%9, %19, %iterArg_4) : (tensor<512x512xi1>, tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %21 = stablehlo.convert %9 : (tensor<512x512xi1>) -> tensor<512x512xi32>
      %22 = stablehlo.add %iterArg_5, %21 : tensor<512x512xi32>
      stablehlo.return %iterArg, %iterArg_1, %10, %15, %20, %22 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xi32>
    }
    return %4#5 : tensor<512x512xi32>
  }
  func.func private @_where(%arg0: tensor<512x512xi1>, %arg1: tensor<512x512xf32>, %arg2: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<512x512xi1>, tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}
