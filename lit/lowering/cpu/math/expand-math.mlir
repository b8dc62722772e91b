// RUN: xla-opt %s -xla-expand-math -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @exp(
// CHECK-NOT: math.exp
// CHECK-COUNT-5: math.fma %{{.*}} : vector<16xf32>
// CHECK-NOT: call
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
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
// CHECK: func.func private @log1p(f64) -> f64
// CHECK-LABEL: func.func @library(
// CHECK-COUNT-2: call @log1p
func.func @library(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.log1p %x : vector<2xf64>
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
