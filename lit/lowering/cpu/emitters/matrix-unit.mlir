// RUN: xla-opt %s -xla-lower-to-linalg -xla-emit-kernels=target=sapphirerapids -split-input-file | FileCheck %s

// bf16: four registers of sums, rows and columns of 32 each, pairs of k side by side; consumers take the sums from memory.
// CHECK-LABEL: func.func private @bf16_range(
// CHECK:         call_intrinsic "llvm.x86.ldtilecfg"
// CHECK:         scf.for
// CHECK:           vector.interleave
// CHECK-COUNT-4:   call_intrinsic "llvm.x86.tilezero"
// CHECK:           scf.for
// CHECK-COUNT-2:     call_intrinsic "llvm.x86.tileloadd64"
// CHECK:             call_intrinsic "llvm.x86.tileloadd64"
// CHECK-COUNT-2:     call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK:             call_intrinsic "llvm.x86.tileloadd64"
// CHECK-COUNT-2:     call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT:         tdpbf16ps
// CHECK-COUNT-4:   call_intrinsic "llvm.x86.tilestored64"
// CHECK:           scf.for
// CHECK:             arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK:         call_intrinsic "llvm.x86.tilerelease"
// CHECK-NEXT:    return
func.func private @bf16(%a: tensor<64x96xbf16>, %b: tensor<96x128xbf16>) -> tensor<64x128xbf16> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x96xbf16>, tensor<96x128xbf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  %n = tensor.empty() : tensor<64x128xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%c : tensor<64x128xf32>) outs(%n : tensor<64x128xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %s = arith.truncf %x : f32 to bf16
      linalg.yield %s : bf16
  } -> tensor<64x128xbf16>
  return %d : tensor<64x128xbf16>
}

// -----

// 8-bit integers: quadruples of k.
// CHECK-LABEL: func.func private @int8_range(
// CHECK-COUNT-4: call_intrinsic "llvm.x86.tdpbssd"
// CHECK-NOT:     tdpbssd
func.func private @int8(%a: tensor<64x128xi8>, %b: tensor<128x64xi8>) -> tensor<64x64xi32> attributes {millrace.kernel} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %c = linalg.matmul ins(%a, %b : tensor<64x128xi8>, tensor<128x64xi8>) outs(%f : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %c : tensor<64x64xi32>
}

// -----

// 40 k are no whole number of steps: widened to f32.
// CHECK-LABEL: func.func private @odd_k_range(
// CHECK-NOT:     llvm.x86.{{[^s]}}
// CHECK:         vector.fma
func.func private @odd_k(%a: tensor<64x40xbf16>, %b: tensor<40x64xbf16>) -> tensor<64x64xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x40xbf16>, tensor<40x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// -----

// A panel of 512 k and the rows that meet it are more than the level 1 cache has: the rows leave it to the panel, which is needed again.
// CHECK-LABEL: func.func private @long_panels_range(
// CHECK-COUNT-2:     call_intrinsic "llvm.x86.tileloadd64"
// CHECK:             call_intrinsic "llvm.x86.tileloaddt164"
// CHECK-COUNT-2:     call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK:             call_intrinsic "llvm.x86.tileloaddt164"
// CHECK-NOT:         tileload
func.func private @long_panels(%a: tensor<64x512xbf16>, %b: tensor<512x128xbf16>) -> tensor<64x128xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x512xbf16>, tensor<512x128xbf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %c : tensor<64x128xf32>
}

// -----

// 1024 k are two parts that the rows and a part of the panel pass one after the other; between them the sums of all rows of one panel wait in memory.
// CHECK-LABEL: func.func private @parts_of_k_range(
// CHECK:         scf.for %[[PART:.*]] = %{{.*}} to %c2{{.*}} step
// CHECK:           arith.cmpi eq, %[[PART]], %c0
// CHECK:           arith.cmpi eq, %[[PART]], %c1
// CHECK:           scf.if
// CHECK-COUNT-4:     call_intrinsic "llvm.x86.tilezero"
// CHECK:           else
// CHECK-COUNT-4:     call_intrinsic "llvm.x86.tileloadd64"
// In the last part the rows of the tile before are finished between the products, two of 32 in each of 16 steps; those of the last tile behind it.
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK-COUNT-4:       call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT:           tdpbf16ps
// CHECK:               scf.for
// CHECK:                 vector.store
// CHECK:             else
// CHECK:             scf.for
// CHECK-COUNT-4:       call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT:       tdpbf16ps
// CHECK-NOT:       vector.store
// CHECK-COUNT-8:   call_intrinsic "llvm.x86.tilestored64"
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               vector.store
// CHECK:         return
func.func private @parts_of_k(%a: tensor<64x1024xbf16>, %b: tensor<1024x128xbf16>) -> tensor<64x128xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x1024xbf16>, tensor<1024x128xbf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %c : tensor<64x128xf32>
}

// -----

// Attention: pairs of the keys' 40 terms, filled with zeros to 64; scores are four registers, which go to scratch. Weights of f32 are three
// numbers of bf16 each; values that are no ordinary numbers are multiplied by vectors.
// CHECK-LABEL: func.func private @attention_range(
// CHECK:         call_intrinsic "llvm.x86.ldtilecfg"
// CHECK:         scf.for
// CHECK:           vector.bitcast {{.*}} : vector<32xbf16> to vector<16xi32>
// CHECK:           vector.interleave
// CHECK:           %[[ORDINARY:.*]] = arith.cmpf olt
// CHECK-COUNT-4:   call_intrinsic "llvm.x86.tilezero"
// CHECK:           scf.for %{{.*}} = %{{.*}} to %c64
// CHECK-COUNT-4:     call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4:   call_intrinsic "llvm.x86.tilestored64"
// CHECK:           math.exp
// CHECK:           scf.if %[[ORDINARY]]
// CHECK-COUNT-3:     arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// CHECK:             tilezero
// CHECK-COUNT-12:    call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT:         tdpbf16ps
// CHECK:           } else {
// CHECK:             vector.fma
// CHECK:         call_intrinsic "llvm.x86.tilerelease"
func.func private @attention(%q: tensor<4x128x40xbf16>, %k: tensor<4x128x40xbf16>, %w: tensor<4x128x64xbf16>) -> tensor<4x128x64xf32> attributes {millrace.kernel} {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %v = stablehlo.convert %w : (tensor<4x128x64xbf16>) -> tensor<4x128x64xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x40xbf16>, tensor<4x128x40xbf16>) -> tensor<4x128x128xf32>
  %2 = stablehlo.reduce(%0 init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
  %4 = stablehlo.subtract %0, %3 : tensor<4x128x128xf32>
  %5 = stablehlo.exponential %4 : tensor<4x128x128xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
  %8 = stablehlo.divide %5, %7 : tensor<4x128x128xf32>
  %9 = stablehlo.dot_general %8, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf32>, tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  return %9 : tensor<4x128x64xf32>
}
