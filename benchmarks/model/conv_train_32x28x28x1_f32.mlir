module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<64xf32>, %arg2: tensor<10xf32>, %arg3: tensor<3x3x1x32xf32>, %arg4: tensor<3x3x32x64xf32>, %arg5: tensor<3136x10xf32>, %arg6: tensor<32xf32>, %arg7: tensor<64xf32>, %arg8: tensor<10xf32>, %arg9: tensor<3x3x1x32xf32>, %arg10: tensor<3x3x32x64xf32>, %arg11: tensor<3136x10xf32>, %arg12: tensor<32x28x28x1xf32>, %arg13: tensor<32xi32>) -> (tensor<32xf32> {jax.result_info = "result[0]['b1']"}, tensor<64xf32> {jax.result_info = "result[0]['b2']"}, tensor<10xf32> {jax.result_info = "result[0]['bd']"}, tensor<3x3x1x32xf32> {jax.result_info = "result[0]['c1']"}, tensor<3x3x32x64xf32> {jax.result_info = "result[0]['c2']"}, tensor<3136x10xf32> {jax.result_info = "result[0]['d']"}, tensor<32xf32> {jax.result_info = "result[1]['b1']"}, tensor<64xf32> {jax.result_info = "result[1]['b2']"}, tensor<10xf32> {jax.result_info = "result[1]['bd']"}, tensor<3x3x1x32xf32> {jax.result_info = "result[1]['c1']"}, tensor<3x3x32x64xf32> {jax.result_info = "result[1]['c2']"}, tensor<3136x10xf32> {jax.result_info = "result[1]['d']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convolution(%arg12, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x28x28x1xf32>, tensor<3x3x1x32xf32>) -> tensor<32x28x28x32xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3] : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<32x28x28x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<32x28x28x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x28x28x32xf32>
    %5 = stablehlo.maximum %3, %4 : tensor<32x28x28x32xf32>
    %6 = stablehlo.compare EQ, %3, %5, FLOAT : (tensor<32x28x28x32xf32>, tensor<32x28x28x32xf32>) -> tensor<32x28x28x32xi1>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x28x28x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x28x28x32xf32>
    %9 = stablehlo.select %6, %7, %8 : tensor<32x28x28x32xi1>, tensor<32x28x28x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x28x28x32xf32>
    %11 = stablehlo.compare EQ, %10, %5, FLOAT : (tensor<32x28x28x32xf32>, tensor<32x28x28x32xf32>) -> tensor<32x28x28x32xi1>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x28x28x32xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x28x28x32xf32>
    %14 = stablehlo.select %11, %12, %13 : tensor<32x28x28x32xi1>, tensor<32x28x28x32xf32>
    %15 = stablehlo.divide %9, %14 : tensor<32x28x28x32xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.reduce_window"(%5, %16) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %129 = stablehlo.maximum %arg14, %arg15 : tensor<f32>
      stablehlo.return %129 : tensor<f32>
    }) : (tensor<32x28x28x32xf32>, tensor<f32>) -> tensor<32x14x14x32xf32>
    %18 = stablehlo.convolution(%17, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x14x14x32xf32>, tensor<3x3x32x64xf32>) -> tensor<32x14x14x64xf32>
    %19 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<32x14x14x64xf32>
    %21 = stablehlo.add %18, %20 : tensor<32x14x14x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x14x14x64xf32>
    %23 = stablehlo.maximum %21, %22 : tensor<32x14x14x64xf32>
    %24 = stablehlo.compare EQ, %21, %23, FLOAT : (tensor<32x14x14x64xf32>, tensor<32x14x14x64xf32>) -> tensor<32x14x14x64xi1>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x14x14x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x14x14x64xf32>
    %27 = stablehlo.select %24, %25, %26 : tensor<32x14x14x64xi1>, tensor<32x14x14x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32x14x14x64xf32>
    %29 = stablehlo.compare EQ, %28, %23, FLOAT : (tensor<32x14x14x64xf32>, tensor<32x14x14x64xf32>) -> tensor<32x14x14x64xi1>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x14x14x64xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x14x14x64xf32>
    %32 = stablehlo.select %29, %30, %31 : tensor<32x14x14x64xi1>, tensor<32x14x14x64xf32>
    %33 = stablehlo.divide %27, %32 : tensor<32x14x14x64xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<f32>
    %35 = "stablehlo.reduce_window"(%23, %34) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %129 = stablehlo.maximum %arg14, %arg15 : tensor<f32>
      stablehlo.return %129 : tensor<f32>
    }) : (tensor<32x14x14x64xf32>, tensor<f32>) -> tensor<32x7x7x64xf32>
    %36 = stablehlo.reshape %35 : (tensor<32x7x7x64xf32>) -> tensor<32x3136xf32>
    %37 = stablehlo.dot_general %36, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x3136xf32>, tensor<3136x10xf32>) -> tensor<32x10xf32>
    %38 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<32x10xf32>
    %40 = stablehlo.add %37, %39 : tensor<32x10xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_13) applies stablehlo.maximum across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %42 = stablehlo.reshape %41 : (tensor<32xf32>) -> tensor<32x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %44 = stablehlo.compare EQ, %40, %43, FLOAT : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xi1>
    %45 = stablehlo.convert %44 : (tensor<32x10xi1>) -> tensor<32x10xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_14) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %47 = stablehlo.broadcast_in_dim %41, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %49 = stablehlo.subtract %40, %48 : tensor<32x10xf32>
    %50 = stablehlo.exponential %49 : tensor<32x10xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %52 = stablehlo.log %51 : tensor<32xf32>
    %53 = stablehlo.broadcast_in_dim %arg13, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %54:2 = call @take_along_axis(%49, %53) : (tensor<32x10xf32>, tensor<32x1xi32>) -> (tensor<32x1xf32>, tensor<32x1x1xi32>)
    %55 = stablehlo.reshape %54#0 : (tensor<32x1xf32>) -> tensor<32xf32>
    %56 = stablehlo.subtract %52, %55 : tensor<32xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %58 = stablehlo.divide %57, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %59 = stablehlo.divide %cst_18, %cst_19 : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %61 = stablehlo.negate %60 : tensor<32xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %63 = call @take_along_axis_0(%54#1, %62) : (tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x10xf32>
    %64 = stablehlo.divide %60, %51 : tensor<32xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0] : (tensor<32xf32>) -> tensor<32x10xf32>
    %66 = stablehlo.multiply %65, %50 : tensor<32x10xf32>
    %67 = stablehlo.add %63, %66 : tensor<32x10xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_20) applies stablehlo.add across dimensions = [0] : (tensor<32x10xf32>, tensor<f32>) -> tensor<10xf32>
    %69 = stablehlo.reshape %68 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%69 init: %cst_21) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %71 = stablehlo.dot_general %67, %36, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x10xf32>, tensor<32x3136xf32>) -> tensor<10x3136xf32>
    %72 = stablehlo.transpose %71, dims = [1, 0] : (tensor<10x3136xf32>) -> tensor<3136x10xf32>
    %73 = stablehlo.dot_general %67, %arg5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x10xf32>, tensor<3136x10xf32>) -> tensor<32x3136xf32>
    %74 = stablehlo.reshape %73 : (tensor<32x3136xf32>) -> tensor<32x7x7x64xf32>
    %cst_22 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %75 = stablehlo.pad %23, %cst_22, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<32x14x14x64xf32>, tensor<f32>) -> tensor<32x14x14x64xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %76 = "stablehlo.select_and_scatter"(%75, %74, %cst_23) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %129 = stablehlo.compare GE, %arg14, %arg15, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %129 : tensor<i1>
    }, {
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %129 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %129 : tensor<f32>
    }) : (tensor<32x14x14x64xf32>, tensor<32x7x7x64xf32>, tensor<f32>) -> tensor<32x14x14x64xf32>
    %77 = stablehlo.slice %76 [0:32, 0:14, 0:14, 0:64] : (tensor<32x14x14x64xf32>) -> tensor<32x14x14x64xf32>
    %78 = stablehlo.multiply %77, %33 : tensor<32x14x14x64xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.reduce(%78 init: %cst_24) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<32x14x14x64xf32>, tensor<f32>) -> tensor<64xf32>
    %80 = stablehlo.reshape %79 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%80 init: %cst_25) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %82 = stablehlo.convolution(%17, %78) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x14x14x32xf32>, tensor<32x14x14x64xf32>) -> tensor<3x3x32x64xf32>
    %83 = stablehlo.reverse %arg4, dims = [0, 1] : tensor<3x3x32x64xf32>
    %84 = stablehlo.convolution(%78, %83) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x14x14x64xf32>, tensor<3x3x32x64xf32>) -> tensor<32x14x14x32xf32>
    %cst_26 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %85 = stablehlo.pad %5, %cst_26, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<32x28x28x32xf32>, tensor<f32>) -> tensor<32x28x28x32xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = "stablehlo.select_and_scatter"(%85, %84, %cst_27) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %129 = stablehlo.compare GE, %arg14, %arg15, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %129 : tensor<i1>
    }, {
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %129 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %129 : tensor<f32>
    }) : (tensor<32x28x28x32xf32>, tensor<32x14x14x32xf32>, tensor<f32>) -> tensor<32x28x28x32xf32>
    %87 = stablehlo.slice %86 [0:32, 0:28, 0:28, 0:32] : (tensor<32x28x28x32xf32>) -> tensor<32x28x28x32xf32>
    %88 = stablehlo.multiply %87, %15 : tensor<32x28x28x32xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %89 = stablehlo.reduce(%88 init: %cst_28) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<32x28x28x32xf32>, tensor<f32>) -> tensor<32xf32>
    %90 = stablehlo.reshape %89 : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.reduce(%90 init: %cst_29) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %92 = stablehlo.convolution(%arg12, %88) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x28x28x1xf32>, tensor<32x28x28x32xf32>) -> tensor<3x3x1x32xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %94 = stablehlo.multiply %93, %arg6 : tensor<32xf32>
    %95 = stablehlo.add %94, %91 : tensor<32xf32>
    %cst_31 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %97 = stablehlo.multiply %96, %arg7 : tensor<64xf32>
    %98 = stablehlo.add %97, %81 : tensor<64xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %100 = stablehlo.multiply %99, %arg8 : tensor<10xf32>
    %101 = stablehlo.add %100, %70 : tensor<10xf32>
    %cst_33 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<3x3x1x32xf32>
    %103 = stablehlo.multiply %102, %arg9 : tensor<3x3x1x32xf32>
    %104 = stablehlo.add %103, %92 : tensor<3x3x1x32xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<3x3x32x64xf32>
    %106 = stablehlo.multiply %105, %arg10 : tensor<3x3x32x64xf32>
    %107 = stablehlo.add %106, %82 : tensor<3x3x32x64xf32>
    %cst_35 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<3136x10xf32>
    %109 = stablehlo.multiply %108, %arg11 : tensor<3136x10xf32>
    %110 = stablehlo.add %109, %72 : tensor<3136x10xf32>
    %cst_36 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %112 = stablehlo.multiply %111, %95 : tensor<32xf32>
    %113 = stablehlo.subtract %arg0, %112 : tensor<32xf32>
    %cst_37 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %115 = stablehlo.multiply %114, %98 : tensor<64xf32>
    %116 = stablehlo.subtract %arg1, %115 : tensor<64xf32>
    %cst_38 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %118 = stablehlo.multiply %117, %101 : tensor<10xf32>
    %119 = stablehlo.subtract %arg2, %118 : tensor<10xf32>
    %cst_39 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<3x3x1x32xf32>
    %121 = stablehlo.multiply %120, %104 : tensor<3x3x1x32xf32>
    %122 = stablehlo.subtract %arg3, %121 : tensor<3x3x1x32xf32>
    %cst_40 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<3x3x32x64xf32>
    %124 = stablehlo.multiply %123, %107 : tensor<3x3x32x64xf32>
    %125 = stablehlo.subtract %arg4, %124 : tensor<3x3x32x64xf32>
    %cst_41 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<3136x10xf32>
    %127 = stablehlo.multiply %126, %110 : tensor<3136x10xf32>
    %128 = stablehlo.subtract %arg5, %127 : tensor<3136x10xf32>
    return %113, %116, %119, %122, %125, %128, %95, %98, %101, %104, %107, %110, %58 : tensor<32xf32>, tensor<64xf32>, tensor<10xf32>, tensor<3x3x1x32xf32>, tensor<3x3x32x64xf32>, tensor<3136x10xf32>, tensor<32xf32>, tensor<64xf32>, tensor<10xf32>, tensor<3x3x1x32xf32>, tensor<3x3x32x64xf32>, tensor<3136x10xf32>, tensor<f32>
  }
  func.func private @take_along_axis(%arg0: tensor<32x10xf32>, %arg1: tensor<32x1xi32>) -> (tensor<32x1xf32>, tensor<32x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<32x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<32x1xi1>, tensor<32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<32x1xi32>) -> tensor<32x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<32x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<32x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<32x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<32x1x1xi1>, tensor<i1>) -> tensor<32x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x10xf32>, tensor<32x1x1xi32>) -> tensor<32x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<32x1xi1>, tensor<32x1xf32>
    return %15, %5 : tensor<32x1xf32>, tensor<32x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<32x1x1xi32>, %arg1: tensor<32x1xf32>) -> tensor<32x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<32x10xf32>, tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x10xf32>
    return %1 : tensor<32x10xf32>
  }
}
