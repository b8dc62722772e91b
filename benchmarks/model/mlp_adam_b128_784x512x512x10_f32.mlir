module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<784x512xf32>, %arg1: tensor<512xf32>, %arg2: tensor<512x512xf32>, %arg3: tensor<512xf32>, %arg4: tensor<512x10xf32>, %arg5: tensor<10xf32>, %arg6: tensor<784x512xf32>, %arg7: tensor<512xf32>, %arg8: tensor<512x512xf32>, %arg9: tensor<512xf32>, %arg10: tensor<512x10xf32>, %arg11: tensor<10xf32>, %arg12: tensor<784x512xf32>, %arg13: tensor<512xf32>, %arg14: tensor<512x512xf32>, %arg15: tensor<512xf32>, %arg16: tensor<512x10xf32>, %arg17: tensor<10xf32>, %arg18: tensor<i32>, %arg19: tensor<128x784xf32>, %arg20: tensor<128xi32>) -> (tensor<784x512xf32> {jax.result_info = "result[0][0][0]"}, tensor<512xf32> {jax.result_info = "result[0][0][1]"}, tensor<512x512xf32> {jax.result_info = "result[0][1][0]"}, tensor<512xf32> {jax.result_info = "result[0][1][1]"}, tensor<512x10xf32> {jax.result_info = "result[0][2][0]"}, tensor<10xf32> {jax.result_info = "result[0][2][1]"}, tensor<784x512xf32> {jax.result_info = "result[1][0][0]"}, tensor<512xf32> {jax.result_info = "result[1][0][1]"}, tensor<512x512xf32> {jax.result_info = "result[1][1][0]"}, tensor<512xf32> {jax.result_info = "result[1][1][1]"}, tensor<512x10xf32> {jax.result_info = "result[1][2][0]"}, tensor<10xf32> {jax.result_info = "result[1][2][1]"}, tensor<784x512xf32> {jax.result_info = "result[2][0][0]"}, tensor<512xf32> {jax.result_info = "result[2][0][1]"}, tensor<512x512xf32> {jax.result_info = "result[2][1][0]"}, tensor<512xf32> {jax.result_info = "result[2][1][1]"}, tensor<512x10xf32> {jax.result_info = "result[2][2][0]"}, tensor<10xf32> {jax.result_info = "result[2][2][1]"}, tensor<i32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg19, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x784xf32>, tensor<784x512xf32>) -> tensor<128x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<128x512xf32>
    %3 = stablehlo.add %0, %2 : tensor<128x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %5 = stablehlo.maximum %3, %4 : tensor<128x512xf32>
    %6 = stablehlo.compare EQ, %3, %5, FLOAT : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xi1>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %9 = stablehlo.select %6, %7, %8 : tensor<128x512xi1>, tensor<128x512xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %11 = stablehlo.compare EQ, %10, %5, FLOAT : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xi1>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %14 = stablehlo.select %11, %12, %13 : tensor<128x512xi1>, tensor<128x512xf32>
    %15 = stablehlo.divide %9, %14 : tensor<128x512xf32>
    %16 = stablehlo.dot_general %5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<512x512xf32>) -> tensor<128x512xf32>
    %17 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<128x512xf32>
    %19 = stablehlo.add %16, %18 : tensor<128x512xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %21 = stablehlo.maximum %19, %20 : tensor<128x512xf32>
    %22 = stablehlo.compare EQ, %19, %21, FLOAT : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xi1>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %25 = stablehlo.select %22, %23, %24 : tensor<128x512xi1>, tensor<128x512xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %27 = stablehlo.compare EQ, %26, %21, FLOAT : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xi1>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %30 = stablehlo.select %27, %28, %29 : tensor<128x512xi1>, tensor<128x512xf32>
    %31 = stablehlo.divide %25, %30 : tensor<128x512xf32>
    %32 = stablehlo.dot_general %21, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<512x10xf32>) -> tensor<128x10xf32>
    %33 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<128x10xf32>
    %35 = stablehlo.add %32, %34 : tensor<128x10xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_11) applies stablehlo.maximum across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %37 = stablehlo.reshape %36 : (tensor<128xf32>) -> tensor<128x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x10xf32>
    %39 = stablehlo.compare EQ, %35, %38, FLOAT : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xi1>
    %40 = stablehlo.convert %39 : (tensor<128x10xi1>) -> tensor<128x10xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_12) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %42 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x10xf32>
    %44 = stablehlo.subtract %35, %43 : tensor<128x10xf32>
    %45 = stablehlo.exponential %44 : tensor<128x10xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %47 = stablehlo.log %46 : tensor<128xf32>
    %48 = stablehlo.broadcast_in_dim %arg20, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %49:2 = call @take_along_axis(%44, %48) : (tensor<128x10xf32>, tensor<128x1xi32>) -> (tensor<128x1xf32>, tensor<128x1x1xi32>)
    %50 = stablehlo.reshape %49#0 : (tensor<128x1xf32>) -> tensor<128xf32>
    %51 = stablehlo.subtract %47, %50 : tensor<128xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_15 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %53 = stablehlo.divide %52, %cst_15 : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %54 = stablehlo.divide %cst_16, %cst_17 : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %56 = stablehlo.negate %55 : tensor<128xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %58 = call @take_along_axis_0(%49#1, %57) : (tensor<128x1x1xi32>, tensor<128x1xf32>) -> tensor<128x10xf32>
    %59 = stablehlo.divide %55, %46 : tensor<128xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
    %61 = stablehlo.multiply %60, %45 : tensor<128x10xf32>
    %62 = stablehlo.add %58, %61 : tensor<128x10xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<128x10xf32>, tensor<f32>) -> tensor<10xf32>
    %64 = stablehlo.reshape %63 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%64 init: %cst_19) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %66 = stablehlo.dot_general %62, %21, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x10xf32>, tensor<128x512xf32>) -> tensor<10x512xf32>
    %67 = stablehlo.transpose %66, dims = [1, 0] : (tensor<10x512xf32>) -> tensor<512x10xf32>
    %68 = stablehlo.dot_general %62, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x10xf32>, tensor<512x10xf32>) -> tensor<128x512xf32>
    %69 = stablehlo.multiply %68, %31 : tensor<128x512xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%69 init: %cst_20) applies stablehlo.add across dimensions = [0] : (tensor<128x512xf32>, tensor<f32>) -> tensor<512xf32>
    %71 = stablehlo.reshape %70 : (tensor<512xf32>) -> tensor<1x512xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_21) applies stablehlo.add across dimensions = [0] : (tensor<1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %73 = stablehlo.dot_general %69, %5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
    %74 = stablehlo.transpose %73, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
    %75 = stablehlo.dot_general %69, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<512x512xf32>) -> tensor<128x512xf32>
    %76 = stablehlo.multiply %75, %15 : tensor<128x512xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%76 init: %cst_22) applies stablehlo.add across dimensions = [0] : (tensor<128x512xf32>, tensor<f32>) -> tensor<512xf32>
    %78 = stablehlo.reshape %77 : (tensor<512xf32>) -> tensor<1x512xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.reduce(%78 init: %cst_23) applies stablehlo.add across dimensions = [0] : (tensor<1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %80 = stablehlo.dot_general %76, %arg19, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<128x784xf32>) -> tensor<512x784xf32>
    %81 = stablehlo.transpose %80, dims = [1, 0] : (tensor<512x784xf32>) -> tensor<784x512xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %82 = stablehlo.add %arg18, %c : tensor<i32>
    %83 = stablehlo.convert %82 : (tensor<i32>) -> tensor<f32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %85 = stablehlo.multiply %84, %arg6 : tensor<784x512xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %87 = stablehlo.multiply %86, %81 : tensor<784x512xf32>
    %88 = stablehlo.add %85, %87 : tensor<784x512xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %90 = stablehlo.multiply %89, %arg7 : tensor<512xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %92 = stablehlo.multiply %91, %79 : tensor<512xf32>
    %93 = stablehlo.add %90, %92 : tensor<512xf32>
    %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %95 = stablehlo.multiply %94, %arg8 : tensor<512x512xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %97 = stablehlo.multiply %96, %74 : tensor<512x512xf32>
    %98 = stablehlo.add %95, %97 : tensor<512x512xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %100 = stablehlo.multiply %99, %arg9 : tensor<512xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %102 = stablehlo.multiply %101, %72 : tensor<512xf32>
    %103 = stablehlo.add %100, %102 : tensor<512xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %105 = stablehlo.multiply %104, %arg10 : tensor<512x10xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %107 = stablehlo.multiply %106, %67 : tensor<512x10xf32>
    %108 = stablehlo.add %105, %107 : tensor<512x10xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %110 = stablehlo.multiply %109, %arg11 : tensor<10xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %112 = stablehlo.multiply %111, %65 : tensor<10xf32>
    %113 = stablehlo.add %110, %112 : tensor<10xf32>
    %cst_36 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %115 = stablehlo.multiply %114, %arg12 : tensor<784x512xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %117 = stablehlo.multiply %116, %81 : tensor<784x512xf32>
    %118 = stablehlo.multiply %117, %81 : tensor<784x512xf32>
    %119 = stablehlo.add %115, %118 : tensor<784x512xf32>
    %cst_38 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %121 = stablehlo.multiply %120, %arg13 : tensor<512xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %123 = stablehlo.multiply %122, %79 : tensor<512xf32>
    %124 = stablehlo.multiply %123, %79 : tensor<512xf32>
    %125 = stablehlo.add %121, %124 : tensor<512xf32>
    %cst_40 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %127 = stablehlo.multiply %126, %arg14 : tensor<512x512xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %129 = stablehlo.multiply %128, %74 : tensor<512x512xf32>
    %130 = stablehlo.multiply %129, %74 : tensor<512x512xf32>
    %131 = stablehlo.add %127, %130 : tensor<512x512xf32>
    %cst_42 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %133 = stablehlo.multiply %132, %arg15 : tensor<512xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %135 = stablehlo.multiply %134, %72 : tensor<512xf32>
    %136 = stablehlo.multiply %135, %72 : tensor<512xf32>
    %137 = stablehlo.add %133, %136 : tensor<512xf32>
    %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %139 = stablehlo.multiply %138, %arg16 : tensor<512x10xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %141 = stablehlo.multiply %140, %67 : tensor<512x10xf32>
    %142 = stablehlo.multiply %141, %67 : tensor<512x10xf32>
    %143 = stablehlo.add %139, %142 : tensor<512x10xf32>
    %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %145 = stablehlo.multiply %144, %arg17 : tensor<10xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %147 = stablehlo.multiply %146, %65 : tensor<10xf32>
    %148 = stablehlo.multiply %147, %65 : tensor<10xf32>
    %149 = stablehlo.add %145, %148 : tensor<10xf32>
    %cst_48 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %150 = stablehlo.power %cst_48, %83 : tensor<f32>
    %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %151 = stablehlo.subtract %cst_49, %150 : tensor<f32>
    %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %152 = stablehlo.divide %cst_50, %151 : tensor<f32>
    %cst_51 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %153 = stablehlo.power %cst_51, %83 : tensor<f32>
    %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %154 = stablehlo.subtract %cst_52, %153 : tensor<f32>
    %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %155 = stablehlo.divide %cst_53, %154 : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %157 = stablehlo.multiply %88, %156 : tensor<784x512xf32>
    %cst_54 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %159 = stablehlo.multiply %158, %157 : tensor<784x512xf32>
    %160 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %161 = stablehlo.multiply %119, %160 : tensor<784x512xf32>
    %162 = stablehlo.sqrt %161 : tensor<784x512xf32>
    %cst_55 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %164 = stablehlo.add %162, %163 : tensor<784x512xf32>
    %165 = stablehlo.divide %159, %164 : tensor<784x512xf32>
    %166 = stablehlo.subtract %arg0, %165 : tensor<784x512xf32>
    %167 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %168 = stablehlo.multiply %93, %167 : tensor<512xf32>
    %cst_56 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %170 = stablehlo.multiply %169, %168 : tensor<512xf32>
    %171 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %172 = stablehlo.multiply %125, %171 : tensor<512xf32>
    %173 = stablehlo.sqrt %172 : tensor<512xf32>
    %cst_57 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %175 = stablehlo.add %173, %174 : tensor<512xf32>
    %176 = stablehlo.divide %170, %175 : tensor<512xf32>
    %177 = stablehlo.subtract %arg1, %176 : tensor<512xf32>
    %178 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %179 = stablehlo.multiply %98, %178 : tensor<512x512xf32>
    %cst_58 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %181 = stablehlo.multiply %180, %179 : tensor<512x512xf32>
    %182 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %183 = stablehlo.multiply %131, %182 : tensor<512x512xf32>
    %184 = stablehlo.sqrt %183 : tensor<512x512xf32>
    %cst_59 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %186 = stablehlo.add %184, %185 : tensor<512x512xf32>
    %187 = stablehlo.divide %181, %186 : tensor<512x512xf32>
    %188 = stablehlo.subtract %arg2, %187 : tensor<512x512xf32>
    %189 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %190 = stablehlo.multiply %103, %189 : tensor<512xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %192 = stablehlo.multiply %191, %190 : tensor<512xf32>
    %193 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %194 = stablehlo.multiply %137, %193 : tensor<512xf32>
    %195 = stablehlo.sqrt %194 : tensor<512xf32>
    %cst_61 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %197 = stablehlo.add %195, %196 : tensor<512xf32>
    %198 = stablehlo.divide %192, %197 : tensor<512xf32>
    %199 = stablehlo.subtract %arg3, %198 : tensor<512xf32>
    %200 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %201 = stablehlo.multiply %108, %200 : tensor<512x10xf32>
    %cst_62 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %203 = stablehlo.multiply %202, %201 : tensor<512x10xf32>
    %204 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %205 = stablehlo.multiply %143, %204 : tensor<512x10xf32>
    %206 = stablehlo.sqrt %205 : tensor<512x10xf32>
    %cst_63 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %208 = stablehlo.add %206, %207 : tensor<512x10xf32>
    %209 = stablehlo.divide %203, %208 : tensor<512x10xf32>
    %210 = stablehlo.subtract %arg4, %209 : tensor<512x10xf32>
    %211 = stablehlo.broadcast_in_dim %152, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %212 = stablehlo.multiply %113, %211 : tensor<10xf32>
    %cst_64 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %214 = stablehlo.multiply %213, %212 : tensor<10xf32>
    %215 = stablehlo.broadcast_in_dim %155, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %216 = stablehlo.multiply %149, %215 : tensor<10xf32>
    %217 = stablehlo.sqrt %216 : tensor<10xf32>
    %cst_65 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %219 = stablehlo.add %217, %218 : tensor<10xf32>
    %220 = stablehlo.divide %214, %219 : tensor<10xf32>
    %221 = stablehlo.subtract %arg5, %220 : tensor<10xf32>
    return %166, %177, %188, %199, %210, %221, %88, %93, %98, %103, %108, %113, %119, %125, %131, %137, %143, %149, %82, %53 : tensor<784x512xf32>, tensor<512xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<i32>, tensor<f32>
  }
  func.func private @take_along_axis(%arg0: tensor<128x10xf32>, %arg1: tensor<128x1xi32>) -> (tensor<128x1xf32>, tensor<128x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<128x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<128x1xi1>, tensor<128x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<128x1xi32>) -> tensor<128x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<128x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<128x1x1xi32>, tensor<128x1x1xi32>) -> tensor<128x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<128x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<128x1x1xi32>, tensor<128x1x1xi32>) -> tensor<128x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<128x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<128x1x1xi1>, tensor<i1>) -> tensor<128x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x10xf32>, tensor<128x1x1xi32>) -> tensor<128x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<128x1xi1>, tensor<128x1xf32>
    return %15, %5 : tensor<128x1xf32>, tensor<128x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<128x1x1xi32>, %arg1: tensor<128x1xf32>) -> tensor<128x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<128x10xf32>, tensor<128x1x1xi32>, tensor<128x1xf32>) -> tensor<128x10xf32>
    return %1 : tensor<128x10xf32>
  }
}
