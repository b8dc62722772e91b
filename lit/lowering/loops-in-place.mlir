// A loop that writes one row after the other works in the memory of its result; what it starts with is written there, never copied.
// RUN: xla-compile %s --entry=scan --emit=program | FileCheck %s --check-prefix=SCAN
// RUN: xla-compile %s --entry=continued --emit=program | FileCheck %s --check-prefix=CONTINUED
// RUN: xla-compile %s --entry=donated --emit=program | FileCheck %s --check-prefix=DONATED
// RUN: xla-compile %s --entry=twice --emit=program | FileCheck %s --check-prefix=TWICE
// RUN: xla-compile %s --entry=read_later --emit=program | FileCheck %s --check-prefix=LATER
// RUN: xla-run %s --entry=scan --verify
// RUN: xla-run %s --entry=continued --verify
// RUN: xla-run %s --entry=donated --verify
// RUN: xla-run %s --entry=twice --verify
// RUN: xla-run %s --entry=read_later --verify

// SCAN-DAG: [[X:%[0-9]+]] = argument 0
// SCAN-DAG: [[OUT:%[0-9]+]] = result 0
// SCAN-NOT: copy {{.*}} -> [[OUT]]
// SCAN: fill -> [[OUT]]
// SCAN-NOT: fill
// SCAN: loop
// SCAN: kernel {{.*}}([[OUT]], {{.*}}) -> ([[OUT]])
// SCAN-NOT: copy
func.func @scan(%x: tensor<100x2000xf32>) -> tensor<100x2000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<100> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<100x2000xf32>
  %r:2 = stablehlo.while(%i = %zero, %out = %zeros) : tensor<i32>, tensor<100x2000xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 2000] : (tensor<100x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2000xf32>
    %y = stablehlo.exponential %row : tensor<1x2000xf32>
    %next = stablehlo.dynamic_update_slice %out, %y, %i, %zero : (tensor<100x2000xf32>, tensor<1x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<100x2000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<100x2000xf32>
  }
  return %r#1 : tensor<100x2000xf32>
}

// What a kernel made for the loop is made in the result's memory.
// CONTINUED-DAG: [[OUT:%[0-9]+]] = result 0
// CONTINUED: kernel {{.*}} -> ([[OUT]])
// CONTINUED-NOT: copy {{.*}} -> [[OUT]]
// CONTINUED: kernel {{.*}}([[OUT]], {{.*}}) -> ([[OUT]])
func.func @continued(%x: tensor<100x2000xf32>) -> tensor<100x2000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<100> : tensor<i32>
  %start = stablehlo.exponential %x : tensor<100x2000xf32>
  %r:2 = stablehlo.while(%i = %zero, %out = %start) : tensor<i32>, tensor<100x2000xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 2000] : (tensor<100x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2000xf32>
    %next = stablehlo.dynamic_update_slice %out, %row, %i, %zero : (tensor<100x2000xf32>, tensor<1x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<100x2000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<100x2000xf32>
  }
  return %r#1 : tensor<100x2000xf32>
}

// A donated cache that a loop extends stays where it is.
// DONATED: [[CACHE:%[0-9]+]] = argument 0
// DONATED: [[OUT:%[0-9]+]] = result 0
// DONATED-NOT: copy [[CACHE]]
// DONATED: kernel {{.*}}([[OUT]], {{.*}}) -> ([[OUT]])
// DONATED-NOT: copy {{.*}} -> [[OUT]]
func.func @donated(%cache: tensor<100x2000xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<1x2000xf32>) -> tensor<100x2000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<100> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %out = %cache) : tensor<i32>, tensor<100x2000xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.dynamic_update_slice %out, %x, %i, %zero : (tensor<100x2000xf32>, tensor<1x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<100x2000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<100x2000xf32>
  }
  return %r#1 : tensor<100x2000xf32>
}

// Two updates in one iteration, in a loop in a loop: one buffer.
// TWICE: arena {{[0-9][0-9]?[0-9]?}} dims
// TWICE: [[OUT:%[0-9]+]] = result 0
// TWICE: fill -> [[OUT]]
// TWICE: loop
// TWICE: loop
// TWICE: kernel {{.*}}([[OUT]], {{.*}}) -> ([[OUT]])
// TWICE: kernel {{.*}}([[OUT]], {{.*}}) -> ([[OUT]])
// TWICE-NOT: copy {{.*}} -> [[OUT]]
func.func @twice(%a: tensor<1x40xf32>, %b: tensor<1x40xf32>) -> tensor<80x80xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %forty = stablehlo.constant dense<40> : tensor<i32>
  %count = stablehlo.constant dense<80> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<80x80xf32>
  %r:2 = stablehlo.while(%i = %zero, %outer = %zeros) : tensor<i32>, tensor<80x80xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %s:2 = stablehlo.while(%j = %i, %inner = %outer) : tensor<i32>, tensor<80x80xf32>
    cond {
      %more = stablehlo.compare LT, %j, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %left = stablehlo.dynamic_update_slice %inner, %a, %i, %zero : (tensor<80x80xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<80x80xf32>
      %right = stablehlo.dynamic_update_slice %left, %b, %j, %forty : (tensor<80x80xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<80x80xf32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %right : tensor<i32>, tensor<80x80xf32>
    }
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %s#1 : tensor<i32>, tensor<80x80xf32>
  }
  return %r#1 : tensor<80x80xf32>
}

// The donated argument is read after the loop, so that the loop needs memory of its own.
// LATER: [[CACHE:%[0-9]+]] = argument 0
// LATER: copy [[CACHE]] -> [[OWN:%[0-9]+]]
// LATER: kernel {{.*}}([[OWN]]{{.*}}) -> ([[OWN]])
func.func @read_later(%cache: tensor<64x2xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<2xf32>, tensor<64x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<60> : tensor<i32>
  %tens = stablehlo.constant dense<10.0> : tensor<1x2xf32>
  %r:2 = stablehlo.while(%i = %zero, %out = %cache) : tensor<i32>, tensor<64x2xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.dynamic_update_slice %out, %tens, %i, %zero : (tensor<64x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<64x2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<64x2xf32>
  }
  %first = stablehlo.slice %cache [0:1, 0:2] : (tensor<64x2xf32>) -> tensor<1x2xf32>
  %flat = stablehlo.reshape %first : (tensor<1x2xf32>) -> tensor<2xf32>
  return %flat, %r#1 : tensor<2xf32>, tensor<64x2xf32>
}
