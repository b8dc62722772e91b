// RUN: xla-opt %s -xla-expand-math -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-expand-math=avx512 -split-input-file | FileCheck %s --check-prefix=AVX512

// CHECK-LABEL: func.func @exp(
// CHECK-NOT: math.exp
// CHECK-COUNT-5: math.fma %{{.*}} : vector<16xf32>
// CHECK-NOT: call
// AVX512-LABEL: func.func @exp(
// AVX512-COUNT-9: math.fma %{{.*}} : vector<16xf32>
// AVX512-NOT: arith.shli
// AVX512: %[[POWER:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// AVX512: %[[ALL:.*]] = vector.reduction <and>
// AVX512: %[[RESULT:.*]] = scf.if %[[ALL]]
// AVX512-NEXT: scf.yield %[[POWER]]
// Results that are subnormal are rounded as integers, if there are any.
// AVX512: scf.if
// AVX512: "llvm.x86.avx512.mask.scalef.ps.512"
// AVX512: arith.subi {{.*}} : vector<16xi32>
// AVX512: return %[[RESULT]]
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Exponentials of a block share the branch, and what needs one of them follows; one of another one is computed after it.
// AVX512-LABEL: func.func @exps(
// AVX512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// AVX512: %[[BOTH:.*]]:2 = scf.if
// AVX512: %[[DOUBLE:.*]] = arith.addf %[[BOTH]]#0, %[[BOTH]]#0
// AVX512: %[[LAST:.*]] = scf.if
// AVX512: return %[[DOUBLE]], %[[BOTH]]#1, %[[LAST]]
func.func @exps(%x: vector<16xf32>, %y: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = arith.addf %0, %0 : vector<16xf32>
  %2 = math.exp %y : vector<16xf32>
  %3 = math.exp %1 : vector<16xf32>
  return %1, %2, %3 : vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// -----

// Significand and exponent are an instruction each; zeros, infinities, negative and subnormal numbers need no choice.
// AVX512-LABEL: func.func @log(
// AVX512: "llvm.x86.avx512.mask.getexp.ps.512"
// AVX512: "llvm.x86.avx512.mask.getmant.ps.512"
// AVX512-COUNT-1: arith.select
// AVX512-NOT: arith.cmpf oeq
// AVX512: return
func.func @log(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.log %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Lanes that become 0, masks of attention, are left out: the product would take a hundred cycles.
// AVX512-LABEL: func.func @masked_lanes(
// AVX512: %[[LEFT:.*]] = arith.cmpf uge, %{{.*}}, %{{.*}} : vector<8xf64>
// AVX512: %[[BITS:.*]] = vector.bitcast %[[LEFT]] : vector<8xi1> to vector<1xi8>
// AVX512: %[[MASK:.*]] = vector.extract %[[BITS]][0]
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.pd.512"(%{{.*}}, %{{.*}}, %{{.*}}, %[[MASK]], %{{.*}})
func.func @masked_lanes(%x: vector<8xf64>) -> vector<8xf64> {
  %0 = math.exp %x : vector<8xf64>
  return %0 : vector<8xf64>
}

// -----

// What is computed from bf16 has no NaN that rounding could turn into something else; an f32 may.
// CHECK-LABEL: func.func @bf16_of_bf16(
// CHECK-NOT: arith.cmpf uno
// CHECK: return
func.func @bf16_of_bf16(%x: vector<16xbf16>, %y: vector<16xbf16>) -> vector<16xbf16> {
  %0 = arith.divf %x, %y : vector<16xbf16>
  return %0 : vector<16xbf16>
}

// CHECK-LABEL: func.func @bf16_of_f32(
// CHECK: arith.cmpf uno
func.func @bf16_of_f32(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}

// -----

// One number is widened before it is spread, so that dividing by it is dividing by one number of f32.
// AVX512-LABEL: func.func @one_bf16_divisor(
// AVX512: llvm.fdiv {{.*}} : f32
// AVX512: scf.for
// AVX512:     arith.mulf
// AVX512-COUNT-4: math.fma
func.func @one_bf16_divisor(%x: memref<64xbf16>, %s: bf16) {
  %begin = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 16 : index
  %all = vector.broadcast %s : bf16 to vector<16xbf16>
  scf.for %i = %begin to %end step %step {
    %v = vector.load %x[%i] : memref<64xbf16>, vector<16xbf16>
    %q = arith.divf %v, %all : vector<16xbf16>
    vector.store %q, %x[%i] : memref<64xbf16>, vector<16xbf16>
  }
  return
}

// -----

// The angle of a point at distance 1 is an arc tangent, which divides once in f32.
// CHECK-LABEL: func.func @arc_tangent(
// CHECK-NOT: f64
// CHECK: return
func.func @arc_tangent(%x: vector<16xf32>) -> vector<16xf32> {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %0 = math.atan2 %x, %one : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// The instruction is for whole vectors.
// AVX512-LABEL: func.func @exp_of_eight(
// AVX512-NOT: call_intrinsic
func.func @exp_of_eight(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// bf16 is computed with in f32 and rounded by bit operations.
// CHECK-LABEL: func.func @bf16(
// CHECK-NOT: arith.extf
// CHECK: arith.addf %{{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @bf16(%x: bf16) -> bf16 {
  %0 = arith.addf %x, %x : bf16
  return %0 : bf16
}

// -----

// The C library, lane by lane.
// CHECK: func.func private @sinh(f64) -> f64
// CHECK-LABEL: func.func @library(
// CHECK-COUNT-2: call @sinh
func.func @library(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.sinh %x : vector<2xf64>
  return %0 : vector<2xf64>
}

// -----

// What has an instruction stays.
// CHECK-LABEL: func.func @instruction(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: return
func.func @instruction(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.sqrt %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Divided by what the loop does not change: a product that is corrected twice; other vectors are divided.
// AVX512-LABEL: func.func @one_divisor(
// AVX512: llvm.fdiv {{.*}} : f32
// AVX512: scf.for
// AVX512:   vector.reduction <and>
// AVX512:   scf.if
// AVX512:     arith.mulf
// AVX512-COUNT-4: math.fma
// AVX512:   else
// AVX512:     llvm.fdiv {{.*}} : vector<16xf32>
// CHECK-LABEL: func.func @one_divisor(
// CHECK:   arith.divf {{.*}} : vector<16xf32>
func.func @one_divisor(%x: memref<64xf32>, %s: f32) {
  %begin = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 16 : index
  %all = vector.broadcast %s : f32 to vector<16xf32>
  scf.for %i = %begin to %end step %step {
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %q = arith.divf %v, %all : vector<16xf32>
    vector.store %q, %x[%i] : memref<64xf32>, vector<16xf32>
  }
  return
}

// -----

// A divisor that changes with the loop, and a division that may be inexact, stay.
// AVX512-LABEL: func.func @other_divisors(
// AVX512-NOT: scf.if
// AVX512: return
func.func @other_divisors(%x: memref<64xf32>, %s: f32) {
  %begin = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 16 : index
  %all = vector.broadcast %s : f32 to vector<16xf32>
  scf.for %i = %begin to %end step %step {
    %t = memref.load %x[%i] : memref<64xf32>
    %changing = vector.broadcast %t : f32 to vector<16xf32>
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %q = arith.divf %v, %changing : vector<16xf32>
    %r = arith.divf %q, %all fastmath<arcp> : vector<16xf32>
    vector.store %r, %x[%i] : memref<64xf32>, vector<16xf32>
  }
  return
}

// -----

// Quotients by a constant: two products, of numbers that are never tiny (integers, sums with a constant) without a question.
// CHECK-LABEL: func.func @constant_divisor(
// CHECK: %[[LOW:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: %[[Q:.*]] = math.fma %{{.*}}, %{{.*}}, %[[LOW]] : vector<8xf32>
// CHECK: %[[D:.*]] = arith.subf %[[Q]]
// CHECK: %[[LOW2:.*]] = arith.mulf %[[D]]
// CHECK: math.fma %[[D]], %{{.*}}, %[[LOW2]]
// CHECK-NOT: divf
// CHECK: return
func.func @constant_divisor(%x: vector<8xi32>) -> vector<8xf32> {
  %a = arith.constant dense<255.0> : vector<8xf32>
  %b = arith.constant dense<0.45> : vector<8xf32>
  %c = arith.constant dense<0.22> : vector<8xf32>
  %0 = arith.uitofp %x : vector<8xi32> to vector<8xf32>
  %1 = arith.divf %0, %a : vector<8xf32>
  %2 = arith.subf %1, %b : vector<8xf32>
  %3 = arith.divf %2, %c : vector<8xf32>
  return %3 : vector<8xf32>
}

// -----

// Of any numbers in a loop if none of a vector is tiny; of others, and by a divisor that is too far from 1, not.
// AVX512-LABEL: func.func @constant_divisor_of_any(
// AVX512: arith.divf {{.*}} : vector<8xf64>
// AVX512: scf.for
// AVX512:   arith.divf {{.*}} : vector<8xf64>
// AVX512:   vector.reduction <and>
// AVX512:   scf.if
// AVX512:     math.fma
// AVX512:   else
// AVX512:     llvm.fdiv {{.*}} : vector<8xf64>
// CHECK-LABEL: func.func @constant_divisor_of_any(
// CHECK-NOT: math.fma
// CHECK: return
func.func @constant_divisor_of_any(%x: memref<64xf64>, %y: vector<8xf64>) -> vector<8xf64> {
  %begin = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 8 : index
  %c = arith.constant dense<3.7> : vector<8xf64>
  %far = arith.constant dense<3.7e40> : vector<8xf64>
  %0 = arith.divf %y, %c : vector<8xf64>
  scf.for %i = %begin to %end step %step {
    %v = vector.load %x[%i] : memref<64xf64>, vector<8xf64>
    %w = arith.divf %v, %far : vector<8xf64>
    %q = arith.divf %w, %c : vector<8xf64>
    vector.store %q, %x[%i] : memref<64xf64>, vector<8xf64>
  }
  return %0 : vector<8xf64>
}

// -----

// A square in two parts of which only the difference matters: rounded, and what rounding added.
// AVX512-LABEL: func.func @square(
// AVX512-SAME:    %[[A:.*]]: vector<16xf32>
// AVX512: %[[SQUARE:.*]] = arith.mulf %[[A]], %[[A]] : vector<16xf32>
// AVX512: %[[MINUS:.*]] = arith.negf %[[A]]
// AVX512: %[[REST:.*]] = math.fma %[[MINUS]], %[[A]], %[[SQUARE]]
// AVX512: return %[[SQUARE]], %[[REST]]
// CHECK-LABEL: func.func @square(
// CHECK-NOT: math.fma
// CHECK: return
func.func @square(%a: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %mask = arith.constant dense<-4096> : vector<16xi32>
  %bits = arith.bitcast %a : vector<16xf32> to vector<16xi32>
  %masked = arith.andi %bits, %mask : vector<16xi32>
  %head = arith.bitcast %masked : vector<16xi32> to vector<16xf32>
  %square = arith.mulf %head, %head fastmath<afn> : vector<16xf32>
  %minus = arith.subf %head, %a : vector<16xf32>
  %plus = arith.addf %head, %a : vector<16xf32>
  %rest = arith.mulf %minus, %plus fastmath<afn> : vector<16xf32>
  return %square, %rest : vector<16xf32>, vector<16xf32>
}

// -----

// What is subtracted from a short product is a * a itself, rounded with it.
// AVX512-LABEL: func.func @sum_of_square(
// AVX512-SAME: %[[A:[^:]*]]: vector<16xf32>, %[[N:[^:]*]]: vector<16xf32>)
// AVX512: %[[P:.*]] = arith.mulf %[[N]], %{{.*}} fastmath<contract>
// AVX512: %[[MINUS:.*]] = arith.negf %[[A]]
// AVX512: %[[EXACT:.*]] = math.fma %[[MINUS]], %[[A]], %[[P]]
// AVX512: %[[SUM:.*]] = math.fma %[[N]], %{{.*}}, %[[EXACT]]
// AVX512: return %[[SUM]]
func.func @sum_of_square(%a: vector<16xf32>, %n: vector<16xf32>) -> vector<16xf32> {
  %mask = arith.constant dense<-4096> : vector<16xi32>
  %high = arith.constant dense<-0.693359375> : vector<16xf32>
  %low = arith.constant dense<2.12194440e-4> : vector<16xf32>
  %bits = arith.bitcast %a : vector<16xf32> to vector<16xi32>
  %masked = arith.andi %bits, %mask : vector<16xi32>
  %head = arith.bitcast %masked : vector<16xi32> to vector<16xf32>
  %square = arith.mulf %head, %head fastmath<afn> : vector<16xf32>
  %minus = arith.subf %head, %a : vector<16xf32>
  %plus = arith.addf %head, %a : vector<16xf32>
  %rest = arith.mulf %minus, %plus fastmath<afn> : vector<16xf32>
  %negative = arith.negf %square : vector<16xf32>
  %p = arith.mulf %n, %high fastmath<contract> : vector<16xf32>
  %first = arith.addf %p, %negative fastmath<contract> : vector<16xf32>
  %q = arith.mulf %n, %low fastmath<contract> : vector<16xf32>
  %second = arith.addf %q, %rest fastmath<contract> : vector<16xf32>
  %sum = arith.addf %first, %second : vector<16xf32>
  return %sum : vector<16xf32>
}

// -----

// Unmarked, each part counts.
// AVX512-LABEL: func.func @head(
// AVX512-NOT: math.fma
// AVX512: return
func.func @head(%a: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %mask = arith.constant dense<-4096> : vector<16xi32>
  %bits = arith.bitcast %a : vector<16xf32> to vector<16xi32>
  %masked = arith.andi %bits, %mask : vector<16xi32>
  %head = arith.bitcast %masked : vector<16xi32> to vector<16xf32>
  %square = arith.mulf %head, %head fastmath<afn> : vector<16xf32>
  %minus = arith.subf %head, %a : vector<16xf32>
  %plus = arith.addf %head, %a : vector<16xf32>
  %rest = arith.mulf %minus, %plus : vector<16xf32>
  return %square, %rest : vector<16xf32>, vector<16xf32>
}

// -----

// What rounding to even adds: by a mask where masks have registers, else out of the bits.
// CHECK-LABEL: @round_to_bf16
// CHECK: arith.shrui
// CHECK-NOT: arith.select
// CHECK: return
// AVX512-LABEL: @round_to_bf16
// AVX512: %[[ODD:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : vector<16xi32>
// AVX512: arith.select %[[ODD]], %{{.*}}, %{{.*}} : vector<16xi1>, vector<16xi32>
func.func @round_to_bf16(%x: vector<16xi32>) -> vector<16xbf16> {
  %0 = arith.sitofp %x : vector<16xi32> to vector<16xf32>
  %1 = arith.truncf %0 : vector<16xf32> to vector<16xbf16>
  return %1 : vector<16xbf16>
}

// A root of f16 is the root in f32, rounded again: f32 has enough bits for that, and its roots are faster.
// CHECK-LABEL: func.func @f16_root(
// CHECK: arith.extf
// CHECK-NEXT: math.sqrt %{{.*}} : vector<32xf32>
// CHECK-NEXT: arith.truncf
func.func @f16_root(%x: vector<32xf16>) -> vector<32xf16> {
  %0 = math.sqrt %x : vector<32xf16>
  return %0 : vector<32xf16>
}

// -----

// With registers for tables powers are computed in pairs of f32; tables of reciprocals and of their logarithms, then of powers of two.
// CHECK-LABEL: func.func @powers(
// CHECK: arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK-NOT: llvm.call_intrinsic
// AVX512-LABEL: func.func @powers(
// AVX512-NOT: f64
// AVX512-COUNT-3: "llvm.x86.avx512.vpermi2var.ps.512"
// AVX512: scf.if
// AVX512-COUNT-2: "llvm.x86.avx512.permvar.sf.512"
// AVX512: else
// AVX512-COUNT-2: "llvm.x86.avx512.permvar.sf.512"
// AVX512-NOT: f64
// AVX512: return
func.func @powers(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %0 = math.powf %x, %y : vector<16xf32>
  return %0 : vector<16xf32>
}
