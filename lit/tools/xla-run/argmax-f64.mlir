// The index of the largest of f64 elements, which LLVM once took from the wrong lane.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%a: tensor<5x4xf64>) -> tensor<5xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<5x4xi64>
    %cst_4 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %c_5 = stablehlo.constant dense<0> : tensor<i64>
    %14 = stablehlo.negate %a : tensor<5x4xf64>
    %15:2 = stablehlo.reduce(%14 init: %cst_4), (%0 init: %c_5) across dimensions = [1] : (tensor<5x4xf64>, tensor<5x4xi64>, tensor<f64>, tensor<i64>) -> (tensor<5xf64>, tensor<5xi64>)
     reducer(%arg2: tensor<f64>, %arg4: tensor<f64>) (%arg3: tensor<i64>, %arg5: tensor<i64>)  {
      %16 = stablehlo.compare  GT, %arg2, %arg4,  FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %17 = stablehlo.compare  NE, %arg2, %arg2,  FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %18 = stablehlo.or %16, %17 : tensor<i1>
      %19 = stablehlo.compare  EQ, %arg2, %arg4,  FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %20 = stablehlo.compare  LT, %arg3, %arg5,  SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %21 = stablehlo.and %19, %20 : tensor<i1>
      %22 = stablehlo.or %18, %21 : tensor<i1>
      %23 = stablehlo.select %18, %arg2, %arg4 : tensor<i1>, tensor<f64>
      %24 = stablehlo.select %22, %arg3, %arg5 : tensor<i1>, tensor<i64>
      stablehlo.return %23, %24 : tensor<f64>, tensor<i64>
    }
    return %15#1 : tensor<5xi64>
  }
