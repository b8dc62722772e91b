module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048x1000xf32>, %arg1: tensor<1000xf32>, %arg2: tensor<1x1x64x256xf32>, %arg3: tensor<1x1x64x64xf32>, %arg4: tensor<3x3x64x64xf32>, %arg5: tensor<1x1x64x256xf32>, %arg6: tensor<256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256xf32>, %arg9: tensor<256xf32>, %arg10: tensor<64xf32>, %arg11: tensor<64xf32>, %arg12: tensor<64xf32>, %arg13: tensor<64xf32>, %arg14: tensor<64xf32>, %arg15: tensor<64xf32>, %arg16: tensor<64xf32>, %arg17: tensor<64xf32>, %arg18: tensor<256xf32>, %arg19: tensor<256xf32>, %arg20: tensor<256xf32>, %arg21: tensor<256xf32>, %arg22: tensor<1x1x256x64xf32>, %arg23: tensor<3x3x64x64xf32>, %arg24: tensor<1x1x64x256xf32>, %arg25: tensor<64xf32>, %arg26: tensor<64xf32>, %arg27: tensor<64xf32>, %arg28: tensor<64xf32>, %arg29: tensor<64xf32>, %arg30: tensor<64xf32>, %arg31: tensor<64xf32>, %arg32: tensor<64xf32>, %arg33: tensor<256xf32>, %arg34: tensor<256xf32>, %arg35: tensor<256xf32>, %arg36: tensor<256xf32>, %arg37: tensor<1x1x256x64xf32>, %arg38: tensor<3x3x64x64xf32>, %arg39: tensor<1x1x64x256xf32>, %arg40: tensor<64xf32>, %arg41: tensor<64xf32>, %arg42: tensor<64xf32>, %arg43: tensor<64xf32>, %arg44: tensor<64xf32>, %arg45: tensor<64xf32>, %arg46: tensor<64xf32>, %arg47: tensor<64xf32>, %arg48: tensor<256xf32>, %arg49: tensor<256xf32>, %arg50: tensor<256xf32>, %arg51: tensor<256xf32>, %arg52: tensor<1x1x256x512xf32>, %arg53: tensor<1x1x256x128xf32>, %arg54: tensor<3x3x128x128xf32>, %arg55: tensor<1x1x128x512xf32>, %arg56: tensor<512xf32>, %arg57: tensor<512xf32>, %arg58: tensor<512xf32>, %arg59: tensor<512xf32>, %arg60: tensor<128xf32>, %arg61: tensor<128xf32>, %arg62: tensor<128xf32>, %arg63: tensor<128xf32>, %arg64: tensor<128xf32>, %arg65: tensor<128xf32>, %arg66: tensor<128xf32>, %arg67: tensor<128xf32>, %arg68: tensor<512xf32>, %arg69: tensor<512xf32>, %arg70: tensor<512xf32>, %arg71: tensor<512xf32>, %arg72: tensor<1x1x512x128xf32>, %arg73: tensor<3x3x128x128xf32>, %arg74: tensor<1x1x128x512xf32>, %arg75: tensor<128xf32>, %arg76: tensor<128xf32>, %arg77: tensor<128xf32>, %arg78: tensor<128xf32>, %arg79: tensor<128xf32>, %arg80: tensor<128xf32>, %arg81: tensor<128xf32>, %arg82: tensor<128xf32>, %arg83: tensor<512xf32>, %arg84: tensor<512xf32>, %arg85: tensor<512xf32>, %arg86: tensor<512xf32>, %arg87: tensor<1x1x512x128xf32>, %arg88: tensor<3x3x128x128xf32>, %arg89: tensor<1x1x128x512xf32>, %arg90: tensor<128xf32>, %arg91: tensor<128xf32>, %arg92: tensor<128xf32>, %arg93: tensor<128xf32>, %arg94: tensor<128xf32>, %arg95: tensor<128xf32>, %arg96: tensor<128xf32>, %arg97: tensor<128xf32>, %arg98: tensor<512xf32>, %arg99: tensor<512xf32>, %arg100: tensor<512xf32>, %arg101: tensor<512xf32>, %arg102: tensor<1x1x512x128xf32>, %arg103: tensor<3x3x128x128xf32>, %arg104: tensor<1x1x128x512xf32>, %arg105: tensor<128xf32>, %arg106: tensor<128xf32>, %arg107: tensor<128xf32>, %arg108: tensor<128xf32>, %arg109: tensor<128xf32>, %arg110: tensor<128xf32>, %arg111: tensor<128xf32>, %arg112: tensor<128xf32>, %arg113: tensor<512xf32>, %arg114: tensor<512xf32>, %arg115: tensor<512xf32>, %arg116: tensor<512xf32>, %arg117: tensor<1x1x512x1024xf32>, %arg118: tensor<1x1x512x256xf32>, %arg119: tensor<3x3x256x256xf32>, %arg120: tensor<1x1x256x1024xf32>, %arg121: tensor<1024xf32>, %arg122: tensor<1024xf32>, %arg123: tensor<1024xf32>, %arg124: tensor<1024xf32>, %arg125: tensor<256xf32>, %arg126: tensor<256xf32>, %arg127: tensor<256xf32>, %arg128: tensor<256xf32>, %arg129: tensor<256xf32>, %arg130: tensor<256xf32>, %arg131: tensor<256xf32>, %arg132: tensor<256xf32>, %arg133: tensor<1024xf32>, %arg134: tensor<1024xf32>, %arg135: tensor<1024xf32>, %arg136: tensor<1024xf32>, %arg137: tensor<1x1x1024x256xf32>, %arg138: tensor<3x3x256x256xf32>, %arg139: tensor<1x1x256x1024xf32>, %arg140: tensor<256xf32>, %arg141: tensor<256xf32>, %arg142: tensor<256xf32>, %arg143: tensor<256xf32>, %arg144: tensor<256xf32>, %arg145: tensor<256xf32>, %arg146: tensor<256xf32>, %arg147: tensor<256xf32>, %arg148: tensor<1024xf32>, %arg149: tensor<1024xf32>, %arg150: tensor<1024xf32>, %arg151: tensor<1024xf32>, %arg152: tensor<1x1x1024x256xf32>, %arg153: tensor<3x3x256x256xf32>, %arg154: tensor<1x1x256x1024xf32>, %arg155: tensor<256xf32>, %arg156: tensor<256xf32>, %arg157: tensor<256xf32>, %arg158: tensor<256xf32>, %arg159: tensor<256xf32>, %arg160: tensor<256xf32>, %arg161: tensor<256xf32>, %arg162: tensor<256xf32>, %arg163: tensor<1024xf32>, %arg164: tensor<1024xf32>, %arg165: tensor<1024xf32>, %arg166: tensor<1024xf32>, %arg167: tensor<1x1x1024x256xf32>, %arg168: tensor<3x3x256x256xf32>, %arg169: tensor<1x1x256x1024xf32>, %arg170: tensor<256xf32>, %arg171: tensor<256xf32>, %arg172: tensor<256xf32>, %arg173: tensor<256xf32>, %arg174: tensor<256xf32>, %arg175: tensor<256xf32>, %arg176: tensor<256xf32>, %arg177: tensor<256xf32>, %arg178: tensor<1024xf32>, %arg179: tensor<1024xf32>, %arg180: tensor<1024xf32>, %arg181: tensor<1024xf32>, %arg182: tensor<1x1x1024x256xf32>, %arg183: tensor<3x3x256x256xf32>, %arg184: tensor<1x1x256x1024xf32>, %arg185: tensor<256xf32>, %arg186: tensor<256xf32>, %arg187: tensor<256xf32>, %arg188: tensor<256xf32>, %arg189: tensor<256xf32>, %arg190: tensor<256xf32>, %arg191: tensor<256xf32>, %arg192: tensor<256xf32>, %arg193: tensor<1024xf32>, %arg194: tensor<1024xf32>, %arg195: tensor<1024xf32>, %arg196: tensor<1024xf32>, %arg197: tensor<1x1x1024x256xf32>, %arg198: tensor<3x3x256x256xf32>, %arg199: tensor<1x1x256x1024xf32>, %arg200: tensor<256xf32>, %arg201: tensor<256xf32>, %arg202: tensor<256xf32>, %arg203: tensor<256xf32>, %arg204: tensor<256xf32>, %arg205: tensor<256xf32>, %arg206: tensor<256xf32>, %arg207: tensor<256xf32>, %arg208: tensor<1024xf32>, %arg209: tensor<1024xf32>, %arg210: tensor<1024xf32>, %arg211: tensor<1024xf32>, %arg212: tensor<1x1x1024x2048xf32>, %arg213: tensor<1x1x1024x512xf32>, %arg214: tensor<3x3x512x512xf32>, %arg215: tensor<1x1x512x2048xf32>, %arg216: tensor<2048xf32>, %arg217: tensor<2048xf32>, %arg218: tensor<2048xf32>, %arg219: tensor<2048xf32>, %arg220: tensor<512xf32>, %arg221: tensor<512xf32>, %arg222: tensor<512xf32>, %arg223: tensor<512xf32>, %arg224: tensor<512xf32>, %arg225: tensor<512xf32>, %arg226: tensor<512xf32>, %arg227: tensor<512xf32>, %arg228: tensor<2048xf32>, %arg229: tensor<2048xf32>, %arg230: tensor<2048xf32>, %arg231: tensor<2048xf32>, %arg232: tensor<1x1x2048x512xf32>, %arg233: tensor<3x3x512x512xf32>, %arg234: tensor<1x1x512x2048xf32>, %arg235: tensor<512xf32>, %arg236: tensor<512xf32>, %arg237: tensor<512xf32>, %arg238: tensor<512xf32>, %arg239: tensor<512xf32>, %arg240: tensor<512xf32>, %arg241: tensor<512xf32>, %arg242: tensor<512xf32>, %arg243: tensor<2048xf32>, %arg244: tensor<2048xf32>, %arg245: tensor<2048xf32>, %arg246: tensor<2048xf32>, %arg247: tensor<1x1x2048x512xf32>, %arg248: tensor<3x3x512x512xf32>, %arg249: tensor<1x1x512x2048xf32>, %arg250: tensor<512xf32>, %arg251: tensor<512xf32>, %arg252: tensor<512xf32>, %arg253: tensor<512xf32>, %arg254: tensor<512xf32>, %arg255: tensor<512xf32>, %arg256: tensor<512xf32>, %arg257: tensor<512xf32>, %arg258: tensor<2048xf32>, %arg259: tensor<2048xf32>, %arg260: tensor<2048xf32>, %arg261: tensor<2048xf32>, %arg262: tensor<7x7x3x64xf32>, %arg263: tensor<64xf32>, %arg264: tensor<64xf32>, %arg265: tensor<64xf32>, %arg266: tensor<64xf32>, %arg267: tensor<1x224x224x3xf32>) -> (tensor<1x1000xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg267, %arg262) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[3, 3], [3, 3]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x224x224x3xf32>, tensor<7x7x3x64xf32>) -> tensor<1x112x112x64xf32>
    %1 = stablehlo.broadcast_in_dim %arg264, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x112x112x64xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<1x112x112x64xf32>
    %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %5 = stablehlo.add %arg266, %4 : tensor<64xf32>
    %6 = stablehlo.rsqrt %5 : tensor<64xf32>
    %7 = stablehlo.multiply %arg265, %6 : tensor<64xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x112x112x64xf32>
    %10 = stablehlo.multiply %3, %9 : tensor<1x112x112x64xf32>
    %11 = stablehlo.broadcast_in_dim %arg263, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x112x112x64xf32>
    %13 = stablehlo.add %10, %12 : tensor<1x112x112x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x112x112x64xf32>
    %15 = stablehlo.maximum %13, %14 : tensor<1x112x112x64xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.reduce_window"(%15, %16) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg268: tensor<f32>, %arg269: tensor<f32>):
      %864 = stablehlo.maximum %arg268, %arg269 : tensor<f32>
      stablehlo.return %864 : tensor<f32>
    }) : (tensor<1x112x112x64xf32>, tensor<f32>) -> tensor<1x56x56x64xf32>
    %18 = stablehlo.convolution(%17, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x56x56x64xf32>
    %19 = stablehlo.broadcast_in_dim %arg11, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %21 = stablehlo.subtract %18, %20 : tensor<1x56x56x64xf32>
    %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %23 = stablehlo.add %arg13, %22 : tensor<64xf32>
    %24 = stablehlo.rsqrt %23 : tensor<64xf32>
    %25 = stablehlo.multiply %arg12, %24 : tensor<64xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %28 = stablehlo.multiply %21, %27 : tensor<1x56x56x64xf32>
    %29 = stablehlo.broadcast_in_dim %arg10, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %31 = stablehlo.add %28, %30 : tensor<1x56x56x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
    %33 = stablehlo.maximum %31, %32 : tensor<1x56x56x64xf32>
    %34 = stablehlo.convolution(%33, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
    %35 = stablehlo.broadcast_in_dim %arg15, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %37 = stablehlo.subtract %34, %36 : tensor<1x56x56x64xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %39 = stablehlo.add %arg17, %38 : tensor<64xf32>
    %40 = stablehlo.rsqrt %39 : tensor<64xf32>
    %41 = stablehlo.multiply %arg16, %40 : tensor<64xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %44 = stablehlo.multiply %37, %43 : tensor<1x56x56x64xf32>
    %45 = stablehlo.broadcast_in_dim %arg14, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %47 = stablehlo.add %44, %46 : tensor<1x56x56x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
    %49 = stablehlo.maximum %47, %48 : tensor<1x56x56x64xf32>
    %50 = stablehlo.convolution(%49, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<1x1x64x256xf32>) -> tensor<1x56x56x256xf32>
    %51 = stablehlo.broadcast_in_dim %arg19, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %53 = stablehlo.subtract %50, %52 : tensor<1x56x56x256xf32>
    %cst_6 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %55 = stablehlo.add %arg21, %54 : tensor<256xf32>
    %56 = stablehlo.rsqrt %55 : tensor<256xf32>
    %57 = stablehlo.multiply %arg20, %56 : tensor<256xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %60 = stablehlo.multiply %53, %59 : tensor<1x56x56x256xf32>
    %61 = stablehlo.broadcast_in_dim %arg18, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %63 = stablehlo.add %60, %62 : tensor<1x56x56x256xf32>
    %64 = stablehlo.convolution(%17, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<1x1x64x256xf32>) -> tensor<1x56x56x256xf32>
    %65 = stablehlo.broadcast_in_dim %arg7, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %67 = stablehlo.subtract %64, %66 : tensor<1x56x56x256xf32>
    %cst_7 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %69 = stablehlo.add %arg9, %68 : tensor<256xf32>
    %70 = stablehlo.rsqrt %69 : tensor<256xf32>
    %71 = stablehlo.multiply %arg8, %70 : tensor<256xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %74 = stablehlo.multiply %67, %73 : tensor<1x56x56x256xf32>
    %75 = stablehlo.broadcast_in_dim %arg6, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %77 = stablehlo.add %74, %76 : tensor<1x56x56x256xf32>
    %78 = stablehlo.add %77, %63 : tensor<1x56x56x256xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x56x56x256xf32>
    %80 = stablehlo.maximum %78, %79 : tensor<1x56x56x256xf32>
    %81 = stablehlo.convolution(%80, %arg22) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x256xf32>, tensor<1x1x256x64xf32>) -> tensor<1x56x56x64xf32>
    %82 = stablehlo.broadcast_in_dim %arg26, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %84 = stablehlo.subtract %81, %83 : tensor<1x56x56x64xf32>
    %cst_9 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %86 = stablehlo.add %arg28, %85 : tensor<64xf32>
    %87 = stablehlo.rsqrt %86 : tensor<64xf32>
    %88 = stablehlo.multiply %arg27, %87 : tensor<64xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %91 = stablehlo.multiply %84, %90 : tensor<1x56x56x64xf32>
    %92 = stablehlo.broadcast_in_dim %arg25, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %94 = stablehlo.add %91, %93 : tensor<1x56x56x64xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
    %96 = stablehlo.maximum %94, %95 : tensor<1x56x56x64xf32>
    %97 = stablehlo.convolution(%96, %arg23) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
    %98 = stablehlo.broadcast_in_dim %arg30, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %100 = stablehlo.subtract %97, %99 : tensor<1x56x56x64xf32>
    %cst_11 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %102 = stablehlo.add %arg32, %101 : tensor<64xf32>
    %103 = stablehlo.rsqrt %102 : tensor<64xf32>
    %104 = stablehlo.multiply %arg31, %103 : tensor<64xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %107 = stablehlo.multiply %100, %106 : tensor<1x56x56x64xf32>
    %108 = stablehlo.broadcast_in_dim %arg29, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %110 = stablehlo.add %107, %109 : tensor<1x56x56x64xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
    %112 = stablehlo.maximum %110, %111 : tensor<1x56x56x64xf32>
    %113 = stablehlo.convolution(%112, %arg24) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<1x1x64x256xf32>) -> tensor<1x56x56x256xf32>
    %114 = stablehlo.broadcast_in_dim %arg34, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %116 = stablehlo.subtract %113, %115 : tensor<1x56x56x256xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %118 = stablehlo.add %arg36, %117 : tensor<256xf32>
    %119 = stablehlo.rsqrt %118 : tensor<256xf32>
    %120 = stablehlo.multiply %arg35, %119 : tensor<256xf32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %123 = stablehlo.multiply %116, %122 : tensor<1x56x56x256xf32>
    %124 = stablehlo.broadcast_in_dim %arg33, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %125 = stablehlo.broadcast_in_dim %124, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %126 = stablehlo.add %123, %125 : tensor<1x56x56x256xf32>
    %127 = stablehlo.add %80, %126 : tensor<1x56x56x256xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x56x56x256xf32>
    %129 = stablehlo.maximum %127, %128 : tensor<1x56x56x256xf32>
    %130 = stablehlo.convolution(%129, %arg37) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x256xf32>, tensor<1x1x256x64xf32>) -> tensor<1x56x56x64xf32>
    %131 = stablehlo.broadcast_in_dim %arg41, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %132 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %133 = stablehlo.subtract %130, %132 : tensor<1x56x56x64xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %135 = stablehlo.add %arg43, %134 : tensor<64xf32>
    %136 = stablehlo.rsqrt %135 : tensor<64xf32>
    %137 = stablehlo.multiply %arg42, %136 : tensor<64xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %140 = stablehlo.multiply %133, %139 : tensor<1x56x56x64xf32>
    %141 = stablehlo.broadcast_in_dim %arg40, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %143 = stablehlo.add %140, %142 : tensor<1x56x56x64xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
    %145 = stablehlo.maximum %143, %144 : tensor<1x56x56x64xf32>
    %146 = stablehlo.convolution(%145, %arg38) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
    %147 = stablehlo.broadcast_in_dim %arg45, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %149 = stablehlo.subtract %146, %148 : tensor<1x56x56x64xf32>
    %cst_17 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %151 = stablehlo.add %arg47, %150 : tensor<64xf32>
    %152 = stablehlo.rsqrt %151 : tensor<64xf32>
    %153 = stablehlo.multiply %arg46, %152 : tensor<64xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %155 = stablehlo.broadcast_in_dim %154, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %156 = stablehlo.multiply %149, %155 : tensor<1x56x56x64xf32>
    %157 = stablehlo.broadcast_in_dim %arg44, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<1x56x56x64xf32>
    %159 = stablehlo.add %156, %158 : tensor<1x56x56x64xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
    %161 = stablehlo.maximum %159, %160 : tensor<1x56x56x64xf32>
    %162 = stablehlo.convolution(%161, %arg39) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x64xf32>, tensor<1x1x64x256xf32>) -> tensor<1x56x56x256xf32>
    %163 = stablehlo.broadcast_in_dim %arg49, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %165 = stablehlo.subtract %162, %164 : tensor<1x56x56x256xf32>
    %cst_19 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %167 = stablehlo.add %arg51, %166 : tensor<256xf32>
    %168 = stablehlo.rsqrt %167 : tensor<256xf32>
    %169 = stablehlo.multiply %arg50, %168 : tensor<256xf32>
    %170 = stablehlo.broadcast_in_dim %169, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %172 = stablehlo.multiply %165, %171 : tensor<1x56x56x256xf32>
    %173 = stablehlo.broadcast_in_dim %arg48, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x56x56x256xf32>
    %175 = stablehlo.add %172, %174 : tensor<1x56x56x256xf32>
    %176 = stablehlo.add %129, %175 : tensor<1x56x56x256xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<1x56x56x256xf32>
    %178 = stablehlo.maximum %176, %177 : tensor<1x56x56x256xf32>
    %179 = stablehlo.convolution(%178, %arg53) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x256xf32>, tensor<1x1x256x128xf32>) -> tensor<1x56x56x128xf32>
    %180 = stablehlo.broadcast_in_dim %arg61, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x56x56x128xf32>
    %182 = stablehlo.subtract %179, %181 : tensor<1x56x56x128xf32>
    %cst_21 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %184 = stablehlo.add %arg63, %183 : tensor<128xf32>
    %185 = stablehlo.rsqrt %184 : tensor<128xf32>
    %186 = stablehlo.multiply %arg62, %185 : tensor<128xf32>
    %187 = stablehlo.broadcast_in_dim %186, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x56x56x128xf32>
    %189 = stablehlo.multiply %182, %188 : tensor<1x56x56x128xf32>
    %190 = stablehlo.broadcast_in_dim %arg60, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %191 = stablehlo.broadcast_in_dim %190, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x56x56x128xf32>
    %192 = stablehlo.add %189, %191 : tensor<1x56x56x128xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x56x56x128xf32>
    %194 = stablehlo.maximum %192, %193 : tensor<1x56x56x128xf32>
    %195 = stablehlo.convolution(%194, %arg54) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x128xf32>, tensor<3x3x128x128xf32>) -> tensor<1x28x28x128xf32>
    %196 = stablehlo.broadcast_in_dim %arg65, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %198 = stablehlo.subtract %195, %197 : tensor<1x28x28x128xf32>
    %cst_23 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %200 = stablehlo.add %arg67, %199 : tensor<128xf32>
    %201 = stablehlo.rsqrt %200 : tensor<128xf32>
    %202 = stablehlo.multiply %arg66, %201 : tensor<128xf32>
    %203 = stablehlo.broadcast_in_dim %202, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %205 = stablehlo.multiply %198, %204 : tensor<1x28x28x128xf32>
    %206 = stablehlo.broadcast_in_dim %arg64, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %208 = stablehlo.add %205, %207 : tensor<1x28x28x128xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %210 = stablehlo.maximum %208, %209 : tensor<1x28x28x128xf32>
    %211 = stablehlo.convolution(%210, %arg55) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<1x1x128x512xf32>) -> tensor<1x28x28x512xf32>
    %212 = stablehlo.broadcast_in_dim %arg69, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %213 = stablehlo.broadcast_in_dim %212, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %214 = stablehlo.subtract %211, %213 : tensor<1x28x28x512xf32>
    %cst_25 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %216 = stablehlo.add %arg71, %215 : tensor<512xf32>
    %217 = stablehlo.rsqrt %216 : tensor<512xf32>
    %218 = stablehlo.multiply %arg70, %217 : tensor<512xf32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %220 = stablehlo.broadcast_in_dim %219, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %221 = stablehlo.multiply %214, %220 : tensor<1x28x28x512xf32>
    %222 = stablehlo.broadcast_in_dim %arg68, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %223 = stablehlo.broadcast_in_dim %222, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %224 = stablehlo.add %221, %223 : tensor<1x28x28x512xf32>
    %225 = stablehlo.convolution(%178, %arg52) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x56x56x256xf32>, tensor<1x1x256x512xf32>) -> tensor<1x28x28x512xf32>
    %226 = stablehlo.broadcast_in_dim %arg57, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %227 = stablehlo.broadcast_in_dim %226, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %228 = stablehlo.subtract %225, %227 : tensor<1x28x28x512xf32>
    %cst_26 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %230 = stablehlo.add %arg59, %229 : tensor<512xf32>
    %231 = stablehlo.rsqrt %230 : tensor<512xf32>
    %232 = stablehlo.multiply %arg58, %231 : tensor<512xf32>
    %233 = stablehlo.broadcast_in_dim %232, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %234 = stablehlo.broadcast_in_dim %233, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %235 = stablehlo.multiply %228, %234 : tensor<1x28x28x512xf32>
    %236 = stablehlo.broadcast_in_dim %arg56, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %237 = stablehlo.broadcast_in_dim %236, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %238 = stablehlo.add %235, %237 : tensor<1x28x28x512xf32>
    %239 = stablehlo.add %238, %224 : tensor<1x28x28x512xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x28x28x512xf32>
    %241 = stablehlo.maximum %239, %240 : tensor<1x28x28x512xf32>
    %242 = stablehlo.convolution(%241, %arg72) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x512xf32>, tensor<1x1x512x128xf32>) -> tensor<1x28x28x128xf32>
    %243 = stablehlo.broadcast_in_dim %arg76, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %244 = stablehlo.broadcast_in_dim %243, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %245 = stablehlo.subtract %242, %244 : tensor<1x28x28x128xf32>
    %cst_28 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %247 = stablehlo.add %arg78, %246 : tensor<128xf32>
    %248 = stablehlo.rsqrt %247 : tensor<128xf32>
    %249 = stablehlo.multiply %arg77, %248 : tensor<128xf32>
    %250 = stablehlo.broadcast_in_dim %249, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %251 = stablehlo.broadcast_in_dim %250, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %252 = stablehlo.multiply %245, %251 : tensor<1x28x28x128xf32>
    %253 = stablehlo.broadcast_in_dim %arg75, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %254 = stablehlo.broadcast_in_dim %253, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %255 = stablehlo.add %252, %254 : tensor<1x28x28x128xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %257 = stablehlo.maximum %255, %256 : tensor<1x28x28x128xf32>
    %258 = stablehlo.convolution(%257, %arg73) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<1x28x28x128xf32>
    %259 = stablehlo.broadcast_in_dim %arg80, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %261 = stablehlo.subtract %258, %260 : tensor<1x28x28x128xf32>
    %cst_30 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %263 = stablehlo.add %arg82, %262 : tensor<128xf32>
    %264 = stablehlo.rsqrt %263 : tensor<128xf32>
    %265 = stablehlo.multiply %arg81, %264 : tensor<128xf32>
    %266 = stablehlo.broadcast_in_dim %265, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %267 = stablehlo.broadcast_in_dim %266, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %268 = stablehlo.multiply %261, %267 : tensor<1x28x28x128xf32>
    %269 = stablehlo.broadcast_in_dim %arg79, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %270 = stablehlo.broadcast_in_dim %269, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %271 = stablehlo.add %268, %270 : tensor<1x28x28x128xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %273 = stablehlo.maximum %271, %272 : tensor<1x28x28x128xf32>
    %274 = stablehlo.convolution(%273, %arg74) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<1x1x128x512xf32>) -> tensor<1x28x28x512xf32>
    %275 = stablehlo.broadcast_in_dim %arg84, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %276 = stablehlo.broadcast_in_dim %275, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %277 = stablehlo.subtract %274, %276 : tensor<1x28x28x512xf32>
    %cst_32 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %279 = stablehlo.add %arg86, %278 : tensor<512xf32>
    %280 = stablehlo.rsqrt %279 : tensor<512xf32>
    %281 = stablehlo.multiply %arg85, %280 : tensor<512xf32>
    %282 = stablehlo.broadcast_in_dim %281, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %283 = stablehlo.broadcast_in_dim %282, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %284 = stablehlo.multiply %277, %283 : tensor<1x28x28x512xf32>
    %285 = stablehlo.broadcast_in_dim %arg83, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %286 = stablehlo.broadcast_in_dim %285, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %287 = stablehlo.add %284, %286 : tensor<1x28x28x512xf32>
    %288 = stablehlo.add %241, %287 : tensor<1x28x28x512xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %289 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<1x28x28x512xf32>
    %290 = stablehlo.maximum %288, %289 : tensor<1x28x28x512xf32>
    %291 = stablehlo.convolution(%290, %arg87) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x512xf32>, tensor<1x1x512x128xf32>) -> tensor<1x28x28x128xf32>
    %292 = stablehlo.broadcast_in_dim %arg91, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %294 = stablehlo.subtract %291, %293 : tensor<1x28x28x128xf32>
    %cst_34 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %296 = stablehlo.add %arg93, %295 : tensor<128xf32>
    %297 = stablehlo.rsqrt %296 : tensor<128xf32>
    %298 = stablehlo.multiply %arg92, %297 : tensor<128xf32>
    %299 = stablehlo.broadcast_in_dim %298, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %300 = stablehlo.broadcast_in_dim %299, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %301 = stablehlo.multiply %294, %300 : tensor<1x28x28x128xf32>
    %302 = stablehlo.broadcast_in_dim %arg90, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %303 = stablehlo.broadcast_in_dim %302, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %304 = stablehlo.add %301, %303 : tensor<1x28x28x128xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %306 = stablehlo.maximum %304, %305 : tensor<1x28x28x128xf32>
    %307 = stablehlo.convolution(%306, %arg88) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<1x28x28x128xf32>
    %308 = stablehlo.broadcast_in_dim %arg95, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %309 = stablehlo.broadcast_in_dim %308, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %310 = stablehlo.subtract %307, %309 : tensor<1x28x28x128xf32>
    %cst_36 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %312 = stablehlo.add %arg97, %311 : tensor<128xf32>
    %313 = stablehlo.rsqrt %312 : tensor<128xf32>
    %314 = stablehlo.multiply %arg96, %313 : tensor<128xf32>
    %315 = stablehlo.broadcast_in_dim %314, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %316 = stablehlo.broadcast_in_dim %315, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %317 = stablehlo.multiply %310, %316 : tensor<1x28x28x128xf32>
    %318 = stablehlo.broadcast_in_dim %arg94, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %319 = stablehlo.broadcast_in_dim %318, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %320 = stablehlo.add %317, %319 : tensor<1x28x28x128xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %321 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %322 = stablehlo.maximum %320, %321 : tensor<1x28x28x128xf32>
    %323 = stablehlo.convolution(%322, %arg89) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<1x1x128x512xf32>) -> tensor<1x28x28x512xf32>
    %324 = stablehlo.broadcast_in_dim %arg99, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %325 = stablehlo.broadcast_in_dim %324, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %326 = stablehlo.subtract %323, %325 : tensor<1x28x28x512xf32>
    %cst_38 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %328 = stablehlo.add %arg101, %327 : tensor<512xf32>
    %329 = stablehlo.rsqrt %328 : tensor<512xf32>
    %330 = stablehlo.multiply %arg100, %329 : tensor<512xf32>
    %331 = stablehlo.broadcast_in_dim %330, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %332 = stablehlo.broadcast_in_dim %331, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %333 = stablehlo.multiply %326, %332 : tensor<1x28x28x512xf32>
    %334 = stablehlo.broadcast_in_dim %arg98, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %335 = stablehlo.broadcast_in_dim %334, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %336 = stablehlo.add %333, %335 : tensor<1x28x28x512xf32>
    %337 = stablehlo.add %290, %336 : tensor<1x28x28x512xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<1x28x28x512xf32>
    %339 = stablehlo.maximum %337, %338 : tensor<1x28x28x512xf32>
    %340 = stablehlo.convolution(%339, %arg102) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x512xf32>, tensor<1x1x512x128xf32>) -> tensor<1x28x28x128xf32>
    %341 = stablehlo.broadcast_in_dim %arg106, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %342 = stablehlo.broadcast_in_dim %341, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %343 = stablehlo.subtract %340, %342 : tensor<1x28x28x128xf32>
    %cst_40 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %345 = stablehlo.add %arg108, %344 : tensor<128xf32>
    %346 = stablehlo.rsqrt %345 : tensor<128xf32>
    %347 = stablehlo.multiply %arg107, %346 : tensor<128xf32>
    %348 = stablehlo.broadcast_in_dim %347, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %349 = stablehlo.broadcast_in_dim %348, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %350 = stablehlo.multiply %343, %349 : tensor<1x28x28x128xf32>
    %351 = stablehlo.broadcast_in_dim %arg105, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %352 = stablehlo.broadcast_in_dim %351, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %353 = stablehlo.add %350, %352 : tensor<1x28x28x128xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %354 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %355 = stablehlo.maximum %353, %354 : tensor<1x28x28x128xf32>
    %356 = stablehlo.convolution(%355, %arg103) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<1x28x28x128xf32>
    %357 = stablehlo.broadcast_in_dim %arg110, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %358 = stablehlo.broadcast_in_dim %357, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %359 = stablehlo.subtract %356, %358 : tensor<1x28x28x128xf32>
    %cst_42 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %360 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %361 = stablehlo.add %arg112, %360 : tensor<128xf32>
    %362 = stablehlo.rsqrt %361 : tensor<128xf32>
    %363 = stablehlo.multiply %arg111, %362 : tensor<128xf32>
    %364 = stablehlo.broadcast_in_dim %363, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %365 = stablehlo.broadcast_in_dim %364, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %366 = stablehlo.multiply %359, %365 : tensor<1x28x28x128xf32>
    %367 = stablehlo.broadcast_in_dim %arg109, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %368 = stablehlo.broadcast_in_dim %367, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x28x28x128xf32>
    %369 = stablehlo.add %366, %368 : tensor<1x28x28x128xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %370 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<1x28x28x128xf32>
    %371 = stablehlo.maximum %369, %370 : tensor<1x28x28x128xf32>
    %372 = stablehlo.convolution(%371, %arg104) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x128xf32>, tensor<1x1x128x512xf32>) -> tensor<1x28x28x512xf32>
    %373 = stablehlo.broadcast_in_dim %arg114, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %374 = stablehlo.broadcast_in_dim %373, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %375 = stablehlo.subtract %372, %374 : tensor<1x28x28x512xf32>
    %cst_44 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %376 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %377 = stablehlo.add %arg116, %376 : tensor<512xf32>
    %378 = stablehlo.rsqrt %377 : tensor<512xf32>
    %379 = stablehlo.multiply %arg115, %378 : tensor<512xf32>
    %380 = stablehlo.broadcast_in_dim %379, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %381 = stablehlo.broadcast_in_dim %380, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %382 = stablehlo.multiply %375, %381 : tensor<1x28x28x512xf32>
    %383 = stablehlo.broadcast_in_dim %arg113, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %384 = stablehlo.broadcast_in_dim %383, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x28x28x512xf32>
    %385 = stablehlo.add %382, %384 : tensor<1x28x28x512xf32>
    %386 = stablehlo.add %339, %385 : tensor<1x28x28x512xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %387 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<1x28x28x512xf32>
    %388 = stablehlo.maximum %386, %387 : tensor<1x28x28x512xf32>
    %389 = stablehlo.convolution(%388, %arg118) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x512xf32>, tensor<1x1x512x256xf32>) -> tensor<1x28x28x256xf32>
    %390 = stablehlo.broadcast_in_dim %arg126, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %391 = stablehlo.broadcast_in_dim %390, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x28x28x256xf32>
    %392 = stablehlo.subtract %389, %391 : tensor<1x28x28x256xf32>
    %cst_46 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %393 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %394 = stablehlo.add %arg128, %393 : tensor<256xf32>
    %395 = stablehlo.rsqrt %394 : tensor<256xf32>
    %396 = stablehlo.multiply %arg127, %395 : tensor<256xf32>
    %397 = stablehlo.broadcast_in_dim %396, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %398 = stablehlo.broadcast_in_dim %397, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x28x28x256xf32>
    %399 = stablehlo.multiply %392, %398 : tensor<1x28x28x256xf32>
    %400 = stablehlo.broadcast_in_dim %arg125, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %401 = stablehlo.broadcast_in_dim %400, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x28x28x256xf32>
    %402 = stablehlo.add %399, %401 : tensor<1x28x28x256xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %403 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<1x28x28x256xf32>
    %404 = stablehlo.maximum %402, %403 : tensor<1x28x28x256xf32>
    %405 = stablehlo.convolution(%404, %arg119) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    %406 = stablehlo.broadcast_in_dim %arg130, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %407 = stablehlo.broadcast_in_dim %406, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %408 = stablehlo.subtract %405, %407 : tensor<1x14x14x256xf32>
    %cst_48 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %410 = stablehlo.add %arg132, %409 : tensor<256xf32>
    %411 = stablehlo.rsqrt %410 : tensor<256xf32>
    %412 = stablehlo.multiply %arg131, %411 : tensor<256xf32>
    %413 = stablehlo.broadcast_in_dim %412, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %414 = stablehlo.broadcast_in_dim %413, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %415 = stablehlo.multiply %408, %414 : tensor<1x14x14x256xf32>
    %416 = stablehlo.broadcast_in_dim %arg129, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %417 = stablehlo.broadcast_in_dim %416, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %418 = stablehlo.add %415, %417 : tensor<1x14x14x256xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %420 = stablehlo.maximum %418, %419 : tensor<1x14x14x256xf32>
    %421 = stablehlo.convolution(%420, %arg120) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<1x1x256x1024xf32>) -> tensor<1x14x14x1024xf32>
    %422 = stablehlo.broadcast_in_dim %arg134, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %423 = stablehlo.broadcast_in_dim %422, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %424 = stablehlo.subtract %421, %423 : tensor<1x14x14x1024xf32>
    %cst_50 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %425 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %426 = stablehlo.add %arg136, %425 : tensor<1024xf32>
    %427 = stablehlo.rsqrt %426 : tensor<1024xf32>
    %428 = stablehlo.multiply %arg135, %427 : tensor<1024xf32>
    %429 = stablehlo.broadcast_in_dim %428, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %430 = stablehlo.broadcast_in_dim %429, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %431 = stablehlo.multiply %424, %430 : tensor<1x14x14x1024xf32>
    %432 = stablehlo.broadcast_in_dim %arg133, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %433 = stablehlo.broadcast_in_dim %432, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %434 = stablehlo.add %431, %433 : tensor<1x14x14x1024xf32>
    %435 = stablehlo.convolution(%388, %arg117) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x512xf32>, tensor<1x1x512x1024xf32>) -> tensor<1x14x14x1024xf32>
    %436 = stablehlo.broadcast_in_dim %arg122, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %437 = stablehlo.broadcast_in_dim %436, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %438 = stablehlo.subtract %435, %437 : tensor<1x14x14x1024xf32>
    %cst_51 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %439 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %440 = stablehlo.add %arg124, %439 : tensor<1024xf32>
    %441 = stablehlo.rsqrt %440 : tensor<1024xf32>
    %442 = stablehlo.multiply %arg123, %441 : tensor<1024xf32>
    %443 = stablehlo.broadcast_in_dim %442, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %444 = stablehlo.broadcast_in_dim %443, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %445 = stablehlo.multiply %438, %444 : tensor<1x14x14x1024xf32>
    %446 = stablehlo.broadcast_in_dim %arg121, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %447 = stablehlo.broadcast_in_dim %446, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %448 = stablehlo.add %445, %447 : tensor<1x14x14x1024xf32>
    %449 = stablehlo.add %448, %434 : tensor<1x14x14x1024xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %450 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<1x14x14x1024xf32>
    %451 = stablehlo.maximum %449, %450 : tensor<1x14x14x1024xf32>
    %452 = stablehlo.convolution(%451, %arg137) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x256xf32>) -> tensor<1x14x14x256xf32>
    %453 = stablehlo.broadcast_in_dim %arg141, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %454 = stablehlo.broadcast_in_dim %453, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %455 = stablehlo.subtract %452, %454 : tensor<1x14x14x256xf32>
    %cst_53 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %456 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %457 = stablehlo.add %arg143, %456 : tensor<256xf32>
    %458 = stablehlo.rsqrt %457 : tensor<256xf32>
    %459 = stablehlo.multiply %arg142, %458 : tensor<256xf32>
    %460 = stablehlo.broadcast_in_dim %459, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %461 = stablehlo.broadcast_in_dim %460, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %462 = stablehlo.multiply %455, %461 : tensor<1x14x14x256xf32>
    %463 = stablehlo.broadcast_in_dim %arg140, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %464 = stablehlo.broadcast_in_dim %463, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %465 = stablehlo.add %462, %464 : tensor<1x14x14x256xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %466 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %467 = stablehlo.maximum %465, %466 : tensor<1x14x14x256xf32>
    %468 = stablehlo.convolution(%467, %arg138) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    %469 = stablehlo.broadcast_in_dim %arg145, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %470 = stablehlo.broadcast_in_dim %469, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %471 = stablehlo.subtract %468, %470 : tensor<1x14x14x256xf32>
    %cst_55 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %472 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %473 = stablehlo.add %arg147, %472 : tensor<256xf32>
    %474 = stablehlo.rsqrt %473 : tensor<256xf32>
    %475 = stablehlo.multiply %arg146, %474 : tensor<256xf32>
    %476 = stablehlo.broadcast_in_dim %475, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %478 = stablehlo.multiply %471, %477 : tensor<1x14x14x256xf32>
    %479 = stablehlo.broadcast_in_dim %arg144, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %480 = stablehlo.broadcast_in_dim %479, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %481 = stablehlo.add %478, %480 : tensor<1x14x14x256xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %483 = stablehlo.maximum %481, %482 : tensor<1x14x14x256xf32>
    %484 = stablehlo.convolution(%483, %arg139) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<1x1x256x1024xf32>) -> tensor<1x14x14x1024xf32>
    %485 = stablehlo.broadcast_in_dim %arg149, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %486 = stablehlo.broadcast_in_dim %485, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %487 = stablehlo.subtract %484, %486 : tensor<1x14x14x1024xf32>
    %cst_57 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %488 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %489 = stablehlo.add %arg151, %488 : tensor<1024xf32>
    %490 = stablehlo.rsqrt %489 : tensor<1024xf32>
    %491 = stablehlo.multiply %arg150, %490 : tensor<1024xf32>
    %492 = stablehlo.broadcast_in_dim %491, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %493 = stablehlo.broadcast_in_dim %492, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %494 = stablehlo.multiply %487, %493 : tensor<1x14x14x1024xf32>
    %495 = stablehlo.broadcast_in_dim %arg148, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %496 = stablehlo.broadcast_in_dim %495, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %497 = stablehlo.add %494, %496 : tensor<1x14x14x1024xf32>
    %498 = stablehlo.add %451, %497 : tensor<1x14x14x1024xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %499 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<1x14x14x1024xf32>
    %500 = stablehlo.maximum %498, %499 : tensor<1x14x14x1024xf32>
    %501 = stablehlo.convolution(%500, %arg152) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x256xf32>) -> tensor<1x14x14x256xf32>
    %502 = stablehlo.broadcast_in_dim %arg156, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %503 = stablehlo.broadcast_in_dim %502, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %504 = stablehlo.subtract %501, %503 : tensor<1x14x14x256xf32>
    %cst_59 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %505 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %506 = stablehlo.add %arg158, %505 : tensor<256xf32>
    %507 = stablehlo.rsqrt %506 : tensor<256xf32>
    %508 = stablehlo.multiply %arg157, %507 : tensor<256xf32>
    %509 = stablehlo.broadcast_in_dim %508, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %510 = stablehlo.broadcast_in_dim %509, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %511 = stablehlo.multiply %504, %510 : tensor<1x14x14x256xf32>
    %512 = stablehlo.broadcast_in_dim %arg155, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %513 = stablehlo.broadcast_in_dim %512, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %514 = stablehlo.add %511, %513 : tensor<1x14x14x256xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %515 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %516 = stablehlo.maximum %514, %515 : tensor<1x14x14x256xf32>
    %517 = stablehlo.convolution(%516, %arg153) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    %518 = stablehlo.broadcast_in_dim %arg160, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %519 = stablehlo.broadcast_in_dim %518, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %520 = stablehlo.subtract %517, %519 : tensor<1x14x14x256xf32>
    %cst_61 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %521 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %522 = stablehlo.add %arg162, %521 : tensor<256xf32>
    %523 = stablehlo.rsqrt %522 : tensor<256xf32>
    %524 = stablehlo.multiply %arg161, %523 : tensor<256xf32>
    %525 = stablehlo.broadcast_in_dim %524, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %526 = stablehlo.broadcast_in_dim %525, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %527 = stablehlo.multiply %520, %526 : tensor<1x14x14x256xf32>
    %528 = stablehlo.broadcast_in_dim %arg159, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %529 = stablehlo.broadcast_in_dim %528, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %530 = stablehlo.add %527, %529 : tensor<1x14x14x256xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %531 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %532 = stablehlo.maximum %530, %531 : tensor<1x14x14x256xf32>
    %533 = stablehlo.convolution(%532, %arg154) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<1x1x256x1024xf32>) -> tensor<1x14x14x1024xf32>
    %534 = stablehlo.broadcast_in_dim %arg164, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %535 = stablehlo.broadcast_in_dim %534, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %536 = stablehlo.subtract %533, %535 : tensor<1x14x14x1024xf32>
    %cst_63 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %537 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %538 = stablehlo.add %arg166, %537 : tensor<1024xf32>
    %539 = stablehlo.rsqrt %538 : tensor<1024xf32>
    %540 = stablehlo.multiply %arg165, %539 : tensor<1024xf32>
    %541 = stablehlo.broadcast_in_dim %540, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %542 = stablehlo.broadcast_in_dim %541, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %543 = stablehlo.multiply %536, %542 : tensor<1x14x14x1024xf32>
    %544 = stablehlo.broadcast_in_dim %arg163, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %545 = stablehlo.broadcast_in_dim %544, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %546 = stablehlo.add %543, %545 : tensor<1x14x14x1024xf32>
    %547 = stablehlo.add %500, %546 : tensor<1x14x14x1024xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %548 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1x14x14x1024xf32>
    %549 = stablehlo.maximum %547, %548 : tensor<1x14x14x1024xf32>
    %550 = stablehlo.convolution(%549, %arg167) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x256xf32>) -> tensor<1x14x14x256xf32>
    %551 = stablehlo.broadcast_in_dim %arg171, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %552 = stablehlo.broadcast_in_dim %551, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %553 = stablehlo.subtract %550, %552 : tensor<1x14x14x256xf32>
    %cst_65 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %554 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %555 = stablehlo.add %arg173, %554 : tensor<256xf32>
    %556 = stablehlo.rsqrt %555 : tensor<256xf32>
    %557 = stablehlo.multiply %arg172, %556 : tensor<256xf32>
    %558 = stablehlo.broadcast_in_dim %557, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %559 = stablehlo.broadcast_in_dim %558, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %560 = stablehlo.multiply %553, %559 : tensor<1x14x14x256xf32>
    %561 = stablehlo.broadcast_in_dim %arg170, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %562 = stablehlo.broadcast_in_dim %561, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %563 = stablehlo.add %560, %562 : tensor<1x14x14x256xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %564 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %565 = stablehlo.maximum %563, %564 : tensor<1x14x14x256xf32>
    %566 = stablehlo.convolution(%565, %arg168) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    %567 = stablehlo.broadcast_in_dim %arg175, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %568 = stablehlo.broadcast_in_dim %567, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %569 = stablehlo.subtract %566, %568 : tensor<1x14x14x256xf32>
    %cst_67 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %570 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %571 = stablehlo.add %arg177, %570 : tensor<256xf32>
    %572 = stablehlo.rsqrt %571 : tensor<256xf32>
    %573 = stablehlo.multiply %arg176, %572 : tensor<256xf32>
    %574 = stablehlo.broadcast_in_dim %573, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %575 = stablehlo.broadcast_in_dim %574, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %576 = stablehlo.multiply %569, %575 : tensor<1x14x14x256xf32>
    %577 = stablehlo.broadcast_in_dim %arg174, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %578 = stablehlo.broadcast_in_dim %577, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %579 = stablehlo.add %576, %578 : tensor<1x14x14x256xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %580 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %581 = stablehlo.maximum %579, %580 : tensor<1x14x14x256xf32>
    %582 = stablehlo.convolution(%581, %arg169) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<1x1x256x1024xf32>) -> tensor<1x14x14x1024xf32>
    %583 = stablehlo.broadcast_in_dim %arg179, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %584 = stablehlo.broadcast_in_dim %583, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %585 = stablehlo.subtract %582, %584 : tensor<1x14x14x1024xf32>
    %cst_69 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %586 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %587 = stablehlo.add %arg181, %586 : tensor<1024xf32>
    %588 = stablehlo.rsqrt %587 : tensor<1024xf32>
    %589 = stablehlo.multiply %arg180, %588 : tensor<1024xf32>
    %590 = stablehlo.broadcast_in_dim %589, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %591 = stablehlo.broadcast_in_dim %590, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %592 = stablehlo.multiply %585, %591 : tensor<1x14x14x1024xf32>
    %593 = stablehlo.broadcast_in_dim %arg178, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %594 = stablehlo.broadcast_in_dim %593, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %595 = stablehlo.add %592, %594 : tensor<1x14x14x1024xf32>
    %596 = stablehlo.add %549, %595 : tensor<1x14x14x1024xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %597 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<1x14x14x1024xf32>
    %598 = stablehlo.maximum %596, %597 : tensor<1x14x14x1024xf32>
    %599 = stablehlo.convolution(%598, %arg182) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x256xf32>) -> tensor<1x14x14x256xf32>
    %600 = stablehlo.broadcast_in_dim %arg186, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %601 = stablehlo.broadcast_in_dim %600, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %602 = stablehlo.subtract %599, %601 : tensor<1x14x14x256xf32>
    %cst_71 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %603 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %604 = stablehlo.add %arg188, %603 : tensor<256xf32>
    %605 = stablehlo.rsqrt %604 : tensor<256xf32>
    %606 = stablehlo.multiply %arg187, %605 : tensor<256xf32>
    %607 = stablehlo.broadcast_in_dim %606, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %608 = stablehlo.broadcast_in_dim %607, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %609 = stablehlo.multiply %602, %608 : tensor<1x14x14x256xf32>
    %610 = stablehlo.broadcast_in_dim %arg185, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %611 = stablehlo.broadcast_in_dim %610, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %612 = stablehlo.add %609, %611 : tensor<1x14x14x256xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %613 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %614 = stablehlo.maximum %612, %613 : tensor<1x14x14x256xf32>
    %615 = stablehlo.convolution(%614, %arg183) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    %616 = stablehlo.broadcast_in_dim %arg190, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %617 = stablehlo.broadcast_in_dim %616, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %618 = stablehlo.subtract %615, %617 : tensor<1x14x14x256xf32>
    %cst_73 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %619 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %620 = stablehlo.add %arg192, %619 : tensor<256xf32>
    %621 = stablehlo.rsqrt %620 : tensor<256xf32>
    %622 = stablehlo.multiply %arg191, %621 : tensor<256xf32>
    %623 = stablehlo.broadcast_in_dim %622, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %624 = stablehlo.broadcast_in_dim %623, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %625 = stablehlo.multiply %618, %624 : tensor<1x14x14x256xf32>
    %626 = stablehlo.broadcast_in_dim %arg189, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %627 = stablehlo.broadcast_in_dim %626, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %628 = stablehlo.add %625, %627 : tensor<1x14x14x256xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %629 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %630 = stablehlo.maximum %628, %629 : tensor<1x14x14x256xf32>
    %631 = stablehlo.convolution(%630, %arg184) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<1x1x256x1024xf32>) -> tensor<1x14x14x1024xf32>
    %632 = stablehlo.broadcast_in_dim %arg194, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %633 = stablehlo.broadcast_in_dim %632, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %634 = stablehlo.subtract %631, %633 : tensor<1x14x14x1024xf32>
    %cst_75 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %635 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %636 = stablehlo.add %arg196, %635 : tensor<1024xf32>
    %637 = stablehlo.rsqrt %636 : tensor<1024xf32>
    %638 = stablehlo.multiply %arg195, %637 : tensor<1024xf32>
    %639 = stablehlo.broadcast_in_dim %638, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %640 = stablehlo.broadcast_in_dim %639, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %641 = stablehlo.multiply %634, %640 : tensor<1x14x14x1024xf32>
    %642 = stablehlo.broadcast_in_dim %arg193, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %643 = stablehlo.broadcast_in_dim %642, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %644 = stablehlo.add %641, %643 : tensor<1x14x14x1024xf32>
    %645 = stablehlo.add %598, %644 : tensor<1x14x14x1024xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %646 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<1x14x14x1024xf32>
    %647 = stablehlo.maximum %645, %646 : tensor<1x14x14x1024xf32>
    %648 = stablehlo.convolution(%647, %arg197) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x256xf32>) -> tensor<1x14x14x256xf32>
    %649 = stablehlo.broadcast_in_dim %arg201, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %650 = stablehlo.broadcast_in_dim %649, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %651 = stablehlo.subtract %648, %650 : tensor<1x14x14x256xf32>
    %cst_77 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %652 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %653 = stablehlo.add %arg203, %652 : tensor<256xf32>
    %654 = stablehlo.rsqrt %653 : tensor<256xf32>
    %655 = stablehlo.multiply %arg202, %654 : tensor<256xf32>
    %656 = stablehlo.broadcast_in_dim %655, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %657 = stablehlo.broadcast_in_dim %656, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %658 = stablehlo.multiply %651, %657 : tensor<1x14x14x256xf32>
    %659 = stablehlo.broadcast_in_dim %arg200, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %660 = stablehlo.broadcast_in_dim %659, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %661 = stablehlo.add %658, %660 : tensor<1x14x14x256xf32>
    %cst_78 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %662 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %663 = stablehlo.maximum %661, %662 : tensor<1x14x14x256xf32>
    %664 = stablehlo.convolution(%663, %arg198) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    %665 = stablehlo.broadcast_in_dim %arg205, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %666 = stablehlo.broadcast_in_dim %665, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %667 = stablehlo.subtract %664, %666 : tensor<1x14x14x256xf32>
    %cst_79 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %668 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %669 = stablehlo.add %arg207, %668 : tensor<256xf32>
    %670 = stablehlo.rsqrt %669 : tensor<256xf32>
    %671 = stablehlo.multiply %arg206, %670 : tensor<256xf32>
    %672 = stablehlo.broadcast_in_dim %671, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %673 = stablehlo.broadcast_in_dim %672, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %674 = stablehlo.multiply %667, %673 : tensor<1x14x14x256xf32>
    %675 = stablehlo.broadcast_in_dim %arg204, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %676 = stablehlo.broadcast_in_dim %675, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<1x14x14x256xf32>
    %677 = stablehlo.add %674, %676 : tensor<1x14x14x256xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %678 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<1x14x14x256xf32>
    %679 = stablehlo.maximum %677, %678 : tensor<1x14x14x256xf32>
    %680 = stablehlo.convolution(%679, %arg199) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x256xf32>, tensor<1x1x256x1024xf32>) -> tensor<1x14x14x1024xf32>
    %681 = stablehlo.broadcast_in_dim %arg209, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %682 = stablehlo.broadcast_in_dim %681, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %683 = stablehlo.subtract %680, %682 : tensor<1x14x14x1024xf32>
    %cst_81 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %684 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %685 = stablehlo.add %arg211, %684 : tensor<1024xf32>
    %686 = stablehlo.rsqrt %685 : tensor<1024xf32>
    %687 = stablehlo.multiply %arg210, %686 : tensor<1024xf32>
    %688 = stablehlo.broadcast_in_dim %687, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %689 = stablehlo.broadcast_in_dim %688, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %690 = stablehlo.multiply %683, %689 : tensor<1x14x14x1024xf32>
    %691 = stablehlo.broadcast_in_dim %arg208, dims = [3] : (tensor<1024xf32>) -> tensor<1x1x1x1024xf32>
    %692 = stablehlo.broadcast_in_dim %691, dims = [0, 1, 2, 3] : (tensor<1x1x1x1024xf32>) -> tensor<1x14x14x1024xf32>
    %693 = stablehlo.add %690, %692 : tensor<1x14x14x1024xf32>
    %694 = stablehlo.add %647, %693 : tensor<1x14x14x1024xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %695 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<1x14x14x1024xf32>
    %696 = stablehlo.maximum %694, %695 : tensor<1x14x14x1024xf32>
    %697 = stablehlo.convolution(%696, %arg213) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x512xf32>) -> tensor<1x14x14x512xf32>
    %698 = stablehlo.broadcast_in_dim %arg221, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %699 = stablehlo.broadcast_in_dim %698, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x14x14x512xf32>
    %700 = stablehlo.subtract %697, %699 : tensor<1x14x14x512xf32>
    %cst_83 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %701 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %702 = stablehlo.add %arg223, %701 : tensor<512xf32>
    %703 = stablehlo.rsqrt %702 : tensor<512xf32>
    %704 = stablehlo.multiply %arg222, %703 : tensor<512xf32>
    %705 = stablehlo.broadcast_in_dim %704, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %706 = stablehlo.broadcast_in_dim %705, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x14x14x512xf32>
    %707 = stablehlo.multiply %700, %706 : tensor<1x14x14x512xf32>
    %708 = stablehlo.broadcast_in_dim %arg220, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %709 = stablehlo.broadcast_in_dim %708, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x14x14x512xf32>
    %710 = stablehlo.add %707, %709 : tensor<1x14x14x512xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %711 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1x14x14x512xf32>
    %712 = stablehlo.maximum %710, %711 : tensor<1x14x14x512xf32>
    %713 = stablehlo.convolution(%712, %arg214) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x7x7x512xf32>
    %714 = stablehlo.broadcast_in_dim %arg225, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %715 = stablehlo.broadcast_in_dim %714, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %716 = stablehlo.subtract %713, %715 : tensor<1x7x7x512xf32>
    %cst_85 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %717 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %718 = stablehlo.add %arg227, %717 : tensor<512xf32>
    %719 = stablehlo.rsqrt %718 : tensor<512xf32>
    %720 = stablehlo.multiply %arg226, %719 : tensor<512xf32>
    %721 = stablehlo.broadcast_in_dim %720, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %722 = stablehlo.broadcast_in_dim %721, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %723 = stablehlo.multiply %716, %722 : tensor<1x7x7x512xf32>
    %724 = stablehlo.broadcast_in_dim %arg224, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %725 = stablehlo.broadcast_in_dim %724, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %726 = stablehlo.add %723, %725 : tensor<1x7x7x512xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %727 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<1x7x7x512xf32>
    %728 = stablehlo.maximum %726, %727 : tensor<1x7x7x512xf32>
    %729 = stablehlo.convolution(%728, %arg215) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x512xf32>, tensor<1x1x512x2048xf32>) -> tensor<1x7x7x2048xf32>
    %730 = stablehlo.broadcast_in_dim %arg229, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %731 = stablehlo.broadcast_in_dim %730, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %732 = stablehlo.subtract %729, %731 : tensor<1x7x7x2048xf32>
    %cst_87 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %733 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<2048xf32>
    %734 = stablehlo.add %arg231, %733 : tensor<2048xf32>
    %735 = stablehlo.rsqrt %734 : tensor<2048xf32>
    %736 = stablehlo.multiply %arg230, %735 : tensor<2048xf32>
    %737 = stablehlo.broadcast_in_dim %736, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %738 = stablehlo.broadcast_in_dim %737, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %739 = stablehlo.multiply %732, %738 : tensor<1x7x7x2048xf32>
    %740 = stablehlo.broadcast_in_dim %arg228, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %741 = stablehlo.broadcast_in_dim %740, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %742 = stablehlo.add %739, %741 : tensor<1x7x7x2048xf32>
    %743 = stablehlo.convolution(%696, %arg212) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x14x14x1024xf32>, tensor<1x1x1024x2048xf32>) -> tensor<1x7x7x2048xf32>
    %744 = stablehlo.broadcast_in_dim %arg217, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %745 = stablehlo.broadcast_in_dim %744, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %746 = stablehlo.subtract %743, %745 : tensor<1x7x7x2048xf32>
    %cst_88 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %747 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<2048xf32>
    %748 = stablehlo.add %arg219, %747 : tensor<2048xf32>
    %749 = stablehlo.rsqrt %748 : tensor<2048xf32>
    %750 = stablehlo.multiply %arg218, %749 : tensor<2048xf32>
    %751 = stablehlo.broadcast_in_dim %750, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %752 = stablehlo.broadcast_in_dim %751, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %753 = stablehlo.multiply %746, %752 : tensor<1x7x7x2048xf32>
    %754 = stablehlo.broadcast_in_dim %arg216, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %755 = stablehlo.broadcast_in_dim %754, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %756 = stablehlo.add %753, %755 : tensor<1x7x7x2048xf32>
    %757 = stablehlo.add %756, %742 : tensor<1x7x7x2048xf32>
    %cst_89 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %758 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<1x7x7x2048xf32>
    %759 = stablehlo.maximum %757, %758 : tensor<1x7x7x2048xf32>
    %760 = stablehlo.convolution(%759, %arg232) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x2048xf32>, tensor<1x1x2048x512xf32>) -> tensor<1x7x7x512xf32>
    %761 = stablehlo.broadcast_in_dim %arg236, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %762 = stablehlo.broadcast_in_dim %761, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %763 = stablehlo.subtract %760, %762 : tensor<1x7x7x512xf32>
    %cst_90 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %764 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %765 = stablehlo.add %arg238, %764 : tensor<512xf32>
    %766 = stablehlo.rsqrt %765 : tensor<512xf32>
    %767 = stablehlo.multiply %arg237, %766 : tensor<512xf32>
    %768 = stablehlo.broadcast_in_dim %767, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %769 = stablehlo.broadcast_in_dim %768, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %770 = stablehlo.multiply %763, %769 : tensor<1x7x7x512xf32>
    %771 = stablehlo.broadcast_in_dim %arg235, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %772 = stablehlo.broadcast_in_dim %771, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %773 = stablehlo.add %770, %772 : tensor<1x7x7x512xf32>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %774 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<1x7x7x512xf32>
    %775 = stablehlo.maximum %773, %774 : tensor<1x7x7x512xf32>
    %776 = stablehlo.convolution(%775, %arg233) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x7x7x512xf32>
    %777 = stablehlo.broadcast_in_dim %arg240, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %778 = stablehlo.broadcast_in_dim %777, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %779 = stablehlo.subtract %776, %778 : tensor<1x7x7x512xf32>
    %cst_92 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %780 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %781 = stablehlo.add %arg242, %780 : tensor<512xf32>
    %782 = stablehlo.rsqrt %781 : tensor<512xf32>
    %783 = stablehlo.multiply %arg241, %782 : tensor<512xf32>
    %784 = stablehlo.broadcast_in_dim %783, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %785 = stablehlo.broadcast_in_dim %784, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %786 = stablehlo.multiply %779, %785 : tensor<1x7x7x512xf32>
    %787 = stablehlo.broadcast_in_dim %arg239, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %788 = stablehlo.broadcast_in_dim %787, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %789 = stablehlo.add %786, %788 : tensor<1x7x7x512xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %790 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<1x7x7x512xf32>
    %791 = stablehlo.maximum %789, %790 : tensor<1x7x7x512xf32>
    %792 = stablehlo.convolution(%791, %arg234) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x512xf32>, tensor<1x1x512x2048xf32>) -> tensor<1x7x7x2048xf32>
    %793 = stablehlo.broadcast_in_dim %arg244, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %794 = stablehlo.broadcast_in_dim %793, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %795 = stablehlo.subtract %792, %794 : tensor<1x7x7x2048xf32>
    %cst_94 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %796 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<2048xf32>
    %797 = stablehlo.add %arg246, %796 : tensor<2048xf32>
    %798 = stablehlo.rsqrt %797 : tensor<2048xf32>
    %799 = stablehlo.multiply %arg245, %798 : tensor<2048xf32>
    %800 = stablehlo.broadcast_in_dim %799, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %801 = stablehlo.broadcast_in_dim %800, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %802 = stablehlo.multiply %795, %801 : tensor<1x7x7x2048xf32>
    %803 = stablehlo.broadcast_in_dim %arg243, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %804 = stablehlo.broadcast_in_dim %803, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %805 = stablehlo.add %802, %804 : tensor<1x7x7x2048xf32>
    %806 = stablehlo.add %759, %805 : tensor<1x7x7x2048xf32>
    %cst_95 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %807 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<1x7x7x2048xf32>
    %808 = stablehlo.maximum %806, %807 : tensor<1x7x7x2048xf32>
    %809 = stablehlo.convolution(%808, %arg247) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x2048xf32>, tensor<1x1x2048x512xf32>) -> tensor<1x7x7x512xf32>
    %810 = stablehlo.broadcast_in_dim %arg251, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %811 = stablehlo.broadcast_in_dim %810, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %812 = stablehlo.subtract %809, %811 : tensor<1x7x7x512xf32>
    %cst_96 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %813 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %814 = stablehlo.add %arg253, %813 : tensor<512xf32>
    %815 = stablehlo.rsqrt %814 : tensor<512xf32>
    %816 = stablehlo.multiply %arg252, %815 : tensor<512xf32>
    %817 = stablehlo.broadcast_in_dim %816, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %818 = stablehlo.broadcast_in_dim %817, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %819 = stablehlo.multiply %812, %818 : tensor<1x7x7x512xf32>
    %820 = stablehlo.broadcast_in_dim %arg250, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %821 = stablehlo.broadcast_in_dim %820, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %822 = stablehlo.add %819, %821 : tensor<1x7x7x512xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %823 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<1x7x7x512xf32>
    %824 = stablehlo.maximum %822, %823 : tensor<1x7x7x512xf32>
    %825 = stablehlo.convolution(%824, %arg248) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x7x7x512xf32>
    %826 = stablehlo.broadcast_in_dim %arg255, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %827 = stablehlo.broadcast_in_dim %826, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %828 = stablehlo.subtract %825, %827 : tensor<1x7x7x512xf32>
    %cst_98 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %829 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %830 = stablehlo.add %arg257, %829 : tensor<512xf32>
    %831 = stablehlo.rsqrt %830 : tensor<512xf32>
    %832 = stablehlo.multiply %arg256, %831 : tensor<512xf32>
    %833 = stablehlo.broadcast_in_dim %832, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %834 = stablehlo.broadcast_in_dim %833, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %835 = stablehlo.multiply %828, %834 : tensor<1x7x7x512xf32>
    %836 = stablehlo.broadcast_in_dim %arg254, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %837 = stablehlo.broadcast_in_dim %836, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<1x7x7x512xf32>
    %838 = stablehlo.add %835, %837 : tensor<1x7x7x512xf32>
    %cst_99 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %839 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<1x7x7x512xf32>
    %840 = stablehlo.maximum %838, %839 : tensor<1x7x7x512xf32>
    %841 = stablehlo.convolution(%840, %arg249) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x7x7x512xf32>, tensor<1x1x512x2048xf32>) -> tensor<1x7x7x2048xf32>
    %842 = stablehlo.broadcast_in_dim %arg259, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %843 = stablehlo.broadcast_in_dim %842, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %844 = stablehlo.subtract %841, %843 : tensor<1x7x7x2048xf32>
    %cst_100 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %845 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<2048xf32>
    %846 = stablehlo.add %arg261, %845 : tensor<2048xf32>
    %847 = stablehlo.rsqrt %846 : tensor<2048xf32>
    %848 = stablehlo.multiply %arg260, %847 : tensor<2048xf32>
    %849 = stablehlo.broadcast_in_dim %848, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %850 = stablehlo.broadcast_in_dim %849, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %851 = stablehlo.multiply %844, %850 : tensor<1x7x7x2048xf32>
    %852 = stablehlo.broadcast_in_dim %arg258, dims = [3] : (tensor<2048xf32>) -> tensor<1x1x1x2048xf32>
    %853 = stablehlo.broadcast_in_dim %852, dims = [0, 1, 2, 3] : (tensor<1x1x1x2048xf32>) -> tensor<1x7x7x2048xf32>
    %854 = stablehlo.add %851, %853 : tensor<1x7x7x2048xf32>
    %855 = stablehlo.add %808, %854 : tensor<1x7x7x2048xf32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %856 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<1x7x7x2048xf32>
    %857 = stablehlo.maximum %855, %856 : tensor<1x7x7x2048xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %858 = stablehlo.reduce(%857 init: %cst_102) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x7x7x2048xf32>, tensor<f32>) -> tensor<1x2048xf32>
    %cst_103 = stablehlo.constant dense<4.900000e+01> : tensor<f32>
    %859 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<1x2048xf32>
    %860 = stablehlo.divide %858, %859 : tensor<1x2048xf32>
    %861 = stablehlo.dot_general %860, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x2048xf32>, tensor<2048x1000xf32>) -> tensor<1x1000xf32>
    %862 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<1000xf32>) -> tensor<1x1000xf32>
    %863 = stablehlo.add %861, %862 : tensor<1x1000xf32>
    return %863 : tensor<1x1000xf32>
  }
}
