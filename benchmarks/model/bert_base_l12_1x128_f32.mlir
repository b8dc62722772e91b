module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<768xf32>, %arg1: tensor<3072x768xf32>, %arg2: tensor<3072xf32>, %arg3: tensor<768x3072xf32>, %arg4: tensor<768xf32>, %arg5: tensor<768x768xf32>, %arg6: tensor<768xf32>, %arg7: tensor<768xf32>, %arg8: tensor<768xf32>, %arg9: tensor<768xf32>, %arg10: tensor<768xf32>, %arg11: tensor<768x768xf32>, %arg12: tensor<768xf32>, %arg13: tensor<768x768xf32>, %arg14: tensor<768xf32>, %arg15: tensor<768x768xf32>, %arg16: tensor<768xf32>, %arg17: tensor<3072x768xf32>, %arg18: tensor<3072xf32>, %arg19: tensor<768x3072xf32>, %arg20: tensor<768xf32>, %arg21: tensor<768x768xf32>, %arg22: tensor<768xf32>, %arg23: tensor<768xf32>, %arg24: tensor<768xf32>, %arg25: tensor<768xf32>, %arg26: tensor<768xf32>, %arg27: tensor<768x768xf32>, %arg28: tensor<768xf32>, %arg29: tensor<768x768xf32>, %arg30: tensor<768xf32>, %arg31: tensor<768x768xf32>, %arg32: tensor<768xf32>, %arg33: tensor<3072x768xf32>, %arg34: tensor<3072xf32>, %arg35: tensor<768x3072xf32>, %arg36: tensor<768xf32>, %arg37: tensor<768x768xf32>, %arg38: tensor<768xf32>, %arg39: tensor<768xf32>, %arg40: tensor<768xf32>, %arg41: tensor<768xf32>, %arg42: tensor<768xf32>, %arg43: tensor<768x768xf32>, %arg44: tensor<768xf32>, %arg45: tensor<768x768xf32>, %arg46: tensor<768xf32>, %arg47: tensor<768x768xf32>, %arg48: tensor<768xf32>, %arg49: tensor<3072x768xf32>, %arg50: tensor<3072xf32>, %arg51: tensor<768x3072xf32>, %arg52: tensor<768xf32>, %arg53: tensor<768x768xf32>, %arg54: tensor<768xf32>, %arg55: tensor<768xf32>, %arg56: tensor<768xf32>, %arg57: tensor<768xf32>, %arg58: tensor<768xf32>, %arg59: tensor<768x768xf32>, %arg60: tensor<768xf32>, %arg61: tensor<768x768xf32>, %arg62: tensor<768xf32>, %arg63: tensor<768x768xf32>, %arg64: tensor<768xf32>, %arg65: tensor<3072x768xf32>, %arg66: tensor<3072xf32>, %arg67: tensor<768x3072xf32>, %arg68: tensor<768xf32>, %arg69: tensor<768x768xf32>, %arg70: tensor<768xf32>, %arg71: tensor<768xf32>, %arg72: tensor<768xf32>, %arg73: tensor<768xf32>, %arg74: tensor<768xf32>, %arg75: tensor<768x768xf32>, %arg76: tensor<768xf32>, %arg77: tensor<768x768xf32>, %arg78: tensor<768xf32>, %arg79: tensor<768x768xf32>, %arg80: tensor<768xf32>, %arg81: tensor<3072x768xf32>, %arg82: tensor<3072xf32>, %arg83: tensor<768x3072xf32>, %arg84: tensor<768xf32>, %arg85: tensor<768x768xf32>, %arg86: tensor<768xf32>, %arg87: tensor<768xf32>, %arg88: tensor<768xf32>, %arg89: tensor<768xf32>, %arg90: tensor<768xf32>, %arg91: tensor<768x768xf32>, %arg92: tensor<768xf32>, %arg93: tensor<768x768xf32>, %arg94: tensor<768xf32>, %arg95: tensor<768x768xf32>, %arg96: tensor<768xf32>, %arg97: tensor<3072x768xf32>, %arg98: tensor<3072xf32>, %arg99: tensor<768x3072xf32>, %arg100: tensor<768xf32>, %arg101: tensor<768x768xf32>, %arg102: tensor<768xf32>, %arg103: tensor<768xf32>, %arg104: tensor<768xf32>, %arg105: tensor<768xf32>, %arg106: tensor<768xf32>, %arg107: tensor<768x768xf32>, %arg108: tensor<768xf32>, %arg109: tensor<768x768xf32>, %arg110: tensor<768xf32>, %arg111: tensor<768x768xf32>, %arg112: tensor<768xf32>, %arg113: tensor<3072x768xf32>, %arg114: tensor<3072xf32>, %arg115: tensor<768x3072xf32>, %arg116: tensor<768xf32>, %arg117: tensor<768x768xf32>, %arg118: tensor<768xf32>, %arg119: tensor<768xf32>, %arg120: tensor<768xf32>, %arg121: tensor<768xf32>, %arg122: tensor<768xf32>, %arg123: tensor<768x768xf32>, %arg124: tensor<768xf32>, %arg125: tensor<768x768xf32>, %arg126: tensor<768xf32>, %arg127: tensor<768x768xf32>, %arg128: tensor<768xf32>, %arg129: tensor<3072x768xf32>, %arg130: tensor<3072xf32>, %arg131: tensor<768x3072xf32>, %arg132: tensor<768xf32>, %arg133: tensor<768x768xf32>, %arg134: tensor<768xf32>, %arg135: tensor<768xf32>, %arg136: tensor<768xf32>, %arg137: tensor<768xf32>, %arg138: tensor<768xf32>, %arg139: tensor<768x768xf32>, %arg140: tensor<768xf32>, %arg141: tensor<768x768xf32>, %arg142: tensor<768xf32>, %arg143: tensor<768x768xf32>, %arg144: tensor<768xf32>, %arg145: tensor<3072x768xf32>, %arg146: tensor<3072xf32>, %arg147: tensor<768x3072xf32>, %arg148: tensor<768xf32>, %arg149: tensor<768x768xf32>, %arg150: tensor<768xf32>, %arg151: tensor<768xf32>, %arg152: tensor<768xf32>, %arg153: tensor<768xf32>, %arg154: tensor<768xf32>, %arg155: tensor<768x768xf32>, %arg156: tensor<768xf32>, %arg157: tensor<768x768xf32>, %arg158: tensor<768xf32>, %arg159: tensor<768x768xf32>, %arg160: tensor<768xf32>, %arg161: tensor<3072x768xf32>, %arg162: tensor<3072xf32>, %arg163: tensor<768x3072xf32>, %arg164: tensor<768xf32>, %arg165: tensor<768x768xf32>, %arg166: tensor<768xf32>, %arg167: tensor<768xf32>, %arg168: tensor<768xf32>, %arg169: tensor<768xf32>, %arg170: tensor<768xf32>, %arg171: tensor<768x768xf32>, %arg172: tensor<768xf32>, %arg173: tensor<768x768xf32>, %arg174: tensor<768xf32>, %arg175: tensor<768x768xf32>, %arg176: tensor<768xf32>, %arg177: tensor<3072x768xf32>, %arg178: tensor<3072xf32>, %arg179: tensor<768x3072xf32>, %arg180: tensor<768xf32>, %arg181: tensor<768x768xf32>, %arg182: tensor<768xf32>, %arg183: tensor<768xf32>, %arg184: tensor<768xf32>, %arg185: tensor<768xf32>, %arg186: tensor<768xf32>, %arg187: tensor<768x768xf32>, %arg188: tensor<768xf32>, %arg189: tensor<768x768xf32>, %arg190: tensor<768xf32>, %arg191: tensor<768x768xf32>, %arg192: tensor<768xf32>, %arg193: tensor<768xf32>, %arg194: tensor<512x768xf32>, %arg195: tensor<2x768xf32>, %arg196: tensor<30522x768xf32>, %arg197: tensor<1x128xi32>, %arg198: tensor<1x128xi32>) -> (tensor<1x128x768xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1x128xi32>
    %1 = stablehlo.compare LT, %arg197, %0, SIGNED : (tensor<1x128xi32>, tensor<1x128xi32>) -> tensor<1x128xi1>
    %c_0 = stablehlo.constant dense<30522> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x128xi32>
    %3 = stablehlo.add %arg197, %2 : tensor<1x128xi32>
    %4 = stablehlo.select %1, %3, %arg197 : tensor<1x128xi1>, tensor<1x128xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x128xi32>) -> tensor<1x128x1xi32>
    %6 = "stablehlo.gather"(%arg196, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 768>}> : (tensor<30522x768xf32>, tensor<1x128x1xi32>) -> tensor<1x128x768xf32>
    %7 = stablehlo.slice %arg194 [0:128, 0:768] : (tensor<512x768xf32>) -> tensor<128x768xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<128x768xf32>) -> tensor<1x128x768xf32>
    %9 = stablehlo.add %6, %8 : tensor<1x128x768xf32>
    %10 = stablehlo.slice %arg195 [0:1, 0:768] : (tensor<2x768xf32>) -> tensor<1x768xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x768xf32>) -> tensor<768xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %14 = stablehlo.add %9, %13 : tensor<1x128x768xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_1 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %18 = stablehlo.divide %16, %17 : tensor<1x128x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %20 = stablehlo.subtract %14, %19 : tensor<1x128x768xf32>
    %21 = stablehlo.multiply %20, %20 : tensor<1x128x768xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_3 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %25 = stablehlo.divide %23, %24 : tensor<1x128x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %27 = stablehlo.add %25, %26 : tensor<1x128x1xf32>
    %28 = stablehlo.rsqrt %27 : tensor<1x128x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %30 = stablehlo.multiply %20, %29 : tensor<1x128x768xf32>
    %31 = stablehlo.broadcast_in_dim %arg193, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %33 = stablehlo.multiply %30, %32 : tensor<1x128x768xf32>
    %34 = stablehlo.broadcast_in_dim %arg192, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %36 = stablehlo.add %33, %35 : tensor<1x128x768xf32>
    %37 = stablehlo.broadcast_in_dim %arg198, dims = [0, 3] : (tensor<1x128xi32>) -> tensor<1x1x1x128xi32>
    %38 = stablehlo.convert %37 : (tensor<1x1x1x128xi32>) -> tensor<1x1x1x128xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x1x1x128xf32>
    %40 = stablehlo.subtract %39, %38 : tensor<1x1x1x128xf32>
    %cst_6 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x1x1x128xf32>
    %42 = stablehlo.multiply %40, %41 : tensor<1x1x1x128xf32>
    %43 = stablehlo.dot_general %36, %arg13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %44 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %46 = stablehlo.add %43, %45 : tensor<1x128x768xf32>
    %47 = stablehlo.reshape %46 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %48 = stablehlo.transpose %47, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %49 = stablehlo.dot_general %36, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %50 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %52 = stablehlo.add %49, %51 : tensor<1x128x768xf32>
    %53 = stablehlo.reshape %52 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %54 = stablehlo.transpose %53, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %55 = stablehlo.dot_general %36, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %56 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %58 = stablehlo.add %55, %57 : tensor<1x128x768xf32>
    %59 = stablehlo.reshape %58 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %60 = stablehlo.transpose %59, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %61 = stablehlo.dot_general %48, %54, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_7 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %63 = stablehlo.multiply %61, %62 : tensor<1x12x128x128xf32>
    %64 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %65 = stablehlo.add %63, %64 : tensor<1x12x128x128xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %66 = stablehlo.reduce(%65 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %69 = stablehlo.subtract %65, %68 : tensor<1x12x128x128xf32>
    %70 = stablehlo.exponential %69 : tensor<1x12x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %71 = stablehlo.reduce(%70 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %74 = stablehlo.divide %70, %73 : tensor<1x12x128x128xf32>
    %75 = stablehlo.dot_general %74, %60, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %76 = stablehlo.transpose %75, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %77 = stablehlo.reshape %76 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %78 = stablehlo.dot_general %77, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %79 = stablehlo.add %36, %78 : tensor<1x128x768xf32>
    %80 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %82 = stablehlo.add %79, %81 : tensor<1x128x768xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.reduce(%82 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_11 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %86 = stablehlo.divide %84, %85 : tensor<1x128x1xf32>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %88 = stablehlo.subtract %82, %87 : tensor<1x128x768xf32>
    %89 = stablehlo.multiply %88, %88 : tensor<1x128x768xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%89 init: %cst_12) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_13 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %93 = stablehlo.divide %91, %92 : tensor<1x128x1xf32>
    %cst_14 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %95 = stablehlo.add %93, %94 : tensor<1x128x1xf32>
    %96 = stablehlo.rsqrt %95 : tensor<1x128x1xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %98 = stablehlo.multiply %88, %97 : tensor<1x128x768xf32>
    %99 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %100 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %101 = stablehlo.multiply %98, %100 : tensor<1x128x768xf32>
    %102 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %104 = stablehlo.add %101, %103 : tensor<1x128x768xf32>
    %105 = stablehlo.dot_general %104, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %106 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %108 = stablehlo.add %105, %107 : tensor<1x128x3072xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %110 = stablehlo.multiply %109, %108 : tensor<1x128x3072xf32>
    %cst_16 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %112 = stablehlo.multiply %108, %111 : tensor<1x128x3072xf32>
    %113 = chlo.erf %112 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %115 = stablehlo.add %114, %113 : tensor<1x128x3072xf32>
    %116 = stablehlo.multiply %110, %115 : tensor<1x128x3072xf32>
    %117 = stablehlo.dot_general %116, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %118 = stablehlo.add %104, %117 : tensor<1x128x768xf32>
    %119 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %121 = stablehlo.add %118, %120 : tensor<1x128x768xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %122 = stablehlo.reduce(%121 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_19 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %125 = stablehlo.divide %123, %124 : tensor<1x128x1xf32>
    %126 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %127 = stablehlo.subtract %121, %126 : tensor<1x128x768xf32>
    %128 = stablehlo.multiply %127, %127 : tensor<1x128x768xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%128 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_21 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %132 = stablehlo.divide %130, %131 : tensor<1x128x1xf32>
    %cst_22 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %134 = stablehlo.add %132, %133 : tensor<1x128x1xf32>
    %135 = stablehlo.rsqrt %134 : tensor<1x128x1xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %137 = stablehlo.multiply %127, %136 : tensor<1x128x768xf32>
    %138 = stablehlo.broadcast_in_dim %arg9, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %140 = stablehlo.multiply %137, %139 : tensor<1x128x768xf32>
    %141 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %143 = stablehlo.add %140, %142 : tensor<1x128x768xf32>
    %144 = stablehlo.dot_general %143, %arg29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %145 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %147 = stablehlo.add %144, %146 : tensor<1x128x768xf32>
    %148 = stablehlo.reshape %147 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %149 = stablehlo.transpose %148, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %150 = stablehlo.dot_general %143, %arg21, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %151 = stablehlo.broadcast_in_dim %arg20, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %153 = stablehlo.add %150, %152 : tensor<1x128x768xf32>
    %154 = stablehlo.reshape %153 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %155 = stablehlo.transpose %154, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %156 = stablehlo.dot_general %143, %arg31, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %157 = stablehlo.broadcast_in_dim %arg30, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %159 = stablehlo.add %156, %158 : tensor<1x128x768xf32>
    %160 = stablehlo.reshape %159 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %161 = stablehlo.transpose %160, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %162 = stablehlo.dot_general %149, %155, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_23 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %164 = stablehlo.multiply %162, %163 : tensor<1x12x128x128xf32>
    %165 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %166 = stablehlo.add %164, %165 : tensor<1x12x128x128xf32>
    %cst_24 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %167 = stablehlo.reduce(%166 init: %cst_24) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %168 = stablehlo.broadcast_in_dim %167, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %169 = stablehlo.broadcast_in_dim %168, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %170 = stablehlo.subtract %166, %169 : tensor<1x12x128x128xf32>
    %171 = stablehlo.exponential %170 : tensor<1x12x128x128xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.reduce(%171 init: %cst_25) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %175 = stablehlo.divide %171, %174 : tensor<1x12x128x128xf32>
    %176 = stablehlo.dot_general %175, %161, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %177 = stablehlo.transpose %176, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %178 = stablehlo.reshape %177 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %179 = stablehlo.dot_general %178, %arg27, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %180 = stablehlo.add %143, %179 : tensor<1x128x768xf32>
    %181 = stablehlo.broadcast_in_dim %arg26, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %183 = stablehlo.add %180, %182 : tensor<1x128x768xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %184 = stablehlo.reduce(%183 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_27 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %187 = stablehlo.divide %185, %186 : tensor<1x128x1xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %189 = stablehlo.subtract %183, %188 : tensor<1x128x768xf32>
    %190 = stablehlo.multiply %189, %189 : tensor<1x128x768xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %191 = stablehlo.reduce(%190 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %192 = stablehlo.broadcast_in_dim %191, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_29 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %194 = stablehlo.divide %192, %193 : tensor<1x128x1xf32>
    %cst_30 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %196 = stablehlo.add %194, %195 : tensor<1x128x1xf32>
    %197 = stablehlo.rsqrt %196 : tensor<1x128x1xf32>
    %198 = stablehlo.broadcast_in_dim %197, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %199 = stablehlo.multiply %189, %198 : tensor<1x128x768xf32>
    %200 = stablehlo.broadcast_in_dim %arg23, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %201 = stablehlo.broadcast_in_dim %200, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %202 = stablehlo.multiply %199, %201 : tensor<1x128x768xf32>
    %203 = stablehlo.broadcast_in_dim %arg22, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %205 = stablehlo.add %202, %204 : tensor<1x128x768xf32>
    %206 = stablehlo.dot_general %205, %arg19, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %207 = stablehlo.broadcast_in_dim %arg18, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %208 = stablehlo.broadcast_in_dim %207, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %209 = stablehlo.add %206, %208 : tensor<1x128x3072xf32>
    %cst_31 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %211 = stablehlo.multiply %210, %209 : tensor<1x128x3072xf32>
    %cst_32 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %213 = stablehlo.multiply %209, %212 : tensor<1x128x3072xf32>
    %214 = chlo.erf %213 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %216 = stablehlo.add %215, %214 : tensor<1x128x3072xf32>
    %217 = stablehlo.multiply %211, %216 : tensor<1x128x3072xf32>
    %218 = stablehlo.dot_general %217, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %219 = stablehlo.add %205, %218 : tensor<1x128x768xf32>
    %220 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %221 = stablehlo.broadcast_in_dim %220, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %222 = stablehlo.add %219, %221 : tensor<1x128x768xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %223 = stablehlo.reduce(%222 init: %cst_34) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %224 = stablehlo.broadcast_in_dim %223, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_35 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %226 = stablehlo.divide %224, %225 : tensor<1x128x1xf32>
    %227 = stablehlo.broadcast_in_dim %226, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %228 = stablehlo.subtract %222, %227 : tensor<1x128x768xf32>
    %229 = stablehlo.multiply %228, %228 : tensor<1x128x768xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %230 = stablehlo.reduce(%229 init: %cst_36) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %231 = stablehlo.broadcast_in_dim %230, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_37 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %233 = stablehlo.divide %231, %232 : tensor<1x128x1xf32>
    %cst_38 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %235 = stablehlo.add %233, %234 : tensor<1x128x1xf32>
    %236 = stablehlo.rsqrt %235 : tensor<1x128x1xf32>
    %237 = stablehlo.broadcast_in_dim %236, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %238 = stablehlo.multiply %228, %237 : tensor<1x128x768xf32>
    %239 = stablehlo.broadcast_in_dim %arg25, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %240 = stablehlo.broadcast_in_dim %239, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %241 = stablehlo.multiply %238, %240 : tensor<1x128x768xf32>
    %242 = stablehlo.broadcast_in_dim %arg24, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %243 = stablehlo.broadcast_in_dim %242, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %244 = stablehlo.add %241, %243 : tensor<1x128x768xf32>
    %245 = stablehlo.dot_general %244, %arg45, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %246 = stablehlo.broadcast_in_dim %arg44, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %247 = stablehlo.broadcast_in_dim %246, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %248 = stablehlo.add %245, %247 : tensor<1x128x768xf32>
    %249 = stablehlo.reshape %248 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %250 = stablehlo.transpose %249, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %251 = stablehlo.dot_general %244, %arg37, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %252 = stablehlo.broadcast_in_dim %arg36, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %253 = stablehlo.broadcast_in_dim %252, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %254 = stablehlo.add %251, %253 : tensor<1x128x768xf32>
    %255 = stablehlo.reshape %254 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %256 = stablehlo.transpose %255, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %257 = stablehlo.dot_general %244, %arg47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %258 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %259 = stablehlo.broadcast_in_dim %258, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %260 = stablehlo.add %257, %259 : tensor<1x128x768xf32>
    %261 = stablehlo.reshape %260 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %262 = stablehlo.transpose %261, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %263 = stablehlo.dot_general %250, %256, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_39 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %265 = stablehlo.multiply %263, %264 : tensor<1x12x128x128xf32>
    %266 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %267 = stablehlo.add %265, %266 : tensor<1x12x128x128xf32>
    %cst_40 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %268 = stablehlo.reduce(%267 init: %cst_40) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %269 = stablehlo.broadcast_in_dim %268, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %270 = stablehlo.broadcast_in_dim %269, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %271 = stablehlo.subtract %267, %270 : tensor<1x12x128x128xf32>
    %272 = stablehlo.exponential %271 : tensor<1x12x128x128xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %273 = stablehlo.reduce(%272 init: %cst_41) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %274 = stablehlo.broadcast_in_dim %273, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %275 = stablehlo.broadcast_in_dim %274, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %276 = stablehlo.divide %272, %275 : tensor<1x12x128x128xf32>
    %277 = stablehlo.dot_general %276, %262, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %278 = stablehlo.transpose %277, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %279 = stablehlo.reshape %278 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %280 = stablehlo.dot_general %279, %arg43, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %281 = stablehlo.add %244, %280 : tensor<1x128x768xf32>
    %282 = stablehlo.broadcast_in_dim %arg42, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %283 = stablehlo.broadcast_in_dim %282, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %284 = stablehlo.add %281, %283 : tensor<1x128x768xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %285 = stablehlo.reduce(%284 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %286 = stablehlo.broadcast_in_dim %285, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_43 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %288 = stablehlo.divide %286, %287 : tensor<1x128x1xf32>
    %289 = stablehlo.broadcast_in_dim %288, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %290 = stablehlo.subtract %284, %289 : tensor<1x128x768xf32>
    %291 = stablehlo.multiply %290, %290 : tensor<1x128x768xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %292 = stablehlo.reduce(%291 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_45 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %294 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %295 = stablehlo.divide %293, %294 : tensor<1x128x1xf32>
    %cst_46 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %296 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %297 = stablehlo.add %295, %296 : tensor<1x128x1xf32>
    %298 = stablehlo.rsqrt %297 : tensor<1x128x1xf32>
    %299 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %300 = stablehlo.multiply %290, %299 : tensor<1x128x768xf32>
    %301 = stablehlo.broadcast_in_dim %arg39, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %302 = stablehlo.broadcast_in_dim %301, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %303 = stablehlo.multiply %300, %302 : tensor<1x128x768xf32>
    %304 = stablehlo.broadcast_in_dim %arg38, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %305 = stablehlo.broadcast_in_dim %304, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %306 = stablehlo.add %303, %305 : tensor<1x128x768xf32>
    %307 = stablehlo.dot_general %306, %arg35, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %308 = stablehlo.broadcast_in_dim %arg34, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %309 = stablehlo.broadcast_in_dim %308, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %310 = stablehlo.add %307, %309 : tensor<1x128x3072xf32>
    %cst_47 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %312 = stablehlo.multiply %311, %310 : tensor<1x128x3072xf32>
    %cst_48 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %314 = stablehlo.multiply %310, %313 : tensor<1x128x3072xf32>
    %315 = chlo.erf %314 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %317 = stablehlo.add %316, %315 : tensor<1x128x3072xf32>
    %318 = stablehlo.multiply %312, %317 : tensor<1x128x3072xf32>
    %319 = stablehlo.dot_general %318, %arg33, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %320 = stablehlo.add %306, %319 : tensor<1x128x768xf32>
    %321 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %322 = stablehlo.broadcast_in_dim %321, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %323 = stablehlo.add %320, %322 : tensor<1x128x768xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %324 = stablehlo.reduce(%323 init: %cst_50) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %325 = stablehlo.broadcast_in_dim %324, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_51 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %326 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %327 = stablehlo.divide %325, %326 : tensor<1x128x1xf32>
    %328 = stablehlo.broadcast_in_dim %327, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %329 = stablehlo.subtract %323, %328 : tensor<1x128x768xf32>
    %330 = stablehlo.multiply %329, %329 : tensor<1x128x768xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %331 = stablehlo.reduce(%330 init: %cst_52) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %332 = stablehlo.broadcast_in_dim %331, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_53 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %333 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %334 = stablehlo.divide %332, %333 : tensor<1x128x1xf32>
    %cst_54 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %335 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %336 = stablehlo.add %334, %335 : tensor<1x128x1xf32>
    %337 = stablehlo.rsqrt %336 : tensor<1x128x1xf32>
    %338 = stablehlo.broadcast_in_dim %337, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %339 = stablehlo.multiply %329, %338 : tensor<1x128x768xf32>
    %340 = stablehlo.broadcast_in_dim %arg41, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %341 = stablehlo.broadcast_in_dim %340, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %342 = stablehlo.multiply %339, %341 : tensor<1x128x768xf32>
    %343 = stablehlo.broadcast_in_dim %arg40, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %344 = stablehlo.broadcast_in_dim %343, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %345 = stablehlo.add %342, %344 : tensor<1x128x768xf32>
    %346 = stablehlo.dot_general %345, %arg61, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %347 = stablehlo.broadcast_in_dim %arg60, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %348 = stablehlo.broadcast_in_dim %347, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %349 = stablehlo.add %346, %348 : tensor<1x128x768xf32>
    %350 = stablehlo.reshape %349 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %351 = stablehlo.transpose %350, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %352 = stablehlo.dot_general %345, %arg53, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %353 = stablehlo.broadcast_in_dim %arg52, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %354 = stablehlo.broadcast_in_dim %353, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %355 = stablehlo.add %352, %354 : tensor<1x128x768xf32>
    %356 = stablehlo.reshape %355 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %357 = stablehlo.transpose %356, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %358 = stablehlo.dot_general %345, %arg63, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %359 = stablehlo.broadcast_in_dim %arg62, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %360 = stablehlo.broadcast_in_dim %359, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %361 = stablehlo.add %358, %360 : tensor<1x128x768xf32>
    %362 = stablehlo.reshape %361 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %363 = stablehlo.transpose %362, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %364 = stablehlo.dot_general %351, %357, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_55 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %365 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %366 = stablehlo.multiply %364, %365 : tensor<1x12x128x128xf32>
    %367 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %368 = stablehlo.add %366, %367 : tensor<1x12x128x128xf32>
    %cst_56 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %369 = stablehlo.reduce(%368 init: %cst_56) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %370 = stablehlo.broadcast_in_dim %369, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %371 = stablehlo.broadcast_in_dim %370, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %372 = stablehlo.subtract %368, %371 : tensor<1x12x128x128xf32>
    %373 = stablehlo.exponential %372 : tensor<1x12x128x128xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %374 = stablehlo.reduce(%373 init: %cst_57) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %375 = stablehlo.broadcast_in_dim %374, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %376 = stablehlo.broadcast_in_dim %375, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %377 = stablehlo.divide %373, %376 : tensor<1x12x128x128xf32>
    %378 = stablehlo.dot_general %377, %363, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %379 = stablehlo.transpose %378, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %380 = stablehlo.reshape %379 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %381 = stablehlo.dot_general %380, %arg59, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %382 = stablehlo.add %345, %381 : tensor<1x128x768xf32>
    %383 = stablehlo.broadcast_in_dim %arg58, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %384 = stablehlo.broadcast_in_dim %383, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %385 = stablehlo.add %382, %384 : tensor<1x128x768xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %386 = stablehlo.reduce(%385 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %387 = stablehlo.broadcast_in_dim %386, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_59 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %388 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %389 = stablehlo.divide %387, %388 : tensor<1x128x1xf32>
    %390 = stablehlo.broadcast_in_dim %389, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %391 = stablehlo.subtract %385, %390 : tensor<1x128x768xf32>
    %392 = stablehlo.multiply %391, %391 : tensor<1x128x768xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %393 = stablehlo.reduce(%392 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %394 = stablehlo.broadcast_in_dim %393, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_61 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %395 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %396 = stablehlo.divide %394, %395 : tensor<1x128x1xf32>
    %cst_62 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %398 = stablehlo.add %396, %397 : tensor<1x128x1xf32>
    %399 = stablehlo.rsqrt %398 : tensor<1x128x1xf32>
    %400 = stablehlo.broadcast_in_dim %399, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %401 = stablehlo.multiply %391, %400 : tensor<1x128x768xf32>
    %402 = stablehlo.broadcast_in_dim %arg55, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %403 = stablehlo.broadcast_in_dim %402, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %404 = stablehlo.multiply %401, %403 : tensor<1x128x768xf32>
    %405 = stablehlo.broadcast_in_dim %arg54, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %406 = stablehlo.broadcast_in_dim %405, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %407 = stablehlo.add %404, %406 : tensor<1x128x768xf32>
    %408 = stablehlo.dot_general %407, %arg51, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %409 = stablehlo.broadcast_in_dim %arg50, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %410 = stablehlo.broadcast_in_dim %409, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %411 = stablehlo.add %408, %410 : tensor<1x128x3072xf32>
    %cst_63 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %412 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %413 = stablehlo.multiply %412, %411 : tensor<1x128x3072xf32>
    %cst_64 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %415 = stablehlo.multiply %411, %414 : tensor<1x128x3072xf32>
    %416 = chlo.erf %415 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %417 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %418 = stablehlo.add %417, %416 : tensor<1x128x3072xf32>
    %419 = stablehlo.multiply %413, %418 : tensor<1x128x3072xf32>
    %420 = stablehlo.dot_general %419, %arg49, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %421 = stablehlo.add %407, %420 : tensor<1x128x768xf32>
    %422 = stablehlo.broadcast_in_dim %arg48, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %423 = stablehlo.broadcast_in_dim %422, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %424 = stablehlo.add %421, %423 : tensor<1x128x768xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %425 = stablehlo.reduce(%424 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %426 = stablehlo.broadcast_in_dim %425, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_67 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %427 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %428 = stablehlo.divide %426, %427 : tensor<1x128x1xf32>
    %429 = stablehlo.broadcast_in_dim %428, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %430 = stablehlo.subtract %424, %429 : tensor<1x128x768xf32>
    %431 = stablehlo.multiply %430, %430 : tensor<1x128x768xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %432 = stablehlo.reduce(%431 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %433 = stablehlo.broadcast_in_dim %432, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_69 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %435 = stablehlo.divide %433, %434 : tensor<1x128x1xf32>
    %cst_70 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %437 = stablehlo.add %435, %436 : tensor<1x128x1xf32>
    %438 = stablehlo.rsqrt %437 : tensor<1x128x1xf32>
    %439 = stablehlo.broadcast_in_dim %438, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %440 = stablehlo.multiply %430, %439 : tensor<1x128x768xf32>
    %441 = stablehlo.broadcast_in_dim %arg57, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %442 = stablehlo.broadcast_in_dim %441, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %443 = stablehlo.multiply %440, %442 : tensor<1x128x768xf32>
    %444 = stablehlo.broadcast_in_dim %arg56, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %445 = stablehlo.broadcast_in_dim %444, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %446 = stablehlo.add %443, %445 : tensor<1x128x768xf32>
    %447 = stablehlo.dot_general %446, %arg77, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %448 = stablehlo.broadcast_in_dim %arg76, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %449 = stablehlo.broadcast_in_dim %448, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %450 = stablehlo.add %447, %449 : tensor<1x128x768xf32>
    %451 = stablehlo.reshape %450 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %452 = stablehlo.transpose %451, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %453 = stablehlo.dot_general %446, %arg69, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %454 = stablehlo.broadcast_in_dim %arg68, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %455 = stablehlo.broadcast_in_dim %454, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %456 = stablehlo.add %453, %455 : tensor<1x128x768xf32>
    %457 = stablehlo.reshape %456 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %458 = stablehlo.transpose %457, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %459 = stablehlo.dot_general %446, %arg79, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %460 = stablehlo.broadcast_in_dim %arg78, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %461 = stablehlo.broadcast_in_dim %460, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %462 = stablehlo.add %459, %461 : tensor<1x128x768xf32>
    %463 = stablehlo.reshape %462 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %464 = stablehlo.transpose %463, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %465 = stablehlo.dot_general %452, %458, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_71 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %466 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %467 = stablehlo.multiply %465, %466 : tensor<1x12x128x128xf32>
    %468 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %469 = stablehlo.add %467, %468 : tensor<1x12x128x128xf32>
    %cst_72 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %470 = stablehlo.reduce(%469 init: %cst_72) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %471 = stablehlo.broadcast_in_dim %470, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %472 = stablehlo.broadcast_in_dim %471, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %473 = stablehlo.subtract %469, %472 : tensor<1x12x128x128xf32>
    %474 = stablehlo.exponential %473 : tensor<1x12x128x128xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %475 = stablehlo.reduce(%474 init: %cst_73) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %476 = stablehlo.broadcast_in_dim %475, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %478 = stablehlo.divide %474, %477 : tensor<1x12x128x128xf32>
    %479 = stablehlo.dot_general %478, %464, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %480 = stablehlo.transpose %479, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %481 = stablehlo.reshape %480 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %482 = stablehlo.dot_general %481, %arg75, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %483 = stablehlo.add %446, %482 : tensor<1x128x768xf32>
    %484 = stablehlo.broadcast_in_dim %arg74, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %485 = stablehlo.broadcast_in_dim %484, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %486 = stablehlo.add %483, %485 : tensor<1x128x768xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %487 = stablehlo.reduce(%486 init: %cst_74) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %488 = stablehlo.broadcast_in_dim %487, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_75 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %489 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %490 = stablehlo.divide %488, %489 : tensor<1x128x1xf32>
    %491 = stablehlo.broadcast_in_dim %490, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %492 = stablehlo.subtract %486, %491 : tensor<1x128x768xf32>
    %493 = stablehlo.multiply %492, %492 : tensor<1x128x768xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %494 = stablehlo.reduce(%493 init: %cst_76) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %495 = stablehlo.broadcast_in_dim %494, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_77 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %496 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %497 = stablehlo.divide %495, %496 : tensor<1x128x1xf32>
    %cst_78 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %498 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %499 = stablehlo.add %497, %498 : tensor<1x128x1xf32>
    %500 = stablehlo.rsqrt %499 : tensor<1x128x1xf32>
    %501 = stablehlo.broadcast_in_dim %500, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %502 = stablehlo.multiply %492, %501 : tensor<1x128x768xf32>
    %503 = stablehlo.broadcast_in_dim %arg71, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %504 = stablehlo.broadcast_in_dim %503, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %505 = stablehlo.multiply %502, %504 : tensor<1x128x768xf32>
    %506 = stablehlo.broadcast_in_dim %arg70, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %507 = stablehlo.broadcast_in_dim %506, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %508 = stablehlo.add %505, %507 : tensor<1x128x768xf32>
    %509 = stablehlo.dot_general %508, %arg67, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %510 = stablehlo.broadcast_in_dim %arg66, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %511 = stablehlo.broadcast_in_dim %510, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %512 = stablehlo.add %509, %511 : tensor<1x128x3072xf32>
    %cst_79 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %513 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %514 = stablehlo.multiply %513, %512 : tensor<1x128x3072xf32>
    %cst_80 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %515 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %516 = stablehlo.multiply %512, %515 : tensor<1x128x3072xf32>
    %517 = chlo.erf %516 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_81 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %518 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %519 = stablehlo.add %518, %517 : tensor<1x128x3072xf32>
    %520 = stablehlo.multiply %514, %519 : tensor<1x128x3072xf32>
    %521 = stablehlo.dot_general %520, %arg65, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %522 = stablehlo.add %508, %521 : tensor<1x128x768xf32>
    %523 = stablehlo.broadcast_in_dim %arg64, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %524 = stablehlo.broadcast_in_dim %523, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %525 = stablehlo.add %522, %524 : tensor<1x128x768xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %526 = stablehlo.reduce(%525 init: %cst_82) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %527 = stablehlo.broadcast_in_dim %526, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_83 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %528 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %529 = stablehlo.divide %527, %528 : tensor<1x128x1xf32>
    %530 = stablehlo.broadcast_in_dim %529, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %531 = stablehlo.subtract %525, %530 : tensor<1x128x768xf32>
    %532 = stablehlo.multiply %531, %531 : tensor<1x128x768xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %533 = stablehlo.reduce(%532 init: %cst_84) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %534 = stablehlo.broadcast_in_dim %533, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_85 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %535 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %536 = stablehlo.divide %534, %535 : tensor<1x128x1xf32>
    %cst_86 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %537 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %538 = stablehlo.add %536, %537 : tensor<1x128x1xf32>
    %539 = stablehlo.rsqrt %538 : tensor<1x128x1xf32>
    %540 = stablehlo.broadcast_in_dim %539, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %541 = stablehlo.multiply %531, %540 : tensor<1x128x768xf32>
    %542 = stablehlo.broadcast_in_dim %arg73, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %543 = stablehlo.broadcast_in_dim %542, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %544 = stablehlo.multiply %541, %543 : tensor<1x128x768xf32>
    %545 = stablehlo.broadcast_in_dim %arg72, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %546 = stablehlo.broadcast_in_dim %545, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %547 = stablehlo.add %544, %546 : tensor<1x128x768xf32>
    %548 = stablehlo.dot_general %547, %arg93, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %549 = stablehlo.broadcast_in_dim %arg92, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %550 = stablehlo.broadcast_in_dim %549, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %551 = stablehlo.add %548, %550 : tensor<1x128x768xf32>
    %552 = stablehlo.reshape %551 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %553 = stablehlo.transpose %552, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %554 = stablehlo.dot_general %547, %arg85, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %555 = stablehlo.broadcast_in_dim %arg84, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %556 = stablehlo.broadcast_in_dim %555, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %557 = stablehlo.add %554, %556 : tensor<1x128x768xf32>
    %558 = stablehlo.reshape %557 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %559 = stablehlo.transpose %558, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %560 = stablehlo.dot_general %547, %arg95, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %561 = stablehlo.broadcast_in_dim %arg94, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %562 = stablehlo.broadcast_in_dim %561, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %563 = stablehlo.add %560, %562 : tensor<1x128x768xf32>
    %564 = stablehlo.reshape %563 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %565 = stablehlo.transpose %564, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %566 = stablehlo.dot_general %553, %559, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_87 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %567 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %568 = stablehlo.multiply %566, %567 : tensor<1x12x128x128xf32>
    %569 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %570 = stablehlo.add %568, %569 : tensor<1x12x128x128xf32>
    %cst_88 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %571 = stablehlo.reduce(%570 init: %cst_88) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %572 = stablehlo.broadcast_in_dim %571, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %573 = stablehlo.broadcast_in_dim %572, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %574 = stablehlo.subtract %570, %573 : tensor<1x12x128x128xf32>
    %575 = stablehlo.exponential %574 : tensor<1x12x128x128xf32>
    %cst_89 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %576 = stablehlo.reduce(%575 init: %cst_89) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %577 = stablehlo.broadcast_in_dim %576, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %578 = stablehlo.broadcast_in_dim %577, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %579 = stablehlo.divide %575, %578 : tensor<1x12x128x128xf32>
    %580 = stablehlo.dot_general %579, %565, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %581 = stablehlo.transpose %580, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %582 = stablehlo.reshape %581 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %583 = stablehlo.dot_general %582, %arg91, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %584 = stablehlo.add %547, %583 : tensor<1x128x768xf32>
    %585 = stablehlo.broadcast_in_dim %arg90, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %586 = stablehlo.broadcast_in_dim %585, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %587 = stablehlo.add %584, %586 : tensor<1x128x768xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %588 = stablehlo.reduce(%587 init: %cst_90) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %589 = stablehlo.broadcast_in_dim %588, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_91 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %590 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %591 = stablehlo.divide %589, %590 : tensor<1x128x1xf32>
    %592 = stablehlo.broadcast_in_dim %591, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %593 = stablehlo.subtract %587, %592 : tensor<1x128x768xf32>
    %594 = stablehlo.multiply %593, %593 : tensor<1x128x768xf32>
    %cst_92 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %595 = stablehlo.reduce(%594 init: %cst_92) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %596 = stablehlo.broadcast_in_dim %595, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_93 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %597 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %598 = stablehlo.divide %596, %597 : tensor<1x128x1xf32>
    %cst_94 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %599 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %600 = stablehlo.add %598, %599 : tensor<1x128x1xf32>
    %601 = stablehlo.rsqrt %600 : tensor<1x128x1xf32>
    %602 = stablehlo.broadcast_in_dim %601, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %603 = stablehlo.multiply %593, %602 : tensor<1x128x768xf32>
    %604 = stablehlo.broadcast_in_dim %arg87, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %605 = stablehlo.broadcast_in_dim %604, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %606 = stablehlo.multiply %603, %605 : tensor<1x128x768xf32>
    %607 = stablehlo.broadcast_in_dim %arg86, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %608 = stablehlo.broadcast_in_dim %607, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %609 = stablehlo.add %606, %608 : tensor<1x128x768xf32>
    %610 = stablehlo.dot_general %609, %arg83, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %611 = stablehlo.broadcast_in_dim %arg82, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %612 = stablehlo.broadcast_in_dim %611, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %613 = stablehlo.add %610, %612 : tensor<1x128x3072xf32>
    %cst_95 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %614 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %615 = stablehlo.multiply %614, %613 : tensor<1x128x3072xf32>
    %cst_96 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %616 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %617 = stablehlo.multiply %613, %616 : tensor<1x128x3072xf32>
    %618 = chlo.erf %617 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_97 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %619 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %620 = stablehlo.add %619, %618 : tensor<1x128x3072xf32>
    %621 = stablehlo.multiply %615, %620 : tensor<1x128x3072xf32>
    %622 = stablehlo.dot_general %621, %arg81, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %623 = stablehlo.add %609, %622 : tensor<1x128x768xf32>
    %624 = stablehlo.broadcast_in_dim %arg80, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %625 = stablehlo.broadcast_in_dim %624, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %626 = stablehlo.add %623, %625 : tensor<1x128x768xf32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %627 = stablehlo.reduce(%626 init: %cst_98) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %628 = stablehlo.broadcast_in_dim %627, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_99 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %629 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %630 = stablehlo.divide %628, %629 : tensor<1x128x1xf32>
    %631 = stablehlo.broadcast_in_dim %630, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %632 = stablehlo.subtract %626, %631 : tensor<1x128x768xf32>
    %633 = stablehlo.multiply %632, %632 : tensor<1x128x768xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %634 = stablehlo.reduce(%633 init: %cst_100) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %635 = stablehlo.broadcast_in_dim %634, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_101 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %636 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %637 = stablehlo.divide %635, %636 : tensor<1x128x1xf32>
    %cst_102 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %638 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %639 = stablehlo.add %637, %638 : tensor<1x128x1xf32>
    %640 = stablehlo.rsqrt %639 : tensor<1x128x1xf32>
    %641 = stablehlo.broadcast_in_dim %640, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %642 = stablehlo.multiply %632, %641 : tensor<1x128x768xf32>
    %643 = stablehlo.broadcast_in_dim %arg89, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %644 = stablehlo.broadcast_in_dim %643, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %645 = stablehlo.multiply %642, %644 : tensor<1x128x768xf32>
    %646 = stablehlo.broadcast_in_dim %arg88, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %647 = stablehlo.broadcast_in_dim %646, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %648 = stablehlo.add %645, %647 : tensor<1x128x768xf32>
    %649 = stablehlo.dot_general %648, %arg109, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %650 = stablehlo.broadcast_in_dim %arg108, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %651 = stablehlo.broadcast_in_dim %650, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %652 = stablehlo.add %649, %651 : tensor<1x128x768xf32>
    %653 = stablehlo.reshape %652 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %654 = stablehlo.transpose %653, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %655 = stablehlo.dot_general %648, %arg101, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %656 = stablehlo.broadcast_in_dim %arg100, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %657 = stablehlo.broadcast_in_dim %656, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %658 = stablehlo.add %655, %657 : tensor<1x128x768xf32>
    %659 = stablehlo.reshape %658 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %660 = stablehlo.transpose %659, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %661 = stablehlo.dot_general %648, %arg111, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %662 = stablehlo.broadcast_in_dim %arg110, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %663 = stablehlo.broadcast_in_dim %662, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %664 = stablehlo.add %661, %663 : tensor<1x128x768xf32>
    %665 = stablehlo.reshape %664 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %666 = stablehlo.transpose %665, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %667 = stablehlo.dot_general %654, %660, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_103 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %668 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %669 = stablehlo.multiply %667, %668 : tensor<1x12x128x128xf32>
    %670 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %671 = stablehlo.add %669, %670 : tensor<1x12x128x128xf32>
    %cst_104 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %672 = stablehlo.reduce(%671 init: %cst_104) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %673 = stablehlo.broadcast_in_dim %672, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %674 = stablehlo.broadcast_in_dim %673, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %675 = stablehlo.subtract %671, %674 : tensor<1x12x128x128xf32>
    %676 = stablehlo.exponential %675 : tensor<1x12x128x128xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %677 = stablehlo.reduce(%676 init: %cst_105) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %678 = stablehlo.broadcast_in_dim %677, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %679 = stablehlo.broadcast_in_dim %678, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %680 = stablehlo.divide %676, %679 : tensor<1x12x128x128xf32>
    %681 = stablehlo.dot_general %680, %666, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %682 = stablehlo.transpose %681, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %683 = stablehlo.reshape %682 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %684 = stablehlo.dot_general %683, %arg107, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %685 = stablehlo.add %648, %684 : tensor<1x128x768xf32>
    %686 = stablehlo.broadcast_in_dim %arg106, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %687 = stablehlo.broadcast_in_dim %686, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %688 = stablehlo.add %685, %687 : tensor<1x128x768xf32>
    %cst_106 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %689 = stablehlo.reduce(%688 init: %cst_106) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %690 = stablehlo.broadcast_in_dim %689, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_107 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %691 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %692 = stablehlo.divide %690, %691 : tensor<1x128x1xf32>
    %693 = stablehlo.broadcast_in_dim %692, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %694 = stablehlo.subtract %688, %693 : tensor<1x128x768xf32>
    %695 = stablehlo.multiply %694, %694 : tensor<1x128x768xf32>
    %cst_108 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %696 = stablehlo.reduce(%695 init: %cst_108) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %697 = stablehlo.broadcast_in_dim %696, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_109 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %698 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %699 = stablehlo.divide %697, %698 : tensor<1x128x1xf32>
    %cst_110 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %700 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %701 = stablehlo.add %699, %700 : tensor<1x128x1xf32>
    %702 = stablehlo.rsqrt %701 : tensor<1x128x1xf32>
    %703 = stablehlo.broadcast_in_dim %702, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %704 = stablehlo.multiply %694, %703 : tensor<1x128x768xf32>
    %705 = stablehlo.broadcast_in_dim %arg103, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %706 = stablehlo.broadcast_in_dim %705, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %707 = stablehlo.multiply %704, %706 : tensor<1x128x768xf32>
    %708 = stablehlo.broadcast_in_dim %arg102, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %709 = stablehlo.broadcast_in_dim %708, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %710 = stablehlo.add %707, %709 : tensor<1x128x768xf32>
    %711 = stablehlo.dot_general %710, %arg99, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %712 = stablehlo.broadcast_in_dim %arg98, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %713 = stablehlo.broadcast_in_dim %712, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %714 = stablehlo.add %711, %713 : tensor<1x128x3072xf32>
    %cst_111 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %715 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %716 = stablehlo.multiply %715, %714 : tensor<1x128x3072xf32>
    %cst_112 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %717 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %718 = stablehlo.multiply %714, %717 : tensor<1x128x3072xf32>
    %719 = chlo.erf %718 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_113 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %720 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %721 = stablehlo.add %720, %719 : tensor<1x128x3072xf32>
    %722 = stablehlo.multiply %716, %721 : tensor<1x128x3072xf32>
    %723 = stablehlo.dot_general %722, %arg97, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %724 = stablehlo.add %710, %723 : tensor<1x128x768xf32>
    %725 = stablehlo.broadcast_in_dim %arg96, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %726 = stablehlo.broadcast_in_dim %725, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %727 = stablehlo.add %724, %726 : tensor<1x128x768xf32>
    %cst_114 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %728 = stablehlo.reduce(%727 init: %cst_114) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %729 = stablehlo.broadcast_in_dim %728, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_115 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %730 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %731 = stablehlo.divide %729, %730 : tensor<1x128x1xf32>
    %732 = stablehlo.broadcast_in_dim %731, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %733 = stablehlo.subtract %727, %732 : tensor<1x128x768xf32>
    %734 = stablehlo.multiply %733, %733 : tensor<1x128x768xf32>
    %cst_116 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %735 = stablehlo.reduce(%734 init: %cst_116) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %736 = stablehlo.broadcast_in_dim %735, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_117 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %737 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %738 = stablehlo.divide %736, %737 : tensor<1x128x1xf32>
    %cst_118 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %739 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %740 = stablehlo.add %738, %739 : tensor<1x128x1xf32>
    %741 = stablehlo.rsqrt %740 : tensor<1x128x1xf32>
    %742 = stablehlo.broadcast_in_dim %741, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %743 = stablehlo.multiply %733, %742 : tensor<1x128x768xf32>
    %744 = stablehlo.broadcast_in_dim %arg105, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %745 = stablehlo.broadcast_in_dim %744, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %746 = stablehlo.multiply %743, %745 : tensor<1x128x768xf32>
    %747 = stablehlo.broadcast_in_dim %arg104, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %748 = stablehlo.broadcast_in_dim %747, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %749 = stablehlo.add %746, %748 : tensor<1x128x768xf32>
    %750 = stablehlo.dot_general %749, %arg125, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %751 = stablehlo.broadcast_in_dim %arg124, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %752 = stablehlo.broadcast_in_dim %751, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %753 = stablehlo.add %750, %752 : tensor<1x128x768xf32>
    %754 = stablehlo.reshape %753 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %755 = stablehlo.transpose %754, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %756 = stablehlo.dot_general %749, %arg117, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %757 = stablehlo.broadcast_in_dim %arg116, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %758 = stablehlo.broadcast_in_dim %757, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %759 = stablehlo.add %756, %758 : tensor<1x128x768xf32>
    %760 = stablehlo.reshape %759 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %761 = stablehlo.transpose %760, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %762 = stablehlo.dot_general %749, %arg127, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %763 = stablehlo.broadcast_in_dim %arg126, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %764 = stablehlo.broadcast_in_dim %763, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %765 = stablehlo.add %762, %764 : tensor<1x128x768xf32>
    %766 = stablehlo.reshape %765 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %767 = stablehlo.transpose %766, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %768 = stablehlo.dot_general %755, %761, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_119 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %769 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %770 = stablehlo.multiply %768, %769 : tensor<1x12x128x128xf32>
    %771 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %772 = stablehlo.add %770, %771 : tensor<1x12x128x128xf32>
    %cst_120 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %773 = stablehlo.reduce(%772 init: %cst_120) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %774 = stablehlo.broadcast_in_dim %773, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %775 = stablehlo.broadcast_in_dim %774, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %776 = stablehlo.subtract %772, %775 : tensor<1x12x128x128xf32>
    %777 = stablehlo.exponential %776 : tensor<1x12x128x128xf32>
    %cst_121 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %778 = stablehlo.reduce(%777 init: %cst_121) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %779 = stablehlo.broadcast_in_dim %778, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %780 = stablehlo.broadcast_in_dim %779, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %781 = stablehlo.divide %777, %780 : tensor<1x12x128x128xf32>
    %782 = stablehlo.dot_general %781, %767, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %783 = stablehlo.transpose %782, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %784 = stablehlo.reshape %783 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %785 = stablehlo.dot_general %784, %arg123, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %786 = stablehlo.add %749, %785 : tensor<1x128x768xf32>
    %787 = stablehlo.broadcast_in_dim %arg122, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %788 = stablehlo.broadcast_in_dim %787, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %789 = stablehlo.add %786, %788 : tensor<1x128x768xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %790 = stablehlo.reduce(%789 init: %cst_122) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %791 = stablehlo.broadcast_in_dim %790, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_123 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %792 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %793 = stablehlo.divide %791, %792 : tensor<1x128x1xf32>
    %794 = stablehlo.broadcast_in_dim %793, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %795 = stablehlo.subtract %789, %794 : tensor<1x128x768xf32>
    %796 = stablehlo.multiply %795, %795 : tensor<1x128x768xf32>
    %cst_124 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %797 = stablehlo.reduce(%796 init: %cst_124) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %798 = stablehlo.broadcast_in_dim %797, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_125 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %799 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %800 = stablehlo.divide %798, %799 : tensor<1x128x1xf32>
    %cst_126 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %801 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %802 = stablehlo.add %800, %801 : tensor<1x128x1xf32>
    %803 = stablehlo.rsqrt %802 : tensor<1x128x1xf32>
    %804 = stablehlo.broadcast_in_dim %803, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %805 = stablehlo.multiply %795, %804 : tensor<1x128x768xf32>
    %806 = stablehlo.broadcast_in_dim %arg119, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %807 = stablehlo.broadcast_in_dim %806, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %808 = stablehlo.multiply %805, %807 : tensor<1x128x768xf32>
    %809 = stablehlo.broadcast_in_dim %arg118, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %810 = stablehlo.broadcast_in_dim %809, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %811 = stablehlo.add %808, %810 : tensor<1x128x768xf32>
    %812 = stablehlo.dot_general %811, %arg115, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %813 = stablehlo.broadcast_in_dim %arg114, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %814 = stablehlo.broadcast_in_dim %813, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %815 = stablehlo.add %812, %814 : tensor<1x128x3072xf32>
    %cst_127 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %816 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %817 = stablehlo.multiply %816, %815 : tensor<1x128x3072xf32>
    %cst_128 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %818 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %819 = stablehlo.multiply %815, %818 : tensor<1x128x3072xf32>
    %820 = chlo.erf %819 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_129 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %821 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %822 = stablehlo.add %821, %820 : tensor<1x128x3072xf32>
    %823 = stablehlo.multiply %817, %822 : tensor<1x128x3072xf32>
    %824 = stablehlo.dot_general %823, %arg113, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %825 = stablehlo.add %811, %824 : tensor<1x128x768xf32>
    %826 = stablehlo.broadcast_in_dim %arg112, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %827 = stablehlo.broadcast_in_dim %826, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %828 = stablehlo.add %825, %827 : tensor<1x128x768xf32>
    %cst_130 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %829 = stablehlo.reduce(%828 init: %cst_130) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %830 = stablehlo.broadcast_in_dim %829, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_131 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %831 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %832 = stablehlo.divide %830, %831 : tensor<1x128x1xf32>
    %833 = stablehlo.broadcast_in_dim %832, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %834 = stablehlo.subtract %828, %833 : tensor<1x128x768xf32>
    %835 = stablehlo.multiply %834, %834 : tensor<1x128x768xf32>
    %cst_132 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %836 = stablehlo.reduce(%835 init: %cst_132) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %837 = stablehlo.broadcast_in_dim %836, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_133 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %838 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %839 = stablehlo.divide %837, %838 : tensor<1x128x1xf32>
    %cst_134 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %840 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %841 = stablehlo.add %839, %840 : tensor<1x128x1xf32>
    %842 = stablehlo.rsqrt %841 : tensor<1x128x1xf32>
    %843 = stablehlo.broadcast_in_dim %842, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %844 = stablehlo.multiply %834, %843 : tensor<1x128x768xf32>
    %845 = stablehlo.broadcast_in_dim %arg121, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %846 = stablehlo.broadcast_in_dim %845, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %847 = stablehlo.multiply %844, %846 : tensor<1x128x768xf32>
    %848 = stablehlo.broadcast_in_dim %arg120, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %849 = stablehlo.broadcast_in_dim %848, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %850 = stablehlo.add %847, %849 : tensor<1x128x768xf32>
    %851 = stablehlo.dot_general %850, %arg141, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %852 = stablehlo.broadcast_in_dim %arg140, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %853 = stablehlo.broadcast_in_dim %852, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %854 = stablehlo.add %851, %853 : tensor<1x128x768xf32>
    %855 = stablehlo.reshape %854 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %856 = stablehlo.transpose %855, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %857 = stablehlo.dot_general %850, %arg133, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %858 = stablehlo.broadcast_in_dim %arg132, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %859 = stablehlo.broadcast_in_dim %858, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %860 = stablehlo.add %857, %859 : tensor<1x128x768xf32>
    %861 = stablehlo.reshape %860 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %862 = stablehlo.transpose %861, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %863 = stablehlo.dot_general %850, %arg143, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %864 = stablehlo.broadcast_in_dim %arg142, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %865 = stablehlo.broadcast_in_dim %864, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %866 = stablehlo.add %863, %865 : tensor<1x128x768xf32>
    %867 = stablehlo.reshape %866 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %868 = stablehlo.transpose %867, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %869 = stablehlo.dot_general %856, %862, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_135 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %870 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %871 = stablehlo.multiply %869, %870 : tensor<1x12x128x128xf32>
    %872 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %873 = stablehlo.add %871, %872 : tensor<1x12x128x128xf32>
    %cst_136 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %874 = stablehlo.reduce(%873 init: %cst_136) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %875 = stablehlo.broadcast_in_dim %874, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %876 = stablehlo.broadcast_in_dim %875, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %877 = stablehlo.subtract %873, %876 : tensor<1x12x128x128xf32>
    %878 = stablehlo.exponential %877 : tensor<1x12x128x128xf32>
    %cst_137 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %879 = stablehlo.reduce(%878 init: %cst_137) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %880 = stablehlo.broadcast_in_dim %879, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %881 = stablehlo.broadcast_in_dim %880, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %882 = stablehlo.divide %878, %881 : tensor<1x12x128x128xf32>
    %883 = stablehlo.dot_general %882, %868, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %884 = stablehlo.transpose %883, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %885 = stablehlo.reshape %884 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %886 = stablehlo.dot_general %885, %arg139, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %887 = stablehlo.add %850, %886 : tensor<1x128x768xf32>
    %888 = stablehlo.broadcast_in_dim %arg138, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %889 = stablehlo.broadcast_in_dim %888, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %890 = stablehlo.add %887, %889 : tensor<1x128x768xf32>
    %cst_138 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %891 = stablehlo.reduce(%890 init: %cst_138) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %892 = stablehlo.broadcast_in_dim %891, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_139 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %893 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %894 = stablehlo.divide %892, %893 : tensor<1x128x1xf32>
    %895 = stablehlo.broadcast_in_dim %894, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %896 = stablehlo.subtract %890, %895 : tensor<1x128x768xf32>
    %897 = stablehlo.multiply %896, %896 : tensor<1x128x768xf32>
    %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %898 = stablehlo.reduce(%897 init: %cst_140) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %899 = stablehlo.broadcast_in_dim %898, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_141 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %900 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %901 = stablehlo.divide %899, %900 : tensor<1x128x1xf32>
    %cst_142 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %902 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %903 = stablehlo.add %901, %902 : tensor<1x128x1xf32>
    %904 = stablehlo.rsqrt %903 : tensor<1x128x1xf32>
    %905 = stablehlo.broadcast_in_dim %904, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %906 = stablehlo.multiply %896, %905 : tensor<1x128x768xf32>
    %907 = stablehlo.broadcast_in_dim %arg135, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %908 = stablehlo.broadcast_in_dim %907, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %909 = stablehlo.multiply %906, %908 : tensor<1x128x768xf32>
    %910 = stablehlo.broadcast_in_dim %arg134, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %911 = stablehlo.broadcast_in_dim %910, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %912 = stablehlo.add %909, %911 : tensor<1x128x768xf32>
    %913 = stablehlo.dot_general %912, %arg131, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %914 = stablehlo.broadcast_in_dim %arg130, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %915 = stablehlo.broadcast_in_dim %914, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %916 = stablehlo.add %913, %915 : tensor<1x128x3072xf32>
    %cst_143 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %917 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %918 = stablehlo.multiply %917, %916 : tensor<1x128x3072xf32>
    %cst_144 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %919 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %920 = stablehlo.multiply %916, %919 : tensor<1x128x3072xf32>
    %921 = chlo.erf %920 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_145 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %922 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %923 = stablehlo.add %922, %921 : tensor<1x128x3072xf32>
    %924 = stablehlo.multiply %918, %923 : tensor<1x128x3072xf32>
    %925 = stablehlo.dot_general %924, %arg129, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %926 = stablehlo.add %912, %925 : tensor<1x128x768xf32>
    %927 = stablehlo.broadcast_in_dim %arg128, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %928 = stablehlo.broadcast_in_dim %927, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %929 = stablehlo.add %926, %928 : tensor<1x128x768xf32>
    %cst_146 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %930 = stablehlo.reduce(%929 init: %cst_146) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %931 = stablehlo.broadcast_in_dim %930, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_147 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %932 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %933 = stablehlo.divide %931, %932 : tensor<1x128x1xf32>
    %934 = stablehlo.broadcast_in_dim %933, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %935 = stablehlo.subtract %929, %934 : tensor<1x128x768xf32>
    %936 = stablehlo.multiply %935, %935 : tensor<1x128x768xf32>
    %cst_148 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %937 = stablehlo.reduce(%936 init: %cst_148) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %938 = stablehlo.broadcast_in_dim %937, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_149 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %939 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %940 = stablehlo.divide %938, %939 : tensor<1x128x1xf32>
    %cst_150 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %941 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %942 = stablehlo.add %940, %941 : tensor<1x128x1xf32>
    %943 = stablehlo.rsqrt %942 : tensor<1x128x1xf32>
    %944 = stablehlo.broadcast_in_dim %943, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %945 = stablehlo.multiply %935, %944 : tensor<1x128x768xf32>
    %946 = stablehlo.broadcast_in_dim %arg137, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %947 = stablehlo.broadcast_in_dim %946, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %948 = stablehlo.multiply %945, %947 : tensor<1x128x768xf32>
    %949 = stablehlo.broadcast_in_dim %arg136, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %950 = stablehlo.broadcast_in_dim %949, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %951 = stablehlo.add %948, %950 : tensor<1x128x768xf32>
    %952 = stablehlo.dot_general %951, %arg157, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %953 = stablehlo.broadcast_in_dim %arg156, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %954 = stablehlo.broadcast_in_dim %953, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %955 = stablehlo.add %952, %954 : tensor<1x128x768xf32>
    %956 = stablehlo.reshape %955 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %957 = stablehlo.transpose %956, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %958 = stablehlo.dot_general %951, %arg149, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %959 = stablehlo.broadcast_in_dim %arg148, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %960 = stablehlo.broadcast_in_dim %959, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %961 = stablehlo.add %958, %960 : tensor<1x128x768xf32>
    %962 = stablehlo.reshape %961 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %963 = stablehlo.transpose %962, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %964 = stablehlo.dot_general %951, %arg159, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %965 = stablehlo.broadcast_in_dim %arg158, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %966 = stablehlo.broadcast_in_dim %965, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %967 = stablehlo.add %964, %966 : tensor<1x128x768xf32>
    %968 = stablehlo.reshape %967 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %969 = stablehlo.transpose %968, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %970 = stablehlo.dot_general %957, %963, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_151 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %971 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %972 = stablehlo.multiply %970, %971 : tensor<1x12x128x128xf32>
    %973 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %974 = stablehlo.add %972, %973 : tensor<1x12x128x128xf32>
    %cst_152 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %975 = stablehlo.reduce(%974 init: %cst_152) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %976 = stablehlo.broadcast_in_dim %975, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %977 = stablehlo.broadcast_in_dim %976, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %978 = stablehlo.subtract %974, %977 : tensor<1x12x128x128xf32>
    %979 = stablehlo.exponential %978 : tensor<1x12x128x128xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %980 = stablehlo.reduce(%979 init: %cst_153) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %981 = stablehlo.broadcast_in_dim %980, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %982 = stablehlo.broadcast_in_dim %981, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %983 = stablehlo.divide %979, %982 : tensor<1x12x128x128xf32>
    %984 = stablehlo.dot_general %983, %969, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %985 = stablehlo.transpose %984, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %986 = stablehlo.reshape %985 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %987 = stablehlo.dot_general %986, %arg155, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %988 = stablehlo.add %951, %987 : tensor<1x128x768xf32>
    %989 = stablehlo.broadcast_in_dim %arg154, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %990 = stablehlo.broadcast_in_dim %989, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %991 = stablehlo.add %988, %990 : tensor<1x128x768xf32>
    %cst_154 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %992 = stablehlo.reduce(%991 init: %cst_154) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %993 = stablehlo.broadcast_in_dim %992, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_155 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %994 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %995 = stablehlo.divide %993, %994 : tensor<1x128x1xf32>
    %996 = stablehlo.broadcast_in_dim %995, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %997 = stablehlo.subtract %991, %996 : tensor<1x128x768xf32>
    %998 = stablehlo.multiply %997, %997 : tensor<1x128x768xf32>
    %cst_156 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %999 = stablehlo.reduce(%998 init: %cst_156) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1000 = stablehlo.broadcast_in_dim %999, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_157 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1001 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1002 = stablehlo.divide %1000, %1001 : tensor<1x128x1xf32>
    %cst_158 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %1003 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1004 = stablehlo.add %1002, %1003 : tensor<1x128x1xf32>
    %1005 = stablehlo.rsqrt %1004 : tensor<1x128x1xf32>
    %1006 = stablehlo.broadcast_in_dim %1005, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1007 = stablehlo.multiply %997, %1006 : tensor<1x128x768xf32>
    %1008 = stablehlo.broadcast_in_dim %arg151, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1009 = stablehlo.broadcast_in_dim %1008, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1010 = stablehlo.multiply %1007, %1009 : tensor<1x128x768xf32>
    %1011 = stablehlo.broadcast_in_dim %arg150, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1012 = stablehlo.broadcast_in_dim %1011, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1013 = stablehlo.add %1010, %1012 : tensor<1x128x768xf32>
    %1014 = stablehlo.dot_general %1013, %arg147, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %1015 = stablehlo.broadcast_in_dim %arg146, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1016 = stablehlo.broadcast_in_dim %1015, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %1017 = stablehlo.add %1014, %1016 : tensor<1x128x3072xf32>
    %cst_159 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1018 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1019 = stablehlo.multiply %1018, %1017 : tensor<1x128x3072xf32>
    %cst_160 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %1020 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1021 = stablehlo.multiply %1017, %1020 : tensor<1x128x3072xf32>
    %1022 = chlo.erf %1021 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_161 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1023 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1024 = stablehlo.add %1023, %1022 : tensor<1x128x3072xf32>
    %1025 = stablehlo.multiply %1019, %1024 : tensor<1x128x3072xf32>
    %1026 = stablehlo.dot_general %1025, %arg145, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %1027 = stablehlo.add %1013, %1026 : tensor<1x128x768xf32>
    %1028 = stablehlo.broadcast_in_dim %arg144, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1029 = stablehlo.broadcast_in_dim %1028, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1030 = stablehlo.add %1027, %1029 : tensor<1x128x768xf32>
    %cst_162 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1031 = stablehlo.reduce(%1030 init: %cst_162) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1032 = stablehlo.broadcast_in_dim %1031, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_163 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1033 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1034 = stablehlo.divide %1032, %1033 : tensor<1x128x1xf32>
    %1035 = stablehlo.broadcast_in_dim %1034, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1036 = stablehlo.subtract %1030, %1035 : tensor<1x128x768xf32>
    %1037 = stablehlo.multiply %1036, %1036 : tensor<1x128x768xf32>
    %cst_164 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1038 = stablehlo.reduce(%1037 init: %cst_164) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1039 = stablehlo.broadcast_in_dim %1038, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_165 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1040 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1041 = stablehlo.divide %1039, %1040 : tensor<1x128x1xf32>
    %cst_166 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %1042 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1043 = stablehlo.add %1041, %1042 : tensor<1x128x1xf32>
    %1044 = stablehlo.rsqrt %1043 : tensor<1x128x1xf32>
    %1045 = stablehlo.broadcast_in_dim %1044, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1046 = stablehlo.multiply %1036, %1045 : tensor<1x128x768xf32>
    %1047 = stablehlo.broadcast_in_dim %arg153, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1048 = stablehlo.broadcast_in_dim %1047, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1049 = stablehlo.multiply %1046, %1048 : tensor<1x128x768xf32>
    %1050 = stablehlo.broadcast_in_dim %arg152, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1051 = stablehlo.broadcast_in_dim %1050, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1052 = stablehlo.add %1049, %1051 : tensor<1x128x768xf32>
    %1053 = stablehlo.dot_general %1052, %arg173, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1054 = stablehlo.broadcast_in_dim %arg172, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1055 = stablehlo.broadcast_in_dim %1054, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1056 = stablehlo.add %1053, %1055 : tensor<1x128x768xf32>
    %1057 = stablehlo.reshape %1056 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %1058 = stablehlo.transpose %1057, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %1059 = stablehlo.dot_general %1052, %arg165, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1060 = stablehlo.broadcast_in_dim %arg164, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1061 = stablehlo.broadcast_in_dim %1060, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1062 = stablehlo.add %1059, %1061 : tensor<1x128x768xf32>
    %1063 = stablehlo.reshape %1062 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %1064 = stablehlo.transpose %1063, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %1065 = stablehlo.dot_general %1052, %arg175, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1066 = stablehlo.broadcast_in_dim %arg174, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1067 = stablehlo.broadcast_in_dim %1066, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1068 = stablehlo.add %1065, %1067 : tensor<1x128x768xf32>
    %1069 = stablehlo.reshape %1068 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %1070 = stablehlo.transpose %1069, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %1071 = stablehlo.dot_general %1058, %1064, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_167 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1072 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %1073 = stablehlo.multiply %1071, %1072 : tensor<1x12x128x128xf32>
    %1074 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %1075 = stablehlo.add %1073, %1074 : tensor<1x12x128x128xf32>
    %cst_168 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1076 = stablehlo.reduce(%1075 init: %cst_168) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %1077 = stablehlo.broadcast_in_dim %1076, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %1078 = stablehlo.broadcast_in_dim %1077, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %1079 = stablehlo.subtract %1075, %1078 : tensor<1x12x128x128xf32>
    %1080 = stablehlo.exponential %1079 : tensor<1x12x128x128xf32>
    %cst_169 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1081 = stablehlo.reduce(%1080 init: %cst_169) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %1082 = stablehlo.broadcast_in_dim %1081, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %1083 = stablehlo.broadcast_in_dim %1082, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %1084 = stablehlo.divide %1080, %1083 : tensor<1x12x128x128xf32>
    %1085 = stablehlo.dot_general %1084, %1070, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %1086 = stablehlo.transpose %1085, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %1087 = stablehlo.reshape %1086 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %1088 = stablehlo.dot_general %1087, %arg171, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1089 = stablehlo.add %1052, %1088 : tensor<1x128x768xf32>
    %1090 = stablehlo.broadcast_in_dim %arg170, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1091 = stablehlo.broadcast_in_dim %1090, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1092 = stablehlo.add %1089, %1091 : tensor<1x128x768xf32>
    %cst_170 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1093 = stablehlo.reduce(%1092 init: %cst_170) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1094 = stablehlo.broadcast_in_dim %1093, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_171 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1095 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1096 = stablehlo.divide %1094, %1095 : tensor<1x128x1xf32>
    %1097 = stablehlo.broadcast_in_dim %1096, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1098 = stablehlo.subtract %1092, %1097 : tensor<1x128x768xf32>
    %1099 = stablehlo.multiply %1098, %1098 : tensor<1x128x768xf32>
    %cst_172 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1100 = stablehlo.reduce(%1099 init: %cst_172) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1101 = stablehlo.broadcast_in_dim %1100, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_173 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1102 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1103 = stablehlo.divide %1101, %1102 : tensor<1x128x1xf32>
    %cst_174 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %1104 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1105 = stablehlo.add %1103, %1104 : tensor<1x128x1xf32>
    %1106 = stablehlo.rsqrt %1105 : tensor<1x128x1xf32>
    %1107 = stablehlo.broadcast_in_dim %1106, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1108 = stablehlo.multiply %1098, %1107 : tensor<1x128x768xf32>
    %1109 = stablehlo.broadcast_in_dim %arg167, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1110 = stablehlo.broadcast_in_dim %1109, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1111 = stablehlo.multiply %1108, %1110 : tensor<1x128x768xf32>
    %1112 = stablehlo.broadcast_in_dim %arg166, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1113 = stablehlo.broadcast_in_dim %1112, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1114 = stablehlo.add %1111, %1113 : tensor<1x128x768xf32>
    %1115 = stablehlo.dot_general %1114, %arg163, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %1116 = stablehlo.broadcast_in_dim %arg162, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1117 = stablehlo.broadcast_in_dim %1116, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %1118 = stablehlo.add %1115, %1117 : tensor<1x128x3072xf32>
    %cst_175 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1119 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1120 = stablehlo.multiply %1119, %1118 : tensor<1x128x3072xf32>
    %cst_176 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %1121 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1122 = stablehlo.multiply %1118, %1121 : tensor<1x128x3072xf32>
    %1123 = chlo.erf %1122 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_177 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1124 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1125 = stablehlo.add %1124, %1123 : tensor<1x128x3072xf32>
    %1126 = stablehlo.multiply %1120, %1125 : tensor<1x128x3072xf32>
    %1127 = stablehlo.dot_general %1126, %arg161, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %1128 = stablehlo.add %1114, %1127 : tensor<1x128x768xf32>
    %1129 = stablehlo.broadcast_in_dim %arg160, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1130 = stablehlo.broadcast_in_dim %1129, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1131 = stablehlo.add %1128, %1130 : tensor<1x128x768xf32>
    %cst_178 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1132 = stablehlo.reduce(%1131 init: %cst_178) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1133 = stablehlo.broadcast_in_dim %1132, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_179 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1134 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1135 = stablehlo.divide %1133, %1134 : tensor<1x128x1xf32>
    %1136 = stablehlo.broadcast_in_dim %1135, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1137 = stablehlo.subtract %1131, %1136 : tensor<1x128x768xf32>
    %1138 = stablehlo.multiply %1137, %1137 : tensor<1x128x768xf32>
    %cst_180 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1139 = stablehlo.reduce(%1138 init: %cst_180) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1140 = stablehlo.broadcast_in_dim %1139, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_181 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1141 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1142 = stablehlo.divide %1140, %1141 : tensor<1x128x1xf32>
    %cst_182 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %1143 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1144 = stablehlo.add %1142, %1143 : tensor<1x128x1xf32>
    %1145 = stablehlo.rsqrt %1144 : tensor<1x128x1xf32>
    %1146 = stablehlo.broadcast_in_dim %1145, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1147 = stablehlo.multiply %1137, %1146 : tensor<1x128x768xf32>
    %1148 = stablehlo.broadcast_in_dim %arg169, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1149 = stablehlo.broadcast_in_dim %1148, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1150 = stablehlo.multiply %1147, %1149 : tensor<1x128x768xf32>
    %1151 = stablehlo.broadcast_in_dim %arg168, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1152 = stablehlo.broadcast_in_dim %1151, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1153 = stablehlo.add %1150, %1152 : tensor<1x128x768xf32>
    %1154 = stablehlo.dot_general %1153, %arg189, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1155 = stablehlo.broadcast_in_dim %arg188, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1156 = stablehlo.broadcast_in_dim %1155, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1157 = stablehlo.add %1154, %1156 : tensor<1x128x768xf32>
    %1158 = stablehlo.reshape %1157 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %1159 = stablehlo.transpose %1158, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %1160 = stablehlo.dot_general %1153, %arg181, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1161 = stablehlo.broadcast_in_dim %arg180, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1162 = stablehlo.broadcast_in_dim %1161, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1163 = stablehlo.add %1160, %1162 : tensor<1x128x768xf32>
    %1164 = stablehlo.reshape %1163 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %1165 = stablehlo.transpose %1164, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %1166 = stablehlo.dot_general %1153, %arg191, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1167 = stablehlo.broadcast_in_dim %arg190, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1168 = stablehlo.broadcast_in_dim %1167, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1169 = stablehlo.add %1166, %1168 : tensor<1x128x768xf32>
    %1170 = stablehlo.reshape %1169 : (tensor<1x128x768xf32>) -> tensor<1x128x12x64xf32>
    %1171 = stablehlo.transpose %1170, dims = [0, 2, 1, 3] : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
    %1172 = stablehlo.dot_general %1159, %1165, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x128xf32>
    %cst_183 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1173 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<1x12x128x128xf32>
    %1174 = stablehlo.multiply %1172, %1173 : tensor<1x12x128x128xf32>
    %1175 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x12x128x128xf32>
    %1176 = stablehlo.add %1174, %1175 : tensor<1x12x128x128xf32>
    %cst_184 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1177 = stablehlo.reduce(%1176 init: %cst_184) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %1178 = stablehlo.broadcast_in_dim %1177, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %1179 = stablehlo.broadcast_in_dim %1178, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %1180 = stablehlo.subtract %1176, %1179 : tensor<1x12x128x128xf32>
    %1181 = stablehlo.exponential %1180 : tensor<1x12x128x128xf32>
    %cst_185 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1182 = stablehlo.reduce(%1181 init: %cst_185) applies stablehlo.add across dimensions = [3] : (tensor<1x12x128x128xf32>, tensor<f32>) -> tensor<1x12x128xf32>
    %1183 = stablehlo.broadcast_in_dim %1182, dims = [0, 1, 2] : (tensor<1x12x128xf32>) -> tensor<1x12x128x1xf32>
    %1184 = stablehlo.broadcast_in_dim %1183, dims = [0, 1, 2, 3] : (tensor<1x12x128x1xf32>) -> tensor<1x12x128x128xf32>
    %1185 = stablehlo.divide %1181, %1184 : tensor<1x12x128x128xf32>
    %1186 = stablehlo.dot_general %1185, %1171, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x128x128xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    %1187 = stablehlo.transpose %1186, dims = [0, 2, 1, 3] : (tensor<1x12x128x64xf32>) -> tensor<1x128x12x64xf32>
    %1188 = stablehlo.reshape %1187 : (tensor<1x128x12x64xf32>) -> tensor<1x128x768xf32>
    %1189 = stablehlo.dot_general %1188, %arg187, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x768xf32>) -> tensor<1x128x768xf32>
    %1190 = stablehlo.add %1153, %1189 : tensor<1x128x768xf32>
    %1191 = stablehlo.broadcast_in_dim %arg186, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1192 = stablehlo.broadcast_in_dim %1191, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1193 = stablehlo.add %1190, %1192 : tensor<1x128x768xf32>
    %cst_186 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1194 = stablehlo.reduce(%1193 init: %cst_186) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1195 = stablehlo.broadcast_in_dim %1194, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_187 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1196 = stablehlo.broadcast_in_dim %cst_187, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1197 = stablehlo.divide %1195, %1196 : tensor<1x128x1xf32>
    %1198 = stablehlo.broadcast_in_dim %1197, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1199 = stablehlo.subtract %1193, %1198 : tensor<1x128x768xf32>
    %1200 = stablehlo.multiply %1199, %1199 : tensor<1x128x768xf32>
    %cst_188 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1201 = stablehlo.reduce(%1200 init: %cst_188) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1202 = stablehlo.broadcast_in_dim %1201, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_189 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1203 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1204 = stablehlo.divide %1202, %1203 : tensor<1x128x1xf32>
    %cst_190 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %1205 = stablehlo.broadcast_in_dim %cst_190, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1206 = stablehlo.add %1204, %1205 : tensor<1x128x1xf32>
    %1207 = stablehlo.rsqrt %1206 : tensor<1x128x1xf32>
    %1208 = stablehlo.broadcast_in_dim %1207, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1209 = stablehlo.multiply %1199, %1208 : tensor<1x128x768xf32>
    %1210 = stablehlo.broadcast_in_dim %arg183, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1211 = stablehlo.broadcast_in_dim %1210, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1212 = stablehlo.multiply %1209, %1211 : tensor<1x128x768xf32>
    %1213 = stablehlo.broadcast_in_dim %arg182, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1214 = stablehlo.broadcast_in_dim %1213, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1215 = stablehlo.add %1212, %1214 : tensor<1x128x768xf32>
    %1216 = stablehlo.dot_general %1215, %arg179, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
    %1217 = stablehlo.broadcast_in_dim %arg178, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1218 = stablehlo.broadcast_in_dim %1217, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x128x3072xf32>
    %1219 = stablehlo.add %1216, %1218 : tensor<1x128x3072xf32>
    %cst_191 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1220 = stablehlo.broadcast_in_dim %cst_191, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1221 = stablehlo.multiply %1220, %1219 : tensor<1x128x3072xf32>
    %cst_192 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %1222 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1223 = stablehlo.multiply %1219, %1222 : tensor<1x128x3072xf32>
    %1224 = chlo.erf %1223 : tensor<1x128x3072xf32> -> tensor<1x128x3072xf32>
    %cst_193 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1225 = stablehlo.broadcast_in_dim %cst_193, dims = [] : (tensor<f32>) -> tensor<1x128x3072xf32>
    %1226 = stablehlo.add %1225, %1224 : tensor<1x128x3072xf32>
    %1227 = stablehlo.multiply %1221, %1226 : tensor<1x128x3072xf32>
    %1228 = stablehlo.dot_general %1227, %arg177, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x3072xf32>, tensor<3072x768xf32>) -> tensor<1x128x768xf32>
    %1229 = stablehlo.add %1215, %1228 : tensor<1x128x768xf32>
    %1230 = stablehlo.broadcast_in_dim %arg176, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1231 = stablehlo.broadcast_in_dim %1230, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1232 = stablehlo.add %1229, %1231 : tensor<1x128x768xf32>
    %cst_194 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1233 = stablehlo.reduce(%1232 init: %cst_194) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1234 = stablehlo.broadcast_in_dim %1233, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_195 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1235 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1236 = stablehlo.divide %1234, %1235 : tensor<1x128x1xf32>
    %1237 = stablehlo.broadcast_in_dim %1236, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1238 = stablehlo.subtract %1232, %1237 : tensor<1x128x768xf32>
    %1239 = stablehlo.multiply %1238, %1238 : tensor<1x128x768xf32>
    %cst_196 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1240 = stablehlo.reduce(%1239 init: %cst_196) applies stablehlo.add across dimensions = [2] : (tensor<1x128x768xf32>, tensor<f32>) -> tensor<1x128xf32>
    %1241 = stablehlo.broadcast_in_dim %1240, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<1x128x1xf32>
    %cst_197 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1242 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1243 = stablehlo.divide %1241, %1242 : tensor<1x128x1xf32>
    %cst_198 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %1244 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<1x128x1xf32>
    %1245 = stablehlo.add %1243, %1244 : tensor<1x128x1xf32>
    %1246 = stablehlo.rsqrt %1245 : tensor<1x128x1xf32>
    %1247 = stablehlo.broadcast_in_dim %1246, dims = [0, 1, 2] : (tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
    %1248 = stablehlo.multiply %1238, %1247 : tensor<1x128x768xf32>
    %1249 = stablehlo.broadcast_in_dim %arg185, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1250 = stablehlo.broadcast_in_dim %1249, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1251 = stablehlo.multiply %1248, %1250 : tensor<1x128x768xf32>
    %1252 = stablehlo.broadcast_in_dim %arg184, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1253 = stablehlo.broadcast_in_dim %1252, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x128x768xf32>
    %1254 = stablehlo.add %1251, %1253 : tensor<1x128x768xf32>
    return %1254 : tensor<1x128x768xf32>
  }
}
