// Slices and concatenations of whole ranges of bytes run no kernel: readers read from within, makers write in place.
// RUN: xla-compile %s --entry=split --emit=program | FileCheck %s --check-prefix=SPLIT
// RUN: xla-compile %s --entry=join --emit=program | FileCheck %s --check-prefix=JOIN
// RUN: xla-compile %s --entry=loop --emit=program | FileCheck %s --check-prefix=LOOP
// RUN: xla-compile %s --entry=donated --emit=program | FileCheck %s --check-prefix=DONATED
// RUN: xla-compile %s --entry=updated --emit=program | FileCheck %s --check-prefix=UPDATED
// RUN: xla-compile %s --entry=apart --emit=program | FileCheck %s --check-prefix=APART
// RUN: xla-compile %s --entry=unknown --emit=program | FileCheck %s --check-prefix=UNKNOWN
// RUN: xla-compile %s --entry=nested --no-fusion --emit=program | FileCheck %s --check-prefix=NESTED
// RUN: xla-compile %s --entry=split --time -o %t.split 2>&1 | FileCheck %s --check-prefix=COMPILED --implicit-check-not=slice_
// RUN: xla-compile %s --entry=join --time -o %t.join 2>&1 | FileCheck %s --check-prefix=COMPILED --implicit-check-not=concatenate_
// RUN: xla-compile %s --entry=donated --time -o %t.donated 2>&1 | FileCheck %s --check-prefix=CALLED
// RUN: xla-run %s --entry=split --verify
// RUN: xla-run %s --entry=join --verify
// RUN: xla-run %s --entry=loop --verify
// RUN: xla-run %s --entry=donated --verify
// RUN: xla-run %s --entry=updated --verify
// RUN: xla-run %s --entry=apart --verify
// RUN: xla-run %s --entry=nested --verify

// No machine code either, unless the program calls it after all.
// COMPILED: compile time per kernel
// COMPILED: {{(add|dot_general)_}}
// CALLED: slice_

// Two readers of each part, so that the slice is not made in a kernel of its reader; the second part does not begin at a cache line.
// SPLIT-DAG: %[[X:[0-9]+]] = argument 0
// SPLIT-DAG: %[[A:[0-9]+]] = view [[X]] +0 : 2x333xf32
// SPLIT-DAG: %[[B:[0-9]+]] = view [[X]] +2664 : 2x333xf32
// SPLIT-NOT: kernel slice
// SPLIT-DAG: kernel {{.*}}%[[A]]{{.*}}%[[B]]
// SPLIT-NOT: kernel slice
func.func @split(%x: tensor<4x333xf32>) -> (tensor<2x333xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = stablehlo.slice %x [0:2, 0:333] : (tensor<4x333xf32>) -> tensor<2x333xf32>
  %b = stablehlo.slice %x [2:4, 0:333] : (tensor<4x333xf32>) -> tensor<2x333xf32>
  %sum = stablehlo.add %a, %b : tensor<2x333xf32>
  %aa = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<2x333xf32>, tensor<2x333xf32>) -> tensor<2x2xf32>
  %bb = stablehlo.dot_general %b, %b, contracting_dims = [1] x [1] : (tensor<2x333xf32>, tensor<2x333xf32>) -> tensor<2x2xf32>
  return %sum, %aa, %bb : tensor<2x333xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// The products are made in the result; an argument is copied there.
// JOIN-DAG: %[[OUT:[0-9]+]] = result 0
// JOIN-DAG: %[[P:[0-9]+]] = view [[OUT]] +0
// JOIN-DAG: %[[Q:[0-9]+]] = view [[OUT]] +1200
// JOIN-DAG: kernel {{.*}} -> (%[[P]])
// JOIN: copy {{%[0-9]+}} -> %[[Q]]
// JOIN-NOT: kernel concatenate
func.func @join(%x: tensor<30x20xf32>, %y: tensor<20x10xf32>, %z: tensor<7x10xf32>) -> tensor<37x10xf32> {
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<30x20xf32>, tensor<20x10xf32>) -> tensor<30x10xf32>
  %r = stablehlo.concatenate %p, %z, dim = 0 : (tensor<30x10xf32>, tensor<7x10xf32>) -> tensor<37x10xf32>
  return %r : tensor<37x10xf32>
}

// The state's memory changes its address with every iteration, parts of it too.
// LOOP: %[[A:[0-9]+]] = view [[STATE:[0-9]+]] +0
// LOOP: loop carried({{.*}}%[[STATE]] := %[[NEXT:[0-9]+]]
// LOOP-NOT: kernel slice
// LOOP: kernel {{.*}}%[[A]]
// LOOP-NOT: kernel concatenate
func.func @loop(%x: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<2x16x16xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %a1 = stablehlo.slice %s [0:1, 0:16, 0:16] : (tensor<2x16x16xf32>) -> tensor<1x16x16xf32>
    %a = stablehlo.reshape %a1 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %b1 = stablehlo.slice %s [1:2, 0:16, 0:16] : (tensor<2x16x16xf32>) -> tensor<1x16x16xf32>
    %b = stablehlo.reshape %b1 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %ab = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %small = stablehlo.tanh %ab : tensor<16x16xf32>
    %ba = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %small1 = stablehlo.tanh %ba : tensor<16x16xf32>
    %c = stablehlo.reshape %small : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %d = stablehlo.reshape %small1 : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %next = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1x16x16xf32>, tensor<1x16x16xf32>) -> tensor<2x16x16xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<2x16x16xf32>
  }
  return %r#1 : tensor<2x16x16xf32>
}

// The argument's memory becomes the result before the part is read for the last time: the part needs memory of its own.
// DONATED: kernel slice
func.func @donated(%x: tensor<8x50xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<8x50xf32>, tensor<2x2xf32>) {
  %part = stablehlo.slice %x [2:4, 0:50] : (tensor<8x50xf32>) -> tensor<2x50xf32>
  %other = stablehlo.dot_general %part, %part, contracting_dims = [1] x [1] : (tensor<2x50xf32>, tensor<2x50xf32>) -> tensor<2x2xf32>
  %new = stablehlo.exponential %x : tensor<8x50xf32>
  return %new, %other : tensor<8x50xf32>, tensor<2x2xf32>
}

// The loop updates its state in place between the slice and what reads it.
// UPDATED: loop
// UPDATED: kernel slice
func.func @updated(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<2x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<40> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<2x2xf32>
  %half = stablehlo.constant dense<0.5> : tensor<1x16xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %x, %t = %start) : tensor<i32>, tensor<8x16xf32>, tensor<2x2xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %part = stablehlo.slice %s [2:4, 0:16] : (tensor<8x16xf32>) -> tensor<2x16xf32>
    %at = stablehlo.and %i, %one : tensor<i32>
    %next = stablehlo.dynamic_update_slice %s, %half, %at, %zero : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %product = stablehlo.dot_general %part, %part, contracting_dims = [1] x [1] : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x2xf32>
    %sum = stablehlo.add %t, %product : tensor<2x2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next, %sum : tensor<i32>, tensor<8x16xf32>, tensor<2x2xf32>
  }
  return %r#1, %r#2 : tensor<8x16xf32>, tensor<2x2xf32>
}

// Columns and rows with gaps are no whole ranges.
// APART-COUNT-2: kernel {{.*}}slice
func.func @apart(%x: tensor<8x64xf32>) -> (tensor<8x8xf32>, tensor<4x4xf32>) {
  %columns = stablehlo.slice %x [0:8, 0:32] : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %rows = stablehlo.slice %x [0:8:2, 0:64] : (tensor<8x64xf32>) -> tensor<4x64xf32>
  %a = stablehlo.dot_general %columns, %columns, contracting_dims = [1] x [1] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  %b = stablehlo.dot_general %rows, %rows, contracting_dims = [1] x [1] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<8x8xf32>, tensor<4x4xf32>
}

// Where the second operand begins is not known.
// UNKNOWN: kernel concatenate
func.func @unknown(%x: tensor<?x4xf32>, %y: tensor<2x4xf32>) -> tensor<5x4xf32> {
  %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// A part of a part is in its place, too: only the argument is copied.
// NESTED-COUNT-1: copy
// NESTED-NOT: copy
func.func @nested(%x: tensor<100x4xf32>, %y: tensor<7x4xf32>) -> tensor<207x4xf32> {
  %a = stablehlo.exponential %x : tensor<100x4xf32>
  %b = stablehlo.tanh %x : tensor<100x4xf32>
  %inner = stablehlo.concatenate %a, %b, dim = 0 : (tensor<100x4xf32>, tensor<100x4xf32>) -> tensor<200x4xf32>
  %r = stablehlo.concatenate %inner, %y, dim = 0 : (tensor<200x4xf32>, tensor<7x4xf32>) -> tensor<207x4xf32>
  return %r : tensor<207x4xf32>
}
