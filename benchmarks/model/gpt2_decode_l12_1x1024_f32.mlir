module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<768xf32>, %arg1: tensor<3072x768xf32>, %arg2: tensor<3072xf32>, %arg3: tensor<768x3072xf32>, %arg4: tensor<768xf32>, %arg5: tensor<768xf32>, %arg6: tensor<768xf32>, %arg7: tensor<768xf32>, %arg8: tensor<768xf32>, %arg9: tensor<768x768xf32>, %arg10: tensor<2304xf32>, %arg11: tensor<768x2304xf32>, %arg12: tensor<768xf32>, %arg13: tensor<3072x768xf32>, %arg14: tensor<3072xf32>, %arg15: tensor<768x3072xf32>, %arg16: tensor<768xf32>, %arg17: tensor<768xf32>, %arg18: tensor<768xf32>, %arg19: tensor<768xf32>, %arg20: tensor<768xf32>, %arg21: tensor<768x768xf32>, %arg22: tensor<2304xf32>, %arg23: tensor<768x2304xf32>, %arg24: tensor<768xf32>, %arg25: tensor<3072x768xf32>, %arg26: tensor<3072xf32>, %arg27: tensor<768x3072xf32>, %arg28: tensor<768xf32>, %arg29: tensor<768xf32>, %arg30: tensor<768xf32>, %arg31: tensor<768xf32>, %arg32: tensor<768xf32>, %arg33: tensor<768x768xf32>, %arg34: tensor<2304xf32>, %arg35: tensor<768x2304xf32>, %arg36: tensor<768xf32>, %arg37: tensor<3072x768xf32>, %arg38: tensor<3072xf32>, %arg39: tensor<768x3072xf32>, %arg40: tensor<768xf32>, %arg41: tensor<768xf32>, %arg42: tensor<768xf32>, %arg43: tensor<768xf32>, %arg44: tensor<768xf32>, %arg45: tensor<768x768xf32>, %arg46: tensor<2304xf32>, %arg47: tensor<768x2304xf32>, %arg48: tensor<768xf32>, %arg49: tensor<3072x768xf32>, %arg50: tensor<3072xf32>, %arg51: tensor<768x3072xf32>, %arg52: tensor<768xf32>, %arg53: tensor<768xf32>, %arg54: tensor<768xf32>, %arg55: tensor<768xf32>, %arg56: tensor<768xf32>, %arg57: tensor<768x768xf32>, %arg58: tensor<2304xf32>, %arg59: tensor<768x2304xf32>, %arg60: tensor<768xf32>, %arg61: tensor<3072x768xf32>, %arg62: tensor<3072xf32>, %arg63: tensor<768x3072xf32>, %arg64: tensor<768xf32>, %arg65: tensor<768xf32>, %arg66: tensor<768xf32>, %arg67: tensor<768xf32>, %arg68: tensor<768xf32>, %arg69: tensor<768x768xf32>, %arg70: tensor<2304xf32>, %arg71: tensor<768x2304xf32>, %arg72: tensor<768xf32>, %arg73: tensor<3072x768xf32>, %arg74: tensor<3072xf32>, %arg75: tensor<768x3072xf32>, %arg76: tensor<768xf32>, %arg77: tensor<768xf32>, %arg78: tensor<768xf32>, %arg79: tensor<768xf32>, %arg80: tensor<768xf32>, %arg81: tensor<768x768xf32>, %arg82: tensor<2304xf32>, %arg83: tensor<768x2304xf32>, %arg84: tensor<768xf32>, %arg85: tensor<3072x768xf32>, %arg86: tensor<3072xf32>, %arg87: tensor<768x3072xf32>, %arg88: tensor<768xf32>, %arg89: tensor<768xf32>, %arg90: tensor<768xf32>, %arg91: tensor<768xf32>, %arg92: tensor<768xf32>, %arg93: tensor<768x768xf32>, %arg94: tensor<2304xf32>, %arg95: tensor<768x2304xf32>, %arg96: tensor<768xf32>, %arg97: tensor<3072x768xf32>, %arg98: tensor<3072xf32>, %arg99: tensor<768x3072xf32>, %arg100: tensor<768xf32>, %arg101: tensor<768xf32>, %arg102: tensor<768xf32>, %arg103: tensor<768xf32>, %arg104: tensor<768xf32>, %arg105: tensor<768x768xf32>, %arg106: tensor<2304xf32>, %arg107: tensor<768x2304xf32>, %arg108: tensor<768xf32>, %arg109: tensor<3072x768xf32>, %arg110: tensor<3072xf32>, %arg111: tensor<768x3072xf32>, %arg112: tensor<768xf32>, %arg113: tensor<768xf32>, %arg114: tensor<768xf32>, %arg115: tensor<768xf32>, %arg116: tensor<768xf32>, %arg117: tensor<768x768xf32>, %arg118: tensor<2304xf32>, %arg119: tensor<768x2304xf32>, %arg120: tensor<768xf32>, %arg121: tensor<3072x768xf32>, %arg122: tensor<3072xf32>, %arg123: tensor<768x3072xf32>, %arg124: tensor<768xf32>, %arg125: tensor<768xf32>, %arg126: tensor<768xf32>, %arg127: tensor<768xf32>, %arg128: tensor<768xf32>, %arg129: tensor<768x768xf32>, %arg130: tensor<2304xf32>, %arg131: tensor<768x2304xf32>, %arg132: tensor<768xf32>, %arg133: tensor<3072x768xf32>, %arg134: tensor<3072xf32>, %arg135: tensor<768x3072xf32>, %arg136: tensor<768xf32>, %arg137: tensor<768xf32>, %arg138: tensor<768xf32>, %arg139: tensor<768xf32>, %arg140: tensor<768xf32>, %arg141: tensor<768x768xf32>, %arg142: tensor<2304xf32>, %arg143: tensor<768x2304xf32>, %arg144: tensor<768xf32>, %arg145: tensor<768xf32>, %arg146: tensor<1024x768xf32>, %arg147: tensor<50257x768xf32>, %arg148: tensor<1x12x1024x64xf32>, %arg149: tensor<1x12x1024x64xf32>, %arg150: tensor<1x12x1024x64xf32>, %arg151: tensor<1x12x1024x64xf32>, %arg152: tensor<1x12x1024x64xf32>, %arg153: tensor<1x12x1024x64xf32>, %arg154: tensor<1x12x1024x64xf32>, %arg155: tensor<1x12x1024x64xf32>, %arg156: tensor<1x12x1024x64xf32>, %arg157: tensor<1x12x1024x64xf32>, %arg158: tensor<1x12x1024x64xf32>, %arg159: tensor<1x12x1024x64xf32>, %arg160: tensor<1x12x1024x64xf32>, %arg161: tensor<1x12x1024x64xf32>, %arg162: tensor<1x12x1024x64xf32>, %arg163: tensor<1x12x1024x64xf32>, %arg164: tensor<1x12x1024x64xf32>, %arg165: tensor<1x12x1024x64xf32>, %arg166: tensor<1x12x1024x64xf32>, %arg167: tensor<1x12x1024x64xf32>, %arg168: tensor<1x12x1024x64xf32>, %arg169: tensor<1x12x1024x64xf32>, %arg170: tensor<1x12x1024x64xf32>, %arg171: tensor<1x12x1024x64xf32>, %arg172: tensor<1xi32>, %arg173: tensor<i32>) -> (tensor<1x50257xf32> {jax.result_info = "result[0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][0][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][0][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][1][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][1][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][2][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][2][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][3][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][3][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][4][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][4][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][5][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][5][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][6][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][6][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][7][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][7][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][8][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][8][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][9][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][9][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][10][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][10][1]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][11][0]"}, tensor<1x12x1024x64xf32> {jax.result_info = "result[1][11][1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.compare LT, %arg172, %0, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %c_0 = stablehlo.constant dense<50257> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.add %arg172, %2 : tensor<1xi32>
    %4 = stablehlo.select %1, %3, %arg172 : tensor<1xi1>, tensor<1xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %6 = "stablehlo.gather"(%arg147, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 768>}> : (tensor<50257x768xf32>, tensor<1x1xi32>) -> tensor<1x768xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.compare LT, %arg173, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<1024> : tensor<i32>
    %8 = stablehlo.add %arg173, %c_2 : tensor<i32>
    %9 = stablehlo.select %7, %8, %arg173 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare LT, %c_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %c_6 = stablehlo.constant dense<768> : tensor<i32>
    %11 = stablehlo.add %c_5, %c_6 : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.select %10, %11, %c_7 : tensor<i1>, tensor<i32>
    %13 = stablehlo.dynamic_slice %arg146, %9, %12, sizes = [1, 768] : (tensor<1024x768xf32>, tensor<i32>, tensor<i32>) -> tensor<1x768xf32>
    %14 = stablehlo.reshape %13 : (tensor<1x768xf32>) -> tensor<768xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %16 = stablehlo.add %6, %15 : tensor<1x768xf32>
    %17 = stablehlo.iota dim = 0 : tensor<1024xi32>
    %18 = stablehlo.broadcast_in_dim %arg173, dims = [] : (tensor<i32>) -> tensor<1024xi32>
    %19 = stablehlo.compare LE, %17, %18, SIGNED : (tensor<1024xi32>, tensor<1024xi32>) -> tensor<1024xi1>
    %20 = stablehlo.broadcast_in_dim %19, dims = [2] : (tensor<1024xi1>) -> tensor<1x1x1024xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_8 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %24 = stablehlo.divide %22, %23 : tensor<1x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %26 = stablehlo.subtract %16, %25 : tensor<1x768xf32>
    %27 = stablehlo.multiply %26, %26 : tensor<1x768xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_10 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %31 = stablehlo.divide %29, %30 : tensor<1x1xf32>
    %cst_11 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %33 = stablehlo.add %31, %32 : tensor<1x1xf32>
    %34 = stablehlo.rsqrt %33 : tensor<1x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %36 = stablehlo.multiply %26, %35 : tensor<1x768xf32>
    %37 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<1x768xf32>
    %39 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %40 = stablehlo.add %38, %39 : tensor<1x768xf32>
    %41 = stablehlo.dot_general %40, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %42 = stablehlo.broadcast_in_dim %arg10, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %43 = stablehlo.add %41, %42 : tensor<1x2304xf32>
    %44 = stablehlo.slice %43 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %45 = stablehlo.slice %43 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %46 = stablehlo.slice %43 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %47 = stablehlo.reshape %45 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %48 = stablehlo.compare LT, %arg173, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_13 = stablehlo.constant dense<1024> : tensor<i32>
    %49 = stablehlo.add %arg173, %c_13 : tensor<i32>
    %50 = stablehlo.select %48, %49, %arg173 : tensor<i1>, tensor<i32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %51 = stablehlo.dynamic_update_slice %arg148, %47, %c_14, %c_15, %50, %c_16 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %52 = stablehlo.reshape %46 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %53 = stablehlo.compare LT, %arg173, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_18 = stablehlo.constant dense<1024> : tensor<i32>
    %54 = stablehlo.add %arg173, %c_18 : tensor<i32>
    %55 = stablehlo.select %53, %54, %arg173 : tensor<i1>, tensor<i32>
    %c_19 = stablehlo.constant dense<0> : tensor<i32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %56 = stablehlo.dynamic_update_slice %arg149, %52, %c_19, %c_20, %55, %c_21 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %57 = stablehlo.reshape %44 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %58 = stablehlo.dot_general %57, %51, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_22 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %60 = stablehlo.multiply %58, %59 : tensor<1x12x1024xf32>
    %cst_23 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %61 = call @_where(%20, %60, %cst_23) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_24 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_24) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %65 = stablehlo.subtract %61, %64 : tensor<1x12x1024xf32>
    %66 = stablehlo.exponential %65 : tensor<1x12x1024xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %70 = stablehlo.divide %66, %69 : tensor<1x12x1024xf32>
    %71 = stablehlo.dot_general %70, %56, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %72 = stablehlo.reshape %71 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %73 = stablehlo.dot_general %72, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %74 = stablehlo.add %16, %73 : tensor<1x768xf32>
    %75 = stablehlo.broadcast_in_dim %arg8, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %76 = stablehlo.add %74, %75 : tensor<1x768xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%76 init: %cst_26) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_27 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %80 = stablehlo.divide %78, %79 : tensor<1x1xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %82 = stablehlo.subtract %76, %81 : tensor<1x768xf32>
    %83 = stablehlo.multiply %82, %82 : tensor<1x768xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.reduce(%83 init: %cst_28) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %85 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_29 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %87 = stablehlo.divide %85, %86 : tensor<1x1xf32>
    %cst_30 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %89 = stablehlo.add %87, %88 : tensor<1x1xf32>
    %90 = stablehlo.rsqrt %89 : tensor<1x1xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %92 = stablehlo.multiply %82, %91 : tensor<1x768xf32>
    %93 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %94 = stablehlo.multiply %92, %93 : tensor<1x768xf32>
    %95 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %96 = stablehlo.add %94, %95 : tensor<1x768xf32>
    %97 = stablehlo.dot_general %96, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %98 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %99 = stablehlo.add %97, %98 : tensor<1x3072xf32>
    %cst_31 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %101 = stablehlo.multiply %100, %99 : tensor<1x3072xf32>
    %cst_32 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %103 = stablehlo.multiply %102, %99 : tensor<1x3072xf32>
    %104 = stablehlo.multiply %103, %99 : tensor<1x3072xf32>
    %105 = stablehlo.multiply %104, %99 : tensor<1x3072xf32>
    %106 = stablehlo.add %99, %105 : tensor<1x3072xf32>
    %cst_33 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %108 = stablehlo.multiply %107, %106 : tensor<1x3072xf32>
    %109 = stablehlo.tanh %108 : tensor<1x3072xf32>
    %cst_34 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %111 = stablehlo.add %110, %109 : tensor<1x3072xf32>
    %112 = stablehlo.multiply %101, %111 : tensor<1x3072xf32>
    %113 = stablehlo.dot_general %112, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %114 = stablehlo.add %76, %113 : tensor<1x768xf32>
    %115 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %116 = stablehlo.add %114, %115 : tensor<1x768xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.reduce(%116 init: %cst_35) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %118 = stablehlo.broadcast_in_dim %117, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_36 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %120 = stablehlo.divide %118, %119 : tensor<1x1xf32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %122 = stablehlo.subtract %116, %121 : tensor<1x768xf32>
    %123 = stablehlo.multiply %122, %122 : tensor<1x768xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.reduce(%123 init: %cst_37) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %125 = stablehlo.broadcast_in_dim %124, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_38 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %127 = stablehlo.divide %125, %126 : tensor<1x1xf32>
    %cst_39 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %129 = stablehlo.add %127, %128 : tensor<1x1xf32>
    %130 = stablehlo.rsqrt %129 : tensor<1x1xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %132 = stablehlo.multiply %122, %131 : tensor<1x768xf32>
    %133 = stablehlo.broadcast_in_dim %arg17, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %134 = stablehlo.multiply %132, %133 : tensor<1x768xf32>
    %135 = stablehlo.broadcast_in_dim %arg16, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %136 = stablehlo.add %134, %135 : tensor<1x768xf32>
    %137 = stablehlo.dot_general %136, %arg23, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %138 = stablehlo.broadcast_in_dim %arg22, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %139 = stablehlo.add %137, %138 : tensor<1x2304xf32>
    %140 = stablehlo.slice %139 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %141 = stablehlo.slice %139 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %142 = stablehlo.slice %139 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %143 = stablehlo.reshape %141 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_40 = stablehlo.constant dense<0> : tensor<i32>
    %144 = stablehlo.compare LT, %arg173, %c_40, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_41 = stablehlo.constant dense<1024> : tensor<i32>
    %145 = stablehlo.add %arg173, %c_41 : tensor<i32>
    %146 = stablehlo.select %144, %145, %arg173 : tensor<i1>, tensor<i32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %c_44 = stablehlo.constant dense<0> : tensor<i32>
    %147 = stablehlo.dynamic_update_slice %arg150, %143, %c_42, %c_43, %146, %c_44 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %148 = stablehlo.reshape %142 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_45 = stablehlo.constant dense<0> : tensor<i32>
    %149 = stablehlo.compare LT, %arg173, %c_45, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_46 = stablehlo.constant dense<1024> : tensor<i32>
    %150 = stablehlo.add %arg173, %c_46 : tensor<i32>
    %151 = stablehlo.select %149, %150, %arg173 : tensor<i1>, tensor<i32>
    %c_47 = stablehlo.constant dense<0> : tensor<i32>
    %c_48 = stablehlo.constant dense<0> : tensor<i32>
    %c_49 = stablehlo.constant dense<0> : tensor<i32>
    %152 = stablehlo.dynamic_update_slice %arg151, %148, %c_47, %c_48, %151, %c_49 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %153 = stablehlo.reshape %140 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %154 = stablehlo.dot_general %153, %147, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_50 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %156 = stablehlo.multiply %154, %155 : tensor<1x12x1024xf32>
    %cst_51 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %157 = call @_where(%20, %156, %cst_51) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_52 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_52) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %161 = stablehlo.subtract %157, %160 : tensor<1x12x1024xf32>
    %162 = stablehlo.exponential %161 : tensor<1x12x1024xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %163 = stablehlo.reduce(%162 init: %cst_53) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %165 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %166 = stablehlo.divide %162, %165 : tensor<1x12x1024xf32>
    %167 = stablehlo.dot_general %166, %152, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %168 = stablehlo.reshape %167 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %169 = stablehlo.dot_general %168, %arg21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %170 = stablehlo.add %116, %169 : tensor<1x768xf32>
    %171 = stablehlo.broadcast_in_dim %arg20, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %172 = stablehlo.add %170, %171 : tensor<1x768xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%172 init: %cst_54) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_55 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %176 = stablehlo.divide %174, %175 : tensor<1x1xf32>
    %177 = stablehlo.broadcast_in_dim %176, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %178 = stablehlo.subtract %172, %177 : tensor<1x768xf32>
    %179 = stablehlo.multiply %178, %178 : tensor<1x768xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %180 = stablehlo.reduce(%179 init: %cst_56) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_57 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %183 = stablehlo.divide %181, %182 : tensor<1x1xf32>
    %cst_58 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %185 = stablehlo.add %183, %184 : tensor<1x1xf32>
    %186 = stablehlo.rsqrt %185 : tensor<1x1xf32>
    %187 = stablehlo.broadcast_in_dim %186, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %188 = stablehlo.multiply %178, %187 : tensor<1x768xf32>
    %189 = stablehlo.broadcast_in_dim %arg19, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %190 = stablehlo.multiply %188, %189 : tensor<1x768xf32>
    %191 = stablehlo.broadcast_in_dim %arg18, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %192 = stablehlo.add %190, %191 : tensor<1x768xf32>
    %193 = stablehlo.dot_general %192, %arg15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %194 = stablehlo.broadcast_in_dim %arg14, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %195 = stablehlo.add %193, %194 : tensor<1x3072xf32>
    %cst_59 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %197 = stablehlo.multiply %196, %195 : tensor<1x3072xf32>
    %cst_60 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %199 = stablehlo.multiply %198, %195 : tensor<1x3072xf32>
    %200 = stablehlo.multiply %199, %195 : tensor<1x3072xf32>
    %201 = stablehlo.multiply %200, %195 : tensor<1x3072xf32>
    %202 = stablehlo.add %195, %201 : tensor<1x3072xf32>
    %cst_61 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %204 = stablehlo.multiply %203, %202 : tensor<1x3072xf32>
    %205 = stablehlo.tanh %204 : tensor<1x3072xf32>
    %cst_62 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %207 = stablehlo.add %206, %205 : tensor<1x3072xf32>
    %208 = stablehlo.multiply %197, %207 : tensor<1x3072xf32>
    %209 = stablehlo.dot_general %208, %arg13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %210 = stablehlo.add %172, %209 : tensor<1x768xf32>
    %211 = stablehlo.broadcast_in_dim %arg12, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %212 = stablehlo.add %210, %211 : tensor<1x768xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %213 = stablehlo.reduce(%212 init: %cst_63) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_64 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %216 = stablehlo.divide %214, %215 : tensor<1x1xf32>
    %217 = stablehlo.broadcast_in_dim %216, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %218 = stablehlo.subtract %212, %217 : tensor<1x768xf32>
    %219 = stablehlo.multiply %218, %218 : tensor<1x768xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %220 = stablehlo.reduce(%219 init: %cst_65) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %221 = stablehlo.broadcast_in_dim %220, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_66 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %223 = stablehlo.divide %221, %222 : tensor<1x1xf32>
    %cst_67 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %224 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %225 = stablehlo.add %223, %224 : tensor<1x1xf32>
    %226 = stablehlo.rsqrt %225 : tensor<1x1xf32>
    %227 = stablehlo.broadcast_in_dim %226, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %228 = stablehlo.multiply %218, %227 : tensor<1x768xf32>
    %229 = stablehlo.broadcast_in_dim %arg29, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %230 = stablehlo.multiply %228, %229 : tensor<1x768xf32>
    %231 = stablehlo.broadcast_in_dim %arg28, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %232 = stablehlo.add %230, %231 : tensor<1x768xf32>
    %233 = stablehlo.dot_general %232, %arg35, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %234 = stablehlo.broadcast_in_dim %arg34, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %235 = stablehlo.add %233, %234 : tensor<1x2304xf32>
    %236 = stablehlo.slice %235 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %237 = stablehlo.slice %235 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %238 = stablehlo.slice %235 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %239 = stablehlo.reshape %237 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_68 = stablehlo.constant dense<0> : tensor<i32>
    %240 = stablehlo.compare LT, %arg173, %c_68, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_69 = stablehlo.constant dense<1024> : tensor<i32>
    %241 = stablehlo.add %arg173, %c_69 : tensor<i32>
    %242 = stablehlo.select %240, %241, %arg173 : tensor<i1>, tensor<i32>
    %c_70 = stablehlo.constant dense<0> : tensor<i32>
    %c_71 = stablehlo.constant dense<0> : tensor<i32>
    %c_72 = stablehlo.constant dense<0> : tensor<i32>
    %243 = stablehlo.dynamic_update_slice %arg152, %239, %c_70, %c_71, %242, %c_72 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %244 = stablehlo.reshape %238 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_73 = stablehlo.constant dense<0> : tensor<i32>
    %245 = stablehlo.compare LT, %arg173, %c_73, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_74 = stablehlo.constant dense<1024> : tensor<i32>
    %246 = stablehlo.add %arg173, %c_74 : tensor<i32>
    %247 = stablehlo.select %245, %246, %arg173 : tensor<i1>, tensor<i32>
    %c_75 = stablehlo.constant dense<0> : tensor<i32>
    %c_76 = stablehlo.constant dense<0> : tensor<i32>
    %c_77 = stablehlo.constant dense<0> : tensor<i32>
    %248 = stablehlo.dynamic_update_slice %arg153, %244, %c_75, %c_76, %247, %c_77 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %249 = stablehlo.reshape %236 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %250 = stablehlo.dot_general %249, %243, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_78 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %252 = stablehlo.multiply %250, %251 : tensor<1x12x1024xf32>
    %cst_79 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %253 = call @_where(%20, %252, %cst_79) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_80 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %254 = stablehlo.reduce(%253 init: %cst_80) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %255 = stablehlo.broadcast_in_dim %254, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %256 = stablehlo.broadcast_in_dim %255, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %257 = stablehlo.subtract %253, %256 : tensor<1x12x1024xf32>
    %258 = stablehlo.exponential %257 : tensor<1x12x1024xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %259 = stablehlo.reduce(%258 init: %cst_81) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %261 = stablehlo.broadcast_in_dim %260, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %262 = stablehlo.divide %258, %261 : tensor<1x12x1024xf32>
    %263 = stablehlo.dot_general %262, %248, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %264 = stablehlo.reshape %263 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %265 = stablehlo.dot_general %264, %arg33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %266 = stablehlo.add %212, %265 : tensor<1x768xf32>
    %267 = stablehlo.broadcast_in_dim %arg32, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %268 = stablehlo.add %266, %267 : tensor<1x768xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %269 = stablehlo.reduce(%268 init: %cst_82) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %270 = stablehlo.broadcast_in_dim %269, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_83 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %271 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %272 = stablehlo.divide %270, %271 : tensor<1x1xf32>
    %273 = stablehlo.broadcast_in_dim %272, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %274 = stablehlo.subtract %268, %273 : tensor<1x768xf32>
    %275 = stablehlo.multiply %274, %274 : tensor<1x768xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %276 = stablehlo.reduce(%275 init: %cst_84) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %277 = stablehlo.broadcast_in_dim %276, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_85 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %279 = stablehlo.divide %277, %278 : tensor<1x1xf32>
    %cst_86 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %281 = stablehlo.add %279, %280 : tensor<1x1xf32>
    %282 = stablehlo.rsqrt %281 : tensor<1x1xf32>
    %283 = stablehlo.broadcast_in_dim %282, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %284 = stablehlo.multiply %274, %283 : tensor<1x768xf32>
    %285 = stablehlo.broadcast_in_dim %arg31, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %286 = stablehlo.multiply %284, %285 : tensor<1x768xf32>
    %287 = stablehlo.broadcast_in_dim %arg30, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %288 = stablehlo.add %286, %287 : tensor<1x768xf32>
    %289 = stablehlo.dot_general %288, %arg27, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %290 = stablehlo.broadcast_in_dim %arg26, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %291 = stablehlo.add %289, %290 : tensor<1x3072xf32>
    %cst_87 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %293 = stablehlo.multiply %292, %291 : tensor<1x3072xf32>
    %cst_88 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %294 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %295 = stablehlo.multiply %294, %291 : tensor<1x3072xf32>
    %296 = stablehlo.multiply %295, %291 : tensor<1x3072xf32>
    %297 = stablehlo.multiply %296, %291 : tensor<1x3072xf32>
    %298 = stablehlo.add %291, %297 : tensor<1x3072xf32>
    %cst_89 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %299 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %300 = stablehlo.multiply %299, %298 : tensor<1x3072xf32>
    %301 = stablehlo.tanh %300 : tensor<1x3072xf32>
    %cst_90 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %303 = stablehlo.add %302, %301 : tensor<1x3072xf32>
    %304 = stablehlo.multiply %293, %303 : tensor<1x3072xf32>
    %305 = stablehlo.dot_general %304, %arg25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %306 = stablehlo.add %268, %305 : tensor<1x768xf32>
    %307 = stablehlo.broadcast_in_dim %arg24, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %308 = stablehlo.add %306, %307 : tensor<1x768xf32>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %309 = stablehlo.reduce(%308 init: %cst_91) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %310 = stablehlo.broadcast_in_dim %309, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_92 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %312 = stablehlo.divide %310, %311 : tensor<1x1xf32>
    %313 = stablehlo.broadcast_in_dim %312, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %314 = stablehlo.subtract %308, %313 : tensor<1x768xf32>
    %315 = stablehlo.multiply %314, %314 : tensor<1x768xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %316 = stablehlo.reduce(%315 init: %cst_93) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %317 = stablehlo.broadcast_in_dim %316, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_94 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %318 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %319 = stablehlo.divide %317, %318 : tensor<1x1xf32>
    %cst_95 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %321 = stablehlo.add %319, %320 : tensor<1x1xf32>
    %322 = stablehlo.rsqrt %321 : tensor<1x1xf32>
    %323 = stablehlo.broadcast_in_dim %322, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %324 = stablehlo.multiply %314, %323 : tensor<1x768xf32>
    %325 = stablehlo.broadcast_in_dim %arg41, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %326 = stablehlo.multiply %324, %325 : tensor<1x768xf32>
    %327 = stablehlo.broadcast_in_dim %arg40, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %328 = stablehlo.add %326, %327 : tensor<1x768xf32>
    %329 = stablehlo.dot_general %328, %arg47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %330 = stablehlo.broadcast_in_dim %arg46, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %331 = stablehlo.add %329, %330 : tensor<1x2304xf32>
    %332 = stablehlo.slice %331 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %333 = stablehlo.slice %331 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %334 = stablehlo.slice %331 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %335 = stablehlo.reshape %333 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_96 = stablehlo.constant dense<0> : tensor<i32>
    %336 = stablehlo.compare LT, %arg173, %c_96, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_97 = stablehlo.constant dense<1024> : tensor<i32>
    %337 = stablehlo.add %arg173, %c_97 : tensor<i32>
    %338 = stablehlo.select %336, %337, %arg173 : tensor<i1>, tensor<i32>
    %c_98 = stablehlo.constant dense<0> : tensor<i32>
    %c_99 = stablehlo.constant dense<0> : tensor<i32>
    %c_100 = stablehlo.constant dense<0> : tensor<i32>
    %339 = stablehlo.dynamic_update_slice %arg154, %335, %c_98, %c_99, %338, %c_100 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %340 = stablehlo.reshape %334 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_101 = stablehlo.constant dense<0> : tensor<i32>
    %341 = stablehlo.compare LT, %arg173, %c_101, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_102 = stablehlo.constant dense<1024> : tensor<i32>
    %342 = stablehlo.add %arg173, %c_102 : tensor<i32>
    %343 = stablehlo.select %341, %342, %arg173 : tensor<i1>, tensor<i32>
    %c_103 = stablehlo.constant dense<0> : tensor<i32>
    %c_104 = stablehlo.constant dense<0> : tensor<i32>
    %c_105 = stablehlo.constant dense<0> : tensor<i32>
    %344 = stablehlo.dynamic_update_slice %arg155, %340, %c_103, %c_104, %343, %c_105 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %345 = stablehlo.reshape %332 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %346 = stablehlo.dot_general %345, %339, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_106 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %347 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %348 = stablehlo.multiply %346, %347 : tensor<1x12x1024xf32>
    %cst_107 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %349 = call @_where(%20, %348, %cst_107) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_108 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %350 = stablehlo.reduce(%349 init: %cst_108) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %351 = stablehlo.broadcast_in_dim %350, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %352 = stablehlo.broadcast_in_dim %351, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %353 = stablehlo.subtract %349, %352 : tensor<1x12x1024xf32>
    %354 = stablehlo.exponential %353 : tensor<1x12x1024xf32>
    %cst_109 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %355 = stablehlo.reduce(%354 init: %cst_109) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %356 = stablehlo.broadcast_in_dim %355, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %357 = stablehlo.broadcast_in_dim %356, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %358 = stablehlo.divide %354, %357 : tensor<1x12x1024xf32>
    %359 = stablehlo.dot_general %358, %344, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %360 = stablehlo.reshape %359 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %361 = stablehlo.dot_general %360, %arg45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %362 = stablehlo.add %308, %361 : tensor<1x768xf32>
    %363 = stablehlo.broadcast_in_dim %arg44, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %364 = stablehlo.add %362, %363 : tensor<1x768xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %365 = stablehlo.reduce(%364 init: %cst_110) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %366 = stablehlo.broadcast_in_dim %365, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_111 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %368 = stablehlo.divide %366, %367 : tensor<1x1xf32>
    %369 = stablehlo.broadcast_in_dim %368, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %370 = stablehlo.subtract %364, %369 : tensor<1x768xf32>
    %371 = stablehlo.multiply %370, %370 : tensor<1x768xf32>
    %cst_112 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %372 = stablehlo.reduce(%371 init: %cst_112) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %373 = stablehlo.broadcast_in_dim %372, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_113 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %374 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %375 = stablehlo.divide %373, %374 : tensor<1x1xf32>
    %cst_114 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %376 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %377 = stablehlo.add %375, %376 : tensor<1x1xf32>
    %378 = stablehlo.rsqrt %377 : tensor<1x1xf32>
    %379 = stablehlo.broadcast_in_dim %378, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %380 = stablehlo.multiply %370, %379 : tensor<1x768xf32>
    %381 = stablehlo.broadcast_in_dim %arg43, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %382 = stablehlo.multiply %380, %381 : tensor<1x768xf32>
    %383 = stablehlo.broadcast_in_dim %arg42, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %384 = stablehlo.add %382, %383 : tensor<1x768xf32>
    %385 = stablehlo.dot_general %384, %arg39, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %386 = stablehlo.broadcast_in_dim %arg38, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %387 = stablehlo.add %385, %386 : tensor<1x3072xf32>
    %cst_115 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %388 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %389 = stablehlo.multiply %388, %387 : tensor<1x3072xf32>
    %cst_116 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %390 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %391 = stablehlo.multiply %390, %387 : tensor<1x3072xf32>
    %392 = stablehlo.multiply %391, %387 : tensor<1x3072xf32>
    %393 = stablehlo.multiply %392, %387 : tensor<1x3072xf32>
    %394 = stablehlo.add %387, %393 : tensor<1x3072xf32>
    %cst_117 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %395 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %396 = stablehlo.multiply %395, %394 : tensor<1x3072xf32>
    %397 = stablehlo.tanh %396 : tensor<1x3072xf32>
    %cst_118 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %398 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %399 = stablehlo.add %398, %397 : tensor<1x3072xf32>
    %400 = stablehlo.multiply %389, %399 : tensor<1x3072xf32>
    %401 = stablehlo.dot_general %400, %arg37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %402 = stablehlo.add %364, %401 : tensor<1x768xf32>
    %403 = stablehlo.broadcast_in_dim %arg36, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %404 = stablehlo.add %402, %403 : tensor<1x768xf32>
    %cst_119 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %405 = stablehlo.reduce(%404 init: %cst_119) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %406 = stablehlo.broadcast_in_dim %405, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_120 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %408 = stablehlo.divide %406, %407 : tensor<1x1xf32>
    %409 = stablehlo.broadcast_in_dim %408, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %410 = stablehlo.subtract %404, %409 : tensor<1x768xf32>
    %411 = stablehlo.multiply %410, %410 : tensor<1x768xf32>
    %cst_121 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %412 = stablehlo.reduce(%411 init: %cst_121) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %413 = stablehlo.broadcast_in_dim %412, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_122 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %415 = stablehlo.divide %413, %414 : tensor<1x1xf32>
    %cst_123 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %416 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %417 = stablehlo.add %415, %416 : tensor<1x1xf32>
    %418 = stablehlo.rsqrt %417 : tensor<1x1xf32>
    %419 = stablehlo.broadcast_in_dim %418, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %420 = stablehlo.multiply %410, %419 : tensor<1x768xf32>
    %421 = stablehlo.broadcast_in_dim %arg53, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %422 = stablehlo.multiply %420, %421 : tensor<1x768xf32>
    %423 = stablehlo.broadcast_in_dim %arg52, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %424 = stablehlo.add %422, %423 : tensor<1x768xf32>
    %425 = stablehlo.dot_general %424, %arg59, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %426 = stablehlo.broadcast_in_dim %arg58, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %427 = stablehlo.add %425, %426 : tensor<1x2304xf32>
    %428 = stablehlo.slice %427 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %429 = stablehlo.slice %427 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %430 = stablehlo.slice %427 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %431 = stablehlo.reshape %429 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_124 = stablehlo.constant dense<0> : tensor<i32>
    %432 = stablehlo.compare LT, %arg173, %c_124, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_125 = stablehlo.constant dense<1024> : tensor<i32>
    %433 = stablehlo.add %arg173, %c_125 : tensor<i32>
    %434 = stablehlo.select %432, %433, %arg173 : tensor<i1>, tensor<i32>
    %c_126 = stablehlo.constant dense<0> : tensor<i32>
    %c_127 = stablehlo.constant dense<0> : tensor<i32>
    %c_128 = stablehlo.constant dense<0> : tensor<i32>
    %435 = stablehlo.dynamic_update_slice %arg156, %431, %c_126, %c_127, %434, %c_128 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %436 = stablehlo.reshape %430 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_129 = stablehlo.constant dense<0> : tensor<i32>
    %437 = stablehlo.compare LT, %arg173, %c_129, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_130 = stablehlo.constant dense<1024> : tensor<i32>
    %438 = stablehlo.add %arg173, %c_130 : tensor<i32>
    %439 = stablehlo.select %437, %438, %arg173 : tensor<i1>, tensor<i32>
    %c_131 = stablehlo.constant dense<0> : tensor<i32>
    %c_132 = stablehlo.constant dense<0> : tensor<i32>
    %c_133 = stablehlo.constant dense<0> : tensor<i32>
    %440 = stablehlo.dynamic_update_slice %arg157, %436, %c_131, %c_132, %439, %c_133 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %441 = stablehlo.reshape %428 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %442 = stablehlo.dot_general %441, %435, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_134 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %443 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %444 = stablehlo.multiply %442, %443 : tensor<1x12x1024xf32>
    %cst_135 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %445 = call @_where(%20, %444, %cst_135) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_136 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %446 = stablehlo.reduce(%445 init: %cst_136) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %447 = stablehlo.broadcast_in_dim %446, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %448 = stablehlo.broadcast_in_dim %447, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %449 = stablehlo.subtract %445, %448 : tensor<1x12x1024xf32>
    %450 = stablehlo.exponential %449 : tensor<1x12x1024xf32>
    %cst_137 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %451 = stablehlo.reduce(%450 init: %cst_137) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %452 = stablehlo.broadcast_in_dim %451, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %453 = stablehlo.broadcast_in_dim %452, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %454 = stablehlo.divide %450, %453 : tensor<1x12x1024xf32>
    %455 = stablehlo.dot_general %454, %440, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %456 = stablehlo.reshape %455 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %457 = stablehlo.dot_general %456, %arg57, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %458 = stablehlo.add %404, %457 : tensor<1x768xf32>
    %459 = stablehlo.broadcast_in_dim %arg56, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %460 = stablehlo.add %458, %459 : tensor<1x768xf32>
    %cst_138 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %461 = stablehlo.reduce(%460 init: %cst_138) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %462 = stablehlo.broadcast_in_dim %461, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_139 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %463 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %464 = stablehlo.divide %462, %463 : tensor<1x1xf32>
    %465 = stablehlo.broadcast_in_dim %464, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %466 = stablehlo.subtract %460, %465 : tensor<1x768xf32>
    %467 = stablehlo.multiply %466, %466 : tensor<1x768xf32>
    %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %468 = stablehlo.reduce(%467 init: %cst_140) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %469 = stablehlo.broadcast_in_dim %468, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_141 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %470 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %471 = stablehlo.divide %469, %470 : tensor<1x1xf32>
    %cst_142 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %472 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %473 = stablehlo.add %471, %472 : tensor<1x1xf32>
    %474 = stablehlo.rsqrt %473 : tensor<1x1xf32>
    %475 = stablehlo.broadcast_in_dim %474, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %476 = stablehlo.multiply %466, %475 : tensor<1x768xf32>
    %477 = stablehlo.broadcast_in_dim %arg55, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %478 = stablehlo.multiply %476, %477 : tensor<1x768xf32>
    %479 = stablehlo.broadcast_in_dim %arg54, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %480 = stablehlo.add %478, %479 : tensor<1x768xf32>
    %481 = stablehlo.dot_general %480, %arg51, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %482 = stablehlo.broadcast_in_dim %arg50, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %483 = stablehlo.add %481, %482 : tensor<1x3072xf32>
    %cst_143 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %484 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %485 = stablehlo.multiply %484, %483 : tensor<1x3072xf32>
    %cst_144 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %486 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %487 = stablehlo.multiply %486, %483 : tensor<1x3072xf32>
    %488 = stablehlo.multiply %487, %483 : tensor<1x3072xf32>
    %489 = stablehlo.multiply %488, %483 : tensor<1x3072xf32>
    %490 = stablehlo.add %483, %489 : tensor<1x3072xf32>
    %cst_145 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %491 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %492 = stablehlo.multiply %491, %490 : tensor<1x3072xf32>
    %493 = stablehlo.tanh %492 : tensor<1x3072xf32>
    %cst_146 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %494 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %495 = stablehlo.add %494, %493 : tensor<1x3072xf32>
    %496 = stablehlo.multiply %485, %495 : tensor<1x3072xf32>
    %497 = stablehlo.dot_general %496, %arg49, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %498 = stablehlo.add %460, %497 : tensor<1x768xf32>
    %499 = stablehlo.broadcast_in_dim %arg48, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %500 = stablehlo.add %498, %499 : tensor<1x768xf32>
    %cst_147 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %501 = stablehlo.reduce(%500 init: %cst_147) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %502 = stablehlo.broadcast_in_dim %501, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_148 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %503 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %504 = stablehlo.divide %502, %503 : tensor<1x1xf32>
    %505 = stablehlo.broadcast_in_dim %504, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %506 = stablehlo.subtract %500, %505 : tensor<1x768xf32>
    %507 = stablehlo.multiply %506, %506 : tensor<1x768xf32>
    %cst_149 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %508 = stablehlo.reduce(%507 init: %cst_149) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %509 = stablehlo.broadcast_in_dim %508, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_150 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %510 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %511 = stablehlo.divide %509, %510 : tensor<1x1xf32>
    %cst_151 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %512 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %513 = stablehlo.add %511, %512 : tensor<1x1xf32>
    %514 = stablehlo.rsqrt %513 : tensor<1x1xf32>
    %515 = stablehlo.broadcast_in_dim %514, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %516 = stablehlo.multiply %506, %515 : tensor<1x768xf32>
    %517 = stablehlo.broadcast_in_dim %arg65, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %518 = stablehlo.multiply %516, %517 : tensor<1x768xf32>
    %519 = stablehlo.broadcast_in_dim %arg64, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %520 = stablehlo.add %518, %519 : tensor<1x768xf32>
    %521 = stablehlo.dot_general %520, %arg71, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %522 = stablehlo.broadcast_in_dim %arg70, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %523 = stablehlo.add %521, %522 : tensor<1x2304xf32>
    %524 = stablehlo.slice %523 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %525 = stablehlo.slice %523 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %526 = stablehlo.slice %523 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %527 = stablehlo.reshape %525 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_152 = stablehlo.constant dense<0> : tensor<i32>
    %528 = stablehlo.compare LT, %arg173, %c_152, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_153 = stablehlo.constant dense<1024> : tensor<i32>
    %529 = stablehlo.add %arg173, %c_153 : tensor<i32>
    %530 = stablehlo.select %528, %529, %arg173 : tensor<i1>, tensor<i32>
    %c_154 = stablehlo.constant dense<0> : tensor<i32>
    %c_155 = stablehlo.constant dense<0> : tensor<i32>
    %c_156 = stablehlo.constant dense<0> : tensor<i32>
    %531 = stablehlo.dynamic_update_slice %arg158, %527, %c_154, %c_155, %530, %c_156 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %532 = stablehlo.reshape %526 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_157 = stablehlo.constant dense<0> : tensor<i32>
    %533 = stablehlo.compare LT, %arg173, %c_157, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_158 = stablehlo.constant dense<1024> : tensor<i32>
    %534 = stablehlo.add %arg173, %c_158 : tensor<i32>
    %535 = stablehlo.select %533, %534, %arg173 : tensor<i1>, tensor<i32>
    %c_159 = stablehlo.constant dense<0> : tensor<i32>
    %c_160 = stablehlo.constant dense<0> : tensor<i32>
    %c_161 = stablehlo.constant dense<0> : tensor<i32>
    %536 = stablehlo.dynamic_update_slice %arg159, %532, %c_159, %c_160, %535, %c_161 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %537 = stablehlo.reshape %524 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %538 = stablehlo.dot_general %537, %531, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_162 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %539 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %540 = stablehlo.multiply %538, %539 : tensor<1x12x1024xf32>
    %cst_163 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %541 = call @_where(%20, %540, %cst_163) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_164 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %542 = stablehlo.reduce(%541 init: %cst_164) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %543 = stablehlo.broadcast_in_dim %542, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %544 = stablehlo.broadcast_in_dim %543, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %545 = stablehlo.subtract %541, %544 : tensor<1x12x1024xf32>
    %546 = stablehlo.exponential %545 : tensor<1x12x1024xf32>
    %cst_165 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %547 = stablehlo.reduce(%546 init: %cst_165) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %548 = stablehlo.broadcast_in_dim %547, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %549 = stablehlo.broadcast_in_dim %548, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %550 = stablehlo.divide %546, %549 : tensor<1x12x1024xf32>
    %551 = stablehlo.dot_general %550, %536, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %552 = stablehlo.reshape %551 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %553 = stablehlo.dot_general %552, %arg69, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %554 = stablehlo.add %500, %553 : tensor<1x768xf32>
    %555 = stablehlo.broadcast_in_dim %arg68, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %556 = stablehlo.add %554, %555 : tensor<1x768xf32>
    %cst_166 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %557 = stablehlo.reduce(%556 init: %cst_166) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %558 = stablehlo.broadcast_in_dim %557, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_167 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %559 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %560 = stablehlo.divide %558, %559 : tensor<1x1xf32>
    %561 = stablehlo.broadcast_in_dim %560, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %562 = stablehlo.subtract %556, %561 : tensor<1x768xf32>
    %563 = stablehlo.multiply %562, %562 : tensor<1x768xf32>
    %cst_168 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %564 = stablehlo.reduce(%563 init: %cst_168) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %565 = stablehlo.broadcast_in_dim %564, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_169 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %566 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %567 = stablehlo.divide %565, %566 : tensor<1x1xf32>
    %cst_170 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %568 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %569 = stablehlo.add %567, %568 : tensor<1x1xf32>
    %570 = stablehlo.rsqrt %569 : tensor<1x1xf32>
    %571 = stablehlo.broadcast_in_dim %570, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %572 = stablehlo.multiply %562, %571 : tensor<1x768xf32>
    %573 = stablehlo.broadcast_in_dim %arg67, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %574 = stablehlo.multiply %572, %573 : tensor<1x768xf32>
    %575 = stablehlo.broadcast_in_dim %arg66, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %576 = stablehlo.add %574, %575 : tensor<1x768xf32>
    %577 = stablehlo.dot_general %576, %arg63, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %578 = stablehlo.broadcast_in_dim %arg62, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %579 = stablehlo.add %577, %578 : tensor<1x3072xf32>
    %cst_171 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %580 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %581 = stablehlo.multiply %580, %579 : tensor<1x3072xf32>
    %cst_172 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %582 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %583 = stablehlo.multiply %582, %579 : tensor<1x3072xf32>
    %584 = stablehlo.multiply %583, %579 : tensor<1x3072xf32>
    %585 = stablehlo.multiply %584, %579 : tensor<1x3072xf32>
    %586 = stablehlo.add %579, %585 : tensor<1x3072xf32>
    %cst_173 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %587 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %588 = stablehlo.multiply %587, %586 : tensor<1x3072xf32>
    %589 = stablehlo.tanh %588 : tensor<1x3072xf32>
    %cst_174 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %590 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %591 = stablehlo.add %590, %589 : tensor<1x3072xf32>
    %592 = stablehlo.multiply %581, %591 : tensor<1x3072xf32>
    %593 = stablehlo.dot_general %592, %arg61, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %594 = stablehlo.add %556, %593 : tensor<1x768xf32>
    %595 = stablehlo.broadcast_in_dim %arg60, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %596 = stablehlo.add %594, %595 : tensor<1x768xf32>
    %cst_175 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %597 = stablehlo.reduce(%596 init: %cst_175) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %598 = stablehlo.broadcast_in_dim %597, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_176 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %599 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %600 = stablehlo.divide %598, %599 : tensor<1x1xf32>
    %601 = stablehlo.broadcast_in_dim %600, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %602 = stablehlo.subtract %596, %601 : tensor<1x768xf32>
    %603 = stablehlo.multiply %602, %602 : tensor<1x768xf32>
    %cst_177 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %604 = stablehlo.reduce(%603 init: %cst_177) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %605 = stablehlo.broadcast_in_dim %604, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_178 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %606 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %607 = stablehlo.divide %605, %606 : tensor<1x1xf32>
    %cst_179 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %608 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %609 = stablehlo.add %607, %608 : tensor<1x1xf32>
    %610 = stablehlo.rsqrt %609 : tensor<1x1xf32>
    %611 = stablehlo.broadcast_in_dim %610, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %612 = stablehlo.multiply %602, %611 : tensor<1x768xf32>
    %613 = stablehlo.broadcast_in_dim %arg77, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %614 = stablehlo.multiply %612, %613 : tensor<1x768xf32>
    %615 = stablehlo.broadcast_in_dim %arg76, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %616 = stablehlo.add %614, %615 : tensor<1x768xf32>
    %617 = stablehlo.dot_general %616, %arg83, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %618 = stablehlo.broadcast_in_dim %arg82, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %619 = stablehlo.add %617, %618 : tensor<1x2304xf32>
    %620 = stablehlo.slice %619 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %621 = stablehlo.slice %619 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %622 = stablehlo.slice %619 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %623 = stablehlo.reshape %621 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_180 = stablehlo.constant dense<0> : tensor<i32>
    %624 = stablehlo.compare LT, %arg173, %c_180, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_181 = stablehlo.constant dense<1024> : tensor<i32>
    %625 = stablehlo.add %arg173, %c_181 : tensor<i32>
    %626 = stablehlo.select %624, %625, %arg173 : tensor<i1>, tensor<i32>
    %c_182 = stablehlo.constant dense<0> : tensor<i32>
    %c_183 = stablehlo.constant dense<0> : tensor<i32>
    %c_184 = stablehlo.constant dense<0> : tensor<i32>
    %627 = stablehlo.dynamic_update_slice %arg160, %623, %c_182, %c_183, %626, %c_184 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %628 = stablehlo.reshape %622 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_185 = stablehlo.constant dense<0> : tensor<i32>
    %629 = stablehlo.compare LT, %arg173, %c_185, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_186 = stablehlo.constant dense<1024> : tensor<i32>
    %630 = stablehlo.add %arg173, %c_186 : tensor<i32>
    %631 = stablehlo.select %629, %630, %arg173 : tensor<i1>, tensor<i32>
    %c_187 = stablehlo.constant dense<0> : tensor<i32>
    %c_188 = stablehlo.constant dense<0> : tensor<i32>
    %c_189 = stablehlo.constant dense<0> : tensor<i32>
    %632 = stablehlo.dynamic_update_slice %arg161, %628, %c_187, %c_188, %631, %c_189 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %633 = stablehlo.reshape %620 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %634 = stablehlo.dot_general %633, %627, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_190 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %635 = stablehlo.broadcast_in_dim %cst_190, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %636 = stablehlo.multiply %634, %635 : tensor<1x12x1024xf32>
    %cst_191 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %637 = call @_where(%20, %636, %cst_191) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_192 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %638 = stablehlo.reduce(%637 init: %cst_192) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %639 = stablehlo.broadcast_in_dim %638, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %640 = stablehlo.broadcast_in_dim %639, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %641 = stablehlo.subtract %637, %640 : tensor<1x12x1024xf32>
    %642 = stablehlo.exponential %641 : tensor<1x12x1024xf32>
    %cst_193 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %643 = stablehlo.reduce(%642 init: %cst_193) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %644 = stablehlo.broadcast_in_dim %643, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %645 = stablehlo.broadcast_in_dim %644, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %646 = stablehlo.divide %642, %645 : tensor<1x12x1024xf32>
    %647 = stablehlo.dot_general %646, %632, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %648 = stablehlo.reshape %647 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %649 = stablehlo.dot_general %648, %arg81, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %650 = stablehlo.add %596, %649 : tensor<1x768xf32>
    %651 = stablehlo.broadcast_in_dim %arg80, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %652 = stablehlo.add %650, %651 : tensor<1x768xf32>
    %cst_194 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %653 = stablehlo.reduce(%652 init: %cst_194) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %654 = stablehlo.broadcast_in_dim %653, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_195 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %655 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %656 = stablehlo.divide %654, %655 : tensor<1x1xf32>
    %657 = stablehlo.broadcast_in_dim %656, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %658 = stablehlo.subtract %652, %657 : tensor<1x768xf32>
    %659 = stablehlo.multiply %658, %658 : tensor<1x768xf32>
    %cst_196 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %660 = stablehlo.reduce(%659 init: %cst_196) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %661 = stablehlo.broadcast_in_dim %660, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_197 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %662 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %663 = stablehlo.divide %661, %662 : tensor<1x1xf32>
    %cst_198 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %664 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %665 = stablehlo.add %663, %664 : tensor<1x1xf32>
    %666 = stablehlo.rsqrt %665 : tensor<1x1xf32>
    %667 = stablehlo.broadcast_in_dim %666, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %668 = stablehlo.multiply %658, %667 : tensor<1x768xf32>
    %669 = stablehlo.broadcast_in_dim %arg79, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %670 = stablehlo.multiply %668, %669 : tensor<1x768xf32>
    %671 = stablehlo.broadcast_in_dim %arg78, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %672 = stablehlo.add %670, %671 : tensor<1x768xf32>
    %673 = stablehlo.dot_general %672, %arg75, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %674 = stablehlo.broadcast_in_dim %arg74, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %675 = stablehlo.add %673, %674 : tensor<1x3072xf32>
    %cst_199 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %676 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %677 = stablehlo.multiply %676, %675 : tensor<1x3072xf32>
    %cst_200 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %678 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %679 = stablehlo.multiply %678, %675 : tensor<1x3072xf32>
    %680 = stablehlo.multiply %679, %675 : tensor<1x3072xf32>
    %681 = stablehlo.multiply %680, %675 : tensor<1x3072xf32>
    %682 = stablehlo.add %675, %681 : tensor<1x3072xf32>
    %cst_201 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %683 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %684 = stablehlo.multiply %683, %682 : tensor<1x3072xf32>
    %685 = stablehlo.tanh %684 : tensor<1x3072xf32>
    %cst_202 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %686 = stablehlo.broadcast_in_dim %cst_202, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %687 = stablehlo.add %686, %685 : tensor<1x3072xf32>
    %688 = stablehlo.multiply %677, %687 : tensor<1x3072xf32>
    %689 = stablehlo.dot_general %688, %arg73, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %690 = stablehlo.add %652, %689 : tensor<1x768xf32>
    %691 = stablehlo.broadcast_in_dim %arg72, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %692 = stablehlo.add %690, %691 : tensor<1x768xf32>
    %cst_203 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %693 = stablehlo.reduce(%692 init: %cst_203) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %694 = stablehlo.broadcast_in_dim %693, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_204 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %695 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %696 = stablehlo.divide %694, %695 : tensor<1x1xf32>
    %697 = stablehlo.broadcast_in_dim %696, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %698 = stablehlo.subtract %692, %697 : tensor<1x768xf32>
    %699 = stablehlo.multiply %698, %698 : tensor<1x768xf32>
    %cst_205 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %700 = stablehlo.reduce(%699 init: %cst_205) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %701 = stablehlo.broadcast_in_dim %700, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_206 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %702 = stablehlo.broadcast_in_dim %cst_206, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %703 = stablehlo.divide %701, %702 : tensor<1x1xf32>
    %cst_207 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %704 = stablehlo.broadcast_in_dim %cst_207, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %705 = stablehlo.add %703, %704 : tensor<1x1xf32>
    %706 = stablehlo.rsqrt %705 : tensor<1x1xf32>
    %707 = stablehlo.broadcast_in_dim %706, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %708 = stablehlo.multiply %698, %707 : tensor<1x768xf32>
    %709 = stablehlo.broadcast_in_dim %arg89, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %710 = stablehlo.multiply %708, %709 : tensor<1x768xf32>
    %711 = stablehlo.broadcast_in_dim %arg88, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %712 = stablehlo.add %710, %711 : tensor<1x768xf32>
    %713 = stablehlo.dot_general %712, %arg95, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %714 = stablehlo.broadcast_in_dim %arg94, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %715 = stablehlo.add %713, %714 : tensor<1x2304xf32>
    %716 = stablehlo.slice %715 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %717 = stablehlo.slice %715 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %718 = stablehlo.slice %715 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %719 = stablehlo.reshape %717 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_208 = stablehlo.constant dense<0> : tensor<i32>
    %720 = stablehlo.compare LT, %arg173, %c_208, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_209 = stablehlo.constant dense<1024> : tensor<i32>
    %721 = stablehlo.add %arg173, %c_209 : tensor<i32>
    %722 = stablehlo.select %720, %721, %arg173 : tensor<i1>, tensor<i32>
    %c_210 = stablehlo.constant dense<0> : tensor<i32>
    %c_211 = stablehlo.constant dense<0> : tensor<i32>
    %c_212 = stablehlo.constant dense<0> : tensor<i32>
    %723 = stablehlo.dynamic_update_slice %arg162, %719, %c_210, %c_211, %722, %c_212 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %724 = stablehlo.reshape %718 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_213 = stablehlo.constant dense<0> : tensor<i32>
    %725 = stablehlo.compare LT, %arg173, %c_213, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_214 = stablehlo.constant dense<1024> : tensor<i32>
    %726 = stablehlo.add %arg173, %c_214 : tensor<i32>
    %727 = stablehlo.select %725, %726, %arg173 : tensor<i1>, tensor<i32>
    %c_215 = stablehlo.constant dense<0> : tensor<i32>
    %c_216 = stablehlo.constant dense<0> : tensor<i32>
    %c_217 = stablehlo.constant dense<0> : tensor<i32>
    %728 = stablehlo.dynamic_update_slice %arg163, %724, %c_215, %c_216, %727, %c_217 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %729 = stablehlo.reshape %716 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %730 = stablehlo.dot_general %729, %723, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_218 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %731 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %732 = stablehlo.multiply %730, %731 : tensor<1x12x1024xf32>
    %cst_219 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %733 = call @_where(%20, %732, %cst_219) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_220 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %734 = stablehlo.reduce(%733 init: %cst_220) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %735 = stablehlo.broadcast_in_dim %734, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %736 = stablehlo.broadcast_in_dim %735, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %737 = stablehlo.subtract %733, %736 : tensor<1x12x1024xf32>
    %738 = stablehlo.exponential %737 : tensor<1x12x1024xf32>
    %cst_221 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %739 = stablehlo.reduce(%738 init: %cst_221) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %740 = stablehlo.broadcast_in_dim %739, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %741 = stablehlo.broadcast_in_dim %740, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %742 = stablehlo.divide %738, %741 : tensor<1x12x1024xf32>
    %743 = stablehlo.dot_general %742, %728, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %744 = stablehlo.reshape %743 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %745 = stablehlo.dot_general %744, %arg93, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %746 = stablehlo.add %692, %745 : tensor<1x768xf32>
    %747 = stablehlo.broadcast_in_dim %arg92, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %748 = stablehlo.add %746, %747 : tensor<1x768xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %749 = stablehlo.reduce(%748 init: %cst_222) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %750 = stablehlo.broadcast_in_dim %749, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_223 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %751 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %752 = stablehlo.divide %750, %751 : tensor<1x1xf32>
    %753 = stablehlo.broadcast_in_dim %752, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %754 = stablehlo.subtract %748, %753 : tensor<1x768xf32>
    %755 = stablehlo.multiply %754, %754 : tensor<1x768xf32>
    %cst_224 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %756 = stablehlo.reduce(%755 init: %cst_224) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %757 = stablehlo.broadcast_in_dim %756, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_225 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %758 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %759 = stablehlo.divide %757, %758 : tensor<1x1xf32>
    %cst_226 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %760 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %761 = stablehlo.add %759, %760 : tensor<1x1xf32>
    %762 = stablehlo.rsqrt %761 : tensor<1x1xf32>
    %763 = stablehlo.broadcast_in_dim %762, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %764 = stablehlo.multiply %754, %763 : tensor<1x768xf32>
    %765 = stablehlo.broadcast_in_dim %arg91, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %766 = stablehlo.multiply %764, %765 : tensor<1x768xf32>
    %767 = stablehlo.broadcast_in_dim %arg90, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %768 = stablehlo.add %766, %767 : tensor<1x768xf32>
    %769 = stablehlo.dot_general %768, %arg87, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %770 = stablehlo.broadcast_in_dim %arg86, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %771 = stablehlo.add %769, %770 : tensor<1x3072xf32>
    %cst_227 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %772 = stablehlo.broadcast_in_dim %cst_227, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %773 = stablehlo.multiply %772, %771 : tensor<1x3072xf32>
    %cst_228 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %774 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %775 = stablehlo.multiply %774, %771 : tensor<1x3072xf32>
    %776 = stablehlo.multiply %775, %771 : tensor<1x3072xf32>
    %777 = stablehlo.multiply %776, %771 : tensor<1x3072xf32>
    %778 = stablehlo.add %771, %777 : tensor<1x3072xf32>
    %cst_229 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %779 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %780 = stablehlo.multiply %779, %778 : tensor<1x3072xf32>
    %781 = stablehlo.tanh %780 : tensor<1x3072xf32>
    %cst_230 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %782 = stablehlo.broadcast_in_dim %cst_230, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %783 = stablehlo.add %782, %781 : tensor<1x3072xf32>
    %784 = stablehlo.multiply %773, %783 : tensor<1x3072xf32>
    %785 = stablehlo.dot_general %784, %arg85, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %786 = stablehlo.add %748, %785 : tensor<1x768xf32>
    %787 = stablehlo.broadcast_in_dim %arg84, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %788 = stablehlo.add %786, %787 : tensor<1x768xf32>
    %cst_231 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %789 = stablehlo.reduce(%788 init: %cst_231) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %790 = stablehlo.broadcast_in_dim %789, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_232 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %791 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %792 = stablehlo.divide %790, %791 : tensor<1x1xf32>
    %793 = stablehlo.broadcast_in_dim %792, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %794 = stablehlo.subtract %788, %793 : tensor<1x768xf32>
    %795 = stablehlo.multiply %794, %794 : tensor<1x768xf32>
    %cst_233 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %796 = stablehlo.reduce(%795 init: %cst_233) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %797 = stablehlo.broadcast_in_dim %796, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_234 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %798 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %799 = stablehlo.divide %797, %798 : tensor<1x1xf32>
    %cst_235 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %800 = stablehlo.broadcast_in_dim %cst_235, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %801 = stablehlo.add %799, %800 : tensor<1x1xf32>
    %802 = stablehlo.rsqrt %801 : tensor<1x1xf32>
    %803 = stablehlo.broadcast_in_dim %802, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %804 = stablehlo.multiply %794, %803 : tensor<1x768xf32>
    %805 = stablehlo.broadcast_in_dim %arg101, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %806 = stablehlo.multiply %804, %805 : tensor<1x768xf32>
    %807 = stablehlo.broadcast_in_dim %arg100, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %808 = stablehlo.add %806, %807 : tensor<1x768xf32>
    %809 = stablehlo.dot_general %808, %arg107, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %810 = stablehlo.broadcast_in_dim %arg106, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %811 = stablehlo.add %809, %810 : tensor<1x2304xf32>
    %812 = stablehlo.slice %811 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %813 = stablehlo.slice %811 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %814 = stablehlo.slice %811 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %815 = stablehlo.reshape %813 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_236 = stablehlo.constant dense<0> : tensor<i32>
    %816 = stablehlo.compare LT, %arg173, %c_236, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_237 = stablehlo.constant dense<1024> : tensor<i32>
    %817 = stablehlo.add %arg173, %c_237 : tensor<i32>
    %818 = stablehlo.select %816, %817, %arg173 : tensor<i1>, tensor<i32>
    %c_238 = stablehlo.constant dense<0> : tensor<i32>
    %c_239 = stablehlo.constant dense<0> : tensor<i32>
    %c_240 = stablehlo.constant dense<0> : tensor<i32>
    %819 = stablehlo.dynamic_update_slice %arg164, %815, %c_238, %c_239, %818, %c_240 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %820 = stablehlo.reshape %814 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_241 = stablehlo.constant dense<0> : tensor<i32>
    %821 = stablehlo.compare LT, %arg173, %c_241, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_242 = stablehlo.constant dense<1024> : tensor<i32>
    %822 = stablehlo.add %arg173, %c_242 : tensor<i32>
    %823 = stablehlo.select %821, %822, %arg173 : tensor<i1>, tensor<i32>
    %c_243 = stablehlo.constant dense<0> : tensor<i32>
    %c_244 = stablehlo.constant dense<0> : tensor<i32>
    %c_245 = stablehlo.constant dense<0> : tensor<i32>
    %824 = stablehlo.dynamic_update_slice %arg165, %820, %c_243, %c_244, %823, %c_245 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %825 = stablehlo.reshape %812 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %826 = stablehlo.dot_general %825, %819, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_246 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %827 = stablehlo.broadcast_in_dim %cst_246, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %828 = stablehlo.multiply %826, %827 : tensor<1x12x1024xf32>
    %cst_247 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %829 = call @_where(%20, %828, %cst_247) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_248 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %830 = stablehlo.reduce(%829 init: %cst_248) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %831 = stablehlo.broadcast_in_dim %830, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %832 = stablehlo.broadcast_in_dim %831, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %833 = stablehlo.subtract %829, %832 : tensor<1x12x1024xf32>
    %834 = stablehlo.exponential %833 : tensor<1x12x1024xf32>
    %cst_249 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %835 = stablehlo.reduce(%834 init: %cst_249) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %836 = stablehlo.broadcast_in_dim %835, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %837 = stablehlo.broadcast_in_dim %836, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %838 = stablehlo.divide %834, %837 : tensor<1x12x1024xf32>
    %839 = stablehlo.dot_general %838, %824, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %840 = stablehlo.reshape %839 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %841 = stablehlo.dot_general %840, %arg105, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %842 = stablehlo.add %788, %841 : tensor<1x768xf32>
    %843 = stablehlo.broadcast_in_dim %arg104, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %844 = stablehlo.add %842, %843 : tensor<1x768xf32>
    %cst_250 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %845 = stablehlo.reduce(%844 init: %cst_250) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %846 = stablehlo.broadcast_in_dim %845, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_251 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %847 = stablehlo.broadcast_in_dim %cst_251, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %848 = stablehlo.divide %846, %847 : tensor<1x1xf32>
    %849 = stablehlo.broadcast_in_dim %848, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %850 = stablehlo.subtract %844, %849 : tensor<1x768xf32>
    %851 = stablehlo.multiply %850, %850 : tensor<1x768xf32>
    %cst_252 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %852 = stablehlo.reduce(%851 init: %cst_252) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %853 = stablehlo.broadcast_in_dim %852, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_253 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %854 = stablehlo.broadcast_in_dim %cst_253, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %855 = stablehlo.divide %853, %854 : tensor<1x1xf32>
    %cst_254 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %856 = stablehlo.broadcast_in_dim %cst_254, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %857 = stablehlo.add %855, %856 : tensor<1x1xf32>
    %858 = stablehlo.rsqrt %857 : tensor<1x1xf32>
    %859 = stablehlo.broadcast_in_dim %858, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %860 = stablehlo.multiply %850, %859 : tensor<1x768xf32>
    %861 = stablehlo.broadcast_in_dim %arg103, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %862 = stablehlo.multiply %860, %861 : tensor<1x768xf32>
    %863 = stablehlo.broadcast_in_dim %arg102, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %864 = stablehlo.add %862, %863 : tensor<1x768xf32>
    %865 = stablehlo.dot_general %864, %arg99, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %866 = stablehlo.broadcast_in_dim %arg98, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %867 = stablehlo.add %865, %866 : tensor<1x3072xf32>
    %cst_255 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %868 = stablehlo.broadcast_in_dim %cst_255, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %869 = stablehlo.multiply %868, %867 : tensor<1x3072xf32>
    %cst_256 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %870 = stablehlo.broadcast_in_dim %cst_256, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %871 = stablehlo.multiply %870, %867 : tensor<1x3072xf32>
    %872 = stablehlo.multiply %871, %867 : tensor<1x3072xf32>
    %873 = stablehlo.multiply %872, %867 : tensor<1x3072xf32>
    %874 = stablehlo.add %867, %873 : tensor<1x3072xf32>
    %cst_257 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %875 = stablehlo.broadcast_in_dim %cst_257, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %876 = stablehlo.multiply %875, %874 : tensor<1x3072xf32>
    %877 = stablehlo.tanh %876 : tensor<1x3072xf32>
    %cst_258 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %878 = stablehlo.broadcast_in_dim %cst_258, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %879 = stablehlo.add %878, %877 : tensor<1x3072xf32>
    %880 = stablehlo.multiply %869, %879 : tensor<1x3072xf32>
    %881 = stablehlo.dot_general %880, %arg97, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %882 = stablehlo.add %844, %881 : tensor<1x768xf32>
    %883 = stablehlo.broadcast_in_dim %arg96, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %884 = stablehlo.add %882, %883 : tensor<1x768xf32>
    %cst_259 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %885 = stablehlo.reduce(%884 init: %cst_259) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %886 = stablehlo.broadcast_in_dim %885, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_260 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %887 = stablehlo.broadcast_in_dim %cst_260, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %888 = stablehlo.divide %886, %887 : tensor<1x1xf32>
    %889 = stablehlo.broadcast_in_dim %888, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %890 = stablehlo.subtract %884, %889 : tensor<1x768xf32>
    %891 = stablehlo.multiply %890, %890 : tensor<1x768xf32>
    %cst_261 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %892 = stablehlo.reduce(%891 init: %cst_261) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %893 = stablehlo.broadcast_in_dim %892, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_262 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %894 = stablehlo.broadcast_in_dim %cst_262, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %895 = stablehlo.divide %893, %894 : tensor<1x1xf32>
    %cst_263 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %896 = stablehlo.broadcast_in_dim %cst_263, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %897 = stablehlo.add %895, %896 : tensor<1x1xf32>
    %898 = stablehlo.rsqrt %897 : tensor<1x1xf32>
    %899 = stablehlo.broadcast_in_dim %898, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %900 = stablehlo.multiply %890, %899 : tensor<1x768xf32>
    %901 = stablehlo.broadcast_in_dim %arg113, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %902 = stablehlo.multiply %900, %901 : tensor<1x768xf32>
    %903 = stablehlo.broadcast_in_dim %arg112, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %904 = stablehlo.add %902, %903 : tensor<1x768xf32>
    %905 = stablehlo.dot_general %904, %arg119, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %906 = stablehlo.broadcast_in_dim %arg118, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %907 = stablehlo.add %905, %906 : tensor<1x2304xf32>
    %908 = stablehlo.slice %907 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %909 = stablehlo.slice %907 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %910 = stablehlo.slice %907 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %911 = stablehlo.reshape %909 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_264 = stablehlo.constant dense<0> : tensor<i32>
    %912 = stablehlo.compare LT, %arg173, %c_264, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_265 = stablehlo.constant dense<1024> : tensor<i32>
    %913 = stablehlo.add %arg173, %c_265 : tensor<i32>
    %914 = stablehlo.select %912, %913, %arg173 : tensor<i1>, tensor<i32>
    %c_266 = stablehlo.constant dense<0> : tensor<i32>
    %c_267 = stablehlo.constant dense<0> : tensor<i32>
    %c_268 = stablehlo.constant dense<0> : tensor<i32>
    %915 = stablehlo.dynamic_update_slice %arg166, %911, %c_266, %c_267, %914, %c_268 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %916 = stablehlo.reshape %910 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_269 = stablehlo.constant dense<0> : tensor<i32>
    %917 = stablehlo.compare LT, %arg173, %c_269, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_270 = stablehlo.constant dense<1024> : tensor<i32>
    %918 = stablehlo.add %arg173, %c_270 : tensor<i32>
    %919 = stablehlo.select %917, %918, %arg173 : tensor<i1>, tensor<i32>
    %c_271 = stablehlo.constant dense<0> : tensor<i32>
    %c_272 = stablehlo.constant dense<0> : tensor<i32>
    %c_273 = stablehlo.constant dense<0> : tensor<i32>
    %920 = stablehlo.dynamic_update_slice %arg167, %916, %c_271, %c_272, %919, %c_273 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %921 = stablehlo.reshape %908 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %922 = stablehlo.dot_general %921, %915, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_274 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %923 = stablehlo.broadcast_in_dim %cst_274, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %924 = stablehlo.multiply %922, %923 : tensor<1x12x1024xf32>
    %cst_275 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %925 = call @_where(%20, %924, %cst_275) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_276 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %926 = stablehlo.reduce(%925 init: %cst_276) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %927 = stablehlo.broadcast_in_dim %926, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %928 = stablehlo.broadcast_in_dim %927, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %929 = stablehlo.subtract %925, %928 : tensor<1x12x1024xf32>
    %930 = stablehlo.exponential %929 : tensor<1x12x1024xf32>
    %cst_277 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %931 = stablehlo.reduce(%930 init: %cst_277) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %932 = stablehlo.broadcast_in_dim %931, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %933 = stablehlo.broadcast_in_dim %932, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %934 = stablehlo.divide %930, %933 : tensor<1x12x1024xf32>
    %935 = stablehlo.dot_general %934, %920, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %936 = stablehlo.reshape %935 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %937 = stablehlo.dot_general %936, %arg117, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %938 = stablehlo.add %884, %937 : tensor<1x768xf32>
    %939 = stablehlo.broadcast_in_dim %arg116, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %940 = stablehlo.add %938, %939 : tensor<1x768xf32>
    %cst_278 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %941 = stablehlo.reduce(%940 init: %cst_278) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %942 = stablehlo.broadcast_in_dim %941, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_279 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %943 = stablehlo.broadcast_in_dim %cst_279, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %944 = stablehlo.divide %942, %943 : tensor<1x1xf32>
    %945 = stablehlo.broadcast_in_dim %944, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %946 = stablehlo.subtract %940, %945 : tensor<1x768xf32>
    %947 = stablehlo.multiply %946, %946 : tensor<1x768xf32>
    %cst_280 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %948 = stablehlo.reduce(%947 init: %cst_280) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %949 = stablehlo.broadcast_in_dim %948, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_281 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %950 = stablehlo.broadcast_in_dim %cst_281, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %951 = stablehlo.divide %949, %950 : tensor<1x1xf32>
    %cst_282 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %952 = stablehlo.broadcast_in_dim %cst_282, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %953 = stablehlo.add %951, %952 : tensor<1x1xf32>
    %954 = stablehlo.rsqrt %953 : tensor<1x1xf32>
    %955 = stablehlo.broadcast_in_dim %954, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %956 = stablehlo.multiply %946, %955 : tensor<1x768xf32>
    %957 = stablehlo.broadcast_in_dim %arg115, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %958 = stablehlo.multiply %956, %957 : tensor<1x768xf32>
    %959 = stablehlo.broadcast_in_dim %arg114, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %960 = stablehlo.add %958, %959 : tensor<1x768xf32>
    %961 = stablehlo.dot_general %960, %arg111, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %962 = stablehlo.broadcast_in_dim %arg110, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %963 = stablehlo.add %961, %962 : tensor<1x3072xf32>
    %cst_283 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %964 = stablehlo.broadcast_in_dim %cst_283, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %965 = stablehlo.multiply %964, %963 : tensor<1x3072xf32>
    %cst_284 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %966 = stablehlo.broadcast_in_dim %cst_284, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %967 = stablehlo.multiply %966, %963 : tensor<1x3072xf32>
    %968 = stablehlo.multiply %967, %963 : tensor<1x3072xf32>
    %969 = stablehlo.multiply %968, %963 : tensor<1x3072xf32>
    %970 = stablehlo.add %963, %969 : tensor<1x3072xf32>
    %cst_285 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %971 = stablehlo.broadcast_in_dim %cst_285, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %972 = stablehlo.multiply %971, %970 : tensor<1x3072xf32>
    %973 = stablehlo.tanh %972 : tensor<1x3072xf32>
    %cst_286 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %974 = stablehlo.broadcast_in_dim %cst_286, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %975 = stablehlo.add %974, %973 : tensor<1x3072xf32>
    %976 = stablehlo.multiply %965, %975 : tensor<1x3072xf32>
    %977 = stablehlo.dot_general %976, %arg109, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %978 = stablehlo.add %940, %977 : tensor<1x768xf32>
    %979 = stablehlo.broadcast_in_dim %arg108, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %980 = stablehlo.add %978, %979 : tensor<1x768xf32>
    %cst_287 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %981 = stablehlo.reduce(%980 init: %cst_287) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %982 = stablehlo.broadcast_in_dim %981, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_288 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %983 = stablehlo.broadcast_in_dim %cst_288, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %984 = stablehlo.divide %982, %983 : tensor<1x1xf32>
    %985 = stablehlo.broadcast_in_dim %984, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %986 = stablehlo.subtract %980, %985 : tensor<1x768xf32>
    %987 = stablehlo.multiply %986, %986 : tensor<1x768xf32>
    %cst_289 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %988 = stablehlo.reduce(%987 init: %cst_289) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %989 = stablehlo.broadcast_in_dim %988, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_290 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %990 = stablehlo.broadcast_in_dim %cst_290, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %991 = stablehlo.divide %989, %990 : tensor<1x1xf32>
    %cst_291 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %992 = stablehlo.broadcast_in_dim %cst_291, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %993 = stablehlo.add %991, %992 : tensor<1x1xf32>
    %994 = stablehlo.rsqrt %993 : tensor<1x1xf32>
    %995 = stablehlo.broadcast_in_dim %994, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %996 = stablehlo.multiply %986, %995 : tensor<1x768xf32>
    %997 = stablehlo.broadcast_in_dim %arg125, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %998 = stablehlo.multiply %996, %997 : tensor<1x768xf32>
    %999 = stablehlo.broadcast_in_dim %arg124, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1000 = stablehlo.add %998, %999 : tensor<1x768xf32>
    %1001 = stablehlo.dot_general %1000, %arg131, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %1002 = stablehlo.broadcast_in_dim %arg130, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %1003 = stablehlo.add %1001, %1002 : tensor<1x2304xf32>
    %1004 = stablehlo.slice %1003 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %1005 = stablehlo.slice %1003 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %1006 = stablehlo.slice %1003 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %1007 = stablehlo.reshape %1005 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_292 = stablehlo.constant dense<0> : tensor<i32>
    %1008 = stablehlo.compare LT, %arg173, %c_292, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_293 = stablehlo.constant dense<1024> : tensor<i32>
    %1009 = stablehlo.add %arg173, %c_293 : tensor<i32>
    %1010 = stablehlo.select %1008, %1009, %arg173 : tensor<i1>, tensor<i32>
    %c_294 = stablehlo.constant dense<0> : tensor<i32>
    %c_295 = stablehlo.constant dense<0> : tensor<i32>
    %c_296 = stablehlo.constant dense<0> : tensor<i32>
    %1011 = stablehlo.dynamic_update_slice %arg168, %1007, %c_294, %c_295, %1010, %c_296 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %1012 = stablehlo.reshape %1006 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_297 = stablehlo.constant dense<0> : tensor<i32>
    %1013 = stablehlo.compare LT, %arg173, %c_297, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_298 = stablehlo.constant dense<1024> : tensor<i32>
    %1014 = stablehlo.add %arg173, %c_298 : tensor<i32>
    %1015 = stablehlo.select %1013, %1014, %arg173 : tensor<i1>, tensor<i32>
    %c_299 = stablehlo.constant dense<0> : tensor<i32>
    %c_300 = stablehlo.constant dense<0> : tensor<i32>
    %c_301 = stablehlo.constant dense<0> : tensor<i32>
    %1016 = stablehlo.dynamic_update_slice %arg169, %1012, %c_299, %c_300, %1015, %c_301 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %1017 = stablehlo.reshape %1004 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %1018 = stablehlo.dot_general %1017, %1011, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_302 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1019 = stablehlo.broadcast_in_dim %cst_302, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %1020 = stablehlo.multiply %1018, %1019 : tensor<1x12x1024xf32>
    %cst_303 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1021 = call @_where(%20, %1020, %cst_303) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_304 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1022 = stablehlo.reduce(%1021 init: %cst_304) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %1023 = stablehlo.broadcast_in_dim %1022, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %1024 = stablehlo.broadcast_in_dim %1023, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %1025 = stablehlo.subtract %1021, %1024 : tensor<1x12x1024xf32>
    %1026 = stablehlo.exponential %1025 : tensor<1x12x1024xf32>
    %cst_305 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1027 = stablehlo.reduce(%1026 init: %cst_305) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %1028 = stablehlo.broadcast_in_dim %1027, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %1029 = stablehlo.broadcast_in_dim %1028, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %1030 = stablehlo.divide %1026, %1029 : tensor<1x12x1024xf32>
    %1031 = stablehlo.dot_general %1030, %1016, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %1032 = stablehlo.reshape %1031 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %1033 = stablehlo.dot_general %1032, %arg129, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %1034 = stablehlo.add %980, %1033 : tensor<1x768xf32>
    %1035 = stablehlo.broadcast_in_dim %arg128, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1036 = stablehlo.add %1034, %1035 : tensor<1x768xf32>
    %cst_306 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1037 = stablehlo.reduce(%1036 init: %cst_306) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1038 = stablehlo.broadcast_in_dim %1037, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_307 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1039 = stablehlo.broadcast_in_dim %cst_307, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1040 = stablehlo.divide %1038, %1039 : tensor<1x1xf32>
    %1041 = stablehlo.broadcast_in_dim %1040, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1042 = stablehlo.subtract %1036, %1041 : tensor<1x768xf32>
    %1043 = stablehlo.multiply %1042, %1042 : tensor<1x768xf32>
    %cst_308 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1044 = stablehlo.reduce(%1043 init: %cst_308) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1045 = stablehlo.broadcast_in_dim %1044, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_309 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1046 = stablehlo.broadcast_in_dim %cst_309, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1047 = stablehlo.divide %1045, %1046 : tensor<1x1xf32>
    %cst_310 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1048 = stablehlo.broadcast_in_dim %cst_310, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1049 = stablehlo.add %1047, %1048 : tensor<1x1xf32>
    %1050 = stablehlo.rsqrt %1049 : tensor<1x1xf32>
    %1051 = stablehlo.broadcast_in_dim %1050, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1052 = stablehlo.multiply %1042, %1051 : tensor<1x768xf32>
    %1053 = stablehlo.broadcast_in_dim %arg127, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1054 = stablehlo.multiply %1052, %1053 : tensor<1x768xf32>
    %1055 = stablehlo.broadcast_in_dim %arg126, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1056 = stablehlo.add %1054, %1055 : tensor<1x768xf32>
    %1057 = stablehlo.dot_general %1056, %arg123, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %1058 = stablehlo.broadcast_in_dim %arg122, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %1059 = stablehlo.add %1057, %1058 : tensor<1x3072xf32>
    %cst_311 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1060 = stablehlo.broadcast_in_dim %cst_311, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1061 = stablehlo.multiply %1060, %1059 : tensor<1x3072xf32>
    %cst_312 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1062 = stablehlo.broadcast_in_dim %cst_312, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1063 = stablehlo.multiply %1062, %1059 : tensor<1x3072xf32>
    %1064 = stablehlo.multiply %1063, %1059 : tensor<1x3072xf32>
    %1065 = stablehlo.multiply %1064, %1059 : tensor<1x3072xf32>
    %1066 = stablehlo.add %1059, %1065 : tensor<1x3072xf32>
    %cst_313 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1067 = stablehlo.broadcast_in_dim %cst_313, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1068 = stablehlo.multiply %1067, %1066 : tensor<1x3072xf32>
    %1069 = stablehlo.tanh %1068 : tensor<1x3072xf32>
    %cst_314 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1070 = stablehlo.broadcast_in_dim %cst_314, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1071 = stablehlo.add %1070, %1069 : tensor<1x3072xf32>
    %1072 = stablehlo.multiply %1061, %1071 : tensor<1x3072xf32>
    %1073 = stablehlo.dot_general %1072, %arg121, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %1074 = stablehlo.add %1036, %1073 : tensor<1x768xf32>
    %1075 = stablehlo.broadcast_in_dim %arg120, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1076 = stablehlo.add %1074, %1075 : tensor<1x768xf32>
    %cst_315 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1077 = stablehlo.reduce(%1076 init: %cst_315) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1078 = stablehlo.broadcast_in_dim %1077, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_316 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1079 = stablehlo.broadcast_in_dim %cst_316, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1080 = stablehlo.divide %1078, %1079 : tensor<1x1xf32>
    %1081 = stablehlo.broadcast_in_dim %1080, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1082 = stablehlo.subtract %1076, %1081 : tensor<1x768xf32>
    %1083 = stablehlo.multiply %1082, %1082 : tensor<1x768xf32>
    %cst_317 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1084 = stablehlo.reduce(%1083 init: %cst_317) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1085 = stablehlo.broadcast_in_dim %1084, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_318 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1086 = stablehlo.broadcast_in_dim %cst_318, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1087 = stablehlo.divide %1085, %1086 : tensor<1x1xf32>
    %cst_319 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1088 = stablehlo.broadcast_in_dim %cst_319, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1089 = stablehlo.add %1087, %1088 : tensor<1x1xf32>
    %1090 = stablehlo.rsqrt %1089 : tensor<1x1xf32>
    %1091 = stablehlo.broadcast_in_dim %1090, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1092 = stablehlo.multiply %1082, %1091 : tensor<1x768xf32>
    %1093 = stablehlo.broadcast_in_dim %arg137, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1094 = stablehlo.multiply %1092, %1093 : tensor<1x768xf32>
    %1095 = stablehlo.broadcast_in_dim %arg136, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1096 = stablehlo.add %1094, %1095 : tensor<1x768xf32>
    %1097 = stablehlo.dot_general %1096, %arg143, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x2304xf32>) -> tensor<1x2304xf32>
    %1098 = stablehlo.broadcast_in_dim %arg142, dims = [1] : (tensor<2304xf32>) -> tensor<1x2304xf32>
    %1099 = stablehlo.add %1097, %1098 : tensor<1x2304xf32>
    %1100 = stablehlo.slice %1099 [0:1, 0:768] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %1101 = stablehlo.slice %1099 [0:1, 768:1536] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %1102 = stablehlo.slice %1099 [0:1, 1536:2304] : (tensor<1x2304xf32>) -> tensor<1x768xf32>
    %1103 = stablehlo.reshape %1101 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_320 = stablehlo.constant dense<0> : tensor<i32>
    %1104 = stablehlo.compare LT, %arg173, %c_320, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_321 = stablehlo.constant dense<1024> : tensor<i32>
    %1105 = stablehlo.add %arg173, %c_321 : tensor<i32>
    %1106 = stablehlo.select %1104, %1105, %arg173 : tensor<i1>, tensor<i32>
    %c_322 = stablehlo.constant dense<0> : tensor<i32>
    %c_323 = stablehlo.constant dense<0> : tensor<i32>
    %c_324 = stablehlo.constant dense<0> : tensor<i32>
    %1107 = stablehlo.dynamic_update_slice %arg170, %1103, %c_322, %c_323, %1106, %c_324 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %1108 = stablehlo.reshape %1102 : (tensor<1x768xf32>) -> tensor<1x12x1x64xf32>
    %c_325 = stablehlo.constant dense<0> : tensor<i32>
    %1109 = stablehlo.compare LT, %arg173, %c_325, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_326 = stablehlo.constant dense<1024> : tensor<i32>
    %1110 = stablehlo.add %arg173, %c_326 : tensor<i32>
    %1111 = stablehlo.select %1109, %1110, %arg173 : tensor<i1>, tensor<i32>
    %c_327 = stablehlo.constant dense<0> : tensor<i32>
    %c_328 = stablehlo.constant dense<0> : tensor<i32>
    %c_329 = stablehlo.constant dense<0> : tensor<i32>
    %1112 = stablehlo.dynamic_update_slice %arg171, %1108, %c_327, %c_328, %1111, %c_329 : (tensor<1x12x1024x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1024x64xf32>
    %1113 = stablehlo.reshape %1100 : (tensor<1x768xf32>) -> tensor<1x12x64xf32>
    %1114 = stablehlo.dot_general %1113, %1107, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1024xf32>
    %cst_330 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1115 = stablehlo.broadcast_in_dim %cst_330, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %1116 = stablehlo.multiply %1114, %1115 : tensor<1x12x1024xf32>
    %cst_331 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1117 = call @_where(%20, %1116, %cst_331) : (tensor<1x1x1024xi1>, tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12x1024xf32>
    %cst_332 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1118 = stablehlo.reduce(%1117 init: %cst_332) applies stablehlo.maximum across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %1119 = stablehlo.broadcast_in_dim %1118, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %1120 = stablehlo.broadcast_in_dim %1119, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %1121 = stablehlo.subtract %1117, %1120 : tensor<1x12x1024xf32>
    %1122 = stablehlo.exponential %1121 : tensor<1x12x1024xf32>
    %cst_333 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1123 = stablehlo.reduce(%1122 init: %cst_333) applies stablehlo.add across dimensions = [2] : (tensor<1x12x1024xf32>, tensor<f32>) -> tensor<1x12xf32>
    %1124 = stablehlo.broadcast_in_dim %1123, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<1x12x1xf32>
    %1125 = stablehlo.broadcast_in_dim %1124, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1024xf32>
    %1126 = stablehlo.divide %1122, %1125 : tensor<1x12x1024xf32>
    %1127 = stablehlo.dot_general %1126, %1112, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x1024xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x64xf32>
    %1128 = stablehlo.reshape %1127 : (tensor<1x12x64xf32>) -> tensor<1x768xf32>
    %1129 = stablehlo.dot_general %1128, %arg141, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x768xf32>) -> tensor<1x768xf32>
    %1130 = stablehlo.add %1076, %1129 : tensor<1x768xf32>
    %1131 = stablehlo.broadcast_in_dim %arg140, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1132 = stablehlo.add %1130, %1131 : tensor<1x768xf32>
    %cst_334 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1133 = stablehlo.reduce(%1132 init: %cst_334) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1134 = stablehlo.broadcast_in_dim %1133, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_335 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1135 = stablehlo.broadcast_in_dim %cst_335, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1136 = stablehlo.divide %1134, %1135 : tensor<1x1xf32>
    %1137 = stablehlo.broadcast_in_dim %1136, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1138 = stablehlo.subtract %1132, %1137 : tensor<1x768xf32>
    %1139 = stablehlo.multiply %1138, %1138 : tensor<1x768xf32>
    %cst_336 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1140 = stablehlo.reduce(%1139 init: %cst_336) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1141 = stablehlo.broadcast_in_dim %1140, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_337 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1142 = stablehlo.broadcast_in_dim %cst_337, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1143 = stablehlo.divide %1141, %1142 : tensor<1x1xf32>
    %cst_338 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1144 = stablehlo.broadcast_in_dim %cst_338, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1145 = stablehlo.add %1143, %1144 : tensor<1x1xf32>
    %1146 = stablehlo.rsqrt %1145 : tensor<1x1xf32>
    %1147 = stablehlo.broadcast_in_dim %1146, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1148 = stablehlo.multiply %1138, %1147 : tensor<1x768xf32>
    %1149 = stablehlo.broadcast_in_dim %arg139, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1150 = stablehlo.multiply %1148, %1149 : tensor<1x768xf32>
    %1151 = stablehlo.broadcast_in_dim %arg138, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1152 = stablehlo.add %1150, %1151 : tensor<1x768xf32>
    %1153 = stablehlo.dot_general %1152, %arg135, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
    %1154 = stablehlo.broadcast_in_dim %arg134, dims = [1] : (tensor<3072xf32>) -> tensor<1x3072xf32>
    %1155 = stablehlo.add %1153, %1154 : tensor<1x3072xf32>
    %cst_339 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1156 = stablehlo.broadcast_in_dim %cst_339, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1157 = stablehlo.multiply %1156, %1155 : tensor<1x3072xf32>
    %cst_340 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1158 = stablehlo.broadcast_in_dim %cst_340, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1159 = stablehlo.multiply %1158, %1155 : tensor<1x3072xf32>
    %1160 = stablehlo.multiply %1159, %1155 : tensor<1x3072xf32>
    %1161 = stablehlo.multiply %1160, %1155 : tensor<1x3072xf32>
    %1162 = stablehlo.add %1155, %1161 : tensor<1x3072xf32>
    %cst_341 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1163 = stablehlo.broadcast_in_dim %cst_341, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1164 = stablehlo.multiply %1163, %1162 : tensor<1x3072xf32>
    %1165 = stablehlo.tanh %1164 : tensor<1x3072xf32>
    %cst_342 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1166 = stablehlo.broadcast_in_dim %cst_342, dims = [] : (tensor<f32>) -> tensor<1x3072xf32>
    %1167 = stablehlo.add %1166, %1165 : tensor<1x3072xf32>
    %1168 = stablehlo.multiply %1157, %1167 : tensor<1x3072xf32>
    %1169 = stablehlo.dot_general %1168, %arg133, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x768xf32>
    %1170 = stablehlo.add %1132, %1169 : tensor<1x768xf32>
    %1171 = stablehlo.broadcast_in_dim %arg132, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1172 = stablehlo.add %1170, %1171 : tensor<1x768xf32>
    %cst_343 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1173 = stablehlo.reduce(%1172 init: %cst_343) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1174 = stablehlo.broadcast_in_dim %1173, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_344 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1175 = stablehlo.broadcast_in_dim %cst_344, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1176 = stablehlo.divide %1174, %1175 : tensor<1x1xf32>
    %1177 = stablehlo.broadcast_in_dim %1176, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1178 = stablehlo.subtract %1172, %1177 : tensor<1x768xf32>
    %1179 = stablehlo.multiply %1178, %1178 : tensor<1x768xf32>
    %cst_345 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1180 = stablehlo.reduce(%1179 init: %cst_345) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1181 = stablehlo.broadcast_in_dim %1180, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_346 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1182 = stablehlo.broadcast_in_dim %cst_346, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1183 = stablehlo.divide %1181, %1182 : tensor<1x1xf32>
    %cst_347 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1184 = stablehlo.broadcast_in_dim %cst_347, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1185 = stablehlo.add %1183, %1184 : tensor<1x1xf32>
    %1186 = stablehlo.rsqrt %1185 : tensor<1x1xf32>
    %1187 = stablehlo.broadcast_in_dim %1186, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1188 = stablehlo.multiply %1178, %1187 : tensor<1x768xf32>
    %1189 = stablehlo.broadcast_in_dim %arg145, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1190 = stablehlo.multiply %1188, %1189 : tensor<1x768xf32>
    %1191 = stablehlo.broadcast_in_dim %arg144, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1192 = stablehlo.add %1190, %1191 : tensor<1x768xf32>
    %1193 = stablehlo.transpose %arg147, dims = [1, 0] : (tensor<50257x768xf32>) -> tensor<768x50257xf32>
    %1194 = stablehlo.dot_general %1192, %1193, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x50257xf32>) -> tensor<1x50257xf32>
    return %1194, %51, %56, %147, %152, %243, %248, %339, %344, %435, %440, %531, %536, %627, %632, %723, %728, %819, %824, %915, %920, %1011, %1016, %1107, %1112 : tensor<1x50257xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>
  }
  func.func private @_where(%arg0: tensor<1x1x1024xi1>, %arg1: tensor<1x12x1024xf32>, %arg2: tensor<f32>) -> tensor<1x12x1024xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<1x1x1024xi1>) -> tensor<1x12x1024xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x12x1024xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<1x12x1024xi1>, tensor<1x12x1024xf32>
    return %2 : tensor<1x12x1024xf32>
  }
}
